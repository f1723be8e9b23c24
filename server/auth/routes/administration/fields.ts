import { parseTimeZone } from '../../../clock.ts'
import { Fault, type Field, textField } from '../../../http/fields.ts'
import { Type } from '../../../http/schema.ts'
import { emailPattern, namePattern, normalizeEmail } from '../../accounts/names.ts'

/** A member that may be left out; it is then null. */
export function optional<T>(field: Field<T>): Field<T | null> {
  return { ...field, isOptional: true }
}

/** A member that may be left out, and may be null to take away what is there. */
export function clearable<T>(field: Field<T>): Field<{ value: T | null } | null> {
  const { description, examples, ...schema } = field.schema
  return {
    schema: { anyOf: [schema, { type: 'null' }], description, examples },
    isOptional: true,
    read(value) {
      if (value === null) return { value: null }
      const read = field.read(value)
      return read instanceof Fault ? read : { value: read }
    },
  }
}

/** Of a user, a service or a role. */
export function nameField(description: string, example: string): Field<string> {
  return {
    schema: Type.String({
      pattern: namePattern.source,
      description: `${description} A letter, then up to 63 letters, digits and . _ -`,
      examples: [example],
    }),
    read(value) {
      if (typeof value !== 'string') return new Fault('type', 'must be a string.')
      return namePattern.test(value)
        ? value
        : new Fault('format', 'must begin with a letter and have at most 64 letters, digits and . _ -')
    },
  }
}

const emailText = textField(3, 254, {})

/** Without spaces, which the field of a sign-in allows: nobody who has some can be found. */
export const newEmailField: Field<string> = {
  schema: Type.String({
    minLength: 3,
    maxLength: 254,
    pattern: emailPattern.source,
    description:
      'What the user signs in with: 3 to 254 characters with one `@` and no spaces; upper and lower case are the same.',
    examples: ['jo@example.com'],
  }),
  read(value) {
    const text = emailText.read(value)
    if (text instanceof Fault) return text
    return (
      normalizeEmail(text) ?? new Fault('format', 'must have one @ between non-empty sides and no spaces.')
    )
  },
}

export const timeZoneField: Field<string> = {
  schema: Type.String({
    pattern: '^[A-Za-z][A-Za-z0-9_+\\-/]{1,63}$',
    description: 'IANA name of the time zone of audit stamps; without one, the default of the service.',
    examples: ['Europe/Berlin'],
  }),
  read(value) {
    if (typeof value !== 'string') return new Fault('type', 'must be a string.')
    return parseTimeZone(value) ?? new Fault('unknown', 'must be an IANA name such as Europe/Berlin.')
  },
}

const rolesLimit = 50

/** Each once, however often it is named. Whether there are such roles, the operation says. */
export const rolesField: Field<string[]> = {
  schema: Type.Array(Type.String({ pattern: namePattern.source }), {
    maxItems: rolesLimit,
    description: 'Names of roles; all of them together say what the account may do.',
    examples: [['Operator']],
  }),
  read(value) {
    if (!Array.isArray(value) || value.length > rolesLimit) {
      return new Fault('type', `must be a list of at most ${rolesLimit} roles.`)
    }
    const isEachName = value.every((role) => typeof role === 'string' && namePattern.test(role))
    return isEachName ? [...new Set<string>(value)] : new Fault('format', 'must have names of roles.')
  },
}

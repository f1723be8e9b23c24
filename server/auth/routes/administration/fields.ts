import { parseTimeZone } from '../../../clock.ts'
import { Fault, type Field, instantField, textField } from '../../../http/fields.ts'
import { Type } from '../../../http/schema.ts'
import { legibleText } from '../../../http/text.ts'
import { isPermission, type Permission, permissions } from '../../../permissions.ts'
import { emailPattern, namePattern, normalizeEmail } from '../../accounts/names.ts'

/** A member that may be left out; it is then null. */
export function optional<T>(field: Field<T>): Field<T | null> {
  return { ...field, isOptional: true }
}

/** A member that may be left out, or be null to clear the value. */
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

/** The name of a user, a service or a role. */
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

/** No spaces, although the sign-in takes them: such an email could never be found. */
export const newEmailField: Field<string> = {
  schema: Type.String({
    minLength: 3,
    maxLength: 254,
    pattern: emailPattern.source,
    description:
      'The email that the user signs in with: 3 to 254 characters with one `@` and no spaces; case is ignored.',
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
    description: 'Time zone of audit stamps, as an IANA name; if left out, the default of the service.',
    examples: ['Europe/Berlin'],
  }),
  read(value) {
    if (typeof value !== 'string') return new Fault('type', 'must be a string.')
    return parseTimeZone(value) ?? new Fault('unknown', 'must be an IANA name such as Europe/Berlin.')
  },
}

const rolesLimit = 50

/** Duplicates are dropped. The operation checks that the roles exist. */
export const rolesField: Field<string[]> = {
  schema: Type.Array(Type.String({ pattern: namePattern.source }), {
    maxItems: rolesLimit,
    description: 'Names of roles. The account may do what any of them allows.',
    examples: [['Operator']],
  }),
  read(value) {
    if (!Array.isArray(value) || value.length > rolesLimit) {
      return new Fault('type', `must be a list of at most ${rolesLimit} roles.`)
    }
    const isEachName = value.every((role) => typeof role === 'string' && namePattern.test(role))
    return isEachName ? [...new Set<string>(value)] : new Fault('format', 'must hold names of roles.')
  },
}

export const permissionsField: Field<Permission[]> = {
  schema: Type.Array(Type.Unsafe<Permission>({ type: 'string', enum: [...permissions] }), {
    uniqueItems: true,
    description: 'What the role may do; no duplicates.',
    examples: [['Orders.Read']],
  }),
  read(value) {
    if (!Array.isArray(value)) return new Fault('type', 'must be a list.')
    if (!value.every((one) => typeof one === 'string' && isPermission(one))) {
      return new Fault('enum', `must hold permissions: ${permissions.join(', ')}.`)
    }
    return new Set(value).size === value.length
      ? (value as Permission[])
      : new Fault('repeated', 'must hold each permission once.')
  },
}

export const clientNameField = legibleText(200, {
  description: 'Display name.',
  examples: ['Billing, nightly run'],
})

export const endField = instantField({
  description:
    'From the second of this instant (RFC 3339, UTC with Z) on, the client gets no token; its tokens expire by then.',
  examples: ['2027-06-30T22:00:00Z'],
})

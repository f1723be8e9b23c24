import { isPermission, type Permission, permissions } from '../../../caller/permissions.ts'
import { parseTimeZone } from '../../../clock.ts'
import { text } from '../../../http/answers.ts'
import {
  anyText,
  Fault,
  type Field,
  instantField,
  orNull,
  positiveInt32Field,
  refined,
  textField,
} from '../../../http/fields.ts'
import { Type } from '../../../http/schema.ts'
import { legibleText, namePattern } from '../../../http/text.ts'
import { emailPattern, normalizeEmail } from '../../accounts/names.ts'

/** A member that may be left out; it is then null. */
export function optional<T>(field: Field<T>): Field<T | null> {
  return { ...field, isOptional: true }
}

/** A member that may be left out, or be null to clear the value. */
export function clearable<T>(field: Field<T>): Field<{ value: T | null } | null> {
  return {
    schema: orNull(field.schema),
    isOptional: true,
    read(value) {
      if (value === null) return { value: null }
      const read = field.read(value)
      return read instanceof Fault ? read : { value: read }
    },
  }
}

/** No spaces, although the sign-in takes them: such an email could never be found. */
export const newEmailField = refined(
  textField(3, 254),
  text(
    'The email that the user signs in with: 3 to 254 characters with one `@`, no spaces and none of `()<>[]:;,"\\`; case is ignored.',
    'jo@example.com',
    { minLength: 3, maxLength: 254, pattern: emailPattern.source },
  ),
  (given) =>
    normalizeEmail(given) ??
    new Fault('format', 'must have one @ between non-empty sides, no spaces and none of ()<>[]:;,"\\.'),
)

export const timeZoneField = refined(
  anyText,
  text(
    'Time zone of audit stamps, as an IANA name; if left out, the default of the service.',
    'Europe/Berlin',
    { pattern: '^[A-Za-z][A-Za-z0-9_+\\-/]{1,63}$' },
  ),
  (zone) => parseTimeZone(zone) ?? new Fault('unknown', 'must be an IANA name such as Europe/Berlin.'),
)

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
    description: 'Permissions of the role; no duplicates.',
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

export const printedNameField = legibleText(
  100,
  'The name of the person as certificates, mails and histories print it next to the user name.',
  'Jo Ann Lee',
)

export const displayNameField = legibleText(200, 'Name for people.', 'Billing, nightly run')

export const endField = instantField(
  'From the second of this instant (RFC 3339, UTC with Z) on, the client gets no token; its tokens expire by then.',
  '2027-06-30T22:00:00Z',
)

export const ownerField = positiveInt32Field(
  'Id of an enabled user, who counts as creator of every order that the client creates from now on.',
  3,
)

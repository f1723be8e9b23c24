import { text } from './answers.ts'
import { anyText, codePoints, Fault, type Field, refined, textField } from './fields.ts'
import { Type } from './schema.ts'

/**
 * The form of user names, clientIds and names of roles. User names and clientIds share one name space
 * (section 6 of the contract). No name looks like a number.
 */
export const namePattern = /^[A-Za-z][A-Za-z0-9._-]{0,63}$/

/** The name of a user, a service or a role. */
export function nameField(description: string, example: string): Field<string> {
  const schema = text(
    `${description} A letter from A to Z, then up to 63 of A to Z, digits and . _ - (upper or lower case)`,
    example,
    {
      pattern: namePattern.source,
    },
  )
  return refined(anyText, schema, (name) =>
    namePattern.test(name)
      ? name
      : new Fault(
          'format',
          'must begin with a letter (A to Z) and have at most 64 of A to Z, digits and . _ -',
        ),
  )
}

/** `me` is the reader in a filter, and `person-17` a person whose name was erased. */
const reservedName = /^(?:[Mm][Ee]|[Pp][Ee][Rr][Ss][Oo][Nn]-\d+)$/

/** The name of a user or a service. */
export function accountNameField(description: string, example: string): Field<string> {
  const field = nameField(`${description} Not \`me\`, nor \`person-\` and a number.`, example)
  return refined(field, { ...field.schema, not: { pattern: reservedName.source } }, (name) =>
    reservedName.test(name) ? new Fault('reserved', 'must not be me, nor person- and a number.') : name,
  )
}

/** Characters that change the order in which a text is read. Names in two directions do not need them. */
const reordering = '\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069'
const reorders = new RegExp(`[${reordering}]`)
/** A plain pattern cannot express it, so the description says it in words. */
const canBeSeen =
  /[[\p{L}\p{N}\p{P}\p{S}]--[\p{Default_Ignorable_Code_Point}\u2800\ufffc\u{13441}\u{13442}\u{1d159}]]/v

/**
 * A pattern of one code point that is none of these, which means the same with the flag `u` and without:
 * generated clients leave it out, and a pair of surrogates would count twice.
 */
function codePoint(excluded: string): string {
  return `(?:[\\ud800-\\udbff][\\udc00-\\udfff]|[^${excluded}\\ud800-\\udfff])`
}

/**
 * Text that people write for others: trimmed, 1 to `limit` code points, at least one of them visible, and
 * none that controls or reorders text. It is then normalized to NFC. Line breaks are allowed with `lines`; a
 * file name has no slash and no backslash.
 */
export function legibleText(
  limit: number,
  description: string,
  example: string,
  { lines = false, isFileName = false } = {},
): Field<string> {
  const controls = `\\u0000-${lines ? '\\u0009\\u000b\\u000c\\u000e-' : ''}\\u001f\\u007f-\\u009f`
  const controlling = new RegExp(`[${controls}]`)
  const barred = `${controls}${reordering}${isFileName ? '/\\\\' : ''}`
  const edge = codePoint(`\\s${barred}`)
  return {
    schema: Type.String({
      pattern: `^\\s*${edge}(?:${codePoint(barred)}{0,${limit - 2}}${edge})?\\s*$`,
      description: `${description} White space at both ends is trimmed. The rest has 1 to ${limit} characters (Unicode code points). No control characters${lines ? ' except line breaks' : ''}, none that reorder text (such as U+202E)${isFileName ? ', no / and no \\' : ''}, and at least one visible letter, digit, punctuation mark or symbol. Stored in normalisation form C.`,
      examples: [example],
    }),
    read(value) {
      if (typeof value !== 'string') return new Fault('type', 'must be a string.')
      if (!value.isWellFormed()) return new Fault('encoding', 'must be well-formed Unicode.')
      const trimmed = value.trim()
      if (trimmed === '') return new Fault('length', 'must not be blank.')
      if (codePoints(trimmed) > limit) return new Fault('length', `must have at most ${limit} characters.`)
      if (controlling.test(trimmed)) {
        return new Fault(
          'characters',
          `must not contain control characters${lines ? ' other than line breaks' : ''}.`,
        )
      }
      if (reorders.test(trimmed)) {
        return new Fault('characters', 'must not contain characters that reorder text.')
      }
      if (isFileName && /[/\\]/.test(trimmed)) return new Fault('characters', 'must not contain / or \\.')
      if (!canBeSeen.test(trimmed)) return new Fault('characters', 'must contain a visible character.')
      return trimmed.normalize('NFC')
    },
  }
}

const withoutControls = /^\P{Cc}*$/u

/** How to search a list by names. */
export const beginningField: Field<string> = {
  schema: Type.String({
    maxLength: 254,
    pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$',
    description: 'How the name begins; case is ignored.',
    examples: ['jo'],
  }),
  read(value) {
    const text = textField(1, 254).read(value)
    const isFaulty = typeof text === 'string' && !withoutControls.test(text)
    return isFaulty ? new Fault('characters', 'must not contain control characters.') : text
  },
}

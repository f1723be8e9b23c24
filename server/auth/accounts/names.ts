import { namePattern } from '../../http/text.ts'

export function isAccountName(text: string): boolean {
  return namePattern.test(text)
}

/** Controls, invisible characters and those that reorder text: they could make two emails look alike. */
const unseen = '\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f'
/** Signs that mean something between addresses (RFC 5322 §3.2.3): mail to `a@x.example>` would go nowhere. */
const specials = '()<>[\\]:;,"\\\\'
export const emailPattern = new RegExp(`^[^@\\s${specials}${unseen}]+@[^@\\s${specials}${unseen}]+$`)

/**
 * The stored form of an email: lower case. Undefined unless it has 3 to 254 code points, exactly one @
 * between non-empty sides, no spaces, none of `()<>[]:;,"\` and no invisible characters.
 */
export function normalizeEmail(text: string): string | undefined {
  const email = text.toLowerCase()
  const shaped = emailPattern.test(email) && email.isWellFormed()
  return shaped && [...text].length <= 254 ? email : undefined
}

/**
 * User names and clientIds share one form and one name space (section 6 of the contract). No name looks like a number.
 */
export function isAccountName(text: string): boolean {
  return /^[A-Za-z][A-Za-z0-9._-]{0,63}$/.test(text)
}

/**
 * The stored form of an email: lower case. Undefined unless it has 3 to 254 code points, exactly one @ between
 * non-empty sides, and neither spaces nor control characters.
 */
export function normalizeEmail(text: string): string | undefined {
  const email = text.toLowerCase()
  const shaped = /^[^@\s\p{Cc}]+@[^@\s\p{Cc}]+$/u.test(email) && email.isWellFormed()
  return shaped && [...text].length <= 254 ? email : undefined
}

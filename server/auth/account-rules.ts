import { commonPasswords, commonPieces } from './common-passwords.ts'

/** Section 6: user names and clientIds have one form and share one name space; no name can pass for a number. */
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
  return shaped && [...email].length <= 254 ? email : undefined
}

export const passwordMinimum = 15
const passwordMaximum = 256

/** Fewer different characters, or runs such as `abc`, `321`, `qwert` and `aaa`, than this are guessed at once. */
const varietyMinimum = 5

/** A piece that is shorter than this adds nothing by being repeated. */
const pieceMinimum = 6

/**
 * The rule that a new password breaks, as the end of a sentence that begins with "the password", or undefined. Length
 * and a list of common ones, no rules of composition (NIST SP 800-63B §3.1.1.2); `names` are what belongs to the
 * account, such as user name and email. Nothing is looked up outside the process, and the text never contains the
 * password.
 */
export function passwordFault(password: string, names: readonly string[]): string | undefined {
  if (!password.isWellFormed()) return 'is not well-formed Unicode'
  if (/[\p{Cc}\p{Zl}\p{Zp}\uFEFF]/u.test(password)) return 'contains a control character or a line break'
  const characters = [...password]
  if (characters.length < passwordMinimum) return `has fewer than ${passwordMinimum} characters`
  if (characters.length > passwordMaximum) return `has more than ${passwordMaximum} characters`
  const folded = [...password.normalize('NFKC').toLowerCase()]
  if (new Set(folded).size < varietyMinimum) return `has fewer than ${varietyMinimum} different characters`
  if (repeatsShortPiece(folded)) return 'repeats a short piece'
  if (countRuns(folded) < varietyMinimum) return 'is a sequence of keys, letters or digits'
  const compact = compactForms(folded.join(''))
  if (compact.some((form) => commonPasswords.has(form))) return 'is on the list of common passwords'
  const pieces = [...commonPieces, ...names.flatMap(nameParts)]
  if (compact.some((form) => hasNothingBesides(form, pieces))) return 'is nothing but names and common words'
  return undefined
}

/** True for copies (the last may be cut) of a piece of a few characters. */
function repeatsShortPiece(characters: string[]): boolean {
  for (let period = 1; period < pieceMinimum && period * 2 <= characters.length; period += 1) {
    if (characters.every((character, index) => index < period || character === characters[index - period])) {
      return true
    }
  }
  return false
}

const rows = [
  'abcdefghijklmnopqrstuvwxyz',
  '01234567890',
  'qwertyuiop',
  'qwertzuiop',
  'asdfghjkl',
  'zxcvbnm',
  'azertyuiop',
]
const neighbours = new Set(
  rows.flatMap((row) =>
    [...row].slice(1).flatMap((character, index) => [row[index] + character, character + row[index]]),
  ),
)

/** How many stretches of equal or neighbouring characters the text falls into. */
function countRuns(characters: string[]): number {
  let runs = 1
  for (const [index, character] of characters.entries()) {
    const previous = characters[index - 1]
    if (previous !== undefined && previous !== character && !neighbours.has(previous + character)) runs += 1
  }
  return runs
}

const lookalikes: Record<string, string> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
  '!': 'i',
}

/** Letters and digits only: as written, and with lookalikes read as the letters that they stand for. */
function compactForms(folded: string): string[] {
  const read = folded.replace(/[013457@$!]/g, (sign) => lookalikes[sign] ?? sign)
  return [folded, read].map((text) => text.replace(/[^\p{L}\p{N}]/gu, ''))
}

function hasNothingBesides(compact: string, pieces: readonly string[]): boolean {
  const longestFirst = [...new Set(pieces)].sort((a, b) => b.length - a.length)
  const remainder = longestFirst.reduce((rest, piece) => rest.replaceAll(piece, ' '), compact)
  return compact !== '' && remainder.trim() === ''
}

/** The words of a name or email, three letters or longer. */
function nameParts(name: string): string[] {
  const words = name
    .normalize('NFKC')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
  return [...words, words.join('')].filter((word) => word.length >= 3)
}

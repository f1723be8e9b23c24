import { commonPasswords, commonPieces, commonWords } from './common-passwords.ts'

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
  if (repeatsPiece(folded, pieceMinimum)) return 'repeats a short piece'
  if (countRuns(folded) < varietyMinimum) return 'is a sequence of keys, letters or digits'
  const compact = compactForms(folded.join(''))
  if (compact.some((form) => commonPasswords.has(form))) return 'is on the list of common passwords'
  const pieces = [...commonPieces, ...names.flatMap(nameParts)]
  if (compact.some((form) => hasNothingBesides(form, pieces))) return 'is nothing but names and common words'
  if (repeatsPiece(folded, passwordMinimum)) return 'repeats a short piece'
  if (worthOf(folded, [...pieces, ...commonWords, ...commonPasswords]) < worthMinimum) {
    return 'is little more than common words, years and sequences'
  }
  return undefined
}

/** True for copies (the last may be cut) of a piece of fewer than `limit` characters. */
function repeatsPiece(characters: string[], limit: number): boolean {
  for (let period = 1; period < limit && period * 2 <= characters.length; period += 1) {
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
const neighbours = new Set(rows.flatMap(pairs))

function pairs(row: string): string[] {
  return [...row].slice(1).flatMap((character, index) => [row[index] + character, character + row[index]])
}

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

/** What a sign or digit may stand for in a word: a letter that it looks like, or the key on which it is. */
const readings: Record<string, string> = {
  '0': 'o',
  '1': 'il',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '6': 'g',
  '7': 't',
  '8': 'b',
  '9': 'g',
  '!': 'il1',
  '@': 'a2',
  '#': '3',
  $: 's4',
  '%': '5',
  '^': '6',
  '&': '7',
  '*': '8',
  '(': '9',
  ')': '0',
}

const keyColumns = ['1qaz', '2wsx', '3edc', '4rfv', '5tgb', '6yhn', '7ujm']
const walks = new Set([...neighbours, ...keyColumns.flatMap(pairs)])

/** A password is worth at least so many characters, a common word being worth this many of them. */
const worthMinimum = 7.5
const wordWorth = 2.5
const sequenceMinimum = 3
/** A word of so many letters or fewer is worth one character, as a sequence is. */
const smallWord = 3

/**
 * How many characters, not to be foreseen, a password is worth: less than it has where it holds common words, years and
 * sequences (`Password2024!`, `michael12345678`). The longest word at each place counts; what separates them, and the
 * same word or sign again, counts for nothing.
 */
function worthOf(folded: string[], words: readonly string[]): number {
  const byStart = Map.groupBy(words, ([start]) => start)
  const found = new Set<string>()
  let others = 0
  for (let at = 0; at < folded.length; ) {
    const word = longestWordAt(folded, at, byStart)
    const sequence = sequenceAt(folded, at)
    const isSeparator = /[\s._-]/.test(folded[at] ?? '') || folded[at] === folded[at - 1]
    if (word.length > smallWord && word.length > sequence) found.add(word)
    else if (word !== '' || sequence > 0 || !isSeparator) others += 1
    at += Math.max(word.length, sequence, 1)
  }
  return found.size * wordWorth + others
}

function longestWordAt(folded: string[], at: number, byStart: Map<string | undefined, string[]>): string {
  return readingsOf(folded[at])
    .flatMap((start) => byStart.get(start) ?? [])
    .filter((word) => isReadAt(folded, at, word))
    .reduce((longest, word) => (word.length > longest.length ? word : longest), '')
}

/** As it is written, or read; a number is not read as a word. */
function isReadAt(folded: string[], at: number, word: string): boolean {
  const letters = [...word]
  return (
    letters.every((letter, index) => readingsOf(folded[at + index]).includes(letter)) &&
    letters.some((letter, index) => folded[at + index] === letter)
  )
}

function readingsOf(character = ''): string[] {
  return [character, ...(readings[character] ?? '')]
}

/** The length of the year, or of the run of equal or neighbouring keys, letters or digits, that begins here. */
function sequenceAt(folded: string[], at: number): number {
  let end = at + 1
  while (end < folded.length) {
    const [previous, next] = [folded[end - 1] ?? '', folded[end] ?? '']
    if (previous !== next && !walks.has(previous + next)) break
    end += 1
  }
  const run = end - at >= sequenceMinimum ? end - at : 0
  const year = /^(?:19|20)\d\d$/.test(folded.slice(at, at + 4).join('')) ? 4 : 0
  return Math.max(run, year)
}

/** The words of a name or email, three letters or longer. */
function nameParts(name: string): string[] {
  const words = name
    .normalize('NFKC')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
  return [...words, words.join('')].filter((word) => word.length >= 3)
}

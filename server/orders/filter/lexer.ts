import { FilterError } from './fault.ts'

/** `position` and `length` are UTF-16 code units of the filter text. */
export type Token = {
  kind: 'word' | 'string' | 'operator' | 'minus' | 'open' | 'close' | 'end'
  position: number
  length: number
  /** What a word or a string means, escapes resolved; of other tokens the characters themselves. */
  text: string
  /** An unescaped `*` is the first, or the last, character of `text`; of the text `*` both are true. */
  starFirst: boolean
  starLast: boolean
  spaceBefore: boolean
}

export const maximumLengthCodePoints = 1000

/** The operators, longest first, as they are to be tried. */
const operators = ['!=', '<=', '>=', '=', '<', '>', ':']

const code = (character: string) => character.charCodeAt(0)
const minus = code('-')
const star = code('*')
const backslash = code('\\')
const colon = code(':')
const semicolon = code(';')
const open = code('(')
const close = code(')')
const doubleQuote = code('"')
const singleQuote = code("'")
const operatorStarts = new Set(Array.from('=!<>', code))
const wordEnds = new Set(Array.from('()=!<>;', code))

/**
 * Throws a FilterError for a text that is too long, or that holds what must never reach a database whatever the
 * syntax around it: control characters (PostgreSQL refuses NUL; tab, CR and LF stay, as white space) and lone
 * surrogates, which have no UTF-8.
 */
export function checkCharacters(text: string): void {
  let codePoints = 0
  for (let at = 0; at < text.length; ) {
    if (codePoints === maximumLengthCodePoints) {
      const detail = `A filter has at most ${maximumLengthCodePoints} characters.`
      throw new FilterError(at, text.length - at, detail)
    }
    const unit = text.charCodeAt(at)
    const paired = isHighSurrogate(unit) && at + 1 < text.length && isLowSurrogate(text.charCodeAt(at + 1))
    if (!paired && (isHighSurrogate(unit) || isLowSurrogate(unit))) {
      throw new FilterError(at, 1, 'Half a surrogate pair is not a character.')
    }
    if (isControl(unit) && !isSpace(unit)) {
      throw new FilterError(at, 1, 'A filter has no control characters.')
    }
    at += paired ? 2 : 1
    codePoints += 1
  }
}

/**
 * The token at or after `from`; at the end of the text, always an `end` token. After an operator a word may contain
 * `:` and begin with `-`, as times, zones and numbers do. Each call looks at the characters of its token only, so
 * reading a text from token to token is linear in its length. Throws a FilterError for a quoted text without its
 * end, and for a character that begins no token.
 */
export function readToken(text: string, from: number, afterOperator: boolean): Token {
  let position = from
  while (position < text.length && isSpace(text.charCodeAt(position))) position += 1
  const spaceBefore = position > from
  const at = (kind: Token['kind'], length: number): Token => ({
    kind,
    position,
    length,
    text: text.slice(position, position + length),
    starFirst: false,
    starLast: false,
    spaceBefore,
  })
  if (position === text.length) return at('end', 0)
  const first = text.charCodeAt(position)
  if (first === open) return at('open', 1)
  if (first === close) return at('close', 1)
  if (first === minus && !afterOperator) return at('minus', 1)
  if (operatorStarts.has(first) || (first === colon && !afterOperator)) {
    return at('operator', operatorLength(text, position))
  }
  if (first === doubleQuote || first === singleQuote)
    return { ...at('string', 0), ...readString(text, position) }
  if (first === semicolon) {
    throw new FilterError(
      position,
      1,
      '`;` has no meaning in a filter; a text that has one stands in quotes.',
    )
  }
  return { ...at('word', 0), ...readWord(text, position, afterOperator) }
}

function operatorLength(text: string, position: number): number {
  const start = text.slice(position, position + 2)
  const operator = operators.find((candidate) => start.startsWith(candidate))
  if (operator === undefined) throw new FilterError(position, 1, '`!` is only used in `!=`.', ['!='])
  return operator.length
}

type Content = Pick<Token, 'length' | 'text' | 'starFirst' | 'starLast'>

/** The backslash escapes whatever follows it; the text ends at the quote it began with. */
function readString(text: string, position: number): Content {
  const quote = text.charCodeAt(position)
  const parts: string[] = []
  let partStart = position + 1
  let starLast = false
  for (let at = partStart; at < text.length; at += 1) {
    let unit = text.charCodeAt(at)
    if (unit === quote) {
      const starFirst = text.charCodeAt(position + 1) === star
      parts.push(text.slice(partStart, at))
      return { length: at + 1 - position, text: parts.join(''), starFirst, starLast }
    }
    starLast = unit === star
    if (unit === backslash && at + 1 < text.length) {
      parts.push(text.slice(partStart, at))
      at += 1
      partStart = at
      unit = text.charCodeAt(at)
    }
    if (isControl(unit)) throw new FilterError(at, 1, 'A quoted text has no tabs or line breaks.')
  }
  const closing = String.fromCharCode(quote)
  const detail = `The text in quotes that begins here has no closing ${closing}.`
  throw new FilterError(position, text.length - position, detail, [closing])
}

/** A word has one escape, `\*` for a star that is no wildcard; any other backslash stands for itself. */
function readWord(text: string, position: number, colonAllowed: boolean): Content {
  const parts: string[] = []
  let partStart = position
  let starLast = false
  let at = position
  for (; at < text.length; at += 1) {
    const unit = text.charCodeAt(at)
    if (isSpace(unit) || wordEnds.has(unit) || (unit === colon && !colonAllowed)) break
    starLast = unit === star
    if (unit === backslash && text.charCodeAt(at + 1) === star) {
      parts.push(text.slice(partStart, at))
      at += 1
      partStart = at
    }
  }
  parts.push(text.slice(partStart, at))
  const starFirst = text.charCodeAt(position) === star
  return { length: at - position, text: parts.join(''), starFirst, starLast }
}

/** Tab, CR, LF, and the space characters of Unicode, which come with texts pasted from documents. */
function isSpace(unit: number): boolean {
  if (unit <= 0x20) return unit === 0x20 || unit === 0x09 || unit === 0x0a || unit === 0x0d
  if (unit < 0x1680) return unit === 0xa0
  if (unit >= 0x2000 && unit <= 0x200a) return true
  return [0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000].includes(unit)
}

function isControl(unit: number): boolean {
  return unit < 0x20 || (unit >= 0x7f && unit <= 0x9f)
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff
}

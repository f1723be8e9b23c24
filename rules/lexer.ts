/**
 * The words and signs of the filter language. The server's parser and the search box of the web app read
 * texts with this one lexer, so it imports nothing. It never throws: a search box shows texts that are still
 * being typed, and the parser refuses the first token with a fault.
 */

/**
 * What is wrong with a filter text, and where: `position` and `length` are UTF-16 code units of the text as
 * it was given, so that a web page can underline it with `slice`. A text that ends too early has its fault at
 * `text.length` with length 0.
 */
export interface FilterFault {
  position: number
  length: number
  /** A sentence for people, with a short excerpt of the text at most. */
  detail: string
  /** Texts that could be there; empty if none would help. */
  expected: readonly string[]
  /** What was probably meant: in place of the faulty part, it corrects the fault. */
  suggestion?: string
}

export type Token = {
  /** `junk` is a character that begins no token: a semicolon, or a `!` alone. */
  kind: 'word' | 'string' | 'operator' | 'minus' | 'open' | 'close' | 'junk' | 'end'
  position: number
  length: number
  /** The meaning of a word or a string, with escapes resolved; the characters themselves for other tokens. */
  text: string
  /**
   * Whether an unescaped `*` is the first, or the last, character of `text`. For the text `*` both are true.
   */
  starFirst: boolean
  starLast: boolean
  spaceBefore: boolean
  /** The characters that would close a string at the end of the text; empty for a closed string. */
  closing: string
  fault: FilterFault | undefined
}

export const maximumLengthCodePoints = 1000
/** Words that are not values. They count only in upper case. */
export const keywords: readonly string[] = ['AND', 'OR', 'NOT']

/** The operators in the order in which they are tried: longest first. */
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
 * The fault of a text that is too long, or that has characters which must never reach a database: control
 * characters (PostgreSQL refuses NUL; tab, CR and LF stay, as white space) and lone surrogates, which have no
 * UTF-8.
 */
export function faultOfCharacters(text: string): FilterFault | undefined {
  let codePoints = 0
  for (let at = 0; at < text.length; ) {
    if (codePoints === maximumLengthCodePoints) {
      const detail = `A filter can have at most ${maximumLengthCodePoints} characters.`
      return { position: at, length: text.length - at, detail, expected: [] }
    }
    const unit = text.charCodeAt(at)
    const paired = isHighSurrogate(unit) && at + 1 < text.length && isLowSurrogate(text.charCodeAt(at + 1))
    if (!paired && (isHighSurrogate(unit) || isLowSurrogate(unit))) {
      return faultAt(at, 'Half a surrogate pair is not a character.')
    }
    if (isControl(unit) && !isSpace(unit)) {
      return faultAt(at, 'A filter cannot contain control characters.')
    }
    at += paired ? 2 : 1
    codePoints += 1
  }
  return undefined
}

/** The fault of one character. */
function faultAt(position: number, detail: string, expected: readonly string[] = []): FilterFault {
  return { position, length: 1, detail, expected }
}

/**
 * The token at or after `from`; an `end` token at the end of the text. After an operator a word may contain
 * `:` and begin with `-`, as times, zones and numbers do. Each call looks at the characters of its token
 * only, so reading a text from token to token is linear in its length.
 */
export function readToken(text: string, from: number, afterOperator: boolean): Token {
  let position = from
  while (position < text.length && isSpace(text.charCodeAt(position))) position += 1
  const spaceBefore = position > from
  const at = (kind: Token['kind'], length: number, fault?: FilterFault): Token => ({
    kind,
    position,
    length,
    text: text.slice(position, position + length),
    starFirst: false,
    starLast: false,
    spaceBefore,
    closing: '',
    fault,
  })
  if (position === text.length) return at('end', 0)
  const first = text.charCodeAt(position)
  if (first === open) return at('open', 1)
  if (first === close) return at('close', 1)
  if (first === minus && !afterOperator) return at('minus', 1)
  if (operatorStarts.has(first) || (first === colon && !afterOperator)) {
    const start = text.slice(position, position + 2)
    const operator = operators.find((candidate) => start.startsWith(candidate))
    if (operator !== undefined) return at('operator', operator.length)
    return at('junk', 1, faultAt(position, '`!` is only used in `!=`.', ['!=']))
  }
  if (first === doubleQuote || first === singleQuote) {
    return { ...at('string', 0), ...readString(text, position) }
  }
  if (first === semicolon) {
    return at(
      'junk',
      1,
      faultAt(position, '`;` has no meaning here. To search for it, put the text in quotes.'),
    )
  }
  return { ...at('word', 0), ...readWord(text, position, afterOperator) }
}

/** All tokens, up to the end or the first one with a fault, which is the last then. */
export function tokensOf(text: string): Token[] {
  const tokens: Token[] = []
  for (let last: Token | undefined; last?.kind !== 'end' && last?.fault === undefined; ) {
    const from = last === undefined ? 0 : last.position + last.length
    last = readToken(text, from, last?.kind === 'operator')
    tokens.push(last)
  }
  return tokens
}

type Content = Pick<Token, 'length' | 'text' | 'starFirst' | 'starLast'>

/** A backslash escapes the next character. The string ends at the kind of quote that began it. */
function readString(text: string, position: number): Content & Pick<Token, 'closing' | 'fault'> {
  const quote = text.charCodeAt(position)
  const starFirst = text.charCodeAt(position + 1) === star
  const parts: string[] = []
  let partStart = position + 1
  let starLast = false
  let endsInBackslash = false
  let fault: FilterFault | undefined
  for (let at = partStart; at < text.length; at += 1) {
    let unit = text.charCodeAt(at)
    if (unit === quote) {
      parts.push(text.slice(partStart, at))
      return { length: at + 1 - position, text: parts.join(''), starFirst, starLast, closing: '', fault }
    }
    starLast = unit === star
    if (unit === backslash) {
      if (at + 1 === text.length) {
        endsInBackslash = true
        break
      }
      parts.push(text.slice(partStart, at))
      at += 1
      partStart = at
      unit = text.charCodeAt(at)
    }
    if (isControl(unit)) fault ??= faultAt(at, 'A quoted text cannot contain tabs or line breaks.')
  }
  parts.push(text.slice(partStart, text.length))
  const missing = String.fromCharCode(quote)
  const length = text.length - position
  const detail = `Add a closing ${missing} to the text in quotes.`
  fault ??= { position, length, detail, expected: [missing] }
  // A trailing backslash escapes nothing yet, but would escape the quote.
  const closing = endsInBackslash ? `\\${missing}` : missing
  return { length, text: parts.join(''), starFirst, starLast, closing, fault }
}

/** A word has one escape, `\*` for a star that is not a wildcard. Any other backslash is itself. */
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

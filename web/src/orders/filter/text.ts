import { keywords, readToken } from '../../../../rules/lexer.ts'
import { findField, type SearchField, searchFields } from '../fields.ts'

/**
 * The filter language as the search box sees it: the server's lexer, without its strict parser. Nothing here
 * throws, for any text. Only the server says whether a text is a filter, and what it means. Positions are
 * UTF-16 code units.
 */

type Lexed = ReturnType<typeof readToken>

export interface Token {
  kind: Exclude<Lexed['kind'], 'end'> | 'keyword'
  from: number
  to: number
  /** As written, with quotes and escapes. */
  text: string
  /** The content of a word or a string. */
  meaning: string
  spaceBefore: boolean
  /** The quote that would close a string at the end of the text; otherwise empty. */
  closing: string
  isFaulty: boolean
}

/** All tokens, in order, with only white space between them. Linear in the length of the text. */
export function readTokens(text: string): Token[] {
  const tokens: Token[] = []
  let lexed = readToken(text, 0, false)
  while (lexed.kind !== 'end') {
    const { kind, position: from, length, text: meaning, spaceBefore, closing, fault } = lexed
    const to = from + length
    const isKeyword = kind === 'word' && keywords.includes(meaning)
    tokens.push({
      kind: isKeyword ? 'keyword' : kind,
      from,
      to,
      text: text.slice(from, to),
      meaning,
      spaceBefore,
      closing,
      isFaulty: fault !== undefined,
    })
    lexed = readToken(text, to, kind === 'operator')
  }
  return tokens
}

/** The field that the token there names, or would name if an operator followed. */
export function fieldAt(tokens: Token[], index: number): SearchField | undefined {
  const token = tokens[index]
  return token?.kind === 'word' && tokens[index - 1]?.kind !== 'operator' ? findField(token.text) : undefined
}

/** A shorter word is more often a search than the beginning of a field. */
const shortestBeginning = 3

/**
 * Whether the text ends in the name of a field or the beginning of one. Then more will follow, and a search
 * for the word would find nothing.
 */
export function isHalfTyped(text: string): boolean {
  const tokens = readTokens(text)
  const last = tokens.at(-1)
  if (last === undefined || last.meaning.length < shortestBeginning) return false
  if (last.to < text.length) return fieldAt(tokens, tokens.length - 1) !== undefined
  const typed = last.text.toLowerCase()
  const isFree = last.kind === 'word' && tokens.at(-2)?.kind !== 'operator'
  return isFree && searchFields.some(({ name }) => name.toLowerCase().startsWith(typed))
}

/** Conjunctions of other languages. Next to a restriction or a parenthesis, they are text in quotes only. */
const foreignConjunction = /^(?:and|or|not|&&?|\|\|?|,)$/i

export function quoteConjunction(text: string): string {
  return foreignConjunction.test(text) && !keywords.includes(text) ? `"${text}"` : text
}

/**
 * The value as one token that means exactly it, alone or after an operator: in double quotes unless it is
 * plain. A star at either end is escaped, so that it is not a wildcard. The language has no form for control
 * characters and lone surrogates: they stay, and the server refuses them.
 */
export function quoteValue(value: string): string {
  const isPlain = /^[^\s\\"'()=!<>;:*-][^\s\\"'()=!<>;:*]*$/.test(value) && !keywords.includes(value)
  return isPlain ? value : `"${value.replace(/[\\"]|^\*|\*$/g, '\\$&')}"`
}

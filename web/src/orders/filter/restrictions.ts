import type { FieldName } from '../fields.ts'
import { type StateName, stateOf } from '../states.ts'
import { fieldAt, quoteConjunction, readTokens, type Token } from './text.ts'

interface Restriction {
  /** The indexes of its field and its value among the tokens. */
  first: number
  last: number
  operator: string
  /** The meaning of its value. */
  value: string
}

/**
 * The restrictions of a field. `null` where `withRestriction` could not change them: the text is not a
 * well-formed filter, or it restricts the field within OR, NOT, `-` or parentheses.
 */
export function restrictionsOf(text: string, field: FieldName): readonly Restriction[] | null {
  return readRestrictions(readTokens(text), field)
}

/**
 * The text with `wanted` as its only restriction of the field, or without any if it is `null`. It takes the
 * place of the first one there was, or goes to the end. Everything else stays as written, except white space
 * at the ends. Returns `null` where `restrictionsOf` does.
 */
export function withRestriction(text: string, field: FieldName, wanted: string | null): string | null {
  const tokens = readTokens(text)
  const found = readRestrictions(tokens, field)
  if (found === null) return null
  const kept: Piece[] = []
  let at = 0
  for (const { first, last } of found) {
    kept.push(...tokens.slice(at, first))
    at = last + 1
    const from = tokens[first]?.from ?? 0
    if (wanted !== null && first === found[0]?.first) {
      kept.push({ from, to: tokens[last]?.to ?? from, text: wanted })
    } else if (tokens[at]?.text === 'AND') at += 1
    else if (kept.at(-1)?.text === 'AND') kept.pop()
  }
  kept.push(...tokens.slice(at))
  if (wanted !== null && found.length === 0) kept.push({ from: text.length, to: text.length, text: wanted })
  return joined(text, tokens, kept.map(asText))
}

/** Next to a restriction, the service takes `and` for a mistake. In quotes it is a text, as it was before. */
const asText = (piece: Piece): Piece => ({ ...piece, text: quoteConjunction(piece.text) })

/** The one status that the text requires, if `withStatus` could change it; else `null`. */
export function requiredStatus(text: string): StateName | null {
  const required = restrictionsOf(text, 'status')?.map(({ operator, value }) =>
    operator === '=' || operator === ':' ? stateOf(value) : null,
  )
  const [first = null] = required ?? []
  return required?.every((status) => status === first) ? first : null
}

/** Like `withRestriction`, for one status or for any. */
export function withStatus(text: string, status: StateName | null): string | null {
  return withRestriction(text, 'status', status && `status=${status}`)
}

type Piece = Pick<Token, 'from' | 'to' | 'text'>

/** The pieces with the white space between them, or one space where there was something else. */
function joined(text: string, tokens: Token[], pieces: Piece[]): string {
  const ends = new Map(tokens.map((token, index) => [token.to, tokens[index + 1]?.from]))
  let previous: Piece | undefined
  let result = ''
  for (const piece of pieces) {
    if (previous !== undefined) {
      result += ends.get(previous.to) === piece.from ? text.slice(previous.to, piece.from) : ' '
    }
    result += piece.text
    previous = piece
  }
  return result
}

/**
 * The restrictions of the field, each an operand of the outermost AND. `null` when one is not, or when the
 * tokens are not those of a filter (apart from values and limits): its text cannot be edited in parts.
 */
function readRestrictions(tokens: Token[], field: FieldName): Restriction[] | null {
  if (tokens.some(({ isFaulty }) => isFaulty)) return null
  const found: Restriction[] = []
  let depth = 0
  let wantsTerm = true
  for (let index = 0; index < tokens.length; index += 1) {
    const token = tokens[index]
    if (token === undefined) return null
    if (!wantsTerm && token.kind === 'close' && depth > 0) {
      depth -= 1
      continue
    }
    const before = tokens[index - 1]
    if (!mayFollow(token, before)) return null
    if (token.kind === 'word' || token.kind === 'string') {
      const last = tokens[index + 1]?.kind === 'operator' ? index + 2 : index
      if (last > index && !isComparison(tokens, index)) return null
      if (last > index && fieldAt(tokens, index)?.name === field) {
        if (depth > 0 || isNegation(before) || [before, tokens[last + 1]].some(isOr)) return null
        const [operator = '', value = ''] = tokens.slice(last - 1, last + 1).map(({ meaning }) => meaning)
        found.push({ first: index, last, operator, value })
      }
      index = last
      wantsTerm = false
    } else {
      const isDoubleNegation = isNegation(token) && isNegation(before)
      const startsTerm = token.kind === 'open' || isNegation(token)
      const joinsTerms = token.kind === 'keyword' && !wantsTerm
      if (isDoubleNegation || !(startsTerm || joinsTerms)) return null
      if (token.kind === 'open') depth += 1
      wantsTerm = true
    }
  }
  return depth === 0 && (!wantsTerm || tokens.length === 0) ? found : null
}

/** Whether the white space between the two tokens, or its absence, is allowed. */
function mayFollow(token: Token, before: Token | undefined): boolean {
  if (before === undefined || before.kind === 'open') return true
  return token.spaceBefore === (before.kind !== 'minus')
}

function isComparison(tokens: Token[], index: number): boolean {
  const value = tokens[index + 2]
  const hasValue = value?.kind === 'word' || value?.kind === 'string'
  return hasValue && fieldAt(tokens, index) !== undefined
}

function isNegation(token: Token | undefined): boolean {
  return token?.kind === 'minus' || (token?.kind === 'keyword' && token.text === 'NOT')
}

function isOr(token: Token | undefined): boolean {
  return token?.kind === 'keyword' && token.text === 'OR'
}

import type { FilterFault, Token } from '../../../rules/lexer.ts'
import { orderStatusNames } from '../order.ts'
import { findField } from './fields.ts'

/**
 * Words that are conditions in SQL, OData and other query languages. Here they would be searched for as text
 * and find nothing, so a filter that seems to use one as a condition is refused with what to write instead.
 */
const comparisons = new Map(
  Object.entries({
    ...{ eq: '=', ne: '!=', gt: '>', ge: '>=', lt: '<', le: '<=', neq: '!=', gte: '>=', lte: '<=' },
    ...{ '~': ':', '≥': '>=', '≤': '<=', '≠': '!=' },
  }),
)
const patterns = ['like', 'ilike', 'contains']
const conjunctions = new Map(
  Object.entries({
    and: 'AND',
    '&': 'AND',
    '&&': 'AND',
    ',': 'AND',
    or: 'OR',
    '|': 'OR',
    '||': 'OR',
    not: 'NOT',
  }),
)
const inQuotes = 'To search for these words as text, put them in quotes.'
const empty = ['null', 'empty']

/** The first of these words, with what to write instead. */
export function foreignWord(tokens: readonly Token[]): FilterFault | undefined {
  for (const at of tokens.keys()) {
    const found = glued(tokens, at) ?? afterField(tokens, at) ?? conjunction(tokens, at)
    if (found !== undefined) return found
  }
  return undefined
}

const isWord = (token: Token | undefined): token is Token => token?.kind === 'word'
const wordOf = (token: Token | undefined) => (isWord(token) ? token.text.toLowerCase() : '')

/** Whether it is a word by itself: neither the value of an operator nor the name before one. */
function isBare(tokens: readonly Token[], at: number): boolean {
  return isWord(tokens[at]) && tokens[at - 1]?.kind !== 'operator' && tokens[at + 1]?.kind !== 'operator'
}

function faultOf({ position, length }: Token, detail: string, suggestion?: string): FilterFault {
  const expected = suggestion === undefined ? [] : [suggestion]
  const fault = { position, length, detail: `${detail} ${inQuotes}`, expected }
  return suggestion === undefined ? fault : { ...fault, suggestion }
}

/** `total.gt.100`, `status|eq|Pending`, `customer~acme`. */
function glued(tokens: readonly Token[], at: number): FilterFault | undefined {
  const token = tokens[at]
  if (!isWord(token) || tokens[at - 1]?.kind === 'operator') return undefined
  const [, name = '', word, value = ''] = /^([a-z]+)(?:[.|]([a-z]+)[.|]|~)(.*)$/is.exec(token.text) ?? []
  const operator = word === undefined ? ':' : comparisons.get(word.toLowerCase())
  if (findField(name) === undefined || operator === undefined) return undefined
  const written = `${name}${operator}${value}`
  return value === ''
    ? faultOf(token, `Write \`${written}\` and a value.`)
    : faultOf(token, `Write \`${written}\`.`, written)
}

/** A word after the name of a field: `total gt 100`, `status in (`, `customer like '%a'`, `total is null`. */
function afterField(tokens: readonly Token[], at: number): FilterFault | undefined {
  const [name, token, next] = [tokens[at - 1], tokens[at], tokens[at + 1]]
  if (token === undefined || !isBare(tokens, at) || !isBare(tokens, at - 1) || !isWord(name)) return undefined
  if (findField(name.text) === undefined) return undefined
  const [field, word] = [name.text, token.text.toLowerCase()]
  const operator = comparisons.get(word)
  if (operator !== undefined) {
    return faultOf(token, `Write \`${operator}\` instead of \`${token.text}\`.`, operator)
  }
  const isNegated = word === 'not'
  const meant = comparedBy(isNegated ? wordOf(next) : word, isNegated ? tokens[at + 2] : next, field)
  if (meant !== undefined) return faultOf(token, `Write \`${isNegated ? `NOT ${meant}` : meant}\`.`)
  return word === 'is' ? afterIs(tokens, at, field) : undefined
}

/** The condition to write for a word that compares the field, if that follows which the word needs. */
function comparedBy(word: string, next: Token | undefined, field: string): string | undefined {
  const value = wordOf(next)
  const isQuoted = next?.kind === 'string'
  if (word === 'in' && next?.kind === 'open') return `(${field}=... OR ${field}=...)`
  if (word === 'between' && (isQuoted || next?.kind === 'minus' || /^\d/.test(value))) {
    return `(${field}>=... ${field}<=...)`
  }
  const isPattern = patterns.includes(word) && (isQuoted || /^[%*]|[%*]$/.test(value))
  return isPattern ? `${field}:...` : undefined
}

function afterIs(tokens: readonly Token[], at: number, field: string): FilterFault | undefined {
  const token = tokens[at]
  const isNegated = wordOf(tokens[at + 1]) === 'not'
  const value = wordOf(tokens[isNegated ? at + 2 : at + 1])
  if (token === undefined) return undefined
  if (empty.includes(value)) return faultOf(token, `Write \`${isNegated ? '' : '-'}${field}:*\`.`)
  const isStatus = orderStatusNames.some((name) => name.toLowerCase() === value)
  return isStatus ? faultOf(token, `Write \`${field}${isNegated ? '!=' : '='}...\`.`) : undefined
}

/** `and`, `or`, `not` and their signs, next to a parenthesis or to a restriction that has a field. */
function conjunction(tokens: readonly Token[], at: number): FilterFault | undefined {
  const token = tokens[at]
  if (token === undefined || !isBare(tokens, at)) return undefined
  const word = token.text.toLowerCase()
  const meant = conjunctions.get(word)
  if (meant === undefined || token.text === meant) return undefined
  const before = tokens[at - 1]?.kind === 'close' || tokens[at - 2]?.kind === 'operator'
  // Whatever negates the next restriction is in between.
  const next = tokens.findIndex((one, place) => place > at && one.kind !== 'minus' && wordOf(one) !== 'not')
  const after = tokens[next]?.kind === 'open' || (next > at && tokens[next + 1]?.kind === 'operator')
  if (!before && !after) return undefined
  return faultOf(token, `Write \`${meant}\` instead of \`${token.text}\`.`, meant)
}

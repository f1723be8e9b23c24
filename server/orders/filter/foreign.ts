import type { FilterFault, Token } from '../../../rules/lexer.ts'
import { orderStatusNames } from '../order.ts'
import { findField } from './fields.ts'

/**
 * Words that are conditions in SQL, OData and other query languages. Here they would be searched for as text
 * and find nothing, so a filter that seems to use one as a condition is refused with what to write instead.
 */
const comparisons: Record<string, string> = { eq: '=', ne: '!=', gt: '>', ge: '>=', lt: '<', le: '<=' }
const patterns = ['like', 'ilike', 'contains']
const conjunctions: Record<string, string> = {
  and: 'AND',
  '&': 'AND',
  '&&': 'AND',
  ',': 'AND',
  or: 'OR',
  '|': 'OR',
  '||': 'OR',
  not: 'NOT',
}
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
  const operator = word === undefined ? ':' : comparisons[word.toLowerCase()]
  if (findField(name) === undefined || operator === undefined) return undefined
  const written = `${name}${operator}${value}`
  return faultOf(token, `Write \`${written}\`.`, written)
}

/** A word after the name of a field: `total gt 100`, `status in (`, `customer like '%a'`, `total is null`. */
function afterField(tokens: readonly Token[], at: number): FilterFault | undefined {
  const [name, token, next] = [tokens[at - 1], tokens[at], tokens[at + 1]]
  if (token === undefined || !isBare(tokens, at) || !isBare(tokens, at - 1) || !isWord(name)) return undefined
  if (findField(name.text) === undefined) return undefined
  const [field, word] = [name.text, token.text.toLowerCase()]
  const operator = Object.hasOwn(comparisons, word) ? comparisons[word] : undefined
  if (operator !== undefined)
    return faultOf(token, `Write \`${operator}\` instead of \`${token.text}\`.`, operator)
  if (word === 'in' && next?.kind === 'open') {
    return faultOf(token, `Write \`(${field}=... OR ${field}=...)\`.`)
  }
  if (word === 'between' && (next?.kind === 'string' || next?.kind === 'minus' || /^\d/.test(wordOf(next)))) {
    return faultOf(token, `Write \`${field}>=... ${field}<=...\`.`)
  }
  if (patterns.includes(word) && (next?.kind === 'string' || /^[%*]|[%*]$/.test(wordOf(next)))) {
    return faultOf(token, `Write \`${field}:...\` for a part of it, or \`*\` at either end after \`=\`.`)
  }
  return word === 'is' ? afterIs(tokens, at, field) : undefined
}

function afterIs(tokens: readonly Token[], at: number, field: string): FilterFault | undefined {
  const [token, next] = [tokens[at], wordOf(tokens[at + 1])]
  if (token === undefined) return undefined
  if (empty.includes(next)) return faultOf(token, `Write \`-${field}:*\` for "has no value".`)
  if (next === 'not' && empty.includes(wordOf(tokens[at + 2]))) {
    return faultOf(token, `Write \`${field}:*\` for "has a value".`)
  }
  const isStatus = orderStatusNames.some((name) => name.toLowerCase() === next)
  return isStatus ? faultOf(token, 'Write `=` instead of `is`.', '=') : undefined
}

/** `and`, `or`, `not` and their signs, next to a parenthesis or to a restriction that has a field. */
function conjunction(tokens: readonly Token[], at: number): FilterFault | undefined {
  const token = tokens[at]
  if (token === undefined || !isBare(tokens, at)) return undefined
  const word = token.text.toLowerCase()
  const meant = Object.hasOwn(conjunctions, word) ? conjunctions[word] : undefined
  if (meant === undefined || token.text === meant) return undefined
  const before = tokens[at - 1]?.kind === 'close' || tokens[at - 2]?.kind === 'operator'
  // Whatever negates the next restriction is in between.
  const next = tokens.findIndex((one, place) => place > at && one.kind !== 'minus' && wordOf(one) !== 'not')
  const after = tokens[next]?.kind === 'open' || (next > at && tokens[next + 1]?.kind === 'operator')
  if (!before && !after) return undefined
  return faultOf(token, `Write \`${meant}\` instead of \`${token.text}\`.`, meant)
}

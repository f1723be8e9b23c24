/** The filter language: a text becomes a typed filter, which means the same as SQL on both engines. */

import { type FilterFault, faultOfCharacters, keywords, type Token, tokensOf } from '../../../rules/lexer.ts'
import { awaitingApproval } from '../order.ts'
import { excerpt, FilterError } from './fault.ts'
import {
  type CallerFieldName,
  type Comparison,
  callerFieldNames,
  type Field,
  type FilterColumn,
  filterNames,
  findField,
  type IdFieldName,
  isAllowed,
  type NumberFieldName,
  type Operator,
  readNumber,
  suggestField,
  type TextFieldName,
  whoms,
} from './fields.ts'
import { foreignWord } from './foreign.ts'
import { readId } from './id.ts'

/**
 * The meaning of a filter text, without positions. Groupings with the same meaning have one shape: an operand
 * of `and` is never an `and`, nor an operand of `or` an `or`, and both have two operands or more.
 */
export type Filter =
  | { kind: 'and'; operands: Filter[] }
  | { kind: 'or'; operands: Filter[] }
  | { kind: 'not'; operand: Filter }
  /** A bare value: the customer contains it, or the id starts with it. Stars in it are literal. */
  | { kind: 'search'; text: string }
  | { kind: 'hasValue'; field: FilterColumn }
  | { kind: 'text'; field: TextFieldName; operator: Operator; pattern: TextPattern }
  | { kind: 'id'; field: IdFieldName; operator: '=' | '!=' | ':'; pattern: TextPattern }
  /** Ids are in the order of creation. */
  | { kind: 'idRange'; operator: '<' | '<=' | '>' | '>='; id: string }
  | NumberFilter
  /** The reader may approve it, or nobody could. */
  | { kind: 'waits'; whom: Whom }
  /** Created by the reader, or approved by them or in their place, under whatever name. */
  | { kind: 'caller'; field: CallerFieldName; id: number }

export type Whom = (typeof whoms)[number]

type NumberFilter = { kind: 'number'; field: NumberFieldName } & Comparison

/** A text as it was written, not folded. Only = and != have wildcards. */
export type TextPattern = { text: string; anyBefore: boolean; anyAfter: boolean }

/** Whether the filter asks what waits for the reader, or for nobody. */
export function asksWhatWaits(filter: Filter | null, whom: Whom): boolean {
  switch (filter?.kind) {
    case 'and':
    case 'or':
      return filter.operands.some((operand) => asksWhatWaits(operand, whom))
    case 'not':
      return asksWhatWaits(filter.operand, whom)
    default:
      return filter?.kind === 'waits' && filter.whom === whom
  }
}

export const maximumRestrictions = 25
export const maximumNesting = 6

/**
 * A filter with a restriction to ids, as a walk through a list adds it. Both have the limits of a filter, so
 * that each filter can be walked.
 */
const walked = /^\((.*)\) AND (id[<>][\da-f-]{36}|\(id=[\da-f-]{36}(?: OR id=[\da-f-]{36})*\))$/s

/** The tokens being read, with one of look-ahead. Nothing is read twice. */
type Cursor = {
  tokens: readonly Token[]
  at: number
  token: Token
  depth: number
  restrictions: number
  readerId: number
}

const termStarts = ['a value', 'a field name', 'NOT', '-', '(']
const afterFactor = ['white space', 'AND', 'OR']
const inQuotes = 'To search for it, put it in quotes.'

/**
 * Reads the filter language of the orders list (a profile of Google AIP-160; the grammar is in the contract,
 * section 3). `null` for a text of white space only. Throws a FilterError, and nothing else, for any text
 * that is not a filter, at its first fault: length, then characters, then syntax and values from left to
 * right. The work is linear in the length of the text, and it recurses for parentheses only, which are
 * limited. `me` means the reader.
 */
export function parseFilter(text: string, readerId = 0): Filter | null {
  return parseWalked(text, readerId) ?? parseWhole(text, readerId)
}

/** Undefined for any other text, such as `(a) OR (b) AND id>...`, whose first part is no filter. */
function parseWalked(text: string, readerId: number): Filter | undefined {
  const parts = walked.exec(text)?.slice(1)
  try {
    const operands = parts?.flatMap((part) => parseWhole(part, readerId) ?? [])
    return operands?.length === 2 ? combined('and', operands) : undefined
  } catch {
    return undefined
  }
}

function parseWhole(text: string, readerId: number): Filter | null {
  refuse(faultOfCharacters(text))
  const tokens = tokensOf(text)
  refuse(foreignWord(tokens))
  const cursor: Cursor = { tokens, at: 0, token: faultless(tokens[0]), depth: 0, restrictions: 0, readerId }
  if (cursor.token.kind === 'end') return null
  const filter = parseExpression(cursor)
  if (cursor.token.kind === 'close') throw fault(cursor.token, 'This `)` has no `(`.', afterFactor)
  return filter
}

function advance(cursor: Cursor): void {
  cursor.at += 1
  cursor.token = faultless(cursor.tokens[cursor.at])
}

function faultless(token: Token | undefined): Token {
  // The last token is the end or has a fault, and neither is passed.
  if (token === undefined) throw new Error('no token')
  refuse(token.fault)
  return token
}

function refuse(found: FilterFault | undefined): void {
  if (found !== undefined) throw new FilterError(found)
}

function fault({ position, length }: Token, detail: string, expected: readonly string[]): FilterError {
  return new FilterError({ position, length, detail, expected })
}

/** Factors up to `)` or the end. AND between two factors means the same as white space. */
function parseExpression(cursor: Cursor): Filter {
  const factors = [parseFactor(cursor)]
  while (cursor.token.kind !== 'end' && cursor.token.kind !== 'close') {
    requireNewFactor(cursor)
    if (isKeyword(cursor.token, 'AND')) readKeyword(cursor)
    factors.push(parseFactor(cursor))
  }
  return combined('and', factors)
}

function parseFactor(cursor: Cursor): Filter {
  const terms = [parseTerm(cursor)]
  while (isKeyword(cursor.token, 'OR') && cursor.token.spaceBefore) {
    readKeyword(cursor)
    terms.push(parseTerm(cursor))
  }
  return combined('or', terms)
}

function combined(kind: 'and' | 'or', operands: Filter[]): Filter {
  const flat = operands.flatMap((operand) => (operand.kind === kind ? operand.operands : [operand]))
  const [only] = flat
  return flat.length === 1 && only !== undefined ? only : { kind, operands: flat }
}

function requireNewFactor(cursor: Cursor): void {
  const { token } = cursor
  if (token.kind === 'operator') throw misplacedOperator(token)
  if (!token.spaceBefore) throw fault(token, 'Add a space before this.', afterFactor)
}

function misplacedOperator(token: Token): FilterError {
  return fault(token, `Add a field name before \`${token.text}\`.`, termStarts)
}

function isKeyword(token: Token, keyword: string): boolean {
  return token.kind === 'word' && token.text === keyword
}

function isAnyKeyword(token: Token): boolean {
  return keywords.some((keyword) => isKeyword(token, keyword))
}

/** Moves past AND, OR or NOT, which white space must follow: `NOT(a)` is a fault. */
function readKeyword(cursor: Cursor): void {
  const keyword = cursor.token.text
  advance(cursor)
  const { token } = cursor
  if (token.kind === 'end' || token.spaceBefore) return
  throw fault(token, `\`${keyword}\` needs a space on each side. ${inQuotes}`, ['white space'])
}

function parseTerm(cursor: Cursor): Filter {
  const { token } = cursor
  if (isKeyword(token, 'NOT')) {
    readKeyword(cursor)
    return { kind: 'not', operand: parseOperand(cursor, true) }
  }
  if (token.kind === 'minus') {
    advance(cursor)
    if (cursor.token.kind !== 'end' && cursor.token.spaceBefore) {
      const detail = `Remove the space after \`-\`. ${inQuotes}`
      throw fault(token, detail, ['a value', 'a field name', '('])
    }
    return { kind: 'not', operand: parseOperand(cursor, true) }
  }
  return parseOperand(cursor, false)
}

/** What NOT and `-` apply to: a restriction, or an expression in parentheses. */
function parseOperand(cursor: Cursor, isNegated: boolean): Filter {
  const { token } = cursor
  const expected = isNegated ? ['a value', 'a field name', '('] : termStarts
  switch (token.kind) {
    case 'open':
      return parseParentheses(cursor)
    case 'string':
      return parseQuotedSearch(cursor)
    case 'word':
      if (!isAnyKeyword(token)) return parseRestriction(cursor)
      throw fault(token, `\`${token.text}\` cannot be used here. ${inQuotes}`, expected)
    case 'operator':
      throw misplacedOperator(token)
    case 'end':
      throw fault(token, 'Add what to search for: the filter is not finished.', expected)
    case 'minus':
      throw fault(token, 'Use only one NOT or `-` here.', expected)
    case 'close':
    case 'junk': // Junk is refused as soon as it is read.
      throw fault(token, `Add what to search for before this \`${token.text}\`.`, expected)
  }
}

function parseParentheses(cursor: Cursor): Filter {
  if (cursor.depth === maximumNesting) {
    throw fault(cursor.token, `Parentheses can be nested at most ${maximumNesting} deep.`, [
      'a value',
      'a field name',
    ])
  }
  cursor.depth += 1
  advance(cursor)
  const inner = parseExpression(cursor)
  if (cursor.token.kind === 'end')
    throw fault(cursor.token, 'Add a `)`: a `(` is not closed.', [')', ...afterFactor])
  cursor.depth -= 1
  advance(cursor)
  return inner
}

function countRestriction(cursor: Cursor): void {
  cursor.restrictions += 1
  if (cursor.restrictions <= maximumRestrictions) return
  throw fault(cursor.token, `A filter can have at most ${maximumRestrictions} restrictions.`, [])
}

function parseQuotedSearch(cursor: Cursor): Filter {
  countRestriction(cursor)
  const { token } = cursor
  advance(cursor)
  if (cursor.token.kind !== 'operator') return { kind: 'search', text: token.text }
  throw fault(token, 'Remove the quotes around the field name.', filterNames)
}

/** A word is the name of a field if an operator follows; else a number such as `#1042`, or a search. */
function parseRestriction(cursor: Cursor): Filter {
  countRestriction(cursor)
  const name = cursor.token
  advance(cursor)
  if (cursor.token.kind !== 'operator') return searchOf(name.text)
  const field = findField(name.text)
  if (field === undefined) throw unknownField(name)
  const operator = field.operators.find((candidate) => candidate === cursor.token.text)
  if (operator === undefined) {
    const detail = `\`${field.name}\` takes no \`${cursor.token.text}\`. ${field.rule}`
    throw fault(cursor.token, detail, field.operators)
  }
  advance(cursor)
  return parseComparison(cursor, field, operator)
}

function unknownField(name: Token): FilterError {
  const { position, length } = name
  const unknown = `There is no field \`${excerpt(name.text)}\`.`
  const suggestion = suggestField(name.text)
  if (suggestion === undefined) return fault(name, unknown, filterNames)
  const detail = `${unknown} Did you mean \`${suggestion}\`?`
  return new FilterError({ position, length, detail, expected: filterNames, suggestion })
}

function searchOf(text: string): Filter {
  const range = text.startsWith('#') ? readNumber(text) : null
  return range === null ? { kind: 'search', text } : { kind: 'number', field: 'number', operator: '=', range }
}

function parseComparison(cursor: Cursor, field: Field, operator: Operator): Filter {
  const value = cursor.token
  const { expected } = field
  if (value.kind !== 'word' && value.kind !== 'string') {
    throw fault(value, `Add a value: ${field.rule}`, expected)
  }
  if (isAnyKeyword(value)) {
    throw fault(value, `\`${value.text}\` is not a value. ${inQuotes}`, expected)
  }
  const comparison = comparisonOf(field, operator, value, cursor.readerId)
  if (comparison === null) throw fault(value, field.rule, expected)
  advance(cursor)
  return comparison
}

function comparisonOf(field: Field, operator: Operator, value: Token, readerId: number): Filter | null {
  if (field.kind === 'waits') {
    const whom = whoms.find((known) => known === value.text.toLowerCase())
    return whom === undefined ? null : whilePending({ kind: 'waits', whom })
  }
  const isBareStar = value.kind === 'word' && value.length === 1 && value.starFirst
  if (operator === ':' && isBareStar) return { kind: 'hasValue', field: field.name }
  if (field.kind === 'number') {
    const range = field.read(value.text)
    if (range === null) return null
    const filter = {
      kind: 'number',
      field: field.name,
      operator: operator === ':' ? '=' : operator,
      range,
    } as const
    const isOfPending =
      field.name === 'waitingSince' || (field.name === 'approvalsMissing' && !isAllowed(0, filter))
    return isOfPending ? whilePending(filter) : filter
  }
  const namesReader = callerFieldNames.find((name) => name === field.name)
  if (namesReader && value.kind === 'word' && value.text.toLowerCase() === 'me') {
    const caller = { kind: 'caller', field: namesReader, id: readerId } as const
    if (operator !== '!=') return caller
    return combined('and', [
      { kind: 'hasValue', field: namesReader },
      { kind: 'not', operand: caller },
    ])
  }
  const pattern = patternOf(value, operator === '=' || operator === '!=')
  if (field.kind === 'text') return { kind: 'text', field: field.name, operator, pattern }
  if (operator === '=' || operator === '!=' || operator === ':') {
    return { kind: 'id', field: field.name, operator, pattern }
  }
  const id = readId(value.text)
  return id === null ? null : { kind: 'idRange', operator, id }
}

/** Says what the restriction implies, so that only pending orders are looked at. */
function whilePending(restriction: Filter): Filter {
  const range = { low: awaitingApproval, high: awaitingApproval + 1 }
  return combined('and', [{ kind: 'number', field: 'status', operator: '=', range }, restriction])
}

function patternOf(value: Token, hasWildcards: boolean): TextPattern {
  if (!hasWildcards) return { text: value.text, anyBefore: false, anyAfter: false }
  const start = value.starFirst ? 1 : 0
  const end = value.starLast ? value.text.length - 1 : value.text.length
  // In the text `*` the one star is first and last; slice() then gives the empty text.
  return { text: value.text.slice(start, end), anyBefore: value.starFirst, anyAfter: value.starLast }
}

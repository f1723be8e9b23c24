import { type FieldName, quoteValue } from './text.ts'

/** The words that the search box has for people, for what the filter language says in signs. */

export interface OperatorWords {
  operator: string
  hint: string
}

export interface FieldWords {
  name: FieldName
  /** The subject of a sentence that an operator goes on. */
  about: string
  /** In lower case: what people call it. */
  synonyms: readonly string[]
  /** Those that make sense, the likeliest first; not all that the server takes. */
  operators: readonly OperatorWords[]
  /** Whether an order may be without: then `:*` says that it is not. */
  isNullable: boolean
}

export interface Suggestion {
  /** What is typed to find it, in any case. */
  name: string
  insert: string
  hint: string
}

export interface CompletionContext {
  /** Milliseconds since 1970, for the days that have names. */
  nowMilliseconds: number
  /** Of the caller; empty when unknown. */
  userName: string
}

const is = { operator: '=', hint: 'is' }
const isNot = { operator: '!=', hint: 'is not' }
const contains = { operator: ':', hint: 'contains' }
const ofTotals = [
  { operator: '>=', hint: 'is at least' },
  { operator: '<=', hint: 'is at most' },
  is,
  { operator: '>', hint: 'is more than' },
  { operator: '<', hint: 'is less than' },
  isNot,
]
const ofTimes = [
  { operator: '>=', hint: 'is on or after' },
  { operator: '<', hint: 'is before' },
  { operator: '=', hint: 'is on' },
  { operator: '<=', hint: 'is on or before' },
  { operator: '>', hint: 'is after' },
  { operator: '!=', hint: 'is not on' },
]

/** In the order they are offered. */
export const fields: Readonly<Record<FieldName, FieldWords>> = {
  status: {
    name: 'status',
    about: 'Status of the order',
    synonyms: ['state'],
    operators: [is, isNot],
    isNullable: false,
  },
  customer: {
    name: 'customer',
    about: 'Name of the customer',
    synonyms: ['client', 'company', 'buyer', 'name'],
    operators: [contains, is, isNot],
    isNullable: false,
  },
  total: {
    name: 'total',
    about: 'Total of the order',
    synonyms: ['amount', 'price', 'sum', 'value'],
    operators: ofTotals,
    isNullable: false,
  },
  createdAtUtc: {
    name: 'createdAtUtc',
    about: 'Time of creation',
    synonyms: ['date', 'day', 'time', 'when', 'since', 'new'],
    operators: ofTimes,
    isNullable: false,
  },
  createdBy: {
    name: 'createdBy',
    about: 'User who created it',
    synonyms: ['by', 'user', 'author', 'creator', 'who'],
    operators: [is, contains, isNot],
    isNullable: true,
  },
  updatedAtUtc: {
    name: 'updatedAtUtc',
    about: 'Time of the last change',
    synonyms: ['date', 'day', 'time', 'when', 'since', 'modified', 'changed'],
    operators: ofTimes,
    isNullable: true,
  },
  modifiedBy: {
    name: 'modifiedBy',
    about: 'User who changed it last',
    synonyms: ['by', 'user', 'updated', 'changed', 'approver', 'who'],
    operators: [is, contains, isNot],
    isNullable: true,
  },
  id: {
    name: 'id',
    about: 'Order number',
    synonyms: ['order', 'number', 'key'],
    operators: [is, contains, isNot],
    isNullable: false,
  },
  createdAtTimeZone: {
    name: 'createdAtTimeZone',
    about: 'Time zone of creation',
    synonyms: ['zone', 'timezone'],
    operators: [is, contains, isNot],
    isNullable: true,
  },
  updatedAtTimeZone: {
    name: 'updatedAtTimeZone',
    about: 'Time zone of the last change',
    synonyms: ['zone', 'timezone'],
    operators: [is, contains, isNot],
    isNullable: true,
  },
}

/** What may stand after a term; NOT may begin one too. */
export const keywords: readonly Suggestion[] = [
  { name: 'AND', insert: 'AND ', hint: 'both must match' },
  { name: 'OR', insert: 'OR ', hint: 'either may match' },
  { name: 'NOT', insert: 'NOT ', hint: 'what follows must not match' },
]

/** The values that are known for a field. */
export function valuesOf(
  field: FieldWords,
  operator: string,
  context: CompletionContext,
): readonly Suggestion[] {
  const all = operator === ':' && field.isNullable ? [{ name: '*', insert: '*', hint: 'has a value' }] : []
  switch (field.name) {
    case 'status':
      return statuses
    case 'createdAtUtc':
    case 'updatedAtUtc':
      return [...daysOf(context.nowMilliseconds), ...all]
    case 'createdBy':
    case 'modifiedBy':
      return [...yourselfOf(context), ...all]
    default:
      return all
  }
}

/** Whole restrictions, found by one word. */
export function shortcutsOf(context: CompletionContext): Suggestion[] {
  const byStatus = statuses.map(({ name, insert, hint }) => ({
    name,
    insert: `status=${insert}`,
    hint: `Status of the order is ${hint}`,
  }))
  const byDay = daysOf(context.nowMilliseconds)
    .slice(0, 2)
    .map(({ insert, hint }) => ({ name: hint, insert: `createdAtUtc=${insert}`, hint: `created ${hint}` }))
  const byYou = yourselfOf(context).map(({ insert }) => ({
    name: 'mine',
    insert: `createdBy=${insert}`,
    hint: 'created by you',
  }))
  return [...byStatus, ...byDay, ...byYou]
}

const statuses: readonly Suggestion[] = [
  { name: 'Pending', insert: 'Pending', hint: 'waiting for approval' },
  { name: 'Approved', insert: 'Approved', hint: 'approved' },
]

function yourselfOf({ userName }: CompletionContext): Suggestion[] {
  return userName === '' ? [] : [{ name: userName, insert: quoteValue(userName), hint: 'you' }]
}

const dayMilliseconds = 86_400_000
/** 1970-01-01 was three days after a Monday. */
const daysAfterMonday = 3
const year10000Milliseconds = 253_402_300_800_000

/** Days with names, of UTC as all days of the language are; a day with two names once. None outside of 1970 to 9999. */
function daysOf(nowMilliseconds: number): Suggestion[] {
  if (!(nowMilliseconds >= 0 && nowMilliseconds < year10000Milliseconds)) return []
  const today = Math.floor(nowMilliseconds / dayMilliseconds)
  const iso = (day: number) => new Date(day * dayMilliseconds).toISOString().slice(0, 10)
  const hints = new Map<string, string>()
  const add = (day: string, hint: string) => {
    const same = hints.get(day)
    hints.set(day, same === undefined ? hint : `${same}, ${hint}`)
  }
  add(iso(today), 'today')
  add(iso(today - 1), 'yesterday')
  add(iso(today - ((today + daysAfterMonday) % 7)), 'start of this week')
  add(`${iso(today).slice(0, 8)}01`, 'start of this month')
  add(`${iso(today).slice(0, 5)}01-01`, 'start of this year')
  return [...hints].map(([day, hint]) => ({ name: day, insert: day, hint }))
}

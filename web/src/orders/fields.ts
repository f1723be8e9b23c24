import { orderFields } from '../../../client/src/facts.ts'
import type { OrderSummary } from './order.ts'
import { stateNames } from './states.ts'

/** All that the app says about a field of an order; a new one does not compile until it is here. */

export type FieldName = keyof typeof orderFields
export type Direction = 'Asc' | 'Desc'
export type SortKey = Exclude<keyof OrderSummary, 'id'> | 'updatedAtUtc'
/** What the list can show about an order. */
export type ColumnName = SortKey | 'id' | 'createdBy' | 'approvedBy' | 'approvalsMissing'

export interface OperatorWords {
  operator: string
  hint: string
}

interface FieldWords {
  /** The subject of a sentence that an operator continues. */
  about: string
  /** What people call it, in lower case. */
  synonyms: readonly string[]
  /** Its likeliest operator, where that differs from other fields of its kind. */
  likeliest?: string
}

/** In the order in which the search offers them. */
const fields: Record<FieldName, FieldWords> = {
  status: { about: 'Status of the order', synonyms: ['state'] },
  customer: {
    about: 'Name of the customer',
    synonyms: ['client', 'company', 'buyer', 'name'],
    likeliest: ':',
  },
  total: { about: 'Total of the order', synonyms: ['amount', 'price', 'sum', 'value'] },
  createdAtUtc: { about: 'Time of creation', synonyms: ['date', 'day', 'time', 'when', 'since', 'new'] },
  createdBy: { about: 'User who created it', synonyms: ['by', 'user', 'author', 'creator', 'who'] },
  updatedAtUtc: {
    about: 'Time of the last change',
    synonyms: ['date', 'day', 'time', 'when', 'since', 'modified', 'changed'],
  },
  modifiedBy: {
    about: 'User who last changed it',
    synonyms: ['by', 'user', 'updated', 'changed', 'approver', 'who'],
  },
  id: { about: 'Order number', synonyms: ['order', 'number', 'key'] },
  createdAtTimeZone: { about: 'Time zone of creation', synonyms: ['zone', 'timezone'] },
  updatedAtTimeZone: { about: 'Time zone of the last change', synonyms: ['zone', 'timezone'] },
}

const is = { operator: '=', hint: 'is' }
const isNot = { operator: '!=', hint: 'is not' }
const contains = { operator: ':', hint: 'contains' }

/** The useful ones, likeliest first; the service takes more. */
const operatorsOf: Record<(typeof orderFields)[FieldName]['kind'], readonly OperatorWords[]> = {
  status: [is, isNot],
  text: [is, contains, isNot],
  id: [is, contains, isNot],
  decimal: [
    { operator: '>=', hint: 'is at least' },
    { operator: '<=', hint: 'is at most' },
    is,
    { operator: '>', hint: 'is more than' },
    { operator: '<', hint: 'is less than' },
    isNot,
  ],
  instant: [
    { operator: '>=', hint: 'is on or after' },
    { operator: '<', hint: 'is before' },
    { operator: '=', hint: 'is on' },
    { operator: '<=', hint: 'is on or before' },
    { operator: '>', hint: 'is after' },
    { operator: '!=', hint: 'is not on' },
  ],
}

/** A field in the words of the search; `isNullable`: it may be missing, and `:*` requires it. */
export const searchFields = (Object.keys(fields) as FieldName[]).map((name) => {
  const { kind, isNullable } = orderFields[name]
  const { about, synonyms, likeliest } = fields[name]
  const operators = operatorsOf[kind].toSorted(
    (a, b) => Number(b.operator === likeliest) - Number(a.operator === likeliest),
  )
  return { name, kind, isNullable, about, synonyms, operators }
})
export type SearchField = (typeof searchFields)[number]

/** The field of that name, ignoring case, as the service does. */
export function findField(name: string): SearchField | undefined {
  const wanted = name.toLowerCase()
  return searchFields.find((field) => field.name.toLowerCase() === wanted)
}

interface Column {
  heading: string
  /** What is asked of the service besides the summary. */
  asks: readonly ('updatedAtUtc' | 'createdBy' | 'approvedBy' | 'approvalsGiven' | 'approvalsMissing')[]
}

/** From left to right. */
export const columns: Record<ColumnName, Column> = {
  customer: { heading: 'Customer', asks: [] },
  id: { heading: 'Number', asks: [] },
  total: { heading: 'Total', asks: [] },
  status: { heading: 'Status', asks: [] },
  createdAtUtc: { heading: 'Created', asks: [] },
  createdBy: { heading: 'Created by', asks: ['createdBy'] },
  approvedBy: { heading: 'Approved by', asks: ['approvedBy', 'approvalsGiven'] },
  approvalsMissing: { heading: 'Approvals missing', asks: ['approvalsMissing'] },
  updatedAtUtc: { heading: 'Updated', asks: ['updatedAtUtc'] },
}
export const columnNames = Object.keys(columns) as ColumnName[]

interface SortWords {
  /** What people want to see first: the latest, the largest, the beginning of the alphabet. */
  first: Direction
  /** The name of a list in that order. */
  sorted: Record<Direction, string>
}

const sorts: Record<SortKey, SortWords> = {
  customer: {
    first: 'Asc',
    sorted: { Asc: 'by customer, A to Z', Desc: 'by customer, Z to A' },
  },
  total: {
    first: 'Desc',
    sorted: { Asc: 'smallest total first', Desc: 'largest total first' },
  },
  status: {
    first: 'Asc',
    sorted: {
      Asc: `${stateNames[0]} first`.toLowerCase(),
      Desc: `${stateNames.at(-1)} first`.toLowerCase(),
    },
  },
  createdAtUtc: {
    first: 'Desc',
    sorted: { Asc: 'oldest first', Desc: 'newest first' },
  },
  updatedAtUtc: {
    first: 'Desc',
    sorted: { Asc: 'first changed first', Desc: 'last changed first' },
  },
}
export const sortKeys = Object.keys(sorts) as SortKey[]

export function isSortKey(name: ColumnName): name is SortKey {
  return name in sorts
}

export const firstDirection = (key: SortKey): Direction => sorts[key].first
export const sortedWords = (key: SortKey, direction: Direction): string => sorts[key].sorted[direction]

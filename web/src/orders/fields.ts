import { filterFields } from '../../../client/src/facts.ts'
import type { OrderSummary } from './order.ts'
import { stateNames } from './states.ts'

/** All that the app says about a field of the search. A new one does not compile until it is listed here. */

export type FieldName = keyof typeof filterFields
export type Direction = 'Asc' | 'Desc'
export type SortKey = Exclude<keyof OrderSummary, 'id'> | 'updatedAtUtc'
/** The columns of the list. */
export type ColumnName = SortKey | 'number' | 'createdBy' | 'approvedBy' | 'approvalsMissing'

export interface OperatorWords {
  operator: string
  hint: string
}

interface FieldWords {
  /** What every page calls it: the heading of its column, and the beginning of a sentence in the search. */
  label: string
  /** Other names that people use for it, in lower case. */
  synonyms: readonly string[]
  /** Its most likely operator, if it differs from that of other fields of its kind. */
  likeliest?: string
}

/** In the order in which the search offers them. */
const fields: Record<FieldName, FieldWords> = {
  status: { label: 'Status', synonyms: ['state'] },
  waits: { label: 'Waits for', synonyms: ['approve', 'queue'] },
  customer: {
    label: 'Customer',
    synonyms: ['client', 'company', 'buyer', 'name'],
    likeliest: ':',
  },
  total: { label: 'Total', synonyms: ['amount', 'price', 'sum', 'value'] },
  createdAtUtc: { label: 'Created', synonyms: ['date', 'day', 'time', 'when', 'since', 'new'] },
  createdBy: { label: 'Created by', synonyms: ['user', 'author', 'creator', 'who'] },
  approvedBy: { label: 'Approved by', synonyms: ['user', 'approver', 'who'] },
  updatedAtUtc: {
    label: 'Updated',
    synonyms: ['date', 'day', 'time', 'when', 'since', 'modified', 'changed'],
  },
  modifiedBy: { label: 'Updated by', synonyms: ['user', 'changed', 'who'] },
  approvalsMissing: { label: 'Approvals missing', synonyms: ['needed'] },
  waitingSince: {
    label: 'Waiting since',
    synonyms: ['date', 'day', 'time', 'when', 'oldest', 'long'],
    likeliest: '<=',
  },
  replaces: { label: 'Replaces', synonyms: ['former'] },
  replacedBy: { label: 'Replaced by', synonyms: ['again'] },
  number: { label: 'Number', synonyms: ['order'], likeliest: '=' },
  id: { label: 'Id', synonyms: ['order', 'key', 'uuid'] },
  createdAtTimeZone: { label: 'Creation zone', synonyms: ['timezone'] },
  updatedAtTimeZone: { label: 'Update zone', synonyms: ['timezone'] },
}

const is = { operator: '=', hint: 'is' }
const isNot = { operator: '!=', hint: 'is not' }
const contains = { operator: ':', hint: 'contains' }
const comparisons = [
  { operator: '>=', hint: 'is at least' },
  { operator: '<=', hint: 'is at most' },
  is,
  { operator: '>', hint: 'is more than' },
  { operator: '<', hint: 'is less than' },
  isNot,
]

/** The useful operators, likeliest first. The service accepts more. */
const operatorsOf: Record<(typeof filterFields)[FieldName]['kind'], readonly OperatorWords[]> = {
  status: [is, isNot],
  text: [is, contains, isNot],
  id: [is, contains, isNot],
  names: [is, contains, isNot],
  waits: [{ operator: ':', hint: 'whom' }],
  decimal: comparisons,
  number: comparisons,
  count: comparisons,
  instant: [
    { operator: '>=', hint: 'on or after' },
    { operator: '<', hint: 'before' },
    { operator: '=', hint: 'on' },
    { operator: '<=', hint: 'on or before' },
    { operator: '>', hint: 'after' },
    { operator: '!=', hint: 'not on' },
  ],
}

/** A field in the words of the search; `isNullable`: it may be missing, and `:*` requires it. */
export const searchFields = (Object.keys(fields) as FieldName[]).map((name) => {
  const { kind, isNullable } = filterFields[name]
  const { label, synonyms, likeliest } = fields[name]
  const operators = operatorsOf[kind].toSorted(
    (a, b) => Number(b.operator === likeliest) - Number(a.operator === likeliest),
  )
  const words = [...label.toLowerCase().split(' '), ...synonyms]
  return { name, kind, isNullable, label, words, operators }
})
export type SearchField = (typeof searchFields)[number]

/** The field of that name, ignoring case, as the service does. */
export function findField(name: string): SearchField | undefined {
  const wanted = name.toLowerCase()
  return searchFields.find((field) => field.name.toLowerCase() === wanted)
}

/** From left to right. */
export const columnNames: readonly ColumnName[] = [
  'customer',
  'number',
  'total',
  'status',
  'createdAtUtc',
  'createdBy',
  'approvedBy',
  'approvalsMissing',
  'updatedAtUtc',
]
export const headingOf = (name: ColumnName): string => fields[name].label

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

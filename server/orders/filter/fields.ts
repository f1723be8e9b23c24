import { nearestOf } from '../../nearest.ts'
import {
  type ColumnKind,
  columnOf,
  fieldNames,
  type furtherColumns,
  type orderFields,
  orderStatus,
  orderStatusNames,
} from '../order.ts'

/**
 * The fields of the filter language: which operators each takes, and what its values mean. The parser knows
 * positions and faults; here a value that breaks the rule of its field is `null`.
 */

const furtherNames = [
  'number',
  'approvedBy',
  'approvalsMissing',
  'waitingSince',
  'replaces',
  'replacedBy',
] as const
const columnNames = [...fieldNames, ...furtherNames] as const
export type FilterColumn = (typeof columnNames)[number]
type Columns = typeof orderFields & typeof furtherColumns
type NamesOf<Kind extends ColumnKind> = {
  [Name in FilterColumn]: Columns[Name]['kind'] extends Kind ? Name : never
}[FilterColumn]
export type IdFieldName = NamesOf<'id'>
export type TextFieldName = NamesOf<'text' | 'names'>
export type NumberFieldName = NamesOf<'total' | 'status' | 'instant' | 'number' | 'count'>
/** `waits` is no column: it asks whether the reader may approve the order, or nobody. */
export const filterNames = [...columnNames, 'waits'] as const
type FilterName = (typeof filterNames)[number]

/** Whom an order can wait for. */
export const whoms = ['me', 'nobody'] as const
/** Fields whose value can be a bare `me`, which no account is called. */
export const callerFieldNames = ['createdBy', 'approvedBy'] as const
export type CallerFieldName = (typeof callerFieldNames)[number]

export type Operator = '=' | '!=' | '<' | '<=' | '>' | '>=' | ':'

/**
 * The whole numbers from `low` up to, but not including, `high`. A value of a number field covers such a
 * range, in the unit of its column. One number is a range of one; a value between two neighbours (total
 * 0.00005) is empty, with both ends at the upper one; a day is all its milliseconds. Every comparison follows
 * from the two ends without rounding.
 */
export type NumberRange = { low: number; high: number }
export type Comparison = { operator: Exclude<Operator, ':'>; range: NumberRange }

/** Whether a whole number meets the comparison. */
export function isAllowed(value: number, { operator, range: { low, high } }: Comparison): boolean {
  switch (operator) {
    case '=':
      return value >= low && value < high
    case '!=':
      return value < low || value >= high
    case '<':
      return value < low
    case '<=':
      return value < high
    case '>':
      return value >= high
    case '>=':
      return value >= low
  }
}

interface ValueRule {
  operators: readonly Operator[]
  /** Which values the field accepts, as the end of a sentence. */
  rule: string
  /** The same in a few words, for lists of what is expected. */
  expected: readonly string[]
}

export type Field = ValueRule &
  (
    | { kind: 'id'; name: IdFieldName }
    | { kind: 'text'; name: TextFieldName }
    | { kind: 'number'; name: NumberFieldName; read: (text: string) => NumberRange | null }
    | { kind: 'waits'; name: 'waits' }
  )

const matching: readonly Operator[] = ['=', '!=', ':']
const ordering: readonly Operator[] = ['=', '!=', '<', '<=', '>', '>=', ':']

/** `Pending (0) or Approved (1)`. */
const statusesInWords = orderStatusNames.map((name) => `${name} (${orderStatus[name]})`).join(' or ')

const numberRules = {
  total: {
    operators: ordering,
    rule: 'needs a number, such as 100 or 12.50.',
    expected: ['a number'],
    read: readTotal,
  },
  status: {
    operators: matching,
    rule: `needs ${statusesInWords}, with = != or :.`,
    expected: [...orderStatusNames, ...Object.values(orderStatus).map(String)],
    read: readStatus,
  },
  instant: {
    operators: ordering,
    rule: 'needs a time such as 2026-11-20T14:30:00Z, or a day such as 2026-11-20.',
    expected: ['an RFC 3339 time', 'YYYY-MM-DD'],
    read: readInstant,
  },
  number: {
    operators: ordering,
    rule: 'needs a whole number, such as 1042.',
    expected: ['a whole number'],
    read: readNumber,
  },
  count: {
    operators: ordering,
    rule: 'needs a whole number, such as 2.',
    expected: ['a whole number'],
    read: readCount,
  },
}

const fields = new Map(filterNames.map((name) => [name.toLowerCase(), fieldOf(name)]))

/** The field of that name, ignoring case. */
export function findField(name: string): Field | undefined {
  return fields.get(name.toLowerCase())
}

/** A shorter word begins too many names. */
const shortestBeginning = 3

/** The field that an unknown name probably means: one that begins with it, or else the most similar one. */
export function suggestField(name: string): FilterName | undefined {
  const given = name.toLowerCase()
  const begun = filterNames.find((known) => known.toLowerCase().startsWith(given))
  return given.length < shortestBeginning ? undefined : (begun ?? nearestOf(given, filterNames))
}

function fieldOf(name: FilterName): Field {
  if (name === 'waits') {
    const rule = '`waits` takes only `waits:me` and `waits:nobody`.'
    return { kind: name, name, operators: [':'], rule, expected: whoms }
  }
  const { kind } = columnOf(name)
  const expected = ['a value']
  if (kind === 'id') {
    return {
      kind,
      name: name as IdFieldName,
      operators: name === 'id' ? ordering : matching,
      rule: `\`${name}\` needs a text, with = != or :${name === 'id' ? ', or a whole id to compare' : ''}.`,
      expected,
    }
  }
  if (kind === 'text' || kind === 'names') {
    const operators = kind === 'text' ? ordering : matching
    return {
      kind: 'text',
      name: name as TextFieldName,
      operators,
      rule: `\`${name}\` needs a text.`,
      expected,
    }
  }
  const { rule, ...rest } = numberRules[kind]
  return { kind: 'number', name: name as NumberFieldName, ...rest, rule: `\`${name}\` ${rule}` }
}

const statusesByText = new Map(
  orderStatusNames.flatMap((name) => [
    [name.toLowerCase(), orderStatus[name]],
    [String(orderStatus[name]), orderStatus[name]],
  ]),
)

function readStatus(text: string): NumberRange | null {
  const status = statusesByText.get(text.toLowerCase())
  return status === undefined ? null : { low: status, high: status + 1 }
}

/** The number of an order, as people write it: `#1042`, or only its digits. */
export function readNumber(text: string): NumberRange | null {
  const digits = /^#?(\d+)$/.exec(text)?.[1]
  return digits === undefined ? null : rangeFrom(BigInt(digits), true)
}

/** At most nine digits: every database takes it for an integer. */
function readCount(text: string): NumberRange | null {
  return /^\d{1,9}$/.test(text) ? { low: Number(text), high: Number(text) + 1 } : null
}

const totalDecimalPlaces = 4
/** More digits before the point than any total has, so that the number is larger than all totals. */
const hugeIntegerDigits = 14
/** Beyond every safe integer on its side, and itself exact as a double. */
const beyondAll = 2 ** 53

/** Ten-thousandths, exact for any number of digits. A value that no total can equal is an empty range. */
function readTotal(text: string): NumberRange | null {
  const parts = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text)
  if (parts === null) return null
  const [, sign, leading = '', decimals = ''] = parts
  const isNegative = sign === '-'
  const integer = withoutLeadingZeros(leading)
  if (integer.length >= hugeIntegerDigits) return emptyAt(isNegative ? -beyondAll : beyondAll)
  const magnitudeE4 = BigInt(integer + decimals.slice(0, totalDecimalPlaces).padEnd(totalDecimalPlaces, '0'))
  const isExact = /^0*$/.test(decimals.slice(totalDecimalPlaces))
  const truncatedE4 = isNegative ? -magnitudeE4 : magnitudeE4
  const floorE4 = isNegative && !isExact ? truncatedE4 - 1n : truncatedE4
  return rangeFrom(floorE4, isExact)
}

function withoutLeadingZeros(digits: string): string {
  let zeros = 0
  while (digits[zeros] === '0') zeros += 1
  return digits.slice(zeros)
}

function emptyAt(end: number): NumberRange {
  return { low: end, high: end }
}

/** The range of a value with this floor. A value that is not a whole number lies between two. */
function rangeFrom(floor: bigint, isExact: boolean): NumberRange {
  if (floor >= BigInt(beyondAll)) return emptyAt(beyondAll)
  if (floor < -BigInt(beyondAll)) return emptyAt(-beyondAll)
  const low = Number(floor)
  return isExact ? { low, high: low + 1 } : emptyAt(low + 1)
}

const dayMs = 86_400_000
const minuteMs = 60_000
const time = /^(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:z|([+-])(\d\d):(\d\d))$/i

/**
 * RFC 3339 date-time with any offset, in milliseconds since 1970, or the whole UTC day of a YYYY-MM-DD.
 * Stricter than RFC 3339 in one point: there is no second 60, because no stored instant has one.
 */
function readInstant(text: string): NumberRange | null {
  const dayStartMs = readDay(text.slice(0, 10))
  if (dayStartMs === null) return null
  if (text.length === 10) return { low: dayStartMs, high: dayStartMs + dayMs }
  const parts = text.charAt(10).toUpperCase() === 'T' ? time.exec(text.slice(11)) : null
  if (parts === null) return null
  const [, hours, minutes, seconds, fraction = '', offsetSign, offsetHours = '0', offsetMinutes = '0'] = parts
  if (Number(hours) > 23 || Number(minutes) > 59 || Number(seconds) > 59) return null
  if (Number(offsetHours) > 23 || Number(offsetMinutes) > 59) return null
  const secondsOfDay = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)
  const offsetMs = (Number(offsetHours) * 60 + Number(offsetMinutes)) * minuteMs
  const floorMs =
    dayStartMs +
    secondsOfDay * 1000 +
    Number(fraction.slice(0, 3).padEnd(3, '0')) -
    (offsetSign === '-' ? -offsetMs : offsetMs)
  return rangeFrom(BigInt(floorMs), /^0*$/.test(fraction.slice(3)))
}

const yearsPerCycle = 400
const daysPerCycle = 146_097

/** The first millisecond of a day that exists. */
function readDay(text: string): number | null {
  const parts = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text)
  if (parts === null) return null
  // Shifted by one whole Gregorian cycle, because Date.UTC takes the years 0 to 99 for 1900 to 1999.
  const year = Number(parts[1]) + yearsPerCycle
  const month = Number(parts[2])
  const day = Number(parts[3])
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return null
  return Date.UTC(year, month - 1, day) - daysPerCycle * dayMs
}

function daysInMonth(year: number, month: number): number {
  const isLeapYear = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  if (month === 2) return isLeapYear ? 29 : 28
  return [4, 6, 9, 11].includes(month) ? 30 : 31
}

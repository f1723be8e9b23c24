import { type FieldName, fieldNames, orderFields, orderStatus, orderStatusNames } from '../order.ts'

/**
 * The fields of Order in the filter language: which operators each takes, and what its values mean. The
 * parser knows positions and faults; here a value that breaks the rule of its field is `null`.
 */

type NamesOf<Kind> = {
  [Name in FieldName]: (typeof orderFields)[Name]['kind'] extends Kind ? Name : never
}[FieldName]
export type TextFieldName = NamesOf<'text'>
export type NumberFieldName = NamesOf<'total' | 'status' | 'instant'>

export type Operator = '=' | '!=' | '<' | '<=' | '>' | '>=' | ':'

/**
 * The whole numbers from `low` up to, not including, `high`: what a value of a number field covers, in the
 * unit of its column. One number is a range of one; a value between two neighbours (total 0.00005) is empty,
 * with both ends at the upper one; a day is all its milliseconds. Every comparison follows from the two ends
 * without rounding.
 */
export type NumberRange = { low: number; high: number }

export type Field =
  | { kind: 'id'; name: 'id'; operators: readonly Operator[]; rule: string }
  | { kind: 'text'; name: TextFieldName; operators: readonly Operator[]; rule: string }
  | {
      kind: 'number'
      name: NumberFieldName
      operators: readonly Operator[]
      /** What values it takes, as the end of a sentence. */
      rule: string
      /** The same in a few words, for lists of what is expected. */
      expected: readonly string[]
      read: (text: string) => NumberRange | null
    }

const matching: readonly Operator[] = ['=', '!=', ':']
const ordering: readonly Operator[] = ['=', '!=', '<', '<=', '>', '>=', ':']

/** `Pending (0) or Approved (1)`. */
const statusesInWords = orderStatusNames.map((name) => `${name} (${orderStatus[name]})`).join(' or ')

const numberRules = {
  total: {
    operators: ordering,
    rule: 'needs a decimal number, such as 100 or 12.50.',
    expected: ['a decimal number'],
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
}

const fields = new Map(fieldNames.map((name) => [name.toLowerCase(), fieldOf(name)]))

/** The field of that name, ignoring case. */
export function findField(name: string): Field | undefined {
  return fields.get(name.toLowerCase())
}

function fieldOf(name: FieldName): Field {
  const { kind } = orderFields[name]
  if (kind === 'id') {
    return { kind, name: 'id', operators: matching, rule: '`id` needs a text, with = != or :.' }
  }
  if (kind === 'text') {
    return {
      kind,
      name: name as TextFieldName,
      operators: ordering,
      rule: `\`${name}\` needs a text.`,
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
  // One whole Gregorian cycle later, as Date.UTC takes the years 0 to 99 for 1900 to 1999.
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

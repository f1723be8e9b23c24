import {
  bodyOf,
  codePoints,
  Fault,
  type Field,
  int32Schema,
  named,
  queryOf,
  readInt32,
} from '../http/fields.ts'
import { pageNumberField, pageSchema, pageSizeField, paginatedField } from '../http/paging.ts'
import { Type } from '../http/schema.ts'
import {
  type FieldKind,
  type FieldName,
  fieldNames,
  orderDirection,
  orderFields,
  orderStatus,
  orderStatusNames,
  type SortKey,
  sortKeys,
  summaryNames,
  totalLimitE4,
} from './order.ts'
import { defaultDays, statusKeys } from './overview.ts'
import { oldestPendingLimit } from './tally.ts'

const customerLimit = 200

const controls = '\\u0000-\\u001f\\u007f-\\u009f'
/** They make a text read in another order than it is written in; a name that needs two directions has them anyway. */
const reordering = '\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069'
const edge = `[^\\s${controls}${reordering}]`
const reorders = new RegExp(`[${reordering}]`)
/** A plain pattern has no word for it: the description says it, and the tests of the contract. */
const canBeSeen =
  /[[\p{L}\p{N}\p{P}\p{S}]--[\p{Default_Ignorable_Code_Point}\u2800\ufffc\u{13441}\u{13442}\u{1d159}]]/v

/** Trimmed, 1 to 200 code points, none that controls or reorders text, one at least that can be seen; then NFC. */
export const customerField: Field<string> = {
  schema: Type.String({
    pattern: `^\\s*${edge}(?:[^${controls}${reordering}]{0,198}${edge})?\\s*$`,
    description:
      'Who ordered. White space at both ends is trimmed; then 1 to 200 characters (Unicode code points), no control characters, none that reorder text (such as U+202E), and at least one letter, digit, punctuation mark or symbol that can be seen. Stored in normalisation form C.',
    examples: ['Müller & Söhne GmbH'],
  }),
  read(value) {
    if (typeof value !== 'string') return new Fault('type', 'must be a string.')
    if (!value.isWellFormed()) return new Fault('encoding', 'must be well-formed Unicode.')
    const trimmed = value.trim()
    if (trimmed === '') return new Fault('length', 'must not be blank.')
    if (codePoints(trimmed) > customerLimit) {
      return new Fault('length', `must have at most ${customerLimit} characters.`)
    }
    if (/\p{Cc}/u.test(trimmed)) return new Fault('characters', 'must not contain control characters.')
    if (reorders.test(trimmed))
      return new Fault('characters', 'must not contain characters that reorder text.')
    if (!canBeSeen.test(trimmed)) return new Fault('characters', 'must contain a character that can be seen.')
    return trimmed.normalize('NFC')
  },
}

const totalPattern = /^-?(?:0|[1-9]\d*)(?:\.(\d+))?$/

/** Integer ten-thousandths of the decimal that was sent, exactly; never rounded. */
export const totalField: Field<number> = {
  schema: Type.Unsafe<number>({
    type: ['number', 'string'],
    format: 'double',
    exclusiveMinimum: 0,
    maximum: 99_999_999_999.9999,
    pattern: '^(?!0(?:\\.0{1,4})?$)(?:0|[1-9]\\d{0,10})(?:\\.\\d{1,4})?$',
    description:
      'Amount, greater than 0, at most 99,999,999,999.9999, with at most 4 decimal places; a JSON number or a decimal string. More places are refused, never rounded. A number is judged by the shortest decimal form of the double.',
    examples: [1250.5],
  }),
  read(value) {
    if (typeof value !== 'number' && typeof value !== 'string') {
      return new Fault('type', 'must be a number or a decimal string.')
    }
    return typeof value === 'number' ? readTotalNumber(value) : readTotalText(value)
  },
}

/** JavaScript prints a double as the shortest decimal that parses to it, beyond 1e21 and below 1e-6 with exponent. */
function readTotalNumber(value: number): number | Fault {
  if (value > totalLimitE4 / 10_000) return tooLarge
  if (value <= 0) return notPositive
  const text = String(value)
  return text.includes('e') ? tooPrecise : readTotalText(text)
}

function readTotalText(text: string): number | Fault {
  const match = text.length <= 1_000 ? totalPattern.exec(text) : null
  if (match === null) {
    return new Fault(
      'format',
      'must be a plain decimal such as 12 or 12.50, without an exponent, a plus sign or spaces.',
    )
  }
  const [whole = ''] = text.split('.')
  const fraction = match[1] ?? ''
  if (text.startsWith('-') || /^[0.]+$/.test(text)) return notPositive
  if (whole.length > 11) return tooLarge
  if (fraction.length > 4) return tooPrecise
  return Number(whole) * 10_000 + Number(fraction.padEnd(4, '0'))
}

const notPositive = new Fault('minimum', 'must be greater than 0.')
const tooLarge = new Fault('maximum', 'must be at most 99,999,999,999.9999.')
const tooPrecise = new Fault('decimals', 'must have at most 4 decimal places.')

export const CreateOrderCommand = bodyOf('CreateOrderCommand', 'A new order.', {
  customer: customerField,
  total: totalField,
})

const EOrderStatus = named(
  'EOrderStatus',
  Type.Unsafe<number>({
    type: 'integer',
    enum: Object.values(orderStatus),
    'x-enum-varnames': orderStatusNames,
    description: orderFields.status.description,
    examples: [orderFields.status.example],
  }),
)

/** What is sent of a field. Those that may be null say so in their type. */
function schemaOf(name: FieldName) {
  const { kind, nullable, description, example } = orderFields[name]
  if (kind === 'status') return EOrderStatus
  const { type, ...form } = forms[kind]
  const types = [...[type].flat(), ...(nullable ? ['null'] : [])]
  return Type.Unsafe<unknown>({
    type: types.length === 1 ? type : types,
    ...form,
    description,
    examples: [example],
  })
}

const forms: Record<Exclude<FieldKind, 'status'>, { type: string | string[]; [keyword: string]: unknown }> = {
  id: { type: 'string', format: 'uuid' },
  text: { type: 'string' },
  total: { type: ['number', 'string'], format: 'double', pattern: '^-?(?:0|[1-9]\\d*)(?:\\.\\d+)?$' },
  instant: { type: 'string', format: 'date-time' },
}

const orderSchema = (name: string, fields: readonly FieldName[]) =>
  named(name, Type.Object(Object.fromEntries(fields.map((field) => [field, schemaOf(field)]))))

export const CreateOrderResponse = named('CreateOrderResponse', Type.Object({ id: schemaOf('id') }))
export const OrderResponse = orderSchema('Order', fieldNames)
const OrderSummary = orderSchema('OrderSummary', summaryNames)

export const PaginatedListOfOrderSummary = pageSchema('PaginatedListOfOrderSummary', OrderSummary)

const orderByField: Field<SortKey> = {
  schema: Type.String({
    pattern: anyCasePattern(sortKeys),
    default: 'createdAtUtc',
    description: `Field to sort by, in any case: ${sortKeys.join(', ')}. An order that was never changed comes before all that were; ties are broken by id.`,
    examples: ['createdAtUtc'],
  }),
  read(value) {
    const wanted = String(value).toLowerCase()
    const found = sortKeys.find((name) => name.toLowerCase() === wanted)
    return found ?? new Fault('enum', `must be one of ${sortKeys.join(', ')}.`)
  },
}

const directionNames = Object.keys(orderDirection) as (keyof typeof orderDirection)[]

const EOrderDirection = named(
  'EOrderDirection',
  Type.Unsafe<number>({
    type: 'integer',
    enum: Object.values(orderDirection),
    'x-enum-varnames': directionNames,
    description: 'Asc = 0, Desc = 1.',
    examples: [orderDirection.Desc],
  }),
)

const orderField: Field<'asc' | 'desc'> = {
  schema: Type.Unsafe<string>({
    anyOf: [EOrderDirection, { type: 'string', pattern: anyCasePattern(directionNames) }],
    description:
      'Sort direction: Asc or Desc in any case, or the number. Without it: Desc, or Asc when orderBy is given.',
    examples: ['Desc'],
  }),
  read(value) {
    const wanted = String(value).toLowerCase()
    const found = directionNames.find(
      (name) => name.toLowerCase() === wanted || String(orderDirection[name]) === wanted,
    )
    if (found === undefined) return new Fault('enum', 'must be Asc (0) or Desc (1).')
    return found === 'Asc' ? 'asc' : 'desc'
  },
}

/** The text itself; it is parsed by the filter language, whose faults have positions. */
const filterField: Field<string> = {
  schema: Type.String({
    maxLength: 1_000,
    description:
      'A profile of Google AIP-160: plain words search the customer and the start of the id; `field op value` with = != < <= > >= and : (contains); AND, OR, NOT, -, parentheses. Fields are the ten of Order. See docs/filter.md.',
    examples: ['status=Pending AND total>=1000'],
  }),
  read: (value) => String(value),
}

export const ListOrdersQuery = queryOf({
  pageNumber: pageNumberField,
  pageSize: pageSizeField,
  orderBy: orderByField,
  order: orderField,
  filter: filterField,
  paginated: paginatedField,
})

const daysLimit = 366

const daysField: Field<number> = {
  schema: int32Schema({
    minimum: 1,
    maximum: daysLimit,
    default: defaultDays,
    pattern: '^(?:[1-9]\\d?|[12]\\d\\d|3[0-5]\\d|36[0-6])$',
    description: `UTC days to list, the last of them today: 1 to ${daysLimit}.`,
    examples: [30],
  }),
  read(value) {
    const number = readInt32(value)
    if (number === undefined) return new Fault('type', 'must be a whole number (int32).')
    if (number < 1) return new Fault('minimum', 'must be at least 1.')
    return number > daysLimit ? new Fault('maximum', `must be at most ${daysLimit}.`) : number
  },
}

export const OrdersOverviewQuery = queryOf({ days: daysField })

const OrderTally = named(
  'OrderTally',
  Type.Object({
    count: int32Schema({ minimum: 0, description: 'How many orders.', examples: [12] }),
    total: Type.Unsafe<number>({
      type: ['number', 'string'],
      format: 'double',
      pattern: '^(?:0|[1-9]\\d*)(?:\\.\\d+)?$',
      description: 'Sum of their totals: the double nearest to the exact sum; always sent as a JSON number.',
      examples: [1234.5],
    }),
  }),
)

/** One for each status: `pending`, `approved`. */
const tallies = Object.fromEntries(statusKeys.map((key) => [key, OrderTally]))

const OrderDay = named(
  'OrderDay',
  Type.Object({
    date: Type.String({
      format: 'date',
      description: 'UTC day of creation, as the filter language writes it.',
      examples: ['2026-11-20'],
    }),
    ...tallies,
  }),
)

export const OrderStatistics = named(
  'OrderStatistics',
  Type.Object(
    {
      ...tallies,
      days: Type.Array(OrderDay, {
        minItems: 1,
        maxItems: daysLimit,
        description:
          'One entry for each day asked for, oldest first, today last: the orders created on it, by the status that they have now.',
      }),
      oldestPending: Type.Array(OrderSummary, {
        maxItems: oldestPendingLimit,
        description: `The pending orders that wait longest, at most ${oldestPendingLimit}, oldest first.`,
      }),
    },
    { description: 'Everything of one moment.' },
  ),
)

/** `^(?:[Aa][Ss][Cc]|...)$`: JSON Schema has no flag for it. */
function anyCasePattern(names: readonly string[]): string {
  const any = names.map((name) =>
    name.replaceAll(/[A-Za-z]/g, (letter) => `[${letter.toUpperCase()}${letter.toLowerCase()}]`),
  )
  return `^(?:${any.join('|')})$`
}

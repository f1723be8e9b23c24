import { maximumLengthCodePoints } from '../../rules/lexer.ts'
import { answerOf, int32, text } from '../http/answers.ts'
import { anyText, bodyOf, Fault, type Field, named, queryOf, refined } from '../http/fields.ts'
import {
  anyCasePattern,
  directionField,
  pageNumberField,
  pageSchema,
  pageSizeField,
  paginatedField,
} from '../http/paging.ts'
import { forModels, Type } from '../http/schema.ts'
import { legibleText } from '../http/text.ts'
import { parseUuid } from '../ids.ts'
import {
  type ColumnName,
  columnNames,
  type FieldKind,
  type FieldName,
  fieldNames,
  furtherColumns,
  orderFields,
  orderStatus,
  orderStatusNames,
  type SortKey,
  sortKeys,
  summaryNames,
  totalLimitE4,
} from './order.ts'

export const customerField = legibleText(200, 'The customer.', 'Müller & Söhne GmbH')

const amountPattern = /^-?(?:0|[1-9]\d*)(?:\.(\d+))?$/

/** Integer ten-thousandths of the decimal that was sent, exact and never rounded; `least` or more of them. */
function amountField(least: 0 | 1, description: string, examples: number[]): Field<number> {
  const bound = least === 0 ? 'at least 0' : 'greater than 0'
  const limits = `${bound}, at most 99,999,999,999.9999, with at most 4 decimal places`
  return {
    schema: Type.Unsafe<number>({
      type: ['number', 'string'],
      format: 'double',
      ...(least === 0 ? { minimum: 0 } : { exclusiveMinimum: 0 }),
      maximum: 99_999_999_999.9999,
      pattern: `^${least === 0 ? '' : '(?!0(?:\\.0{1,4})?$)'}(?:0|[1-9]\\d{0,10})(?:\\.\\d{1,4})?$`,
      description: `${description}, ${limits}; a JSON number or a decimal string. More decimal places are refused, never rounded. A JSON number counts as the shortest decimal form of its double.`,
      examples,
      [forModels]: { description: `${description}, ${limits}.` },
    }),
    read(value) {
      if (typeof value !== 'number' && typeof value !== 'string') {
        return new Fault('type', 'must be a number or a decimal string.')
      }
      const amount = typeof value === 'number' ? readAmountNumber(value) : readAmountText(value)
      return amount === 'negative' || (amount === 0 && least > 0)
        ? new Fault('minimum', `must be ${bound}.`)
        : amount
    },
  }
}

export const totalField = amountField(1, 'Amount', [1250.5])

export const fromField = amountField(0, 'From this total on', [10_000])

/**
 * JavaScript prints a double as the shortest decimal that gives it, with an exponent beyond 1e21 and below
 * 1e-6.
 */
function readAmountNumber(value: number): number | 'negative' | Fault {
  if (value > totalLimitE4 / 10_000) return tooLarge
  if (value < 0) return 'negative'
  const text = String(value)
  return text.includes('e') ? tooPrecise : readAmountText(text)
}

function readAmountText(text: string): number | 'negative' | Fault {
  const match = text.length <= 1_000 ? amountPattern.exec(text) : null
  if (match === null) {
    return new Fault(
      'format',
      'must be a plain decimal such as 12 or 12.50, without an exponent, a plus sign or spaces.',
    )
  }
  const [whole = ''] = text.split('.')
  const fraction = match[1] ?? ''
  if (text.startsWith('-')) return 'negative'
  if (whole.length > 11) return tooLarge
  if (fraction.length > 4) return tooPrecise
  return Number(whole) * 10_000 + Number(fraction.padEnd(4, '0'))
}

const tooLarge = new Fault('maximum', 'must be at most 99,999,999,999.9999.')
const tooPrecise = new Fault('decimals', 'must have at most 4 decimal places.')

export const newOrderFields = { customer: customerField, total: totalField }

/** How many characters a reason or a note can have. */
export const wordsLimit = 1_000

export const noteField = legibleText(
  wordsLimit,
  'The note.',
  'Called the customer, who confirms the total.',
  { lines: true },
)

export const orderIdField = (description: string): Field<string> =>
  refined(
    anyText,
    text(description, orderFields.id.example, { format: 'uuid' }),
    (given) => parseUuid(given) ?? new Fault('format', 'must be a UUID.'),
  )

export const CreateOrderCommand = bodyOf('CreateOrderCommand', 'A new order.', {
  ...newOrderFields,
  note: { ...noteField, isOptional: true } as Field<string | null>,
  replaces: {
    ...orderIdField('Id of a rejected or withdrawn order that this one replaces.'),
    isOptional: true,
  } as Field<string | null>,
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

/** The schema of a field as it is sent. */
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
  answerOf(name, undefined, Object.fromEntries(fields.map((field) => [field, schemaOf(field)])))

export const CreateOrderResponse = answerOf('CreateOrderResponse', undefined, { id: schemaOf('id') })
export const OrderResponse = orderSchema('Order', fieldNames)
export const OrderSummary = orderSchema('OrderSummary', summaryNames)

export const PaginatedListOfOrderSummary = pageSchema('PaginatedListOfOrderSummary', OrderSummary)

const sortedThen = 'Orders that never changed come before those that did; ties are broken by id.'

export const orderByField: Field<SortKey> = {
  schema: text(`Field to sort by, ignoring case: ${sortKeys.join(', ')}. ${sortedThen}`, 'createdAtUtc', {
    pattern: anyCasePattern(sortKeys),
    default: 'createdAtUtc',
    [forModels]: { enum: sortKeys, description: `Field to sort by. ${sortedThen}` },
  }),
  read(value) {
    const wanted = typeof value === 'string' ? value.toLowerCase() : ''
    const found = sortKeys.find((name) => name.toLowerCase() === wanted)
    return found ?? new Fault('enum', `must be one of ${sortKeys.join(', ')}.`)
  },
}

/** The text only: the filter language parses it, because its faults have positions. */
const filterField: Field<string> = {
  schema: text(
    "A profile of Google AIP-160. Plain words search the customer and the start of the id; `field op value` with = != < <= > >= and : (contains); AND, OR, NOT, -, parentheses. The fields are those of Order, `number`, `approvedBy`, `approvalsMissing`, `waitingSince`, `replaces`, `replacedBy` and `waits` (`waits:me`, `waits:nobody`); `createdBy=me` are the caller's; `#1042` alone is a number. To walk through orders that change, sort by id and go on with `(filter) AND id>last`. See docs/filter.md.",
    'status=Pending AND total>=1000',
    { maxLength: maximumLengthCodePoints },
  ),
  read(value) {
    if (typeof value !== 'string') return new Fault('type', 'must be a string.')
    return value.isWellFormed() ? value : new Fault('encoding', 'must be well-formed Unicode.')
  },
}

const furtherNames = columnNames.filter((name) => !summaryNames.some((summary) => summary === name))

const columnsField: Field<ColumnName[]> = {
  schema: text(
    `What each item has besides its summary, separated by commas: ${furtherNames.map((name) => `\`${name}\``).join(', ')}. Fields of Order are as in Order. ${Object.entries(
      furtherColumns,
    )
      .map(([name, { description }]) => `\`${name}\`: ${description}`)
      .join(' ')} An export has these columns.`,
    'createdBy,approvalsMissing',
    { pattern: `^(?:${columnNames.join('|')})(?:,(?:${columnNames.join('|')}))*$` },
  ),
  read(value) {
    const names = String(value).split(',')
    const known = columnNames.filter((name) => names.includes(name))
    const isKnown = names.every((name) => known.some((one) => one === name))
    return isKnown
      ? known
      : new Fault('enum', `must be some of ${columnNames.join(', ')}, separated by commas.`)
  },
}

const bomField: Field<boolean> = {
  ...paginatedField,
  schema: {
    ...paginatedField.schema,
    default: false,
    description:
      'Whether an export as CSV begins with a byte-order mark, by which spreadsheets recognize UTF-8.',
  },
}

/** Which orders a list has, in which order, and which page of them. */
export const pageFields = {
  pageNumber: pageNumberField,
  pageSize: pageSizeField,
  orderBy: orderByField,
  order: directionField('Without it: Desc, or Asc if orderBy is given.'),
  filter: filterField,
}

export const ListOrdersQuery = queryOf({
  ...pageFields,
  paginated: paginatedField,
  columns: columnsField,
  bom: bomField,
})

/** The facts of a document that stay in the log. */
export const aboutDocument = {
  id: text('UUIDv7 of the document.', '019a9d2e-5b7c-7f3a-9c41-6d2f8e0b1a60', { format: 'uuid' }),
  mediaType: text(
    'What the bytes say, whatever was sent: application/pdf, image/png, image/jpeg, image/webp, text/plain, or else application/octet-stream.',
    'application/pdf',
  ),
  size: int32('Bytes.', 48_213),
  sha256: text(
    'Hexadecimal SHA-256 of the bytes.',
    '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  ),
}

import { maximumLengthCodePoints } from '../../../rules/lexer.ts'
import { answerOf, text } from '../../http/answers.ts'
import { bodyOf, Fault, type Field, InnerFaults, objectOf } from '../../http/fields.ts'
import { directionField, EOrderDirection, pageSchema } from '../../http/paging.ts'
import { Type } from '../../http/schema.ts'
import { legibleText } from '../../http/text.ts'
import { FilterError } from '../filter/fault.ts'
import { parseFilter } from '../filter/parser.ts'
import { type ColumnName, columnNames } from '../order.ts'
import { orderByField } from '../schemas.ts'

const nameLimit = 80
const nameField = legibleText(
  nameLimit,
  'Name of the view. Names are unique per account, ignoring case.',
  'Large and waiting',
)

const filterExample = 'status=Pending AND total>=1000'

/** Parsed when the view is saved, so that no view has a fault. */
const filterField: Field<string> = {
  schema: text(
    'Like the parameter `filter` of the list (docs/filter.md). Empty for every order.',
    filterExample,
    { maxLength: maximumLengthCodePoints },
  ),
  read(value) {
    if (typeof value !== 'string') return new Fault('type', 'must be a string.')
    try {
      parseFilter(value)
      return value.trim()
    } catch (error) {
      if (!(error instanceof FilterError)) throw error
      return new InnerFaults([{ code: 'syntax', ...error.fault }])
    }
  },
}

const columnsSchema = Type.Unsafe<ColumnName[]>({
  type: 'array',
  items: { type: 'string', enum: columnNames },
  minItems: 1,
  maxItems: columnNames.length,
  uniqueItems: true,
  description: 'Columns of the list, in this order. Later versions will have more.',
  examples: [['id', 'customer', 'total', 'createdBy', 'approvalsMissing']],
})

const columnsField: Field<ColumnName[]> = {
  schema: columnsSchema,
  read(value) {
    if (!Array.isArray(value)) return new Fault('type', 'must be a list.')
    if (value.length === 0) return new Fault('length', 'must have at least 1 entry.')
    const known = value.filter((name): name is ColumnName => columnNames.includes(name))
    if (known.length < value.length) {
      return new Fault('enum', `must only have entries of ${columnNames.join(', ')}.`)
    }
    return new Set(known).size === known.length ? known : new Fault('repeated', 'must not repeat an entry.')
  },
}

export const PutViewCommand = bodyOf('PutViewCommand', 'A list of orders under a name.', {
  name: nameField,
  filter: filterField,
  sort: objectOf(
    { orderBy: orderByField, order: directionField('') },
    { description: 'Field and direction by which the list is sorted.' },
  ),
  columns: columnsField,
})

export const ViewResponse = answerOf('View', undefined, {
  id: text('Chosen by the client that created it.', '019a9d2e-5b7c-7f3a-9c41-6d2f8e0b1a57', {
    format: 'uuid',
  }),
  name: text('Name of the view.', 'Large and waiting'),
  filter: filterField.schema as ReturnType<typeof Type.String>,
  sort: Type.Object({
    orderBy: text('Field to sort by.', 'total'),
    order: EOrderDirection,
  }),
  columns: columnsSchema,
})

export const PaginatedListOfView = pageSchema('PaginatedListOfView', ViewResponse)

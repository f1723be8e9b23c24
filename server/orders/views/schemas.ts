import {
  bodyOf,
  booleanField,
  Fault,
  type Field,
  InnerFaults,
  named,
  objectOf,
  queryOf,
} from '../../http/fields.ts'
import {
  directionField,
  EOrderDirection,
  pageNumberField,
  pageSchema,
  pageSizeField,
} from '../../http/paging.ts'
import { Type } from '../../http/schema.ts'
import { legibleText } from '../../http/text.ts'
import { FilterError } from '../filter/fault.ts'
import { maximumLengthCodePoints } from '../filter/lexer.ts'
import { parseFilter } from '../filter/parser.ts'
import { type ColumnName, columnNames } from '../order.ts'
import { orderByField } from '../schemas.ts'

const nameLimit = 80
const nameField = legibleText(nameLimit, {
  description: 'What the view is called. No two views of one account share a name, in any case.',
  examples: ['Large and waiting'],
})

const filterExample = 'status=Pending AND total>=1000'

/** Parsed when it is kept, so that no view is kept which finds nothing but a fault. */
const filterField: Field<string> = {
  schema: Type.String({
    maxLength: maximumLengthCodePoints,
    description: 'As the parameter `filter` of the list (docs/filter.md); empty for every order.',
    examples: [filterExample],
  }),
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
  description: 'What the list shows of each order, in this order. Later versions will have more.',
  examples: [['id', 'customer', 'total', 'createdBy', 'approvalsMissing']],
})

const columnsField: Field<ColumnName[]> = {
  schema: columnsSchema,
  read(value) {
    if (!Array.isArray(value)) return new Fault('type', 'must be a list.')
    if (value.length === 0) return new Fault('length', 'must have 1 entry at least.')
    const known = value.filter((name): name is ColumnName => columnNames.includes(name))
    if (known.length < value.length) {
      return new Fault('enum', `must have no other entries than ${columnNames.join(', ')}.`)
    }
    return new Set(known).size === known.length ? known : new Fault('repeated', 'must not repeat an entry.')
  },
}

const sharedField = booleanField({
  description: 'Whether everybody who may read orders sees it. Sharing needs the permission Views.Share.',
  examples: [false],
})

export const PutViewCommand = bodyOf('PutViewCommand', 'A list of orders under a name.', {
  name: nameField,
  filter: filterField,
  sort: objectOf(
    { orderBy: orderByField, order: directionField('') },
    { description: 'By which field the list is sorted, and in which direction.' },
  ),
  columns: columnsField,
  shared: sharedField,
})

export const ViewResponse = named(
  'View',
  Type.Object({
    id: Type.String({
      format: 'uuid',
      description: 'Chosen by whoever made it.',
      examples: ['019a9d2e-5b7c-7f3a-9c41-6d2f8e0b1a57'],
    }),
    name: Type.String({ description: 'What it is called.', examples: ['Large and waiting'] }),
    filter: filterField.schema as ReturnType<typeof Type.String>,
    sort: Type.Object({
      orderBy: Type.String({ description: 'Field to sort by.', examples: ['total'] }),
      order: EOrderDirection,
    }),
    columns: columnsSchema,
    shared: Type.Boolean({
      description: 'Whether everybody who may read orders sees it.',
      examples: [false],
    }),
    isOwn: Type.Boolean({ description: 'Whether it is the caller’s.', examples: [true] }),
    owner: Type.String({ description: 'User name of the owner.', examples: ['operator'] }),
  }),
)

export const PaginatedListOfView = pageSchema('PaginatedListOfView', ViewResponse)

export const ListViewsQuery = queryOf({ pageNumber: pageNumberField, pageSize: pageSizeField })

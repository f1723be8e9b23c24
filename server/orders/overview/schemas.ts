import { int32Field, int32Schema, named, queryOf } from '../../http/fields.ts'
import { Type } from '../../http/schema.ts'
import { OrderSummary } from '../schemas.ts'
import { defaultDays, statusKeys } from './overview.ts'
import { oldestPendingLimit } from './store.ts'

const daysLimit = 366

const daysField = int32Field(1, daysLimit, {
  default: defaultDays,
  pattern: '^(?:[1-9]\\d?|[12]\\d\\d|3[0-5]\\d|36[0-6])$',
  description: `UTC days to list, the last of them today: 1 to ${daysLimit}.`,
  examples: [30],
})

export const OrdersOverviewQuery = queryOf({ days: daysField })

const OrderTally = named(
  'OrderTally',
  Type.Object({
    count: int32Schema({ minimum: 0, description: 'How many orders.', examples: [12] }),
    total: Type.Unsafe<number>({
      type: ['number', 'string'],
      format: 'double',
      pattern: '^(?:0|[1-9]\\d*)(?:\\.\\d+)?$',
      description: 'Sum of their totals: the double nearest to the exact sum, as a JSON number.',
      examples: [1234.5],
    }),
  }),
)

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
          'One entry for each day asked for, ending with today: the orders created on that day, by their present status.',
      }),
      oldestPending: Type.Array(OrderSummary, {
        maxItems: oldestPendingLimit,
        description: `Up to ${oldestPendingLimit} pending orders that wait longest, oldest first.`,
      }),
    },
    { description: 'Figures from one moment.' },
  ),
)

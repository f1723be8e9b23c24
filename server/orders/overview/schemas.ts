import { answerOf, int32, text } from '../../http/answers.ts'
import { int32Field, queryOf } from '../../http/fields.ts'
import { Type } from '../../http/schema.ts'
import { OrderSummary } from '../schemas.ts'
import { defaultDays, statusKeys } from './overview.ts'
import { oldestPendingLimit } from './store.ts'

const daysLimit = 366

const daysField = int32Field(1, daysLimit, {
  default: defaultDays,
  pattern: '^(?:[1-9]\\d?|[12]\\d\\d|3[0-5]\\d|36[0-6])$',
  description: `Days to list, the last of them today: 1 to ${daysLimit}.`,
  examples: [30],
})

export const OrdersOverviewQuery = queryOf({ days: daysField })

const OrderTally = answerOf('OrderTally', undefined, {
  count: int32('How many orders.', 12, { minimum: 0 }),
  total: Type.Unsafe<number>({
    type: ['number', 'string'],
    format: 'double',
    pattern: '^(?:0|[1-9]\\d*)(?:\\.\\d+)?$',
    description: 'Sum of their totals: the double nearest to the exact sum, as a JSON number.',
    examples: [1234.5],
  }),
})

const tallies = Object.fromEntries(statusKeys.map((key) => [key, OrderTally]))

const OrderDay = answerOf('OrderDay', undefined, {
  date: text('Day of creation in the time zone.', '2026-11-20', { format: 'date' }),
  ...tallies,
})

export const OrderStatistics = answerOf('OrderStatistics', 'Figures from one moment.', {
  timeZone: text('IANA time zone of the days.', 'Europe/Berlin'),
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
})

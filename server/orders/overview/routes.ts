import { pageLimitMilliseconds } from '../../db/port.ts'
import { noContent } from '../../http/fields.ts'
import { revalidate } from '../../http/preconditions.ts'
import { callerOf, type Routes, route } from '../../http/route.ts'
import { summaryNames } from '../order.ts'
import { type OrderParts, reading, readTimeZone, timeZoneHeader } from '../requests.ts'
import { toResponse } from '../responses.ts'
import { defaultDays } from './overview.ts'
import { OrderStatistics, OrdersOverviewQuery } from './schemas.ts'

export const overviewRoutes: Routes<OrderParts> = {
  getOrdersOverview: route('GET /v1/orders/summary', {
    summary: 'Read counts and sums of orders, and the orders that wait longest',
    description: 'All figures are exact and from one moment. Days are days of creation in the time zone.',
    ...reading,
    requestHeaders: [...reading.requestHeaders, timeZoneHeader('of the days')],
    problems: ['invalid-time-zone', 'overloaded', 'filter-too-expensive'],
    querystring: OrdersOverviewQuery,
    response: { 200: OrderStatistics, 304: noContent },
    onSend: revalidate,
    handler: async ({ config, db, clock }, request, reply) => {
      const { days = defaultDays } = request.query
      const timeZone = readTimeZone(request, config)
      const input = { days, timeZone, nowMilliseconds: clock() }
      const options = { limitMilliseconds: pageLimitMilliseconds, caller: String(callerOf(request).id) }
      const overview = await db.query('findOverview', input, options)
      reply.header('vary', `${reply.getHeader('vary')}, Time-Zone`)
      const oldestPending = overview.oldestPending.map((order) => toResponse(summaryNames, order))
      return { timeZone, ...overview, oldestPending }
    },
  }),
}

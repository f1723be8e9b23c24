import { noContent } from '../../http/fields.ts'
import type { App } from '../../http/route.ts'
import { summaryNames } from '../order.ts'
import { type OrderParts, reading, revalidate, tags } from '../requests.ts'
import { toDate, toResponse } from '../responses.ts'
import { getOrdersOverview } from './overview.ts'
import { OrderStatistics, OrdersOverviewQuery } from './schemas.ts'

export function registerOverview(app: App, { db, clock }: OrderParts): void {
  app.route({
    method: 'GET',
    url: '/v1/orders/summary',
    config: reading,
    schema: {
      operationId: 'getOrdersOverview',
      summary: 'Read counts and sums of orders, and the orders that wait longest',
      description: 'All figures are exact and from one moment. Days are UTC days of creation.',
      tags,
      querystring: OrdersOverviewQuery,
      response: { 200: OrderStatistics, 304: noContent },
    },
    onSend: revalidate,
    handler: async (request) => {
      const { days } = request.query
      const overview = await getOrdersOverview(db.read, { days, nowMilliseconds: clock() })
      return {
        ...overview,
        days: overview.days.map(({ startsAt, ...day }) => ({ date: toDate(startsAt), ...day })),
        oldestPending: overview.oldestPending.map((order) => toResponse(summaryNames, order)),
      }
    },
  })
}

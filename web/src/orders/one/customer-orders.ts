import { queryOptions } from '@tanstack/react-query'
import { answerOf, client } from '../../api/client.ts'
import { quoteValue } from '../filter/text.ts'
import type { ListedOrder } from '../order.ts'

/** How many other orders of a customer are shown. */
export const shown = 5

/** The search for all orders of the customer. */
export const filterOf = (customer: string) => `customer=${quoteValue(customer)}`

/** The last orders of the customer, newest first, and how many there are. */
export function customerQuery(customer: string) {
  const query = { filter: filterOf(customer), pageSize: shown + 1, columns: 'number' }
  return queryOptions({
    queryKey: ['orders', 'customer', customer],
    queryFn: async ({ signal }) => {
      const page = await answerOf(client.GET('/v1/orders', { params: { query }, signal }))
      return { items: page.items as ListedOrder[], count: page.totalCount ?? 0 }
    },
  })
}

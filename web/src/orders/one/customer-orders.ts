import { queryOptions } from '@tanstack/react-query'
import { answerOf, client } from '../../api/client.ts'
import { formatCount, formatTotal } from '../../ui/format.ts'
import { quoteValue } from '../filter/text.ts'
import type { ListedOrder, OrderSummary } from '../order.ts'
import { approved } from '../states.ts'

/** How many other orders of a customer are looked at. */
const looked = 20

/** The search for all orders of the customer. */
export const filterOf = (customer: string) => `customer=${quoteValue(customer)}`

/** The last orders of the customer, newest first, and how many there are. */
export function customerQuery(customer: string) {
  const query = { filter: filterOf(customer), pageSize: looked + 1, columns: 'number' }
  return queryOptions({
    queryKey: ['orders', 'customer', customer],
    queryFn: async ({ signal }) => {
      const page = await answerOf(client.GET('/v1/orders', { params: { query }, signal }))
      return { items: page.items as ListedOrder[], count: page.totalCount ?? 0 }
    },
  })
}

/** The last orders without this one. */
export function othersOf<Listed extends OrderSummary>(id: string, orders: readonly Listed[]): Listed[] {
  return orders.filter((order) => order.id !== id).slice(0, looked)
}

/** The median of what was approved among the last other orders of the customer, and what it is in words. */
export function usualTotal(others: readonly OrderSummary[]): { total?: number; words: string } {
  const totals = others.filter(({ status }) => status === approved).map(({ total }) => total)
  totals.sort((one, other) => one - other)
  const [first = 0] = totals
  const last = totals.at(-1) ?? first
  const middle = totals.slice((totals.length - 1) >> 1, (totals.length >> 1) + 1)
  const isOnly = others.length === 1
  const among = `the last ${formatCount(others.length)} other orders`
  if (others.length === 0) return { words: 'This customer has no other orders.' }
  if (totals.length === 0)
    return { words: isOnly ? 'The only other order was not approved.' : `None of ${among} was approved.` }
  const total = middle.reduce((sum, each) => sum + each, 0) / middle.length
  if (totals.length === 1) {
    return {
      total,
      words: isOnly ? 'Total of the only other order.' : `Total of the only one approved among ${among}.`,
    }
  }
  const range = first === last ? '' : `: ${formatTotal(first)} to ${formatTotal(last)}`
  return { total, words: `Median of the ${formatCount(totals.length)} approved among ${among}${range}.` }
}

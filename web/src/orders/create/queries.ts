import { queryOptions } from '@tanstack/react-query'
import { answerOf, client } from '../../api/client.ts'
import { ownTimeZone } from '../../ui/format.ts'
import { isMadeHere } from '../arrivals.ts'
import { quoteValue } from '../filter/text.ts'
import type { ListedOrder } from '../order.ts'
import { ordersChanged } from '../queries.ts'
import { repeatableFilter } from '../states.ts'

/** How long ago an order may have been created to be taken for the same one. */
const soonMilliseconds = 15 * 60_000

/** The last order of this customer with this total, if it was created within minutes. */
export function similarQuery(order: Pick<NewOrder, 'customer' | 'total'> | undefined) {
  const { customer = '', total = '' } = order ?? {}
  return queryOptions({
    queryKey: ['similar', customer, total],
    queryFn: async ({ signal }) => {
      const from = new Date(Date.now() - soonMilliseconds).toISOString()
      const filter = `customer=${quoteValue(customer)} total=${total} createdAtUtc>="${from}" ${repeatableFilter}`
      const query = { filter, columns: 'number', pageSize: 1 }
      const { items } = await answerOf(client.GET('/v1/orders', { params: { query }, signal }))
      return (items[0] as ListedOrder | undefined) ?? null
    },
    enabled: order !== undefined,
    staleTime: 0,
    retry: false,
  })
}

/** The person's entries; `total` is a decimal as the API takes it. */
export interface NewOrder {
  customer: string
  total: string
  /** Empty for none. */
  note?: string
  /** The id of the order that it replaces; empty for none. */
  replaces?: string
  /** The same for every try to create one order, so a second press or a retry never creates a second one. */
  idempotencyKey: string
}

/**
 * Returns the id of the new order. Throws `ProblemError` or `NoAnswerError`; may be called again with the
 * same input.
 */
export async function createOrder(order: NewOrder): Promise<string> {
  const { id } = await sendOrder(order)
  // Not awaited: the person need not wait until other views are up to date.
  void ordersChanged()
  return id
}

/** The same without an update of other views. `isKnown`: an earlier request had created the order. */
export async function sendOrder(order: NewOrder): Promise<{ id: string; isKnown: boolean }> {
  const { customer, total, note, replaces, idempotencyKey } = order
  const options = { idempotencyKey, timeZone: ownTimeZone }
  const { data, response } = await client.orders.create(
    { customer, total, ...(note && { note }), ...(replaces && { replaces }) },
    options,
  )
  isMadeHere(data.id)
  return { id: data.id, isKnown: response.headers.has('idempotency-replayed') }
}

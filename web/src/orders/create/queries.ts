import { client } from '../../api/client.ts'
import { ownTimeZone } from '../../ui/format.ts'
import { isMadeHere } from '../arrivals.ts'
import { ordersChanged } from '../queries.ts'

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

import { answerOf, client } from '../../api/client.ts'
import { viewerTimeZone } from '../../ui/format.ts'
import { isMadeHere } from '../arrivals.ts'
import { ordersChanged } from '../queries.ts'

/** What a person entered; `total` is a decimal as the API takes it. */
export interface NewOrder {
  customer: string
  total: string
  /** The same for every try to create one order, so a second press or a retry never creates a second one. */
  idempotencyKey: string
}

/**
 * Returns the id of the new order. Throws `ProblemError` or `NoAnswerError`; may be called again with the
 * same input.
 */
export async function createOrder({ customer, total, idempotencyKey }: NewOrder): Promise<string> {
  const { id } = await answerOf(
    client.orders.create({ customer, total }, { idempotencyKey, timeZone: viewerTimeZone }),
  )
  isMadeHere(id)
  // Not awaited: the person need not wait until other views are up to date.
  void ordersChanged()
  return id
}

import { answerOf, client } from '../../api/client.ts'
import { viewerTimeZone } from '../../ui/format.ts'
import { isMadeHere } from '../arrivals.ts'
import { ordersChanged } from '../queries.ts'

/** What a person entered; `total` is a decimal in the wire's notation, and sent as it is. */
export interface NewOrder {
  customer: string
  total: string
  /** The same for every try of one order, so that a second press or a retry never makes two. */
  idempotencyKey: string
}

/**
 * Returns the id of the new order. Throws `ProblemError` or `NoAnswerError`; may be called again with the same input.
 */
export async function createOrder({ customer, total, idempotencyKey }: NewOrder): Promise<string> {
  const { id } = await answerOf(
    client.POST('/v1/orders', {
      body: { customer, total },
      params: { header: { 'Idempotency-Key': idempotencyKey, 'Time-Zone': viewerTimeZone } },
    }),
  )
  isMadeHere(id)
  // Whoever created it need not wait for the views.
  void ordersChanged()
  return id
}

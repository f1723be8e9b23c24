import { answerOf, client } from '../../api/client.ts'
import { viewerTimeZone } from '../../ui/format.ts'
import { isMadeHere } from '../arrivals.ts'
import { ordersChanged } from '../queries.ts'

/** What a person entered; `total` is a decimal as the API takes it. */
export interface NewOrder {
  customer: string
  total: string
  /** The same for every try of one order: a second press or a retry never creates a second one. */
  idempotencyKey: string
}

/**
 * Returns the id of the new order. Throws `ProblemError` or `NoAnswerError`; may be called again with the
 * same input.
 */
export async function createOrder({ customer, total, idempotencyKey }: NewOrder): Promise<string> {
  const { id } = await answerOf(
    client.POST('/v1/orders', {
      body: { customer, total },
      params: { header: { 'Idempotency-Key': idempotencyKey, 'Time-Zone': viewerTimeZone } },
    }),
  )
  isMadeHere(id)
  // The person need not wait for the views.
  void ordersChanged()
  return id
}

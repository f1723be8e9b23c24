import { answerOf, client } from '../../api/client.ts'
import { viewerTimeZone } from '../../ui/format.ts'

/** What a person decided about an order. */
export interface Decision {
  id: string
  /** The version that the person saw. Absent: whatever version is there, as long as it is pending. */
  etag?: string | undefined
  reason?: string
  idempotencyKey: string
}

/**
 * Each decides about the version that the person saw. They throw `ProblemError` (`precondition-failed`,
 * `order-not-pending`, `order-not-found`, ...) or `NoAnswerError`, and may be called again with the same
 * input.
 */
export async function approveOrder(decision: Decision): Promise<void> {
  await answerOf(client.PATCH('/v1/orders/{id}/approve', requestOf(decision)))
}

export async function rejectOrder(decision: Decision): Promise<void> {
  const { reason = '' } = decision
  await answerOf(client.PATCH('/v1/orders/{id}/reject', { ...requestOf(decision), body: { reason } }))
}

/** Only the creator can; otherwise `not-the-creator`. */
export async function withdrawOrder(decision: Decision): Promise<void> {
  const { reason } = decision
  const body = reason && { body: { reason } }
  await answerOf(client.PATCH('/v1/orders/{id}/withdraw', { ...requestOf(decision), ...body }))
}

/** With `keepalive` a request goes on when its page goes. */
function requestOf({ id, etag, idempotencyKey }: Decision) {
  const header = { 'Idempotency-Key': idempotencyKey, 'Time-Zone': viewerTimeZone }
  return {
    params: { path: { id }, header: { ...header, ...(etag && { 'If-Match': etag }) } },
    keepalive: true,
  }
}

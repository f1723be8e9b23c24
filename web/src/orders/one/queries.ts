import { answerOf, client } from '../../api/client.ts'
import { viewerTimeZone } from '../../ui/format.ts'

export interface NewNote {
  id: string
  text: string
  /** The same for every try of one note. */
  idempotencyKey: string
}

/** Throws `ProblemError` or `NoAnswerError`; may be called again with the same input. */
export async function addNote({ id, text, idempotencyKey }: NewNote): Promise<void> {
  const header = { 'Idempotency-Key': idempotencyKey, 'Time-Zone': viewerTimeZone }
  const params = { path: { id }, header }
  await answerOf(client.POST('/v1/orders/{id}/notes', { params, body: { text } }))
}

import type { Transaction } from '#kysely'
import type { Database } from '../db/tables.ts'
import { type Event, recordEvent, type Stamp } from './audit.ts'
import { deleteText } from './store.ts'

export interface Erased {
  kind: string
  subject: Event['subject']
}

/**
 * Erases the text of an event and its salt. The chain holds because the hash of the text stays, and the text
 * cannot be guessed from it. Refused if the event has no text.
 */
export async function eraseText(
  trx: Transaction<Database>,
  { sequence, stamp }: { sequence: number; stamp: Stamp },
): Promise<Erased | { refused: 'no-such-text' }> {
  const erased = await deleteText(trx, sequence)
  if (erased === undefined) return { refused: 'no-such-text' }
  const { kind, subject_kind, subject_id: id } = erased
  const of = { kind, subject: { kind: subject_kind as Event['subject']['kind'], id } }
  await recordEvent(trx, stamp, {
    kind: 'text-erased',
    subject: { kind: 'log', id: String(sequence) },
    data: { of },
  })
  return of
}

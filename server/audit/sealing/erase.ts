import type { Stamp } from '../../caller/stamp.ts'
import type { Trx } from '../../db/tables.ts'
import { Problem } from '../../problems/problems.ts'
import { type Event, recordEvent } from '../events/events.ts'
import { deleteText } from './store.ts'

export interface Erased {
  kind: string
  subject: Event['subject']
}

/**
 * Erases the text of an event and its salt. The tree holds because the hash of the text stays, and the text
 * cannot be guessed from it. Throws `text-not-found`.
 */
export async function eraseText(
  trx: Trx,
  { sequence, stamp }: { sequence: number; stamp: Stamp },
): Promise<Erased> {
  const erased = await deleteText(trx, sequence)
  if (erased === undefined) throw new Problem('text-not-found', { detail: `Event ${sequence} has no text.` })
  const { kind, subject_kind, subject_id: id } = erased
  const of = { kind, subject: { kind: subject_kind as Event['subject']['kind'], id } }
  await recordEvent(trx, stamp, {
    kind: 'text-erased',
    subject: { kind: 'log', id: String(sequence) },
    data: { of },
  })
  return of
}

import type { Stamp } from '../../caller/stamp.ts'
import type { Trx } from '../../db/tables.ts'
import { Problem } from '../../problems/problems.ts'
import { type Event, recordEvent } from '../events/events.ts'
import { eraseValue } from './store.ts'

export interface Erased {
  kind: string
  subject: Event['subject']
}

/**
 * Erases a name or text of an event and its salt. The tree holds because the hash stays, and nothing can be
 * guessed from it. Throws `value-not-found`.
 */
export async function eraseFromLog(
  trx: Trx,
  { sequence, name, stamp }: { sequence: number; name: string; stamp: Stamp },
): Promise<Erased> {
  const erased = await eraseValue(trx, sequence, name)
  if (erased === undefined) {
    throw new Problem('value-not-found', { detail: `Event ${sequence} has no ${name}, or it was erased.` })
  }
  const { kind, subject_kind, subject_id: id } = erased
  const of = { kind, subject: { kind: subject_kind as Event['subject']['kind'], id } }
  await recordEvent(trx, stamp, {
    kind: 'erased',
    subject: { kind: 'log', id: String(sequence) },
    facts: { erased: { [name]: [sequence] } },
  })
  return of
}

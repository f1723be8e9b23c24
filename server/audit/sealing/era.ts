/**
 * Eras of the log. A database that went back to an earlier state is not a log that went on: the same
 * sequences get other lines. So each restore begins the next era, with an event that says which line was
 * left.
 */

import type { Stamp } from '../../caller/stamp.ts'
import type { Trx } from '../../db/tables.ts'
import { recordEvent } from '../events/events.ts'
import { unsealedEventsOf } from '../events/store.ts'
import { sealedEvents } from '../lines/store.ts'
import { addLines } from './sealing.ts'
import { raiseEra } from './store.ts'

/** The era that begins, and the last line that is left of the one before. */
export interface BegunEra {
  era: number
  /** 0 and null if no line is left. */
  last: { sequence: number; hash: string | null }
}

/**
 * Begins the next era, or a later one if `atLeast` says so. Its event becomes the very next line, before
 * events that wait to be sealed: those may have had other places before the restore. Waits for a sealer that
 * holds the head.
 */
export async function beginEra(
  trx: Trx,
  { atLeast, stamp }: { atLeast: number; stamp: Stamp },
): Promise<BegunEra> {
  const head = await raiseEra(trx, atLeast)
  const { era, size } = head
  const [line] = await sealedEvents(trx, { first: size, last: size, direction: 'asc' })
  const last = { sequence: size, hash: line?.hash ?? null }
  const subject = { kind: 'log', id: String(size) } as const
  await recordEvent(trx, stamp, { kind: 'log-restored', subject, facts: { era, last } })
  const waiting = await unsealedEventsOf(trx, subject)
  const own = waiting.filter(({ id }) => id === stamp.eventId)
  await addLines(trx, head, own)
  return { era, last }
}

import type { Transaction } from '#kysely'
import { formatInstant } from '../clock.ts'
import type { Database, EventColumns } from '../db/tables.ts'
import type { Job } from '../upkeep.ts'
import { type HashedLine, hashOf } from './chain.ts'
import { lockHead, type Seal, storeSeals, unsealedEvents } from './store.ts'

/**
 * Moves at most `limit` committed events into the log, each with its place and the hash that binds it to all
 * before it; returns how many. One sealer at a time, by a lock that nobody else takes: writers of events
 * never wait for it, and a second sealer finds nothing to do. Events of one subject are sealed in the order
 * in which they happened, for the change of a row waits for the one before it.
 */
export async function sealEvents(trx: Transaction<Database>, { limit }: { limit: number }): Promise<number> {
  const head = await lockHead(trx)
  if (head === undefined) return 0
  const events = await unsealedEvents(trx, limit)
  let { size, hash } = head
  const seals = events.map((event): Seal => {
    size += 1
    hash = hashOf(hash, lineOf(event, size))
    return { number: event.number, sequence: size, hash }
  })
  if (seals.length > 0) await storeSeals(trx, seals)
  return seals.length
}

/**
 * The contract allows two seconds. Batches follow each other until nothing is left, which keeps up with
 * creates at full rate: half a second late on SQLite, 0.7 s on PostgreSQL (docs/performance.md). A batch
 * takes 2 ms of SQLite's writer; with the pause it shares its commit with creates, of which each then takes
 * 216 µs of processor time instead of 256.
 */
export const sealing: Job = {
  name: 'sealEvents',
  everyMilliseconds: 500,
  batch: 100,
  pauseMilliseconds: 10,
  run: sealEvents,
  failure: 'the log of events could not be sealed; trying again every half second',
}

/** What the hash of an event covers: its text by the salted hash, so that it can be erased. */
export function lineOf(event: EventColumns, sequence: number): HashedLine {
  return {
    sequence,
    id: event.id,
    kind: event.kind,
    subject: { kind: event.subject_kind, id: event.subject_id },
    version: event.version,
    atUtc: formatInstant(event.at),
    atTimeZone: event.at_time_zone,
    by: event.by_name,
    byId: event.by_id,
    data: JSON.parse(event.data),
    textHash: event.text_hash,
  }
}

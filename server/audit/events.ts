import type { Kysely, Transaction } from '#kysely'
import type { Database, EventColumns } from '../db/tables.ts'
import { type Event, eventRow, type Stamp } from './event.ts'
import { countEventsOf, eventsOf, insertEvent, insertEvents, type StoredEvent } from './store.ts'

/**
 * Leaves the event of a change, in the transaction of the change: nothing happens without a trace. `sealEvents` gives it
 * its place in the log afterwards, so that no writer waits for another here.
 */
export async function recordEvent(trx: Transaction<Database>, stamp: Stamp, event: Event): Promise<void> {
  await insertEvent(trx, eventRow(stamp, event))
}

/** The same for rows that are made already, in one statement. */
export async function recordEvents(trx: Transaction<Database>, rows: readonly EventColumns[]): Promise<void> {
  if (rows.length > 0) await insertEvents(trx, rows)
}

/** A page of what happened to a subject, in the order of the log, and how much that is in all. */
export async function listEvents(
  db: Kysely<Database>,
  subject: Event['subject'],
  page: { direction: 'asc' | 'desc'; offset: number; limit: number },
): Promise<{ events: StoredEvent[]; totalCount: number }> {
  const totalCount = await countEventsOf(db, subject)
  const events = page.offset < totalCount ? await eventsOf(db, subject, page) : []
  return { events, totalCount }
}

export { eventsOfKinds as listEventsOfKinds } from './store.ts'

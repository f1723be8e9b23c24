/**
 * The log of changes: a change and its event are one transaction, and a sealed event never changes except that its text
 * can be erased. docs/auditing.md says what that proves.
 */
import type { Kysely, Transaction } from '#kysely'
import type { Database, EventColumns } from '../db/tables.ts'
import { type Event, eventRow, type Stamp } from './event.ts'
import { countEventsOf, eventsOf, insertEvent, insertEvents, type StoredEvent } from './store.ts'

/**
 * Records the event of a change, in the transaction of the change. `sealEvents` gives it its place in the log later, so
 * that no writer waits for another here.
 */
export async function recordEvent(trx: Transaction<Database>, stamp: Stamp, event: Event): Promise<void> {
  await insertEvent(trx, eventRow(stamp, event))
}

/** Records rows as they are, in one statement. */
export async function recordEvents(trx: Transaction<Database>, rows: readonly EventColumns[]): Promise<void> {
  if (rows.length > 0) await insertEvents(trx, rows)
}

/** A page of the events of a subject, in the order of the log, and how many there are. */
export async function listEvents(
  db: Kysely<Database>,
  subject: Event['subject'],
  page: { direction: 'asc' | 'desc'; offset: number; limit: number },
): Promise<{ events: StoredEvent[]; totalCount: number }> {
  const totalCount = await countEventsOf(db, subject)
  const events = page.offset < totalCount ? await eventsOf(db, subject, page) : []
  return { events, totalCount }
}

export { eventsOfKinds, headOfLog, oldestUnsealed, sealedEvents } from './store.ts'

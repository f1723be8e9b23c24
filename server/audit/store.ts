import { type Kysely, type Selectable, sql, type Transaction } from 'kysely'
import { ofEngine } from '../db/engine.ts'
import { prepared } from '../db/prepared.ts'
import type { Database, EventsTable } from '../db/tables.ts'
import type { Head } from './chain.ts'
import type { EventRow } from './event.ts'
import * as postgres from './postgres.ts'
import * as sqlite from './sqlite.ts'

export type StoredEvent = Selectable<EventsTable>

const writtenColumns = [
  'id',
  'kind',
  'subject_kind',
  'subject_id',
  'version',
  'at',
  'at_time_zone',
  'by_name',
  'by_id',
  'data',
  'text_hash',
  'text_salt',
  'text',
] as const satisfies (keyof EventRow)[]

export const insertEvent = prepared(
  (
    _db,
    row: EventRow,
  ) => sql`insert into events (${sql.join(writtenColumns.map((column) => sql.ref(column)))})
    values (${sql.join(writtenColumns.map((column) => row[column]))})`,
)

/** Rows as they are, in one statement. */
export async function insertEvents(trx: Transaction<Database>, rows: readonly EventRow[]): Promise<void> {
  await trx.insertInto('events').values(rows).execute()
}

export async function readHead(db: Kysely<Database>): Promise<Head> {
  return db.selectFrom('log_head').select(['size', 'hash']).executeTakeFirstOrThrow()
}

/** Undefined while another sealer holds it. On SQLite there is one writer, so it is free. */
export async function lockHead(trx: Transaction<Database>): Promise<Head | undefined> {
  const { unlessLocked } = ofEngine(trx, { sqlite, postgres })
  return (await sql<Head>`select size, hash from log_head ${unlessLocked}`.execute(trx)).rows[0]
}

/** The events that wait to be sealed, in the order in which they were written. */
export async function unsealedEvents(trx: Transaction<Database>, limit: number): Promise<StoredEvent[]> {
  return trx
    .selectFrom('events')
    .selectAll()
    .where('sequence', 'is', null)
    .orderBy('number')
    .limit(limit)
    .execute()
}

/** Sealed events by their sequences, both ends included. */
export async function eventsBetween(
  db: Kysely<Database>,
  { first, last, direction }: { first: number; last: number; direction: 'asc' | 'desc' },
): Promise<StoredEvent[]> {
  return db
    .selectFrom('events')
    .selectAll()
    .where('sequence', '>=', first)
    .where('sequence', '<=', last)
    .orderBy('sequence', direction)
    .execute()
}

export interface Seal {
  number: number
  sequence: number
  hash: string
}

/** Gives the events their places, and moves the head to the last of them. */
export async function storeSeals(trx: Transaction<Database>, seals: readonly Seal[]): Promise<void> {
  const rows = seals.map(
    ({ number, sequence, hash }) => sql`(cast(${number} as bigint), cast(${sequence} as bigint), ${hash})`,
  )
  await sql`with seals (number, sequence, hash) as (values ${sql.join(rows)})
    update events set sequence = seals.sequence, hash = seals.hash from seals
    where events.number = seals.number`.execute(trx)
  const last = seals.at(-1)
  if (last === undefined) return
  await trx.updateTable('log_head').set({ size: last.sequence, hash: last.hash }).execute()
}

interface Subject {
  kind: string
  id: string
}

/** The events of a subject in the order in which they happened, which is that of the log. */
export async function eventsOf(
  db: Kysely<Database>,
  subject: Subject,
  { direction, offset, limit }: { direction: 'asc' | 'desc'; offset: number; limit: number },
): Promise<StoredEvent[]> {
  return ofSubject(db, subject).selectAll().orderBy('number', direction).limit(limit).offset(offset).execute()
}

/** All of the subject that are of these kinds. */
export async function eventsOfKinds(
  db: Kysely<Database>,
  subject: Subject,
  kinds: readonly string[],
): Promise<StoredEvent[]> {
  return ofSubject(db, subject).selectAll().where('kind', 'in', kinds).orderBy('number').execute()
}

export async function countEventsOf(db: Kysely<Database>, subject: Subject): Promise<number> {
  const counted = await ofSubject(db, subject)
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(counted.count)
}

function ofSubject(db: Kysely<Database>, { kind, id }: Subject) {
  return db.selectFrom('events').where('subject_id', '=', id).where('subject_kind', '=', kind)
}

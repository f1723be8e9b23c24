import { type Selectable, sql } from '#kysely'
import { prepared } from '../../db/prepared.ts'
import { type Database, type Db, type EventColumns, eventColumns, type Trx } from '../../db/tables.ts'
import { Problem } from '../../problems/problems.ts'

type UnsealedEvent = Selectable<Database['unsealed_events']>

/** The part of it that its line hashes. */
export type EventToSeal = Omit<UnsealedEvent, 'clear'>

/** The columns of an event, which both tables have. */
export const names = Object.keys(eventColumns) as (keyof EventColumns)[]
export const columns = sql.join(names.map((name) => sql.ref(name)))

/**
 * Throws `authentication-required` if the person was erased meanwhile: an instance may remember an account
 * for some minutes, and nothing may be recorded under a name that is gone.
 */
export async function insertEvent(trx: Trx, row: EventColumns): Promise<void> {
  const { numAffectedRows } = await insertRow(trx, row)
  if (numAffectedRows !== 1n) throw new Problem('authentication-required')
}

const insertRow = prepared(
  (_db, row: EventColumns) => sql`insert into unsealed_events (${columns})
    select ${sql.join(names.map((name) => sql`cast(${row[name]} as ${sql.raw(eventColumns[name])})`))}
    where not exists (select 1 from users where principal_id = ${row.by_id} and erased_at is not null)`,
)

export async function insertEvents(trx: Trx, rows: readonly EventColumns[]): Promise<void> {
  const isMany = rows.every((row) => row.by_id === null)
  if (isMany) await trx.insertInto('unsealed_events').values(rows).execute()
  else for (const row of rows) await insertEvent(trx, row)
}

export interface Subject {
  kind: string
  id: string
}

/** Events that wait to be sealed, in the order in which they were written. */
export async function unsealedEvents(trx: Trx, limit: number): Promise<EventToSeal[]> {
  return (await selectUnsealed(trx, { limit })).rows
}

/** When the oldest of these events was written. */
export async function oldestUnsealed(db: Db): Promise<number | undefined> {
  const oldest = db.selectFrom('unsealed_events').select('at').orderBy('number').limit(1)
  return (await oldest.executeTakeFirst())?.at
}

const selectUnsealed = prepared((db, { limit }: { limit: number }) =>
  db
    .selectFrom('unsealed_events')
    .select(['number', ...names.filter((name) => name !== 'clear')])
    .orderBy('number')
    .limit(limit),
)

/** Events of a subject that wait to be sealed, in the order in which they were written. */
export async function unsealedEventsOf(db: Db, { kind, id }: Subject): Promise<UnsealedEvent[]> {
  return db
    .selectFrom('unsealed_events')
    .select(['number', ...names])
    .where('subject_id', '=', id)
    .where('subject_kind', '=', kind)
    .orderBy('number')
    .execute()
}

import { type RawBuilder, sql } from '#kysely'
import type { Head, Tile } from '../../../proof/log-tree.ts'
import { ofEngine, rowsOf } from '../../db/engine.ts'
import { prepared } from '../../db/prepared.ts'
import type { Db, Trx } from '../../db/tables.ts'
import { columns } from '../events/store.ts'
import { growingTile, type SealedEvent } from '../lines/store.ts'
import * as postgres from './postgres.ts'
import * as sqlite from './sqlite.ts'

/** The facts of the head that a sealer needs. */
export interface LockedHead {
  size: number
  edge: string[]
}

/**
 * Undefined while the log is stopped (contradiction.ts), or another sealer holds the lock, unless the caller
 * waits for it. On SQLite it is always free, because there is only one writer.
 */
export async function lockHead(trx: Trx, { waits = false } = {}): Promise<LockedHead | undefined> {
  const { unlessLocked, locked } = ofEngine(trx, { sqlite, postgres })
  const { rows } = await sql<{
    size: number
    edge: string
  }>`select size, edge from log_head where contradicted_at is null ${waits ? locked : unlessLocked}`.execute(
    trx,
  )
  return rows[0] && { size: rows[0].size, edge: JSON.parse(rows[0].edge) }
}

/** Moves the head to the next era, or to `atLeast` if that is later, and locks it. A stopped log goes on. */
export async function raiseEra(trx: Trx, atLeast: number): Promise<LockedHead & { era: number }> {
  const era = sql<number>`case when era < ${sql.lit(atLeast)} then ${sql.lit(atLeast)} else era + 1 end`
  const next = { era, contradicted_at: null }
  const raised = trx.updateTable('log_head').set(next).returning(['era', 'size', 'edge'])
  const { edge, ...head } = await raised.executeTakeFirstOrThrow()
  return { ...head, edge: JSON.parse(edge) }
}

export interface Seal {
  /** The number of the unsealed event. */
  number: number
  sequence: number
  hash: string
}

/** Moves the events to their places in the log, and the head to the last of them. */
export async function storeSeals(
  trx: Trx,
  seals: readonly Seal[],
  { size, root, edge }: Head & { edge: readonly string[] },
): Promise<void> {
  const list = JSON.stringify(seals.map(({ number, sequence, hash }) => [number, sequence, hash]))
  await insertSealed(trx, { list })
  await deleteUnsealed(trx, { list })
  await trx
    .updateTable('log_head')
    .set({ size, root, edge: JSON.stringify(edge) })
    .execute()
}

/** Keeps a tile that is full from now on. Its trees are there already. */
export async function storeTile(trx: Trx, { level, number, root }: Tile): Promise<void> {
  const hashes = (await growingTile(trx, level, number)).join('')
  await trx.insertInto('log_tiles').values({ level, number, root, hashes }).execute()
}

const insertSealed = prepared(
  (db, { list }: { list: string }) => sql`insert into events (sequence, hash, ${columns})
    select seals.sequence, seals.hash, ${columns}
    from (${sealsIn(db, list)}) as seals join unsealed_events on unsealed_events.number = seals.number`,
)

const deleteUnsealed = prepared(
  (db, { list }: { list: string }) => sql`delete from unsealed_events where number in
    (select number from (${sealsIn(db, list)}) as seals)`,
)

/** Reads `number`, `sequence` and `hash` of each seal from a JSON array. */
function sealsIn(db: Db, list: string): RawBuilder<unknown> {
  return ofEngine(db, { sqlite, postgres }).sealsIn(list)
}

/** The facts of a sealed event that say whose names it has. */
export type ErasableEvent = Pick<
  SealedEvent,
  'sequence' | 'kind' | 'subject_kind' | 'subject_id' | 'by_id' | 'for_id' | 'data' | 'clear'
>

/** In the order of the log. */
export async function erasableEvents(trx: Trx, sequences: readonly number[]): Promise<ErasableEvent[]> {
  return trx
    .selectFrom('events')
    .select(['sequence', 'kind', 'subject_kind', 'subject_id', 'by_id', 'for_id', 'data', 'clear'])
    .where('sequence', 'in', sequences)
    .orderBy('sequence')
    .execute()
}

/** Replaces the `clear` of a line. */
export const storeClear = prepared(
  (_db, { sequence, clear }: Pick<SealedEvent, 'sequence' | 'clear'>) =>
    sql`update events set clear = ${clear} where sequence = ${sequence}`,
)

/** The sequences of all lines that may have a name of the account, in the order of the log. */
export async function sequencesAbout(trx: Trx, id: number): Promise<number[]> {
  const named = ['ownerId', 'deputyId', 'passwordSetBy'].map(
    (member) => sql`data like ${`%"${member}":${id}%`}`,
  )
  const kinds = ['client-added', 'client-changed', 'absence-set', 'passkey-added']
  const { rows } = await sql<{ sequence: number }>`
    select sequence from events where by_id = ${id}
    union select sequence from events where for_id = ${id} and for_id is not null
    union select sequence from events where subject_kind = 'account' and subject_id = ${String(id)}
    union select sequence from events where kind in (${sql.join(kinds)}) and (${sql.join(named, sql` or `)})
    order by sequence`.execute(trx)
  return rows.map(({ sequence }) => Number(sequence))
}

/** The orders in whose events, sealed or not, the account is named. */
export async function ordersAbout(trx: Trx, id: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select subject_id as id from events where subject_kind = 'order' and by_id = ${id}
    union select subject_id from events where subject_kind = 'order' and for_id = ${id} and for_id is not null
    union select subject_id from unsealed_events where subject_kind = 'order' and ${id} in (by_id, for_id)`.execute(
    trx,
  )
  return rows.map((row) => row.id)
}

/** The order that the line is about, if it is about one. */
export async function ordersOfLine(trx: Trx, sequence: number): Promise<string[]> {
  const lines = await erasableEvents(trx, [sequence])
  return lines.filter((line) => line.subject_kind === 'order').map((line) => line.subject_id)
}

/** The sequences of all lines of these orders. */
export async function sequencesOfOrders(trx: Trx, ids: readonly string[]): Promise<number[]> {
  const { rows } = await sql<{ sequence: number }>`
    select sequence from (select value from ${rowsOf(trx, ids)}) as wanted join events on subject_id = value and subject_kind = 'order'
    order by sequence`.execute(trx)
  return rows.map(({ sequence }) => Number(sequence))
}

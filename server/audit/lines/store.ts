import { type RawBuilder, sql } from '#kysely'
import { type Head, tileSize } from '../../../proof/log-tree.ts'
import type { Place } from '../../../proof/place.ts'
import { ofEngine, rowsOf, withinTime } from '../../db/engine.ts'
import { DatabaseRefused } from '../../db/errors.ts'
import { prepared } from '../../db/prepared.ts'
import type { Database, Db, EventColumns } from '../../db/tables.ts'
import { columns, names, type Subject } from '../events/store.ts'
import * as postgres from './postgres.ts'
import * as sqlite from './sqlite.ts'

export type SealedEvent = Database['events']
export type EventOfOrder = Pick<SealedEvent, 'sequence' | 'subject_id' | 'at' | 'by_id'>
/** An event, with its place in the log once it is sealed. */
export type StoredEvent = EventColumns & ({ sequence: number; hash: string } | { sequence: null; hash: null })

/** The era and the head of the log. */
export async function headOfLog(db: Db): Promise<Head & { era: number }> {
  const [head] = (await selectHead(db, {})).rows
  if (head === undefined) throw new DatabaseRefused('the head of the log is missing (log_head)')
  return head
}

/** The first line of each era but the first. */
export async function findRestores(db: Db): Promise<Place[]> {
  const restored = db.selectFrom('events').select(['sequence', 'data']).where('kind', '=', 'log-restored')
  const rows = await restored.orderBy('sequence').execute()
  return rows.map(({ sequence, data }) => ({ era: JSON.parse(data).era, sequence }))
}

const selectHead = prepared((db) => db.selectFrom('log_head').select(['era', 'size', 'root']))

/** How many of the events that wait to be sealed are looked at. All others are sealed soon. */
const unsealedLookedAt = 1_000

/** The latest time of an event, sealed or not; undefined without any event. */
export async function latestEventTime(db: Db): Promise<number | undefined> {
  const newest = db
    .selectFrom('unsealed_events')
    .select('at')
    .orderBy('number', 'desc')
    .limit(unsealedLookedAt)
  const unsealed = db.selectFrom(newest.as('newest')).select(({ fn }) => fn.max<number | null>('at').as('at'))
  const sealed = db.selectFrom('events').select('at').orderBy('at', 'desc').limit(1)
  const found = [await unsealed.executeTakeFirst(), await sealed.executeTakeFirst()]
  const times = found.flatMap((row) => row?.at ?? [])
  return times.length === 0 ? undefined : Math.max(...times)
}

/** Sealed events by their sequences, both ends included. */
export async function sealedEvents(
  db: Db,
  { first, last, direction }: { first: number; last: number; direction: 'asc' | 'desc' },
): Promise<SealedEvent[]> {
  return db
    .selectFrom('events')
    .select(['sequence', ...names, 'hash'])
    .where('sequence', '>=', first)
    .where('sequence', '<=', last)
    .orderBy('sequence', direction)
    .execute()
}

export async function sealedEventsAt(db: Db, sequences: readonly number[]): Promise<SealedEvent[]> {
  const events = db.selectFrom('events').select(['sequence', ...names, 'hash'])
  return sequences.length === 0 ? [] : events.where('sequence', 'in', sequences).orderBy('sequence').execute()
}

/** An event matches if it meets every condition that is defined. */
export interface LogFilter {
  subject?: Subject | undefined
  kind?: string | undefined
  /** The name of the actor, as the event has it. */
  by?: string | undefined
  /** In milliseconds. `from` is included, `to` is not. */
  from?: number | undefined
  until?: number | undefined
}

/**
 * How many sealed events match. An index answers this alone, unless a filter on one subject also asks for
 * `by` or a time: then rows are read.
 */
export async function countMatches(db: Db, after: number, filter: LogFilter): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count
    from ${matches(db, after, filter)}`.execute(db)
  return Number(rows[0]?.count)
}

/** A page of the matches, by sequence. */
export async function findMatches(
  db: Db,
  after: number,
  filter: LogFilter,
  { direction, offset, limit }: { direction: 'asc' | 'desc'; offset: number; limit: number },
): Promise<SealedEvent[]> {
  const way = sql.raw(direction)
  // The order of times is not the order of the log. Adding 0 keeps an engine from walking the whole log to
  // avoid a sort.
  const place = sql.raw(indexFor(filter) === 'events_by_time' ? 'sequence + 0' : 'sequence')
  const { rows } = await sql<SealedEvent>`select sequence, ${columns}, hash from events where sequence in
    (select sequence from ${matches(db, after, filter)} order by ${place} ${way} limit ${limit} offset ${offset})
    order by sequence ${way}`.execute(db)
  return rows
}

/** A value in `clear`; null if it was erased. For `by` an index has it. */
export function clearValue(db: Db, name: string): RawBuilder<string | null> {
  return ofEngine(db, { sqlite, postgres }).clearValue(name)
}

/** Chooses the index in which the fewest entries have to be read. */
function indexFor({ subject, kind, by }: LogFilter): string {
  if (subject !== undefined) return kind === undefined ? 'events_by_subject' : 'events_by_subject_and_kind'
  if (by !== undefined) return 'events_by_who'
  return kind === undefined ? 'events_by_time' : 'events_by_kind'
}

function matches(db: Db, after: number, filter: LogFilter): RawBuilder<unknown> {
  const { eventsBy } = ofEngine(db, { sqlite, postgres })
  const { subject, kind, by, from, until } = filter
  const conditions = [
    withinTime(db, 'sequence'),
    subject && sql`subject_id = ${subject.id} and subject_kind = ${subject.kind}`,
    kind !== undefined && sql`kind = ${kind}`,
    by !== undefined && sql`${clearValue(db, 'by')} = ${by}`,
    from !== undefined && sql`at >= ${from}`,
    until !== undefined && sql`at < ${until}`,
    after > 0 && sql`sequence > ${after}`,
  ].filter((condition) => typeof condition === 'object')
  return sql`${eventsBy(indexFor(filter))} where ${sql.join(conditions, sql` and `)}`
}

/** The roots of up to 256 neighbouring trees of 256^level lines, in hex; the last tile of a level grows. */
export async function readTile(db: Db, level: number, number: number): Promise<string[]> {
  const tiles = db.selectFrom('log_tiles').where('level', '=', level).where('number', '=', number)
  const kept = await tiles.select('hashes').executeTakeFirst()
  return kept?.hashes.match(/[\da-f]{64}/g) ?? growingTile(db, level, number)
}

/** The same, from what the tile is made of. */
export async function growingTile(db: Db, level: number, number: number): Promise<string[]> {
  const begin = number * tileSize
  const end = begin + tileSize
  if (level === 0) return (await hashesOf(db, begin, end)).map(({ hash }) => hash)
  const parts = db
    .selectFrom('log_tiles')
    .select('root')
    .where('level', '=', level - 1)
  const within = parts.where('number', '>=', begin).where('number', '<', end)
  return (await within.orderBy('number').execute()).map(({ root }) => root)
}

function hashesOf(db: Db, begin: number, end: number): Promise<{ sequence: number; hash: string }[]> {
  const events = db.selectFrom('events').select(['sequence', 'hash'])
  const within = events.where('sequence', '>', begin).where('sequence', '<=', end)
  return within.orderBy('sequence').execute()
}

/** The first line whose hash is not that of its tile: it was rewritten after its tile was full. */
export async function firstUnlikeTile(db: Db): Promise<number | undefined> {
  for (let number = 0; ; number += 1) {
    const tiles = db.selectFrom('log_tiles').where('level', '=', 0).where('number', '=', number)
    const kept = await tiles.select('hashes').executeTakeFirst()
    if (kept === undefined) return undefined
    const begin = number * tileSize
    const hashes = await hashesOf(db, begin, begin + tileSize)
    const at = hashes.findIndex(({ hash }, index) => !kept.hashes.startsWith(hash, 64 * index))
    if (at >= 0) return begin + at + 1
  }
}

/** Beyond every sequence: unsealed events come after sealed ones. */
const unsealedFrom = sql.lit(2 ** 52)

/**
 * All events of the subject with these kinds, in the order of the log. One statement reads both tables from
 * one snapshot, so no event is missed on its way between them.
 */
export async function eventsOfKinds(
  db: Db,
  subject: Subject,
  kinds: readonly string[],
): Promise<StoredEvent[]> {
  const { rows } = await sql<StoredEvent>`
    select ${columns}, sequence, hash, sequence as place from ${sealedOfKinds(db, subject, kinds)}
    union all
    select ${columns}, null, null, number + ${unsealedFrom} from ${unsealedOfKinds(subject, kinds)}
    order by place`.execute(db)
  return rows
}

/** The sealed events of these orders, in the order of the log. */
export async function sealedEventsOfOrders(db: Db, ids: readonly string[]): Promise<SealedEvent[]> {
  const { rows } = await sql<SealedEvent>`select sequence, ${columns}, hash
    from (select value from ${rowsOf(db, ids)}) as wanted join events on subject_id = value and subject_kind = 'order'
    order by sequence`.execute(db)
  return rows
}

/** The newest events of orders of a kind, from this line on, without their texts, in the order of the log. */
export async function newestOfOrders(
  db: Db,
  { kind, first, limit }: { kind: string; first: number; limit: number },
): Promise<EventOfOrder[]> {
  const { eventsBy } = ofEngine(db, { sqlite, postgres })
  const { rows } =
    await sql<EventOfOrder>`select sequence, subject_id, at, by_id from ${eventsBy('events_by_kind')}
    where kind = ${kind} and sequence >= ${first} and subject_kind = 'order' and ${withinTime(db, 'sequence')}
    order by sequence desc limit ${limit}`.execute(db)
  return rows.reverse()
}

/** The line from which on each of these people has acted in the orders by such events, or others for them. */
export async function firstActs(
  db: Db,
  { ids, kinds, people }: { ids: readonly string[]; kinds: readonly string[]; people: RawBuilder<unknown> },
): Promise<{ id: string; person: number; since: number }[]> {
  const { eventsBy } = ofEngine(db, { sqlite, postgres })
  const acts = ['by_id', 'for_id'].map(
    (column) => sql`select subject_id as id, ${sql.ref(column)} as person, sequence
      from (select value from ${rowsOf(db, ids)}) as wanted join ${eventsBy('events_by_subject_and_kind')}
      on subject_id = value and subject_kind = 'order' and kind in (${sql.join(kinds)})`,
  )
  const { rows } = await sql<{ id: string; person: number; since: number }>`
    select id, person, min(sequence) as since from (${sql.join(acts, sql` union all `)}) as acts
    group by id, person having person in (${people})`.execute(db)
  return rows
}

export async function countEventsOfKind(db: Db, subject: Subject, kind: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select (select count(*) from ${sealedOfKinds(db, subject, [kind])})
      + (select count(*) from ${unsealedOfKinds(subject, [kind])}) as count`.execute(db)
  return Number(rows[0]?.count)
}

function sealedOfKinds(db: Db, subject: Subject, kinds: readonly string[]) {
  const { eventsBy } = ofEngine(db, { sqlite, postgres })
  return sql`${eventsBy('events_by_subject_and_kind')} where ${isOfKinds(subject, kinds)}`
}

function unsealedOfKinds(subject: Subject, kinds: readonly string[]) {
  return sql`unsealed_events where ${isOfKinds(subject, kinds)}`
}

function isOfKinds({ kind, id }: Subject, kinds: readonly string[]) {
  return sql`subject_id = ${id} and subject_kind = ${kind} and kind in (${sql.join(kinds)})`
}

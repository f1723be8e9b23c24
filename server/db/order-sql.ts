import { type Expression, type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely'
import { ofEngine } from './engine.ts'
import { prepared, unseen } from './prepared.ts'
import type { Database, OrdersTable } from './tables.ts'

/** The index that holds the orders in the order of a sort, ties by id. */
export type OrderIndex =
  | 'orders_by_id'
  | 'orders_by_created_at'
  | 'orders_by_updated_at'
  | 'orders_by_customer'
  | 'orders_by_total'
  | 'orders_by_status'
  | 'orders_by_status_and_created_at'
  | 'orders_by_created_by'

/** A row of a list, with the number of the order. */
export type NumberedOrder = Pick<OrdersTable, 'id' | 'customer' | 'total_e4' | 'status' | 'created_at'> & {
  seq: number
}

function prepareEndContaining(isNewestFirst: boolean) {
  const way = sql.raw(isNewestFirst ? 'desc' : 'asc')
  return prepared(
    (_db, match: string, from: number, limit: number) => sql<NumberedOrder>`
      select id, customer, total_e4, status, created_at, seq
      from (select rowid from orders_search where orders_search match ${match} and rowid >= ${unseen(from)}
        order by rowid ${way} limit ${unseen(limit)}) as found cross join orders on orders.seq = found.rowid
      order by seq ${way}`,
  )
}

/** Each trigram of the phrase costs as much as reading ten orders: a few of them find little more than all do. */
function prepareEndLikely(isNewestFirst: boolean) {
  const way = sql.raw(isNewestFirst ? 'desc' : 'asc')
  return prepared(
    (_db, match: string, from: number, text: string, limit: number) => sql<NumberedOrder>`
      select id, customer, total_e4, status, created_at, seq
      from orders_search as found cross join orders on orders.seq = found.rowid
      where orders_search match ${match} and found.rowid >= ${unseen(from)} and ${sqliteWithinTime}
        and instr(orders.customer_folded, ${text}) > 0
      order by found.rowid ${way} limit ${unseen(limit)}`,
  )
}

const sqliteWithinTime = sql<SqlBool>`(orders.seq & 255 <> 0 or within_time() = 1)`
const selectEnd = {
  containing: { first: prepareEndContaining(false), last: prepareEndContaining(true) },
  likely: { first: prepareEndLikely(false), last: prepareEndLikely(true) },
}

/** Numbers of orders. */
interface Sequence {
  first: number
  last: number
  /** From this number on each order was created no earlier than all before it. */
  inOrderFrom: number
}

const selectSequence = prepared(
  () => sql<Sequence>`select coalesce((select min(seq) from orders), 0) as first,
    coalesce((select max(seq) from orders), 0) as last, in_order_from as "inOrderFrom" from order_sequence`,
)

const selectVersion = prepared(
  () => sql<{ version: number }>`select data_version as version from pragma_data_version`,
)

/** Two snapshots with the same bounds and the same transactions under way see the same rows, for as long as a server runs. */
const selectSnapshot = prepared(
  () =>
    sql<{ version: string }>`select pg_postmaster_start_time() || ' ' || pg_current_snapshot() as version`,
)

/** The parts of a query for orders that the two engines write differently. */
export interface OrderSql {
  /**
   * Stands first in the condition of what may walk many rows, and stops it once its time is up. A call costs more
   * than a row does: on SQLite one row of 256 is asked. On PostgreSQL it is a constant, the statement timeout stops.
   */
  withinTime: RawBuilder<SqlBool>
  /**
   * The alias of `orders` that has it read along this index, or by any. SQLite knows nothing of how many rows match;
   * PostgreSQL does, and chooses.
   */
  along(index: OrderIndex | undefined): RawBuilder<unknown>
  /** LIMIT and OFFSET. PostgreSQL plans by them; SQLite would plan anew for each pair of them. */
  limited(take: number, skip: number): RawBuilder<unknown>
  /**
   * The orders whose folded customer contains the text, by the index of trigrams: exactly those, and at a cost by their
   * number. Undefined for a text that the index cannot find, which has less than three characters.
   */
  containing(text: string): RawBuilder<SqlBool> | undefined
  /**
   * Whether a column contains a text, or ends with it. Undefined where LIKE serves: that of SQLite compares character by
   * character from each place on, which takes milliseconds for one long text of a repeated character.
   */
  looking: { contains: LookedAt; endsWith: LookedAt } | undefined
  /** How many there are of those; undefined where counting the orders that match is as quick. */
  countContaining(text: string): RawBuilder<{ count: number }> | undefined
  /** Undefined where orders have no numbers. */
  sequence: ((db: Kysely<Database>) => Promise<Sequence | undefined>) | undefined
  /**
   * Of those that `containing` finds, from the number `from` on, the last `limit`, the last first; or the first ones.
   * `isCommon` says that there are many among those near that end.
   */
  endContaining(
    db: Kysely<Database>,
    text: string,
    which: { from: number; limit: number; isNewestFirst: boolean; isCommon: boolean },
  ): Promise<NumberedOrder[]> | undefined
  /**
   * The same for two snapshots, on SQLite of one connection, only if nothing was written between them.
   */
  version: (db: Kysely<Database>) => Promise<number | string | undefined>
}

type LookedAt = (column: Expression<string>, text: string) => RawBuilder<SqlBool>

const trigramCharacters = 3

/**
 * The places of each trigram of a phrase in each customer that has them all are compared before a row is found, and so
 * before anything can stop it: a longer text is looked for by some of its trigrams, and the customers looked at.
 */
const phraseCharacters = 20

function isLong(text: string): boolean {
  return [...text].length > phraseCharacters
}

/** FTS5 takes a text in double quotes literally, as a phrase of its trigrams: the customer contains it, exactly. */
function phrase(text: string): string | undefined {
  return [...text].length < trigramCharacters ? undefined : `"${text.replaceAll('"', '""')}"`
}

/** What contains the text has all of these: the first two beside one another, and the last; some more of a long one. */
function someTrigrams(text: string): string {
  const characters = [...text]
  const last = characters.length - trigramCharacters
  const starts = isLong(text)
    ? [0, 1, 2, 3, 4, 5, 6, 7].map((part) => Math.floor((part * last) / 7))
    : [0, Math.min(trigramCharacters, last), last]
  return [...new Set(starts)]
    .map((start) => phrase(characters.slice(start, start + trigramCharacters).join('')))
    .join(' AND ')
}

const sqlite: OrderSql = {
  version: async (db) => (await selectVersion(db))[0]?.version,
  sequence: async (db) => (await selectSequence(db))[0],
  endContaining(db, text, { from, limit, isNewestFirst, isCommon }) {
    const match = phrase(text)
    if (match === undefined) return undefined
    const end = isNewestFirst ? 'last' : 'first'
    if (isCommon || isLong(text)) return selectEnd.likely[end](db, someTrigrams(text), from, text, limit)
    return selectEnd.containing[end](db, match, from, limit)
  },
  withinTime: sqliteWithinTime,
  limited: (take, skip) => sql`limit ${unseen(take)} offset ${unseen(skip)}`,
  looking: {
    contains: (column, text) => sql`instr(${column}, ${text}) > 0`,
    endsWith: (column, text) => sql`substr(${column}, ${-[...text].length}) = ${text}`,
  },
  along: (index) => (index === undefined ? sql`orders` : sql`orders indexed by ${sql.ref(index)}`),
  containing(text) {
    const match = phrase(text)
    if (match === undefined) return undefined
    if (isLong(text)) {
      return sql`(orders.seq in (select rowid from orders_search where orders_search match ${someTrigrams(text)}
        and (rowid & 255 <> 0 or within_time() = 1)) and ${sqliteWithinTime}
        and instr(orders.customer_folded, ${text}) > 0)`
    }
    return sql`orders.seq in (select rowid from orders_search where orders_search match ${match}
      and (rowid & 255 <> 0 or within_time() = 1))`
  },
  countContaining(text) {
    const match = phrase(text)
    if (match === undefined || isLong(text)) return undefined
    return sql`select count(*) as count from orders_search where orders_search match ${match}
      and (rowid & 255 <> 0 or within_time() = 1)`
  },
}

const postgres: OrderSql = {
  version: async (db) => (await selectSnapshot(db))[0]?.version,
  sequence: undefined,
  endContaining: () => undefined,
  withinTime: sql`within_time() = 1`,
  limited: (take, skip) => sql`limit ${take} offset ${skip}`,
  looking: undefined,
  along: () => sql`orders`,
  // LIKE finds its way in the index by itself.
  containing: () => undefined,
  countContaining: () => undefined,
}

export function orderSqlOf(db: Kysely<Database>): OrderSql {
  return ofEngine(db, { sqlite, postgres })
}

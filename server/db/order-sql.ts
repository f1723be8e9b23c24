import { type Kysely, type RawBuilder, type SqlBool, SqliteAdapter, sql } from 'kysely'
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

const selectLastContaining = prepared(
  (_db, match: string, from: number, limit: number) => sql<NumberedOrder>`
    select id, customer, total_e4, status, created_at, seq
    from (select rowid from orders_search where orders_search match ${match} and rowid >= ${unseen(from)}
      order by rowid desc limit ${unseen(limit)}) as found cross join orders on orders.seq = found.rowid
    order by seq desc`,
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
  /** How many there are of those; undefined where counting the orders that match is as quick. */
  countContaining(text: string): RawBuilder<{ count: number }> | undefined
  /**
   * The number of the last order, and from which number on each was created no earlier than all before it. Undefined
   * where orders have no numbers.
   */
  sequence: RawBuilder<{ last: number; inOrderFrom: number }> | undefined
  /** The `limit` of those that `containing` finds which have the greatest numbers, from `from` on, the greatest first. */
  lastContaining(
    db: Kysely<Database>,
    text: string,
    from: number,
    limit: number,
  ): Promise<NumberedOrder[]> | undefined
  /**
   * A number that is the same for two snapshots of one connection only if nothing was written between them. Undefined
   * where there is none.
   */
  version: RawBuilder<{ version: number }> | undefined
}

const trigramCharacters = 3

/** FTS5 takes a text in double quotes literally, as a phrase of its trigrams: the customer contains it, exactly. */
function phrase(text: string): string | undefined {
  return [...text].length < trigramCharacters ? undefined : `"${text.replaceAll('"', '""')}"`
}

const sqlite: OrderSql = {
  version: sql`select data_version as version from pragma_data_version`,
  sequence: sql`select coalesce((select max(seq) from orders), 0) as last, in_order_from as "inOrderFrom"
    from order_sequence`,
  lastContaining(db, text, from, limit) {
    const match = phrase(text)
    return match === undefined ? undefined : selectLastContaining(db, match, from, limit)
  },
  withinTime: sql`(orders.seq & 255 <> 0 or within_time() = 1)`,
  limited: (take, skip) => sql`limit ${unseen(take)} offset ${unseen(skip)}`,
  along: (index) => (index === undefined ? sql`orders` : sql`orders indexed by ${sql.ref(index)}`),
  containing(text) {
    const match = phrase(text)
    if (match === undefined) return undefined
    return sql`orders.seq in (select rowid from orders_search where orders_search match ${match}
      and (rowid & 255 <> 0 or within_time() = 1))`
  },
  countContaining(text) {
    const match = phrase(text)
    if (match === undefined) return undefined
    return sql`select count(*) as count from orders_search where orders_search match ${match}
      and (rowid & 255 <> 0 or within_time() = 1)`
  },
}

const postgres: OrderSql = {
  version: undefined,
  sequence: undefined,
  lastContaining: () => undefined,
  withinTime: sql`within_time() = 1`,
  limited: (take, skip) => sql`limit ${take} offset ${skip}`,
  along: () => sql`orders`,
  // LIKE finds its way in the index by itself.
  containing: () => undefined,
  countContaining: () => undefined,
}

export function orderSqlOf(db: Kysely<Database>): OrderSql {
  return db.getExecutor().adapter instanceof SqliteAdapter ? sqlite : postgres
}

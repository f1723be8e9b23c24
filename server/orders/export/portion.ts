import { type Kysely, type RawBuilder, sql } from '#kysely'
import { ofEngine } from '../../db/engine.ts'
import type { Database } from '../../db/tables.ts'
import type { ListRequest } from '../list/plan.ts'
import * as postgres from '../list/postgres.ts'
import { conditionOf } from '../list/query.ts'
import * as sqlite from '../list/sqlite.ts'
import { orderOf, sortColumn } from '../list/statement.ts'
import { type ColumnName, orderFields, summaryNames } from '../order.ts'
import { columnsOf } from '../store.ts'

export type ListOfAll = Omit<ListRequest, 'page'>
export type ListedOrder = Record<ColumnName, unknown> & { id: string }

/** Where the next portion begins: behind an order, or at the begin of a part. */
export interface Place {
  part: number
  last: { key: string | number; id: string } | null
}

/**
 * Orders of a portion, at most. Few, so that a core is soon free for others: beside an export the p99 of gets is 1.5 times
 * that without one on SQLite and 1.2 times on PostgreSQL (medians of five turns); with 250 it is 2.5 and 2.3 times.
 */
const portionOrders = 100

/**
 * The orders of the list behind the place, and where the next begin; null behind the last. However far into the list a
 * portion lies, it costs the same: it is found by the key of the order before it, along the index of the sort.
 */
export async function findPortion(
  snapshot: Kysely<Database>,
  list: ListOfAll,
  { part, last }: Place,
): Promise<{ orders: ListedOrder[]; next: Place | null }> {
  const request = { ...list, page: null }
  const parts = partsOf(list)
  const { sort } = orderFields[list.sortKey]
  const engine = ofEngine(snapshot, { sqlite, postgres })
  const { rows } = await sql<ListedOrder & { sort_key: string | number }>`
    select ${columnsOf(list.columns ?? summaryNames)}, ${sortColumn(request)} as sort_key
    from orders as ${engine.along(sort.index)}
    where ${parts[part] ?? sql`true`} and ${last === null ? sql`true` : behind(list, last)}
      and ${conditionOf(snapshot, list.filter, 'looking')}
    order by ${orderOf(request, { isReversed: false })} limit ${portionOrders}`.execute(snapshot)
  const end = rows.at(-1)
  const orders = rows.map(({ sort_key: _, ...order }) => order as ListedOrder)
  if (rows.length === portionOrders && end !== undefined) {
    return { orders, next: { part, last: { key: end.sort_key, id: end.id } } }
  }
  return { orders, next: part + 1 < parts.length ? { part: part + 1, last: null } : null }
}

/** Orders without a value of the sort's field stand before those with one, and no key compares with theirs. */
function partsOf({ sortKey, direction }: ListOfAll): RawBuilder<unknown>[] {
  const { column, nullable } = { ...orderFields[sortKey], column: sql.ref(orderFields[sortKey].sort.column) }
  if (!nullable) return [sql`true`]
  const parts = [sql`${column} is null`, sql`${column} is not null`]
  return direction === 'asc' ? parts : parts.toReversed()
}

function behind(
  list: ListOfAll,
  { key, id }: { key: string | number | null; id: string },
): RawBuilder<unknown> {
  const compared = sql.raw(list.direction === 'asc' ? '>' : '<')
  const { sort } = orderFields[list.sortKey]
  if (sort.column === 'id' || key === null) return sql`id ${compared} ${id}`
  return sql`(${sql.ref(sort.column)}, id) ${compared} (${key}, ${id})`
}

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
  last: { key: SortValue; id: string } | null
}

/** Of the field that the list is sorted by. */
type SortValue = string | number | null

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
  const parts = partsOf(list)
  const { sort } = orderFields[list.sortKey]
  const engine = ofEngine(snapshot, { sqlite, postgres })
  const { rows } = await sql<ListedOrder & { sort_key: SortValue }>`
    select ${columnsOf(list.columns ?? summaryNames)}, ${sortColumn(list)} as sort_key
    from orders as ${engine.along(sort.index)}
    where ${parts[part] ?? sql`true`} and ${last === null ? sql`true` : behind(list, last)}
      and ${conditionOf(snapshot, list.filter, 'looking')}
    order by ${orderOf(list, { isReversed: false })} limit ${portionOrders}`.execute(snapshot)
  const end = rows.at(-1)
  const orders = rows.map(({ sort_key: _, ...order }) => order as ListedOrder)
  if (rows.length === portionOrders && end !== undefined) {
    return { orders, next: { part, last: { key: end.sort_key, id: end.id } } }
  }
  return { orders, next: part + 1 < parts.length ? { part: part + 1, last: null } : null }
}

/** Orders without a value of the sort's field stand before those with one, and no key compares with theirs. */
function partsOf(list: ListOfAll): RawBuilder<unknown>[] {
  if (!orderFields[list.sortKey].nullable) return [sql`true`]
  const column = sortColumn(list)
  const parts = [sql`${column} is null`, sql`${column} is not null`]
  return list.direction === 'asc' ? parts : parts.toReversed()
}

function behind(list: ListOfAll, { key, id }: { key: SortValue; id: string }): RawBuilder<unknown> {
  const compared = sql.raw(list.direction === 'asc' ? '>' : '<')
  const isById = orderFields[list.sortKey].sort.column === 'id' || key === null
  return isById ? sql`id ${compared} ${id}` : sql`(${sortColumn(list)}, id) ${compared} (${key}, ${id})`
}

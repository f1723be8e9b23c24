import { isDeepStrictEqual } from 'node:util'
import { type Expression, type RawBuilder, type SqlBool, sql } from '#kysely'
import type { Place } from '../../../proof/place.ts'
import { prepared } from '../../db/prepared.ts'
import type { Db } from '../../db/tables.ts'
import { expressionOf } from '../conditions.ts'
import { type ColumnKind, columnOf, type OrderIndex, summaryNames } from '../order.ts'
import { countByStatus, countsByStatus } from '../tally.ts'
import {
  type FoundOrders,
  type ListRequest,
  type Page,
  planCount,
  planPage,
  sumOf,
  type Table,
  tuning,
  type Window,
} from './plan.ts'
import { oncePerList, orderOf, wayOf } from './statement.ts'

/** The statement timeout ends a read that takes too long. */
export const withinTime = sql<SqlBool>`true`

/** The value of a field as it is sent (responses.ts). */
const sent: Record<ColumnKind, (column: RawBuilder<unknown>) => RawBuilder<unknown>> = {
  id: (id) => id,
  text: (text) => text,
  total: (totalE4) => sql`trim_scale(${totalE4} / 10000.0)`,
  status: (status) => status,
  number: (number) => number,
  count: (count) => count,
  names: (names) => names,
  flag: (flag) => flag,
  // Whole seconds and the rest separately, because PostgreSQL counts seconds in a double.
  instant: (milliseconds) => sql`to_char(to_timestamp(${milliseconds} / 1000) at time zone 'UTC',
    'YYYY-MM-DD"T"HH24:MI:SS.') || lpad((${milliseconds} % 1000)::text, 3, '0') || 'Z'`,
}

/** The orders as a JSON array, ready to be sent. */
export function items(
  order: RawBuilder<unknown>,
  { columns = summaryNames, askings }: Pick<ListRequest, 'columns' | 'askings'>,
): RawBuilder<unknown> {
  const members = columns.map((name) => {
    const value = sent[columnOf(name).kind](expressionOf(name, askings))
    return sql`${value} as ${sql.ref(name)}`
  })
  const json = sql`row_to_json((select summary from (select ${sql.join(members)}) as summary))::text`
  return sql`'[' || string_agg(${json}, ',' order by ${order}) || ']'`
}

/** Names no index: PostgreSQL knows how many rows match, and chooses. */
export function along(_index: OrderIndex): RawBuilder<unknown> {
  return sql`orders`
}

export const alongCreation = { orders: sql`orders`, key: sql`orders.id` }

/** A range, unlike one value, makes the planner take the order from the index that begins with the status. */
export function hasStatus(status: number): RawBuilder<SqlBool> {
  return sql`status between ${status} and ${status}`
}

/**
 * The ids of each part, in their order and only as many as the page can need. PostgreSQL sorts them together.
 */
export function together(
  parts: RawBuilder<unknown>[],
  way: RawBuilder<unknown>,
  { take, skip }: Pick<Window, 'take' | 'skip'>,
): RawBuilder<unknown> {
  const [first, ...others] = parts.map((part) => sql`${part} order by status ${way}, id ${way}`)
  if (first === undefined || others.length === 0) return sql`${first}`
  const end = sql`cast(${take} as bigint) + cast(${skip} as bigint)`
  const cut = [first, ...others].map((part) => sql`(${part} limit ${end})`)
  return sql`select id from (${sql.join(cut, sql` union all `)}) as parts order by id ${way}`
}

export function limited(take: number, skip: number): RawBuilder<unknown> {
  return sql`limit ${take} offset ${skip}`
}

/** The column itself: PostgreSQL knows how many rows match. */
export function unindexed(column: RawBuilder<unknown>): RawBuilder<unknown> {
  return column
}

/** LIKE uses the index of trigrams by itself. */
export function contains(column: Expression<string>, text: string): RawBuilder<SqlBool> {
  return sql`${column} like ${`%${literal(text)}%`}`
}

export function endsWith(column: Expression<string>, text: string): RawBuilder<SqlBool> {
  return sql`${column} like ${`%${literal(text)}`}`
}

/** The customers that contain a text of three characters or more, by the index of trigrams. */
export function containing(text: string): RawBuilder<SqlBool> {
  return contains(sql.ref('orders.customer_folded'), text)
}

/** How many customers contain the text. */
export function countContaining(text: string): RawBuilder<{ count: number }> {
  return sql`select count(*) as count from orders where ${containing(text)}`
}

/** The customers that contain the text, with a key that sorts them by creation. */
export function alongText(text: string): { matches: RawBuilder<unknown>; key: RawBuilder<unknown> } {
  return { matches: sql`orders where ${containing(text)}`, key: sql`orders.id` }
}

/** A PostgreSQL table has no order; `alongText` and `alongCreation` both name an index that has one. */
export async function isInOrder(_db: Db): Promise<boolean> {
  return true
}

/**
 * Two snapshots with the same bounds and the same transactions under way see the same rows, for as long as a
 * server runs.
 */
export async function snapshotVersion(db: Db): Promise<number | string> {
  return (await selectSnapshot(db, {})).rows[0]?.version ?? ''
}

const selectSnapshot = prepared(
  () => sql<{ version: string }>`
    select pg_postmaster_start_time() || ' ' || pg_current_snapshot() as version`,
)

/** Escapes the text, so that a pattern takes it literally. */
function literal(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&')
}

/** The last tally of each database, by its adapter. It is a guess to plan with. */
const lastTally = new WeakMap<object, Table['byStatus']>()

/**
 * The answer of `findOrders` by one statement, without a transaction; undefined where the plan needs more. A
 * page near an end of a list that has an index is planned with the counts of the previous list. The statement
 * also returns the counts of its snapshot: if they lead to the same plan, the page is right. (A
 * transaction of four statements takes three times as long.)
 */
export async function findOrdersAtOnce(db: Db, request: ListRequest): Promise<FoundOrders | undefined> {
  const { adapter } = db.getExecutor()
  const guess = lastTally.get(adapter) ?? (await countByStatus(db))
  const planned = planNear(request, guess)
  if (planned === undefined) return undefined
  const { rows } = await selectNear(request, planned.page)(db, planned.page)
  const [found] = rows
  if (found === undefined) return undefined
  const byStatus = new Map(
    Object.entries(found.tally ?? {}).map(([status, orders]) => [Number(status), orders]),
  )
  lastTally.set(adapter, byStatus)
  const actual = planNear(request, byStatus)
  if (!isDeepStrictEqual(actual?.page, planned.page)) return undefined
  return { items: found.items ?? '[]', totalCount: actual?.totalCount ?? 0, place: found.place }
}

type Walk = Extract<Page, { by: 'walk' }>

function planNear(request: ListRequest, byStatus: Table['byStatus']) {
  const count = planCount(request.filter, byStatus)
  if (request.page === null || count.by !== 'tally') return undefined
  const totalCount = sumOf(byStatus, count.statuses)
  const page = planPage(request, { byStatus, matches: totalCount, isInOrder: true })
  const isNear = page.by === 'walk' && page.looking === null && page.skip + page.take <= tuning.nearLimit
  return isNear ? { page, totalCount } : undefined
}

/**
 * The limit of the innermost query is a constant, because the planner would not know that a bound value is
 * small, and without a limit one plan cannot serve every page. Rows that are not taken are never read.
 */
const selectNear = oncePerList((request, page: Walk) => {
  const order = orderOf(request, page)
  const near = sql.lit(tuning.nearLimit)
  const parts = page.statuses?.map(
    (status) => sql`(select * from orders where ${hasStatus(status)}
      order by status ${wayOf(request, page)}, ${order} limit ${near})`,
  ) ?? [sql`(select * from orders order by ${order} limit ${near})`]
  return prepared(
    (_db, { take, skip }: Window) => sql<{
      tally: Record<string, number> | null
      items: string | null
      place: Place
    }>`select
      (select json_build_object('era', era, 'sequence', size) from log_head) as place,
      (select json_object_agg(status, orders) from (${countsByStatus}) as counts where orders > 0) as tally,
      (select ${items(orderOf(request, { isReversed: false }), request)} from (
        select * from (${sql.join(parts, sql` union all `)}) as near
        order by ${order} ${limited(take, skip)}
      ) as orders) as items`,
  )
})

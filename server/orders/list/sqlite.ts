import { type Expression, type RawBuilder, type SqlBool, sql } from '#kysely'
import { prepared, unseen } from '../../db/prepared.ts'
import type { Db } from '../../db/tables.ts'
import { expressionOf } from '../conditions.ts'
import { type ColumnKind, columnOf, type OrderIndex, summaryNames } from '../order.ts'
import type { ListRequest, Window } from './plan.ts'

/**
 * The first condition of a query that may walk many rows: it ends the query when its time is up. A call costs
 * more than a row, so only one row in 256 makes one.
 */
export const withinTime = sql<SqlBool>`(orders.number & 255 <> 0 or within_time() = 1)`
const foundWithinTime = sql<SqlBool>`(orders_search.rowid & 255 <> 0 or within_time() = 1)`

/** The value of a field as it is sent (responses.ts). */
const sent: Record<ColumnKind, (column: RawBuilder<unknown>) => RawBuilder<unknown>> = {
  id: (id) => id,
  text: (text) => text,
  total: (totalE4) => sql`json(format('%.15g', ${totalE4} / 10000.0))`,
  status: (status) => status,
  number: (number) => number,
  count: (count) => count,
  names: (names) => names,
  flag: (flag) => sql`json(iif(${flag}, 'true', 'false'))`,
  instant: (milliseconds) => sql`strftime('%Y-%m-%dT%H:%M:%fZ', ${milliseconds} / 1000.0, 'unixepoch')`,
}

/** The orders as a JSON array, ready to be sent. */
export function items(
  order: RawBuilder<unknown>,
  { columns = summaryNames, askings }: Pick<ListRequest, 'columns' | 'askings'>,
): RawBuilder<unknown> {
  const members = columns.flatMap((name) => {
    const value = sent[columnOf(name).kind](expressionOf(name, askings))
    return [sql.lit(name), value]
  })
  return sql`json_group_array(json_object(${sql.join(members)}) order by ${order})`
}

/** The alias that makes SQLite read `orders` along this index: it cannot know how many rows match. */
export function along(index: OrderIndex): RawBuilder<unknown> {
  return sql`orders indexed by ${sql.ref(index)}`
}

/** The table itself, by number: four times as fast as an index where rows are looked at. */
export const alongCreation = { orders: sql`orders not indexed`, key: sql`orders.number` }

export function hasStatus(status: number): RawBuilder<SqlBool> {
  return sql`status = ${unseen(status)}`
}

/**
 * The ids of each part in the order of ids: each part comes in that order from its index, and SQLite merges
 * them. In a million orders the page in the middle of `status!=Approved` takes 87 ms this way, and 907 ms if
 * all orders are walked.
 */
export function together(
  parts: RawBuilder<unknown>[],
  way: RawBuilder<unknown>,
  _window: Pick<Window, 'take' | 'skip'>,
): RawBuilder<unknown> {
  return sql`${sql.join(parts, sql` union all `)} order by id ${way}`
}

/** SQLite would plan again for each pair of bound numbers. */
export function limited(take: number, skip: number): RawBuilder<unknown> {
  return sql`limit ${unseen(take)} offset ${unseen(skip)}`
}

/** The column, hidden from the planner: no index of it is used. */
export function unindexed(column: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`+${column}`
}

/** Not LIKE, which takes milliseconds for one long text of a repeated character. */
export function contains(column: Expression<string>, text: string): RawBuilder<SqlBool> {
  return sql`instr(${column}, ${text}) > 0`
}

export function endsWith(column: Expression<string>, text: string): RawBuilder<SqlBool> {
  return sql`substr(${column}, ${-[...text].length}) = ${text}`
}

/** The customers that contain a text of three characters or more, by the index of trigrams. */
export function containing(text: string): RawBuilder<SqlBool> {
  const found = sql<SqlBool>`orders.number in
    (select rowid from orders_search where orders_search match ${phrase(text)} and ${foundWithinTime})`
  return isCut(text) ? sql`(${found} and ${contains(sql.ref('orders.customer_folded'), text)})` : found
}

/** How many customers contain the text. */
export function countContaining(text: string): RawBuilder<{ count: number }> {
  return isCut(text)
    ? sql`select count(*) as count from orders where ${containing(text)}`
    : sql`select count(*) as count from orders_search where orders_search match ${phrase(text)} and ${foundWithinTime}`
}

/** Orders that contain the text, or at least its beginning. The key that sorts them is their number. */
export function alongText(text: string): { matches: RawBuilder<unknown>; key: RawBuilder<unknown> } {
  const matches = sql`orders_search cross join orders on orders.number = orders_search.rowid
    where orders_search match ${phrase(text)}`
  return { matches, key: sql`orders_search.rowid` }
}

/** Whether numbers are in the order of creation. */
export async function isInOrder(db: Db): Promise<boolean> {
  const { rows } = await selectOrder(db, {})
  return rows[0]?.in_order === 1
}

const selectOrder = prepared(() => sql<{ in_order: number }>`select in_order from order_numbers`)

/** Two snapshots of one connection have the same version only if nothing was written between them. */
export async function snapshotVersion(db: Db): Promise<number | string> {
  return (await selectVersion(db, {})).rows[0]?.version ?? 0
}

const selectVersion = prepared(
  () => sql<{ version: number }>`select data_version as version from pragma_data_version`,
)

/**
 * FTS5 takes a text in double quotes literally, as a phrase of trigrams. It compares the places of every
 * trigram before it returns a row, so nothing can stop it. Only the beginning of a longer text is therefore
 * looked up, and the rows are checked. (A text of 200 equal characters kept a reader busy for 18 s.)
 */
function phrase(text: string): string {
  return `"${[...text].slice(0, phraseCharacters).join('').replaceAll('"', '""')}"`
}

const phraseCharacters = 20

function isCut(text: string): boolean {
  return [...text].length > phraseCharacters
}

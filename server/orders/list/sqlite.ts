import { type Expression, type Kysely, type RawBuilder, type SqlBool, sql } from '#kysely'
import { prepared, unseen } from '../../db/prepared.ts'
import type { Database } from '../../db/tables.ts'
import { type ColumnKind, type ColumnName, columnOf, type OrderIndex, summaryNames } from '../order.ts'
import type { Window } from './plan.ts'

/**
 * Stands first in the condition of what may walk many rows, and stops it once its time is up. A call costs more than a
 * row does, so one row of 256 is asked.
 */
export const withinTime = sql<SqlBool>`(orders.seq & 255 <> 0 or within_time() = 1)`
const foundWithinTime = sql<SqlBool>`(orders_search.rowid & 255 <> 0 or within_time() = 1)`

/** The value of a field as it is sent (responses.ts). */
const sent: Record<ColumnKind, (column: RawBuilder<unknown>) => RawBuilder<unknown>> = {
  id: (id) => id,
  text: (text) => text,
  total: (totalE4) => sql`json(format('%.15g', ${totalE4} / 10000.0))`,
  status: (status) => status,
  count: (count) => count,
  instant: (milliseconds) => sql`strftime('%Y-%m-%dT%H:%M:%fZ', ${milliseconds} / 1000.0, 'unixepoch')`,
}

/** The orders as a JSON array, made here so that whoever sends it need not look at it. */
export function items(
  order: RawBuilder<unknown>,
  columns: readonly ColumnName[] = summaryNames,
): RawBuilder<unknown> {
  const members = columns.flatMap((name) => {
    const { kind, expression } = columnOf(name)
    return [sql.lit(name), sent[kind](sql.raw(expression))]
  })
  return sql`json_group_array(json_object(${sql.join(members)}) order by ${order})`
}

/** The alias of `orders` that has it read along this index: SQLite knows nothing of how many rows match. */
export function along(index: OrderIndex): RawBuilder<unknown> {
  return sql`orders indexed by ${sql.ref(index)}`
}

/** The table itself, by number: four times as quick as by an index, where rows are looked at. */
export const alongCreation = { orders: sql`orders not indexed`, key: sql`orders.seq` }

export function hasStatus(status: number): RawBuilder<SqlBool> {
  return sql`status = ${unseen(status)}`
}

/**
 * The ids of each part in the order of ids: each has it by its index, and SQLite merges them as they come. Of a million
 * orders the page in the middle of `status!=Approved` takes 87 ms so, and 907 ms where all orders are walked.
 */
export function together(
  parts: RawBuilder<unknown>[],
  way: RawBuilder<unknown>,
  _window: Pick<Window, 'take' | 'skip'>,
): RawBuilder<unknown> {
  return sql`${sql.join(parts, sql` union all `)} order by id ${way}`
}

/** SQLite would plan anew for each pair of numbers that it sees. */
export function limited(take: number, skip: number): RawBuilder<unknown> {
  return sql`limit ${unseen(take)} offset ${unseen(skip)}`
}

/** Not LIKE, which takes milliseconds for one long text of a repeated character. */
export function contains(column: Expression<string>, text: string): RawBuilder<SqlBool> {
  return sql`instr(${column}, ${text}) > 0`
}

export function endsWith(column: Expression<string>, text: string): RawBuilder<SqlBool> {
  return sql`substr(${column}, ${-[...text].length}) = ${text}`
}

/** The customers that contain the text, which has three characters or more, by the index of trigrams. */
export function containing(text: string): RawBuilder<SqlBool> {
  const found = sql<SqlBool>`orders.seq in
    (select rowid from orders_search where orders_search match ${phrase(text)} and ${foundWithinTime})`
  return isCut(text) ? sql`(${found} and ${contains(sql.ref('orders.customer_folded'), text)})` : found
}

/** How many there are of those. */
export function countContaining(text: string): RawBuilder<{ count: number }> {
  return isCut(text)
    ? sql`select count(*) as count from orders where ${containing(text)}`
    : sql`select count(*) as count from orders_search where orders_search match ${phrase(text)} and ${foundWithinTime}`
}

/** Some of those, and perhaps others, with the key of their order, which is that of their numbers. */
export function alongText(text: string): { matches: RawBuilder<unknown>; key: RawBuilder<unknown> } {
  const matches = sql`orders_search cross join orders on orders.seq = orders_search.rowid
    where orders_search match ${phrase(text)}`
  return { matches, key: sql`orders_search.rowid` }
}

/** Whether that order is the order of creation. */
export async function isInOrder(db: Kysely<Database>): Promise<boolean> {
  const { rows } = await selectOrder(db, {})
  return rows[0]?.in_order === 1
}

const selectOrder = prepared(() => sql<{ in_order: number }>`select in_order from order_numbers`)

/** The same for two snapshots of one connection only if nothing was written between them. */
export async function snapshotVersion(db: Kysely<Database>): Promise<number | string> {
  return (await selectVersion(db, {})).rows[0]?.version ?? 0
}

const selectVersion = prepared(
  () => sql<{ version: number }>`select data_version as version from pragma_data_version`,
)

/**
 * FTS5 takes what stands in double quotes literally, as a phrase of its trigrams. It compares the places of each of
 * them before it tells of a row, so before anything can stop it: of a longer text only the beginning is looked for, and
 * the rows are looked at. (A text of 200 equal characters held a reader for 18 s.)
 */
function phrase(text: string): string {
  return `"${[...text].slice(0, phraseCharacters).join('').replaceAll('"', '""')}"`
}

const phraseCharacters = 20

function isCut(text: string): boolean {
  return [...text].length > phraseCharacters
}

import { type Expression, type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely'
import { prepared } from '../../db/prepared.ts'
import type { Database } from '../../db/tables.ts'
import type { OrderIndex } from '../order.ts'

/** The statement timeout stops what takes too long. */
export const withinTime = sql<SqlBool>`true`

/** PostgreSQL knows how many rows match, and chooses. */
export function along(_index: OrderIndex): RawBuilder<unknown> {
  return sql`orders`
}

export const alongCreation = { orders: sql`orders`, key: sql`orders.id` }

/** Of a range, unlike of one value, the planner takes the order only from the index that begins with the status. */
export function hasStatus(status: number): RawBuilder<SqlBool> {
  return sql`status between ${status} and ${status}`
}

export function limited(take: number, skip: number): RawBuilder<unknown> {
  return sql`limit ${take} offset ${skip}`
}

/** LIKE finds its way in the index of trigrams by itself. */
export function contains(column: Expression<string>, text: string): RawBuilder<SqlBool> {
  return sql`${column} like ${`%${literal(text)}%`}`
}

export function endsWith(column: Expression<string>, text: string): RawBuilder<SqlBool> {
  return sql`${column} like ${`%${literal(text)}`}`
}

/** The customers that contain the text, which has three characters or more, by the index of trigrams. */
export function containing(text: string): RawBuilder<SqlBool> {
  return contains(sql.ref('orders.customer_folded'), text)
}

/** How many there are of those. */
export function countContaining(text: string): RawBuilder<{ count: number }> {
  return sql`select count(*) as count from orders where ${containing(text)}`
}

/** Those, with the key of their order, which is that of creation. */
export function alongText(text: string): { matches: RawBuilder<unknown>; key: RawBuilder<unknown> } {
  return { matches: sql`orders where ${containing(text)}`, key: sql`orders.id` }
}

/** Two snapshots with the same bounds and the same transactions under way see the same rows, for as long as a server runs. */
export async function snapshotVersion(db: Kysely<Database>): Promise<number | string> {
  return (await selectSnapshot(db, {})).rows[0]?.version ?? ''
}

const selectSnapshot = prepared(
  () => sql<{ version: string }>`
    select pg_postmaster_start_time() || ' ' || pg_current_snapshot() as version`,
)

/** What a pattern takes literally. */
function literal(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&')
}

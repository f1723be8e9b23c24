import { type Kysely, sql } from '#kysely'
import type { Database } from '../../server/db/tables.ts'
import type { OrderRow } from './orders.ts'

/** `orders, ten-thousandths` by `day status`; entries of zero are left out. */
export type Tally = Record<string, string>

const dayMilliseconds = 86_400_000n

/** The stored tally with the changes not yet merged, read in one statement. */
export async function keptTally(db: Kysely<Database>): Promise<Tally> {
  const { rows } = await sql<{ day: string; status: number; orders: string; units: string; parts: string }>`
    select cast(day as text) as day, status, cast(orders as text) as orders,
      cast(total_units as text) as units, cast(total_parts_e4 as text) as parts from order_tally
    union all
    select cast(day as text), status, cast(orders as text), cast(total_units as text), cast(total_parts_e4 as text)
    from order_tally_changes
    union all
    select '-1', status, cast(orders as text), cast(total_units as text), cast(total_parts_e4 as text)
    from order_tally_changes`.execute(db)
  const entries = rows.map((row): [string, bigint, bigint] => [
    `${row.day} ${row.status}`,
    BigInt(row.orders),
    BigInt(row.units) * 10_000n + BigInt(row.parts),
  ])
  return summed(entries)
}

/** The same, counted order by order. */
export function countedTally(orders: readonly OrderRow[]): Tally {
  const entries = orders.flatMap(({ created_at, status, total_e4 }): [string, bigint, bigint][] => {
    const inAll: [string, bigint, bigint] = [`-1 ${status}`, 1n, BigInt(total_e4)]
    return [inAll, [`${BigInt(created_at) / dayMilliseconds} ${status}`, 1n, BigInt(total_e4)]]
  })
  return summed(entries)
}

function summed(entries: readonly [key: string, count: bigint, totalE4: bigint][]): Tally {
  const sums = new Map<string, [bigint, bigint]>()
  for (const [key, count, totalE4] of entries) {
    const [counts, totals] = sums.get(key) ?? [0n, 0n]
    sums.set(key, [counts + count, totals + totalE4])
  }
  const kept = [...sums].filter(([, [count, totalE4]]) => count !== 0n || totalE4 !== 0n)
  return Object.fromEntries(kept.map(([key, [count, totalE4]]) => [key, `${count}, ${totalE4}`]).sort())
}

import { type Kysely, sql } from '#kysely'
import type { Database } from '../../server/db/tables.ts'
import type { OrderRow } from './orders.ts'

/** `orders, ten-thousandths` by `span part status`; entries of zero are left out. */
export type Tally = Record<string, string>

const quarter = 900_000n
/** All of time, a day, a quarter of an hour. */
const spans = [BigInt(Number.MAX_SAFE_INTEGER), 86_400_000n, quarter]

/** The stored tally with the changes not yet merged, read in one statement. */
export async function keptTally(db: Kysely<Database>): Promise<Tally> {
  const { rows } = await sql<Record<'span' | 'part' | 'status' | 'orders' | 'units' | 'parts', string>>`
    select cast(span as text) as span, cast(part as text) as part, cast(status as text) as status,
      cast(orders as text) as orders, cast(total_units as text) as units, cast(total_parts_e4 as text) as parts
    from order_tally
    union all
    select null, cast(quarter as text), cast(status as text), cast(orders as text), cast(total_units as text),
      cast(total_parts_e4 as text)
    from order_tally_changes`.execute(db)
  const entries = rows.flatMap(({ span, part, status, orders, units, parts }) => {
    const sum: [bigint, bigint] = [BigInt(orders), BigInt(units) * 10_000n + BigInt(parts)]
    return span === null
      ? inEach(BigInt(part) * quarter, status, sum)
      : [[`${span} ${part} ${status}`, ...sum] as Entry]
  })
  return summed(entries)
}

/** The same, counted order by order. */
export function countedTally(orders: readonly OrderRow[]): Tally {
  return summed(
    orders.flatMap(({ created_at, status, total_e4 }) =>
      inEach(BigInt(created_at), String(status), [1n, BigInt(total_e4)]),
    ),
  )
}

type Entry = [key: string, count: bigint, totalE4: bigint]

const inEach = (instant: bigint, status: string, sum: [bigint, bigint]) =>
  spans.map((span): Entry => [`${span} ${instant / span} ${status}`, ...sum])

function summed(entries: readonly Entry[]): Tally {
  const sums = new Map<string, [bigint, bigint]>()
  for (const [key, count, totalE4] of entries) {
    const [counts, totals] = sums.get(key) ?? [0n, 0n]
    sums.set(key, [counts + count, totals + totalE4])
  }
  const kept = [...sums].filter(([, [count, totalE4]]) => count !== 0n || totalE4 !== 0n)
  return Object.fromEntries(kept.map(([key, [count, totalE4]]) => [key, `${count}, ${totalE4}`]).sort())
}

import { type Kysely, sql } from '#kysely'
import { prepared } from '../../db/prepared.ts'
import { allDays, type Database } from '../../db/tables.ts'
import { awaitingApproval, type OrderStatus, type OrderSummary } from '../order.ts'

/** The orders of one status, of one UTC day or of all days. */
export interface Sum {
  count: number
  /** Ten-thousandths, exactly: a sum may exceed what a number holds. */
  totalE4: bigint
}

export const oldestPendingLimit = 5

/** Either an order, which has an id, or a part of the tally. */
interface OverviewRow {
  id: string | null
  customer: string
  total_e4: number
  created_at: number
  day: number
  status: number
  orders: number
  units: string
  parts_e4: string
  is_change: number
}

/**
 * One statement, so one snapshot. Its cost depends on how many days are asked for and how many changes are
 * not merged, never on how many orders there are. The orders come first because PostgreSQL takes the type of
 * a column from the first part of a union. With `=` in place of `between` it would walk all orders by id.
 */
const selectOverview = prepared(
  (_db, { firstDay, lastDay }: { firstDay: number; lastDay: number }) => sql<OverviewRow>`
    select id, customer, total_e4, created_at, null as day, status, null as orders, null as units,
      null as parts_e4, 0 as is_change
    from (
      select id, customer, total_e4, created_at, status from orders
      where status between ${sql.lit(awaitingApproval)} and ${sql.lit(awaitingApproval)}
      order by status, id limit ${sql.lit(oldestPendingLimit)}
    ) as oldest
    union all
    select null, null, null, null, day, status, orders, cast(total_units as text), cast(total_parts_e4 as text), 0
    from order_tally where day = ${sql.lit(allDays)}
    union all
    select null, null, null, null, day, status, orders, cast(total_units as text), cast(total_parts_e4 as text), 0
    from order_tally where day >= ${firstDay} and day <= ${lastDay}
    union all
    select null, null, null, null, day, status, cast(sum(orders) as bigint), cast(sum(total_units) as text),
      cast(sum(total_parts_e4) as text), 1
    from order_tally_changes group by day, status`,
)

/**
 * Sums of all days and of each from `firstDay` to `lastDay` (since 1970), and the oldest pending orders,
 * oldest first.
 */
export async function readOverview(
  db: Kysely<Database>,
  firstDay: number,
  lastDay: number,
): Promise<{ sumOf: (day: number, status: OrderStatus) => Sum; oldestPending: OrderSummary[] }> {
  const { rows } = await selectOverview(db, { firstDay, lastDay })
  const sums = new Map<string, Sum>()
  const sumOf = (day: number, status: number) => sums.get(`${day} ${status}`) ?? { count: 0, totalE4: 0n }
  for (const { day, status, orders, units, parts_e4, is_change } of rows.filter(({ id }) => id === null)) {
    for (const counted of is_change === 0 ? [day] : [day, allDays]) {
      const { count, totalE4 } = sumOf(counted, status)
      const added = BigInt(units) * 10_000n + BigInt(parts_e4)
      sums.set(`${counted} ${status}`, { count: count + orders, totalE4: totalE4 + added })
    }
  }
  const oldestPending = rows.flatMap((row) => (row.id === null ? [] : [toSummary(row, row.id)]))
  // The parts of a union come in any order.
  return { sumOf, oldestPending: oldestPending.sort((a, b) => (a.id < b.id ? -1 : 1)) }
}

function toSummary(row: OverviewRow, id: string): OrderSummary {
  const { customer, total_e4: total, created_at: createdAtUtc } = row
  return { id, customer, total, status: row.status as OrderStatus, createdAtUtc }
}

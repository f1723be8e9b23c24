import { type Kysely, sql } from '#kysely'
import { prepared } from '../../db/prepared.ts'
import { allDays, type Database } from '../../db/tables.ts'
import { awaitingApproval, type OrderStatus, type OrderSummary } from '../order.ts'

/** How many orders of one status there are, of one UTC day (since 1970) or of `allDays`, and what they come to. */
export interface TallyEntry {
  day: number
  status: OrderStatus
  count: number
  /** Ten-thousandths, exactly: a sum passes what a number holds. */
  totalE4: bigint
}

export const oldestPendingLimit = 5

/** Either an order, by its id, or a part of the tally. */
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
 * One statement, so one snapshot, whose cost depends on the number of days and of changes that are not merged yet,
 * never on that of orders. The orders come first because PostgreSQL takes the type of a column from the first part of a
 * union. With `=` in place of `between` it would walk all orders by id.
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

/** The tally of all days and of those from `firstDay` to `lastDay`, and the oldest pending orders, oldest first. */
export async function readOverview(
  db: Kysely<Database>,
  firstDay: number,
  lastDay: number,
): Promise<{ tally: TallyEntry[]; oldestPending: OrderSummary[] }> {
  const { rows } = await selectOverview(db, { firstDay, lastDay })
  const oldestPending = rows.flatMap((row) => (row.id === null ? [] : [toSummary(row, row.id)]))
  return {
    tally: rows.filter(({ id }) => id === null).flatMap(toEntries),
    // The parts of a union come in any order.
    oldestPending: oldestPending.sort((a, b) => (a.id < b.id ? -1 : 1)),
  }
}

/** A change counts for its day and for all days. */
function toEntries(row: OverviewRow): TallyEntry[] {
  const { day, orders } = row
  const totalE4 = BigInt(row.units) * 10_000n + BigInt(row.parts_e4)
  const entry = { day, status: row.status as OrderStatus, count: orders, totalE4 }
  return row.is_change === 0 ? [entry] : [{ ...entry, day: allDays }, entry]
}

function toSummary(row: OverviewRow, id: string): OrderSummary {
  const { customer, total_e4: total, created_at: createdAtUtc } = row
  return { id, customer, total, status: row.status as OrderStatus, createdAtUtc }
}

/**
 * Figures of all orders, from one snapshot: counts and sums by day and status, and the orders that wait
 * longest.
 */
import type { Db } from '../../db/tables.ts'
import { Temporal } from '../../temporal.ts'
import { type OrderStatusName, type OrderSummary, orderStatus, orderStatusNames } from '../order.ts'
import { readOverview, type Sum, type Sums } from './store.ts'

export const defaultDays = 30

interface Tally {
  count: number
  /** The double nearest to the exact sum. */
  total: number
}

/** The name of a status as a member: `pending`, `approved`. */
type StatusKey = Uncapitalize<OrderStatusName>
export const statusKeys = orderStatusNames.map(keyOf)

type Tallies = Record<StatusKey, Tally>

interface OrderStatistics extends Tallies {
  /** The orders created on each day, `YYYY-MM-DD`, by their present status. */
  days: (Tallies & { date: string })[]
  oldestPending: OrderSummary[]
}

export interface OverviewRequest {
  days: number
  timeZone: string
  nowMilliseconds: number
}

/** All orders, and those of the last `days` days up to today in the time zone, oldest first. */
export async function findOverview(
  snapshot: Db,
  { days, timeZone, nowMilliseconds }: OverviewRequest,
): Promise<OrderStatistics> {
  const today = Temporal.Instant.fromEpochMilliseconds(nowMilliseconds)
    .toZonedDateTimeISO(timeZone)
    .toPlainDate()
  const dates = Array.from({ length: days + 1 }, (_, index) => today.add({ days: index + 1 - days }))
  const starts = dates.map((date) => date.toZonedDateTime(timeZone).epochMilliseconds)
  const overview = await readOverview(snapshot, starts)
  return {
    ...talliesOf(overview.all),
    days: overview.days.map((sums, index) => ({ date: String(dates[index]), ...talliesOf(sums) })),
    oldestPending: overview.oldestPending,
  }
}

function talliesOf(sums: Sums): Tallies {
  const tallies = orderStatusNames.map((name) => [keyOf(name), toTally(sums.get(orderStatus[name]))])
  return Object.fromEntries(tallies) as Tallies
}

function keyOf(name: OrderStatusName): StatusKey {
  return name.toLowerCase() as StatusKey
}

/** A decimal text becomes the double nearest to it; a division would round twice. */
function toTally({ count, totalE4 }: Sum = { count: 0, totalE4: 0n }): Tally {
  const parts = String(totalE4 % 10_000n).padStart(4, '0')
  return { count, total: Number(`${totalE4 / 10_000n}.${parts}`) }
}

/**
 * Figures of all orders, from one snapshot: counts and sums by day and status, and the orders that wait
 * longest.
 */
import type { Kysely } from '#kysely'
import { allDays, type Database } from '../../db/tables.ts'
import { type OrderStatusName, type OrderSummary, orderStatus, orderStatusNames } from '../order.ts'
import { readOverview, type Sum } from './store.ts'

const dayMilliseconds = 86_400_000
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
  /** The orders created on each UTC day, which begins at `startsAt`, by their present status. */
  days: (Tallies & { startsAt: number })[]
  oldestPending: OrderSummary[]
}

/** All orders, and those of the last `days` UTC days up to today, the oldest first. */
export async function getOrdersOverview(
  db: Kysely<Database>,
  { days = defaultDays, nowMilliseconds }: { days: number | undefined; nowMilliseconds: number },
): Promise<OrderStatistics> {
  const today = Math.floor(nowMilliseconds / dayMilliseconds)
  const firstDay = today - days + 1
  const { sumOf, oldestPending } = await readOverview(db, firstDay, today)
  const talliesOf = (day: number) => {
    const tallies = orderStatusNames.map((name) => [keyOf(name), toTally(sumOf(day, orderStatus[name]))])
    return Object.fromEntries(tallies) as Tallies
  }
  return {
    ...talliesOf(allDays),
    days: Array.from({ length: days }, (_, index) => ({
      startsAt: (firstDay + index) * dayMilliseconds,
      ...talliesOf(firstDay + index),
    })),
    oldestPending,
  }
}

function keyOf(name: OrderStatusName): StatusKey {
  return name.toLowerCase() as StatusKey
}

/** A decimal text becomes the double nearest to it; a division would round twice. */
function toTally({ count, totalE4 }: Sum): Tally {
  const parts = String(totalE4 % 10_000n).padStart(4, '0')
  return { count, total: Number(`${totalE4 / 10_000n}.${parts}`) }
}

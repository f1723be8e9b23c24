import type { Kysely } from '#kysely'
import { allDays, type Database } from '../../db/tables.ts'
import {
  type OrderStatus,
  type OrderStatusName,
  type OrderSummary,
  orderStatus,
  orderStatusNames,
} from '../order.ts'
import { readOverview, type TallyEntry } from './store.ts'

const dayMilliseconds = 86_400_000
export const defaultDays = 30

export interface Tally {
  count: number
  /** The double nearest to the exact sum. */
  total: number
}

/** The name of each status as a member: `pending`, `approved`. */
export type StatusKey = Uncapitalize<OrderStatusName>
export const statusKeys = orderStatusNames.map((name) => name.toLowerCase() as StatusKey)
const statusOf = Object.fromEntries(
  orderStatusNames.map((name) => [name.toLowerCase(), orderStatus[name]]),
) as Record<StatusKey, OrderStatus>

/** A tally for each status. */
export type Tallies = Record<StatusKey, Tally>

export interface OrderStatistics extends Tallies {
  /** Of the orders created on each UTC day, which begins at `startsAt`, by the status that they have now. */
  days: (Tallies & { startsAt: number })[]
  oldestPending: OrderSummary[]
}

/** Everything of one snapshot: sums of all orders and of the last `days` UTC days up to today, oldest first. */
export async function getOrdersOverview(
  db: Kysely<Database>,
  { days = defaultDays, nowMilliseconds }: { days: number | undefined; nowMilliseconds: number },
): Promise<OrderStatistics> {
  const today = Math.floor(nowMilliseconds / dayMilliseconds)
  const firstDay = today - days + 1
  const { tally, oldestPending } = await readOverview(db, firstDay, today)
  const sums = sumByDayAndStatus(tally)
  const talliesOf = (day: number) =>
    Object.fromEntries(
      statusKeys.map((key) => [key, toTally(sums.get(keyOf(day, statusOf[key])))]),
    ) as Tallies
  return {
    ...talliesOf(allDays),
    days: Array.from({ length: days }, (_, index) => ({
      startsAt: (firstDay + index) * dayMilliseconds,
      ...talliesOf(firstDay + index),
    })),
    oldestPending,
  }
}

type Sum = Pick<TallyEntry, 'count' | 'totalE4'>

function sumByDayAndStatus(tally: readonly TallyEntry[]): Map<string, Sum> {
  const sums = new Map<string, Sum>()
  for (const { day, status, count, totalE4 } of tally) {
    const key = keyOf(day, status)
    const before = sums.get(key)
    sums.set(key, { count: count + (before?.count ?? 0), totalE4: totalE4 + (before?.totalE4 ?? 0n) })
  }
  return sums
}

function keyOf(day: number, status: OrderStatus): string {
  return `${day} ${status}`
}

/** A decimal text becomes the double nearest to it; a division would round twice. */
function toTally(sum: Sum | undefined): Tally {
  if (sum === undefined) return { count: 0, total: 0 }
  const parts = String(sum.totalE4 % 10_000n).padStart(4, '0')
  return { count: sum.count, total: Number(`${sum.totalE4 / 10_000n}.${parts}`) }
}

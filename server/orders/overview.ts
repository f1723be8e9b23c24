import type { Kysely } from 'kysely'
import { allDays, type Database } from '../db/tables.ts'
import type { OrderSummary } from './list/query.ts'
import { type OrderStatus, orderStatus } from './order.ts'
import { readOverview, type TallyEntry } from './tally.ts'

const dayMilliseconds = 86_400_000
export const defaultDays = 30

export interface Tally {
  count: number
  /** The double nearest to the exact sum. */
  total: number
}

export interface DayTally {
  /** Start of the UTC day, in milliseconds since 1970. */
  startsAt: number
  pending: Tally
  approved: Tally
}

export interface OrdersOverview {
  pending: Tally
  approved: Tally
  /** Of the orders created on each day, by the status that they have now. */
  days: DayTally[]
  oldestPending: OrderSummary[]
}

/** Everything of one snapshot: sums of all orders and of the last `days` UTC days up to today, oldest first. */
export async function getOrdersOverview(
  db: Kysely<Database>,
  { days = defaultDays, nowMilliseconds }: { days: number | undefined; nowMilliseconds: number },
): Promise<OrdersOverview> {
  const today = Math.floor(nowMilliseconds / dayMilliseconds)
  const firstDay = today - days + 1
  const { tally, oldestPending } = await readOverview(db, firstDay, today)
  const sums = sumByDayAndStatus(tally)
  const sumOf = (day: number, status: OrderStatus) => toTally(sums.get(keyOf(day, status)))
  const both = (day: number) => ({
    pending: sumOf(day, orderStatus.Pending),
    approved: sumOf(day, orderStatus.Approved),
  })
  return {
    ...both(allDays),
    days: Array.from({ length: days }, (_, index) => ({
      startsAt: (firstDay + index) * dayMilliseconds,
      ...both(firstDay + index),
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

import type { Selectable } from 'kysely'
import type { OrdersTable } from '../db/tables.ts'
import { orderStatus } from '../orders/order.ts'
import { type Customer, makeCustomers } from './customers.ts'

/** User names for the audit trail. */
export interface People {
  /** Each creates as many orders as the others; a name may stand here more than once. */
  creators: readonly string[]
  approver: string
}

const zones = [
  'Europe/Berlin',
  'Europe/London',
  'America/New_York',
  'Asia/Tokyo',
  'America/Sao_Paulo',
  'Australia/Sydney',
  'Asia/Kolkata',
  'UTC',
]
const approvedShare = 0.6
const dayMilliseconds = 86_400_000
/** A power of two: the customers' shares of the orders are multiples of one part of so many. */
const lotteryLots = 2 ** 18

export interface OrdersWanted {
  count: number
  days: number
  nowMilliseconds: number
  people: People
  batchRows: number
}

/**
 * Orders as they could have come in over the last `days`, oldest first, in batches. The same for the same arguments.
 * Customers have long-tailed shares (the most frequent has about one order in a hundred, most have one in tens of
 * thousands); totals are log-normal with a median of about 300; three of five orders are approved.
 */
export function* makeOrders({
  count,
  days,
  nowMilliseconds,
  people,
  batchRows,
}: OrdersWanted): Generator<Selectable<OrdersTable>[]> {
  const random = pseudoRandom(0x5eed)
  const lottery = drawLots(makeCustomers(random))
  const begin = nowMilliseconds - days * dayMilliseconds
  const step = (days * dayMilliseconds) / count
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T
  let batch: Selectable<OrdersTable>[] = []
  for (let index = 0; index < count; index += 1) {
    const createdAt = Math.floor(begin + (index + random()) * step)
    const customer = lottery[Math.floor(random() * lotteryLots)] as Customer
    const approvedAt = createdAt + 60_000 + Math.floor(random() ** 3 * 4 * dayMilliseconds)
    const isApproved = random() < approvedShare && approvedAt <= nowMilliseconds
    batch.push({
      id: orderId(createdAt, random),
      customer: customer.name,
      customer_folded: customer.folded,
      total_e4: makeTotal(random),
      status: isApproved ? orderStatus.Approved : orderStatus.Pending,
      created_at: createdAt,
      created_at_time_zone: pick(zones),
      created_by: pick(people.creators),
      updated_at: isApproved ? approvedAt : null,
      updated_at_time_zone: isApproved ? pick(zones) : null,
      modified_by: isApproved ? people.approver : null,
      version: isApproved ? 2 : 1,
    })
    if (batch.length === batchRows) {
      yield batch
      batch = []
    }
  }
  if (batch.length > 0) yield batch
}

/** Each customer as often as its share is: a draw is then one look. */
function drawLots(customers: Customer[]): Customer[] {
  const weights = customers.map((_, rank) => 1 / (rank + 20))
  const sum = weights.reduce((total, weight) => total + weight, 0)
  const lots: Customer[] = []
  let share = 0
  for (const [rank, customer] of customers.entries()) {
    share += (weights[rank] ?? 0) / sum
    const end = Math.round(share * lotteryLots)
    while (lots.length < end) lots.push(customer)
  }
  return lots
}

/** Log-normal by the sum of uniform numbers; mostly two decimals, but none to four occur. */
function makeTotal(random: () => number): number {
  const normal = random() + random() + random() + random() - 2
  const units = 300 * Math.exp(normal * 2.6)
  const roll = random()
  const step = roll < 0.75 ? 100 : roll < 0.93 ? 10_000 : roll < 0.97 ? 10 : 1
  return Math.max(step, Math.round((units * 10_000) / step) * step)
}

const hex4 = (number: number) => number.toString(16).padStart(4, '0')

/** A UUIDv7 of the instant whose random bits come from `random`. */
function orderId(milliseconds: number, random: () => number): string {
  const bits = (count: number) => Math.floor(random() * 2 ** count)
  const high = Math.floor(milliseconds / 2 ** 32)
  const low = milliseconds % 2 ** 32
  const instant = `${hex4(high)}${hex4(Math.floor(low / 65_536))}-${hex4(low % 65_536)}`
  const version = hex4(0x7000 | bits(12))
  const variant = hex4(0x8000 | bits(14))
  return `${instant}-${version}-${variant}-${hex4(bits(16))}${hex4(bits(16))}${hex4(bits(16))}`
}

/** Numbers from 0 up to 1 (mulberry32), the same for the same seed. Not for secrets. */
function pseudoRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

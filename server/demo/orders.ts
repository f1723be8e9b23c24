import { firstStatus, type TransitionName, transitions } from '../orders/order.ts'
import type { MadeOrders } from '../orders/orders.ts'
import { firstRules, storedRules } from '../orders/rules.ts'
import type { OrderRow } from '../orders/store.ts'
import { type Customer, makeCustomers } from './customers.ts'

/** Names for the audit trail. No account did any of this. */
export interface People {
  /** Each entry creates the same number of orders. A name may occur more than once. */
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
/** The fates of orders, and their shares; the other orders stay pending. */
const outcomes = [
  { share: 0.6, transition: 'approve', reasons: [] },
  {
    share: 0.06,
    transition: 'reject',
    reasons: [
      'The total differs from the offer.',
      'Ordered twice: see the order of the day before.',
      'The customer has open invoices.',
    ],
  },
  { share: 0.03, transition: 'withdraw', reasons: ['Wrong customer.', 'The customer cancelled.'] },
] as const satisfies { share: number; transition: TransitionName; reasons: string[] }[]
const dayMilliseconds = 86_400_000
/** The number of lots, a power of two. Each customer's share of the orders is a number of lots. */
const lotteryLots = 2 ** 18

export interface OrdersWanted {
  count: number
  days: number
  nowMilliseconds: number
  people: People
  batchRows: number
}

/**
 * Orders as they could have come in over the last `days`, oldest first, in batches, with what happened to
 * each. The same arguments give the same orders. Customers have long-tailed shares: the most frequent has
 * about one order in a hundred, most have one in tens of thousands. Totals are log-normal with a median of
 * about 300. Three of five orders are approved.
 */
export function* makeOrders(wanted: OrdersWanted): Generator<MadeOrders> {
  const { count, days, nowMilliseconds, people, batchRows } = wanted
  const random = pseudoRandom(0x5eed)
  const lottery = drawLots(makeCustomers(random))
  const begin = nowMilliseconds - days * dayMilliseconds
  const step = (days * dayMilliseconds) / count
  let batch: MadeOrders = { orders: [], events: [] }
  for (let index = 0; index < count; index += 1) {
    const createdAt = Math.floor(begin + (index + random()) * step)
    const customer = lottery[Math.floor(random() * lotteryLots)] as Customer
    const { order, events } = makeOrder({ createdAt, nowMilliseconds, customer, people, random })
    batch.orders.push(order)
    batch.events.push(...events)
    if (batch.orders.length === batchRows) {
      yield batch
      batch = { orders: [], events: [] }
    }
  }
  if (batch.orders.length > 0) yield batch
}

function makeOrder({
  createdAt,
  nowMilliseconds,
  customer,
  people,
  random,
}: {
  createdAt: number
  nowMilliseconds: number
  customer: Customer
  people: People
  random: () => number
}): { order: OrderRow; events: MadeOrders['events'] } {
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T
  const decidedAt = createdAt + 60_000 + Math.floor(random() ** 3 * 4 * dayMilliseconds)
  const outcome = decidedAt <= nowMilliseconds ? drawOutcome(random()) : undefined
  const [creator, zone] = [pick(people.creators), pick(zones)]
  const transition = outcome && transitions[outcome.transition]
  const by = transition?.by === 'creator' ? creator : people.approver
  const decision = outcome &&
    transition && { ...outcome, kind: transition.event, at: decidedAt, by, zone: pick(zones) }
  const order: OrderRow = {
    id: idOf(createdAt, random),
    customer: customer.name,
    customer_folded: customer.folded,
    total_e4: makeTotal(random),
    status: transition?.to ?? firstStatus,
    created_at: createdAt,
    created_at_time_zone: zone,
    created_by: creator,
    created_by_id: null,
    created_by_owner_id: null,
    updated_at: decision?.at ?? null,
    updated_at_time_zone: decision?.zone ?? null,
    modified_by: decision?.by ?? null,
    version: decision === undefined ? 1 : 2,
    ...storedRules(firstRules),
    approvals_given: transition?.by === 'approver' ? 1 : 0,
    role_held: 0,
    approved_by: transition?.by === 'approver' ? people.approver : null,
    replaces: null,
    replaced_by: null,
  }
  const made = { kind: 'created', at: createdAt, by: creator, zone, reasons: [] } as const
  const events = [made, ...(decision === undefined ? [] : [decision])].map((happened, index) => ({
    kind: happened.kind,
    stamp: {
      eventId: idOf(happened.at, random),
      seed: saltOf(random),
      nowMilliseconds: happened.at,
      timeZone: happened.zone,
      by: happened.by,
      byId: null,
    },
    order: { id: order.id, version: index + 1, customer: order.customer, total: order.total_e4 },
    text: happened.reasons.length === 0 ? null : pick<string>(happened.reasons),
  }))
  return { order, events }
}

function drawOutcome(lot: number): (typeof outcomes)[number] | undefined {
  let below = 0
  return outcomes.find(({ share }) => {
    below += share
    return lot < below
  })
}

/** Lists each customer once for each of its lots, so that a draw is one look-up. */
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

/** Log-normal, made from a sum of uniform numbers. Most totals have two decimals, but none to four occur. */
function makeTotal(random: () => number): number {
  const normal = random() + random() + random() + random() - 2
  const units = 300 * Math.exp(normal * 2.6)
  const roll = random()
  const step = roll < 0.75 ? 100 : roll < 0.93 ? 10_000 : roll < 0.97 ? 10 : 1
  return Math.max(step, Math.round((units * 10_000) / step) * step)
}

const hex4 = (number: number) => number.toString(16).padStart(4, '0')

const saltOf = (random: () => number) =>
  Array.from({ length: 8 }, () => hex4(Math.floor(random() * 65_536))).join('')

/** A UUIDv7 of the instant whose random bits come from `random`. */
function idOf(milliseconds: number, random: () => number): string {
  const bits = (count: number) => Math.floor(random() * 2 ** count)
  const high = Math.floor(milliseconds / 2 ** 32)
  const low = milliseconds % 2 ** 32
  const instant = `${hex4(high)}${hex4(Math.floor(low / 65_536))}-${hex4(low % 65_536)}`
  const version = hex4(0x7000 | bits(12))
  const variant = hex4(0x8000 | bits(14))
  return `${instant}-${version}-${variant}-${hex4(bits(16))}${hex4(bits(16))}${hex4(bits(16))}`
}

/**
 * Numbers from 0 up to, but not including, 1 (mulberry32). The same seed gives the same ones. Not for
 * secrets.
 */
function pseudoRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

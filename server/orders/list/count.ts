import type { Kysely } from 'kysely'
import { orderSqlOf } from '../../db/order-sql.ts'
import type { Database } from '../../db/tables.ts'
import type { Filter } from '../filter/parser.ts'
import type { OrderStatus } from '../order.ts'
import { countByStatus, countInDays } from '../tally.ts'
import { countBetween, countMatches } from './query.ts'

type Db = Kysely<Database>

const dayMilliseconds = 86_400_000
/** Greater than every day that an order was created on (the year 9999 ends in the day 2,932,896). */
const afterAllDays = 2 ** 31

/**
 * What a filter says that looks at nothing but status and time of creation: the tally knows how many those are, save
 * for the days of which it means a part.
 */
export interface TallyFilter {
  hasStatus: (status: OrderStatus) => boolean
  /** Creation from `from` up to, not including, `to`. */
  from: number
  to: number
}

export const everything: TallyFilter = {
  hasStatus: () => true,
  from: Number.NEGATIVE_INFINITY,
  to: Number.POSITIVE_INFINITY,
}

/** Undefined for a filter that means anything else. */
export function tallyFilterOf(filter: Filter | null): TallyFilter | undefined {
  if (filter === null) return everything
  if (filter.kind === 'and') {
    return filter.operands
      .map(tallyFilterOf)
      .reduce((both, one) => both && one && intersection(both, one), everything)
  }
  if (filter.kind !== 'number') return undefined
  const { operator, range } = filter
  if (filter.field === 'status') {
    const isInRange = (status: OrderStatus) => status >= range.low && status < range.high
    if (operator === '=') return { ...everything, hasStatus: isInRange }
    return operator === '!=' ? { ...everything, hasStatus: (status) => !isInRange(status) } : undefined
  }
  const interval = filter.field === 'createdAtUtc' ? intervalOf(filter) : undefined
  return interval && { ...everything, ...interval }
}

/** Whole numbers from `from` up to, not including, `to`. */
export interface Interval {
  from: number
  to: number
}

/** Undefined for what is no single interval. */
function intervalOf({ operator, range }: Extract<Filter, { kind: 'number' }>): Interval | undefined {
  const [lowest, highest] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]
  switch (operator) {
    case '=':
      return { from: range.low, to: range.high }
    case '<':
      return { from: lowest, to: range.low }
    case '<=':
      return { from: lowest, to: range.high }
    case '>':
      return { from: range.high, to: highest }
    case '>=':
      return { from: range.low, to: highest }
    case '!=':
      return undefined
  }
}

/** The totals that a filter means which looks at nothing else; undefined for any other. */
export function totalsOf(filter: Filter): Interval | undefined {
  if (filter.kind === 'number') return filter.field === 'total' ? intervalOf(filter) : undefined
  if (filter.kind !== 'and') return undefined
  return filter.operands
    .map(totalsOf)
    .reduce(
      (both, one) => both && one && { from: Math.max(both.from, one.from), to: Math.min(both.to, one.to) },
    )
}

function intersection(a: TallyFilter, b: TallyFilter): TallyFilter {
  return {
    hasStatus: (status) => a.hasStatus(status) && b.hasStatus(status),
    from: Math.max(a.from, b.from),
    to: Math.min(a.to, b.to),
  }
}

export function hasAllTimes({ from, to }: TallyFilter): boolean {
  return from === Number.NEGATIVE_INFINITY && to === Number.POSITIVE_INFINITY
}

/** Totals that a connection keeps for as long as nothing is written. */
const keptTotals = 1_000

interface Totals {
  version: number | string
  byFilter: Map<string, number>
}

/** By the adapter of a connection, which its transactions share. */
const keptBy = new WeakMap<object, Totals>()

/**
 * Exactly how many orders match. What the tally knows, or its contrary, is not looked at, and neither is what was
 * counted before on this connection while the database is still the same.
 */
export async function countOrders(db: Db, filter: Filter | null): Promise<number> {
  const tallied = tallyFilterOf(filter)
  if (tallied !== undefined) return countTallied(db, tallied)
  if (filter?.kind === 'not') return (await countOrders(db, null)) - (await countOrders(db, filter.operand))
  return filter === null ? 0 : countOnce(db, JSON.stringify(filter), () => countMatches(db, filter))
}

/** What was counted before on this connection, unless anything was written since; else what `count` says. */
export async function countOnce(db: Db, key: string, count: () => Promise<number>): Promise<number> {
  const totals = await currentTotals(db)
  const known = totals?.get(key)
  if (known !== undefined) return known
  const counted = await count()
  if (totals !== undefined && totals.size < keptTotals) totals.set(key, counted)
  return counted
}

/** Those of this snapshot; undefined where snapshots cannot be told apart. */
async function currentTotals(db: Db): Promise<Map<string, number> | undefined> {
  const current = await orderSqlOf(db).version(db)
  if (current === undefined) return undefined
  const { adapter } = db.getExecutor()
  const before = keptBy.get(adapter)
  if (before?.version === current) return before.byFilter
  const byFilter = new Map<string, number>()
  keptBy.set(adapter, { version: current, byFilter })
  return byFilter
}

/** Infinitely many where a part of a day holds more than `limit`. */
export async function countTallied(
  db: Db,
  filter: TallyFilter,
  limit = Number.POSITIVE_INFINITY,
): Promise<number> {
  const counts = await countByStatus(db)
  const wanted = [...counts.keys()].filter(filter.hasStatus)
  const { from, to } = filter
  if (hasAllTimes(filter)) return sumOf(wanted.map((status) => counts.get(status) ?? 0))
  if (from >= to) return 0
  const isOfAll = wanted.length === counts.size
  return countOnce(db, [from, to, limit, ...wanted].join(), async () => {
    // Before 1970 the tally knows no days.
    const firstDay = Math.max(0, Math.ceil(from / dayMilliseconds))
    const endDay = Math.min(afterAllDays, Math.floor(to / dayMilliseconds))
    const statuses = isOfAll ? undefined : wanted
    const edge = (start: number, end: number) => countEdge(db, { from: start, to: end }, statuses, limit)
    if (firstDay >= endDay) return edge(from, to)
    const whole = await countInDays(db, firstDay, endDay - 1)
    const before = await edge(from, firstDay * dayMilliseconds)
    const after = endDay === afterAllDays ? 0 : await edge(endDay * dayMilliseconds, to)
    return sumOf(wanted.map((status) => whole.get(status) ?? 0)) + before + after
  })
}

/** Of all statuses without `statuses`. */
async function countEdge(
  db: Db,
  interval: Interval,
  statuses: OrderStatus[] | undefined,
  limit: number,
): Promise<number> {
  const between = { ...interval, column: 'created_at', limit } as const
  if (statuses === undefined) return countBetween(db, { ...between, status: undefined })
  return sumOf(await Promise.all(statuses.map((status) => countBetween(db, { ...between, status }))))
}

function sumOf(numbers: number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0)
}

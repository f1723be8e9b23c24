import type { Kysely } from 'kysely'
import { orderSqlOf } from '../db/order-sql.ts'
import { allDays, type Database } from '../db/tables.ts'
import type { Filter } from './filter/parser.ts'
import { countCreated, countMatches } from './list-store.ts'
import type { OrderStatus } from './order.ts'
import { countByDay, countByStatus } from './tally-store.ts'

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
  if (filter.field !== 'createdAtUtc') return undefined
  switch (operator) {
    case '=':
      return { ...everything, from: range.low, to: range.high }
    case '<':
      return { ...everything, to: range.low }
    case '<=':
      return { ...everything, to: range.high }
    case '>':
      return { ...everything, from: range.high }
    case '>=':
      return { ...everything, from: range.low }
    case '!=':
      return undefined
  }
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
  version: number
  byFilter: Map<string, number>
}

/** By the adapter of a connection, which its transactions share. */
const totalsOf = new WeakMap<object, Totals>()

/**
 * Exactly how many orders match. What the tally knows, or its contrary, is not looked at, and neither is what was
 * counted before on this connection while the database is still the same.
 */
export async function countOrders(db: Db, filter: Filter | null): Promise<number> {
  const tallied = tallyFilterOf(filter)
  if (tallied !== undefined) return countTallied(db, tallied)
  if (filter?.kind === 'not') return (await countOrders(db, null)) - (await countOrders(db, filter.operand))
  if (filter === null) return 0
  const totals = await currentTotals(db)
  const key = JSON.stringify(filter)
  const known = totals?.get(key)
  if (known !== undefined) return known
  const count = await countMatches(db, filter)
  if (totals !== undefined && totals.size < keptTotals) totals.set(key, count)
  return count
}

/** Those of this snapshot; undefined where snapshots cannot be told apart. */
async function currentTotals(db: Db): Promise<Map<string, number> | undefined> {
  const { version } = orderSqlOf(db)
  if (version === undefined) return undefined
  const { rows } = await version.execute(db)
  const current = rows[0]?.version ?? 0
  const { adapter } = db.getExecutor()
  const before = totalsOf.get(adapter)
  if (before?.version === current) return before.byFilter
  const byFilter = new Map<string, number>()
  totalsOf.set(adapter, { version: current, byFilter })
  return byFilter
}

async function countTallied(db: Db, filter: TallyFilter): Promise<number> {
  if (hasAllTimes(filter)) {
    const counts = await countByStatus(db)
    return sumOf([...counts].filter(([status]) => filter.hasStatus(status)).map(([, count]) => count))
  }
  if (filter.from >= filter.to) return 0
  // Before 1970 the tally knows no days.
  const firstDay = Math.max(0, Math.ceil(filter.from / dayMilliseconds))
  const endDay = Math.min(afterAllDays, Math.floor(filter.to / dayMilliseconds))
  const days = await countByDay(db, firstDay, endDay - 1)
  const statuses = [...new Set(days.map(({ status }) => status))].filter(filter.hasStatus)
  const edge = (from: number, to: number) => countCreated(db, { from, to, statuses })
  if (firstDay >= endDay) return edge(earliest(filter.from), filter.to)
  const whole = days.filter(({ day, status }) => day !== allDays && filter.hasStatus(status))
  const before = await edge(earliest(filter.from), firstDay * dayMilliseconds)
  const after = endDay === afterAllDays ? 0 : await edge(endDay * dayMilliseconds, filter.to)
  return sumOf(whole.map(({ orders }) => orders)) + before + after
}

/** An integer that both engines take in place of infinity. */
function earliest(from: number): number {
  return Math.max(from, Number.MIN_SAFE_INTEGER)
}

function sumOf(numbers: number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0)
}

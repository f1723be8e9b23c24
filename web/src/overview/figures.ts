import { formatCount } from '../ui/format.ts'
import { formatShare } from './words.ts'

export interface Tally {
  count: number
  total: number
}

export interface Tallies {
  pending: Tally
  approved: Tally
}

export interface Day extends Tallies {
  /** `YYYY-MM-DD`, of UTC. */
  date: string
}

/** What the service answers. */
export interface Overview<Order> extends Tallies {
  days: Day[]
  oldestPending: Order[]
}

export interface Figures<Order = unknown> {
  /** Of every order there is. */
  all: Tallies
  /** The span in sight: oldest first, the last is today. */
  days: Day[]
  /** Sums of the span in sight. */
  span: Tallies
  /** How many orders the span before had; undefined when it does not compare, because the first order is younger. */
  countBefore: number | undefined
  oldestPending: Order[]
}

/** Takes an answer about twice the days of the span: the first half is there to compare with. */
export function readFigures<Order>(answer: Overview<Order>): Figures<Order> {
  const { pending, approved, oldestPending } = answer
  const length = Math.floor(answer.days.length / 2)
  const days = answer.days.slice(length)
  const all = { pending, approved }
  const span = sumOf(days)
  const before = sumOf(answer.days.slice(0, length))
  const isBeforeWhole = countOf(all) > countOf(span) + countOf(before)
  return { all, days, span, countBefore: isBeforeWhole ? countOf(before) : undefined, oldestPending }
}

function sumOf(days: readonly Day[]): Tallies {
  const sum = { pending: { count: 0, total: 0 }, approved: { count: 0, total: 0 } }
  for (const { pending, approved } of days) {
    add(sum.pending, pending)
    add(sum.approved, approved)
  }
  return sum
}

function add(sum: Tally, { count, total }: Tally): void {
  sum.count += count
  sum.total += total
}

export function countOf({ pending, approved }: Tallies): number {
  return pending.count + approved.count
}

export function totalOf({ pending, approved }: Tallies): number {
  return pending.total + approved.total
}

export interface Change {
  direction: 'up' | 'down' | 'none'
  words: string
}

/** From so many on a share says more than a difference. */
const shareFrom = 100

/**
 * Compares a span that ends today with the full one before. The day of today is not over, so that what is fewer by now
 * need not stay so; what is more does.
 */
export function changeOf(count: number, before: number): Change {
  if (count === before) return { direction: 'none', words: 'unchanged' }
  const difference = Math.abs(count - before)
  const size = before >= shareFrom ? formatShare(difference, before) : formatCount(difference)
  return count > before
    ? { direction: 'up', words: `${size} more` }
    : { direction: 'down', words: `${size} fewer so far` }
}

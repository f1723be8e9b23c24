import { type StateName, stateNames } from '../orders/states.ts'
import { formatCount } from '../ui/format.ts'
import { formatShare } from './words.ts'

export interface Tally {
  count: number
  total: number
}

/** As the service names them: by the names of the states, in lower case. */
export type Tallies = Record<Lowercase<StateName>, Tally>

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

export function tallyOf(tallies: Tallies, name: StateName): Tally {
  return tallies[name.toLowerCase() as Lowercase<StateName>]
}

const sumOver = (tallies: Tallies, measure: keyof Tally) =>
  stateNames.reduce((sum, name) => sum + tallyOf(tallies, name)[measure], 0)
export const countOf = (tallies: Tallies) => sumOver(tallies, 'count')
export const totalOf = (tallies: Tallies) => sumOver(tallies, 'total')

/** Takes an answer about twice the days of the span: the first half is there to compare with. */
export function readFigures<Order>(answer: Overview<Order>): Figures<Order> {
  const { oldestPending, days: all, ...tallies } = answer
  const length = Math.floor(all.length / 2)
  const days = all.slice(length)
  const span = sumOf(days)
  const countBefore = countOf(sumOf(all.slice(0, length)))
  const isBeforeWhole = countOf(tallies) > countOf(span) + countBefore
  return { all: tallies, days, span, countBefore: isBeforeWhole ? countBefore : undefined, oldestPending }
}

function sumOf(days: readonly Day[]): Tallies {
  const sums = stateNames.map((name) => {
    const tallies = days.map((day) => tallyOf(day, name))
    const sum = (measure: keyof Tally) => tallies.reduce((most, tally) => most + tally[measure], 0)
    return [name.toLowerCase(), { count: sum('count'), total: sum('total') }]
  })
  return Object.fromEntries(sums)
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

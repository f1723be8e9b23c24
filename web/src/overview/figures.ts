import type { components } from '../../../client/src/schema.ts'
import { type StateName, stateNames, waitingStates } from '../orders/states.ts'
import { formatCount } from '../ui/format.ts'
import { formatShare } from './words.ts'

export type Tally = components['schemas']['OrderTally']
/** Keyed by state, in lower case, as the service sends them. */
export type Tallies = Record<Lowercase<StateName>, Tally>
export type Day = components['schemas']['OrderDay']
export type Overview = components['schemas']['OrderStatistics']
export type Figures = ReturnType<typeof readFigures>

export function tallyOf(tallies: Tallies, name: StateName): Tally {
  return tallies[name.toLowerCase() as Lowercase<StateName>]
}

const sumOver = (tallies: Tallies, measure: keyof Tally, names: readonly StateName[] = stateNames) =>
  names.reduce((sum, name) => sum + tallyOf(tallies, name)[measure], 0)
export const countOf = (tallies: Tallies) => sumOver(tallies, 'count')
/** How many wait for approval. */
export const waitingOf = (tallies: Tallies) => sumOver(tallies, 'count', waitingStates)
export const totalOf = (tallies: Tallies) => sumOver(tallies, 'total')

/**
 * Takes an answer that covers at least twice the days of the span, so that the span can be compared with the
 * days before it. `countBefore` is undefined if the first order is younger than those days. `recent` has all
 * days.
 */
export function readFigures({ oldestPending, days: recent, timeZone: _, ...all }: Overview, length: number) {
  const days = recent.slice(-length)
  const span = sumOf(days)
  const before = countOf(sumOf(recent.slice(-2 * length, -length)))
  const countBefore = countOf(all) > countOf(span) + before ? before : undefined
  return { all, days, recent, span, countBefore, oldestPending }
}

function sumOf(days: readonly Day[]): Tallies {
  const sums = stateNames.map((name) => {
    const sum = (measure: keyof Tally) => days.reduce((most, day) => most + tallyOf(day, name)[measure], 0)
    return [name.toLowerCase(), { count: sum('count'), total: sum('total') }]
  })
  return Object.fromEntries(sums)
}

interface Change {
  direction: 'up' | 'down' | 'none'
  words: string
}

/** From this count on, a percentage is more useful than a difference. */
const shareFrom = 100

/**
 * Compares a span that ends today with the full span before. Today is not over, so a lower count may still
 * rise; a higher one stays higher.
 */
export function changeOf(count: number, before: number): Change {
  if (count === before) return { direction: 'none', words: 'unchanged' }
  const difference = Math.abs(count - before)
  const size = before >= shareFrom ? formatShare(difference, before) : formatCount(difference)
  return count > before
    ? { direction: 'up', words: `${size} more` }
    : { direction: 'down', words: `${size} fewer so far` }
}

import type { components } from '../../../client/src/schema.ts'
import { type StateName, stateNames } from '../orders/states.ts'
import { formatCount } from '../ui/format.ts'
import { formatShare } from './words.ts'

export type Tally = components['schemas']['OrderTally']
/** As the service names them: by the names of the states, in lower case. */
export type Tallies = Record<Lowercase<StateName>, Tally>
export type Day = components['schemas']['OrderDay']
export type Overview = components['schemas']['OrderStatistics']
export type Figures = ReturnType<typeof readFigures>

export function tallyOf(tallies: Tallies, name: StateName): Tally {
  return tallies[name.toLowerCase() as Lowercase<StateName>]
}

const sumOver = (tallies: Tallies, measure: keyof Tally) =>
  stateNames.reduce((sum, name) => sum + tallyOf(tallies, name)[measure], 0)
export const countOf = (tallies: Tallies) => sumOver(tallies, 'count')
export const totalOf = (tallies: Tallies) => sumOver(tallies, 'total')

/**
 * Takes an answer about at least twice the days of the span: those before it are there to compare with. `countBefore` is
 * undefined when they do not compare, because the first order of all is younger than their beginning. `recent`: all days.
 */
export function readFigures({ oldestPending, days: recent, ...all }: Overview, length: number) {
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

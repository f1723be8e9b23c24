import type { components } from '../../../client/src/schema.ts'
import { type StateName, stateNames, waitingStates } from '../orders/states.ts'
import { formatCount, formatLongDay, formatOrders } from '../ui/format.ts'

/** Keyed by state, in lower case, as the service sends them. */
type Tallies = Record<Lowercase<StateName>, components['schemas']['OrderTally']>

const sumOver = (tallies: Tallies, names: readonly StateName[]) =>
  names.reduce((sum, name) => sum + tallies[name.toLowerCase() as Lowercase<StateName>].count, 0)
export const countOf = (tallies: Tallies) => sumOver(tallies, stateNames)
export const waitingOf = (tallies: Tallies) => sumOver(tallies, waitingStates)

interface DayCount {
  date: string
  count: number
}

/** The chart in words. The last day is today. */
export function daysInWords(days: readonly DayCount[]): string {
  const [today, ...earlier] = days.toReversed()
  const sum = days.reduce((total, { count }) => total + count, 0)
  const span = `the last ${days.length} days`
  if (sum === 0) return `No orders were created in ${span}.`
  const most = earlier.reduce((best, day) => (day.count > best.count ? day : best), { date: '', count: 0 })
  const peak =
    most.count > 0
      ? ` The most before today were ${formatCount(most.count)}, on ${formatLongDay(most.date)}.`
      : ''
  return `${formatOrders(sum)} in ${span}, ${formatCount(today?.count ?? 0)} of them today.${peak}`
}

/** The greeting at the person's hour (0 to 23). */
export function greetingAt(hour: number): string {
  if (hour >= 5 && hour < 12) return 'Good morning'
  return hour >= 12 && hour < 18 ? 'Good afternoon' : 'Good evening'
}

/** Such as "Your orders: 3 rejected, 12 waiting". Counts that could not be read are left out. */
export function ownTitle({ rejected = 0, waiting = 0 }: Record<'rejected' | 'waiting', number | undefined>) {
  const parts = [
    rejected > 0 && `${formatCount(rejected)} rejected`,
    waiting > 0 && `${formatCount(waiting)} waiting`,
  ].filter(Boolean)
  return parts.length === 0 ? 'Your orders' : `Your orders: ${parts.join(', ')}`
}

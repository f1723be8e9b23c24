import { waitingFilter } from '../../orders/states.ts'
import { type Figures, waitingOf } from '../figures.ts'

/** The ages are computed from this many days up to today. */
export const daysOfAges = 31

/** How long orders have waited, in days since the day of creation; the last age has no end. */
const ages = [
  { name: 'Today', from: 0, to: 0 },
  { name: '1–2 days', from: 1, to: 2 },
  { name: '3–7 days', from: 3, to: 7 },
  { name: '8–30 days', from: 8, to: 30 },
  { name: 'Over 30 days', from: 31, to: Number.POSITIVE_INFINITY },
] as const

export interface Age {
  name: string
  count: number
  /** Its dates are those of the reader. */
  filter: string
}

/** Waiting orders by age, newest first. Orders from before the known days are in the oldest age. */
export function agesOf({ all, recent }: Pick<Figures, 'all' | 'recent'>): Age[] {
  const waiting = recent.slice(-daysOfAges).map(waitingOf).reverse()
  const countOf = (from: number, to: number) =>
    waiting.slice(from, to + 1).reduce((sum, count) => sum + count, 0)
  const older = waitingOf(all) - countOf(0, waiting.length - 1)
  const dateOf = (age: number) => recent.at(-1 - age)?.date
  return ages.map(({ name, from, to }) => {
    const since = Number.isFinite(to) ? ` createdAtUtc>=${dateOf(to)}` : ''
    const until = from > 0 ? ` createdAtUtc<${dateOf(from - 1)}` : ''
    const count = Number.isFinite(to) ? countOf(from, to) : older
    return { name, count, filter: `${waitingFilter}${since}${until}` }
  })
}

import { type Figures, tallyOf } from '../figures.ts'

/** The ages follow from this many days up to today. */
export const daysOfAges = 31

/** How long orders have waited, in UTC days since the day of creation; the last age has no end. */
const ages = [
  { name: 'Today (UTC)', from: 0, to: 0 },
  { name: '1–2 days', from: 1, to: 2 },
  { name: '3–7 days', from: 3, to: 7 },
  { name: '8–30 days', from: 8, to: 30 },
  { name: 'Over 30 days', from: 31, to: Number.POSITIVE_INFINITY },
] as const

export interface Age {
  name: string
  count: number
  /** Finds exactly these orders in any time zone. */
  filter: string
}

/** Waiting orders by age, the latest first. Orders beyond the known days are older. */
export function agesOf({ all, recent }: Pick<Figures, 'all' | 'recent'>): Age[] {
  const waiting = recent
    .slice(-daysOfAges)
    .map((day) => tallyOf(day, 'Pending').count)
    .reverse()
  const countOf = (from: number, to: number) =>
    waiting.slice(from, to + 1).reduce((sum, count) => sum + count, 0)
  const older = tallyOf(all, 'Pending').count - countOf(0, waiting.length - 1)
  const startOf = (age: number) => `${recent.at(-1 - age)?.date}T00:00:00Z`
  return ages.map(({ name, from, to }) => {
    const since = Number.isFinite(to) ? ` createdAtUtc>=${startOf(to)}` : ''
    const until = from > 0 ? ` createdAtUtc<${startOf(from - 1)}` : ''
    const count = Number.isFinite(to) ? countOf(from, to) : older
    return { name, count, filter: `status=Pending${since}${until}` }
  })
}

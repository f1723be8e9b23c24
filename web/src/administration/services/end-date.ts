import { dateOf, dayAt, dayOf, startOf } from '../../orders/filter/days.ts'

/** The instant at which that day of the person is over; null without one. */
export function endOfDay(date: string): string | null {
  const day = dayOf(date)
  return (day !== undefined && startOf(day + 1)) || null
}

/** The last day of the person before the instant. */
export function lastDayBefore(instant: string | null): string {
  return instant === null ? '' : dateOf(dayAt(Date.parse(instant) - 1))
}

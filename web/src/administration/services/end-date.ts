import { dateOf, dayAt, dayOf, startOf } from '../../orders/filter/days.ts'

/** The end of that day in the person's time zone; null without a day. */
export function endOfDay(date: string): string | null {
  const day = dayOf(date)
  return (day !== undefined && startOf(day + 1)) || null
}

/** The last day before the instant, in the person's time zone. */
export function lastDayBefore(instant: string | null): string {
  return instant === null ? '' : dateOf(dayAt(Date.parse(instant) - 1))
}

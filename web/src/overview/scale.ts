/** An axis that begins at 0. */
export interface Axis {
  /** The value at its end, which is a mark too. */
  top: number
  /** Evenly spaced round numbers, 0 first. */
  marks: number[]
}

const steps = [1, 2, 2.5, 5, 10]

/**
 * The axis with the finest round steps (1, 2, 2.5 or 5 times a power of ten) that reaches `largest` with at most
 * `most` of them. Of whole numbers only if `isWhole`. Where there is nothing to measure, it has the mark 0 only.
 */
export function roundAxis(largest: number, most: number, isWhole: boolean): Axis {
  if (!(largest > 0) || !Number.isFinite(largest)) return { top: 1, marks: [0] }
  const exponent = Math.floor(Math.log10(largest / most))
  const smallest = isWhole ? Math.max(exponent, 0) : exponent
  // One power below and one above: a logarithm of a power of ten may be a hair off.
  const step =
    [smallest - 1, smallest, smallest + 1]
      .flatMap((power) => steps.map((factor) => timesPower(factor, power)))
      .filter((candidate) => !isWhole || Number.isInteger(candidate))
      .find((candidate) => candidate * most >= largest) ?? largest
  const count = Math.ceil(largest / step)
  const marks = Array.from({ length: count + 1 }, (_, index) => clean(index * step))
  return { top: clean(count * step), marks }
}

function timesPower(factor: number, power: number): number {
  return clean(factor * 10 ** power)
}

/** Without what binary fractions add: 0.3, not 0.30000000000000004. */
function clean(value: number): number {
  return Number(value.toPrecision(12))
}

/** Where bars stand; all numbers are whole pixels, so that their edges are sharp. */
export interface Columns {
  /** Width of one day, bar and gap; may be a fraction. */
  pitch: number
  barWidth: number
  /** Where the first column begins, and the last one ends. */
  from: number
  to: number
  barAt(index: number): number
  startOf(index: number): number
  centreOf(index: number): number
  /** The column nearest to a place, in or beside the chart. */
  indexAt(x: number): number
}

const barShare = 0.62
const widestBar = 36

/** `count` columns side by side from `from` to `to`. */
export function columnsBetween(from: number, to: number, count: number): Columns {
  const pitch = Math.max(0, to - from) / count
  const barWidth = Math.max(1, Math.min(widestBar, Math.round(pitch * barShare)))
  const startOf = (index: number) => Math.round(from + index * pitch)
  return {
    pitch,
    barWidth,
    from,
    to,
    startOf,
    barAt: (index) => Math.round(from + (index + 0.5) * pitch - barWidth / 2),
    centreOf: (index) => Math.round(from + (index + 0.5) * pitch),
    indexAt: (x) => {
      const index = pitch === 0 ? 0 : Math.floor((x - from) / pitch)
      return Math.min(Math.max(index, 0), count - 1)
    },
  }
}

/** Pixels of a value; what is not 0 is never less than 2, so that it is seen. */
export function heightOf(value: number, { top }: Axis, height: number): number {
  if (!(value > 0)) return 0
  return Math.max(2, Math.round((value / top) * height))
}

export interface DayMark {
  index: number
  /** `today` is always there, and always the last. */
  kind: 'weekday' | 'day' | 'today'
}

const weekdayPixels = 38
const dayPixels = 60
const weekSteps = [1, 2, 4, 8, 13, 26, 52]

/**
 * The days to name under the chart: all by their weekday where there is room, else Mondays, as many as fit without
 * touching each other or the last day, which is today.
 */
export function dayMarks(dates: readonly string[], pitch: number): DayMark[] {
  const last = dates.length - 1
  const today: DayMark = { index: last, kind: 'today' }
  if (pitch >= weekdayPixels) {
    return dates.map((_, index) => (index === last ? today : { index, kind: 'weekday' }))
  }
  const weeks = weekSteps.find((step) => step * 7 * pitch >= dayPixels) ?? 52
  const mondays = dates.flatMap((date, index) => {
    return weekdayOf(date) === 1 && (last - index) * pitch >= dayPixels ? [index] : []
  })
  const kept = mondays.filter((_, index) => (mondays.length - 1 - index) % weeks === 0)
  return [...kept.map((index): DayMark => ({ index, kind: 'day' })), today]
}

export function isWeekend(date: string): boolean {
  const weekday = weekdayOf(date)
  return weekday === 0 || weekday === 6
}

/** Of a date `YYYY-MM-DD`; 0 is Sunday. */
function weekdayOf(date: string): number {
  return new Date(date).getUTCDay()
}

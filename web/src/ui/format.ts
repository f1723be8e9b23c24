import { englishOf, knownLocale, knownTimeZone } from '../../../rules/locale.ts'

/**
 * Dates and digits are English, in the variant that the browser lists, if any, and in the person's time zone,
 * or UTC if the browser knows none.
 */
export const appLocale = englishOf(navigator.languages)
const locale = appLocale
/** People type numbers in their own language. */
export const ownLocale = knownLocale(navigator.language)
/** As requests name it. Without it the service takes the one of the account. */
export const ownTimeZone = knownTimeZone(Intl.DateTimeFormat().resolvedOptions().timeZone)
export const viewerTimeZone = ownTimeZone ?? 'UTC'
export const timeZoneHeader = ownTimeZone === undefined ? {} : { 'Time-Zone': ownTimeZone }
const here = { timeZone: viewerTimeZone }

/** ISO 4217, set in the page by the service; without one a total is a plain number. */
export const currency = globalThis.document?.querySelector<HTMLMetaElement>('meta[name="currency"]')?.content
const totalFormat = new Intl.NumberFormat(locale, {
  ...(currency ? { style: 'currency', currency } : { minimumFractionDigits: 2 }),
  maximumFractionDigits: 4,
})
const typedTotalFormat = new Intl.NumberFormat(ownLocale, {
  minimumFractionDigits: 2,
  maximumFractionDigits: 4,
})
const countFormat = new Intl.NumberFormat(locale)
const instantFormat = new Intl.DateTimeFormat(locale, { ...here, dateStyle: 'medium', timeStyle: 'short' })
const exactFormat = new Intl.DateTimeFormat(locale, { ...here, dateStyle: 'full', timeStyle: 'long' })
const dateFormat = new Intl.DateTimeFormat(locale, { ...here, dateStyle: 'long' })
const timeFormat = new Intl.DateTimeFormat(locale, { ...here, timeStyle: 'short' })
const utcDayFormat = new Intl.DateTimeFormat(locale, { timeZone: 'UTC', day: 'numeric', month: 'short' })
const utcMediumDayFormat = new Intl.DateTimeFormat(locale, { timeZone: 'UTC', dateStyle: 'medium' })
const utcLongDayFormat = new Intl.DateTimeFormat(locale, { timeZone: 'UTC', dateStyle: 'full' })
/** Without a comma before the last item. */
const seriesFormat = new Intl.ListFormat('en-GB')
const agoFormat = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })

/** Takes decimal text too, for sums beyond what a number holds exactly. */
export const formatTotal = (total: number | `${number}`) => totalFormat.format(total)
/** As people type it in their language. A total has at most 15 digits, which a number holds exactly. */
export const typedTotal = (total: number) => typedTotalFormat.format(total)
export const formatCount = (count: number) => countFormat.format(count)
/** Such as "1 order" or "1,204 orders". */
export const formatOrders = (count: number) => `${formatCount(count)} ${count === 1 ? 'order' : 'orders'}`
export const formatInstant = (instant: string) => instantFormat.format(new Date(instant))
/** Such as "1, 2 and 3". */
export const inSeries = (parts: readonly string[]) => seriesFormat.format(parts)
/** With seconds and the name of the time zone. */
export const formatExactInstant = (instant: string) => exactFormat.format(new Date(instant))
/** The day on which it was for the viewer. */
export const formatDate = (instant: string) => dateFormat.format(new Date(instant))
export const formatTime = (milliseconds: number) => timeFormat.format(milliseconds)
/** Both take a UTC day, `YYYY-MM-DD`. */
export const formatDay = (date: string) => utcDayFormat.format(new Date(date))
export const formatLongDay = (date: string) => utcLongDayFormat.format(new Date(date))

/** Such as "Nov 1 – 25, 2026", from one UTC day to another. */
export const formatDays = (from: string, to: string) =>
  utcMediumDayFormat.formatRange(new Date(from), new Date(to))

/** The instant in another time zone; undefined when that is the viewer's or unknown. */
export function formatInstantIn(instant: string, timeZone: string | null): string | undefined {
  if (timeZone === null || timeZone === viewerTimeZone) return undefined
  try {
    const format = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short', timeZone })
    return format.format(new Date(instant))
  } catch {
    return undefined
  }
}

/** Units of time in milliseconds, largest first. */
export const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const

/** Such as "3 days ago". */
export function formatAgo(instant: string, now: number): string {
  const elapsed = new Date(instant).getTime() - now
  const unit = units.find(([, size]) => Math.abs(elapsed) >= size)
  if (unit === undefined) return 'just now'
  const [name, length] = unit
  return agoFormat.format(Math.trunc(elapsed / length), name)
}

const graphemes = new Intl.Segmenter(locale)

/** A name for one line, cut between visible characters. */
export function shortName(name: string, limit = 60): string {
  const characters = Array.from(graphemes.segment(name), ({ segment }) => segment)
  return characters.length <= limit ? name : `${characters.slice(0, limit - 1).join('')}…`
}

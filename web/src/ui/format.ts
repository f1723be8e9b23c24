/**
 * The app speaks English, and so do its dates and digits: as the person's own English has them, if their browser lists
 * one. In the person's time zone.
 */
export const appLocale = englishOf(navigator.languages)
const locale = appLocale
/** In which people type, until the app speaks their language. */
export const ownLocale = knownLocale(navigator.language)
export const viewerTimeZone = Intl.DateTimeFormat().resolvedOptions().timeZone

/** The calendar and the digits of English words, whatever the region: `en-IR` alone means the Persian calendar. */
export function englishOf(languages: readonly string[]): string {
  const english = languages.map(knownLocale).find((tag) => /^en\b/.test(tag)) ?? 'en'
  return new Intl.Locale(english, { calendar: 'gregory', numberingSystem: 'latn' }).toString()
}

/** Some systems report what is no language tag (`en-US@posix`); then the browser's own default serves. */
function knownLocale(tag: string): string {
  try {
    return new Intl.Locale(tag).toString()
  } catch {
    return Intl.NumberFormat().resolvedOptions().locale
  }
}

/** ISO 4217, as the service puts it into the page; without one a total is a plain number. */
const currency = globalThis.document?.querySelector<HTMLMetaElement>('meta[name="currency"]')?.content
const money = currency ? ({ style: 'currency', currency } as const) : {}
const totalFormat = new Intl.NumberFormat(locale, {
  ...(currency ? money : { minimumFractionDigits: 2 }),
  maximumFractionDigits: 4,
})
const short = { notation: 'compact', maximumSignificantDigits: 3 } as const
const shortTotalFormat = new Intl.NumberFormat(locale, { ...short, ...money })
const shortCountFormat = new Intl.NumberFormat(locale, short)
const typedTotalFormat = new Intl.NumberFormat(ownLocale, {
  minimumFractionDigits: 2,
  maximumFractionDigits: 4,
})
const countFormat = new Intl.NumberFormat(locale)
const instantFormat = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' })
const exactFormat = new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeStyle: 'long' })
const timeFormat = new Intl.DateTimeFormat(locale, { timeStyle: 'short' })
const utcDayFormat = new Intl.DateTimeFormat(locale, { timeZone: 'UTC', day: 'numeric', month: 'short' })
const utcLongDayFormat = new Intl.DateTimeFormat(locale, { timeZone: 'UTC', dateStyle: 'full' })
/** Without a comma before the last. */
const seriesFormat = new Intl.ListFormat('en-GB')
const agoFormat = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })

/** Of a number, or of decimal text where a sum is more than a number can hold. */
export const formatTotal = (total: number | `${number}`) => totalFormat.format(total)
/** As people type it in their language; a total has at most 15 digits, which a number holds exactly. */
export const typedTotal = (total: number) => typedTotalFormat.format(total)
export const { minimumFractionDigits: leastDecimals = 2 } = totalFormat.resolvedOptions()
/** As 1.2M: for figures that are looked at rather than read. */
export const formatShortTotal = (total: number) => shortTotalFormat.format(total)
export const formatShortCount = (count: number) => shortCountFormat.format(count)
export const formatCount = (count: number) => countFormat.format(count)
/** As "1 order" and "1,204 orders". */
export const formatOrders = (count: number) => `${formatCount(count)} ${count === 1 ? 'order' : 'orders'}`
export const formatInstant = (instant: string) => instantFormat.format(new Date(instant))
/** As "1, 2 and 3". */
export const inSeries = (parts: readonly string[]) => seriesFormat.format(parts)
/** With seconds and the name of the zone: for the title of a shorter one. */
export const formatExactInstant = (instant: string) => exactFormat.format(new Date(instant))
export const formatTime = (milliseconds: number) => timeFormat.format(milliseconds)
/** Of a date `YYYY-MM-DD`, which is a day of UTC. */
export const formatDay = (date: string) => utcDayFormat.format(new Date(date))
export const formatLongDay = (date: string) => utcLongDayFormat.format(new Date(date))

/**
 * The same instant as the clocks of another zone showed it; undefined when the zone is the viewer's or unknown here.
 */
export function formatInstantIn(instant: string, timeZone: string | null): string | undefined {
  if (timeZone === null || timeZone === viewerTimeZone) return undefined
  try {
    const format = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short', timeZone })
    return format.format(new Date(instant))
  } catch {
    return undefined
  }
}

/** Of time, with their milliseconds; the largest first. */
export const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const

/** As "3 days ago". */
export function formatAgo(instant: string, now: number): string {
  const elapsed = new Date(instant).getTime() - now
  const unit = units.find(([, size]) => Math.abs(elapsed) >= size)
  if (unit === undefined) return 'just now'
  const [name, length] = unit
  return agoFormat.format(Math.trunc(elapsed / length), name)
}

const graphemes = new Intl.Segmenter(locale)

/** A name for one line, as in an announcement; cut between what people see as characters. */
export function shortName(name: string, limit = 60): string {
  const characters = Array.from(graphemes.segment(name), ({ segment }) => segment)
  return characters.length <= limit ? name : `${characters.slice(0, limit - 1).join('')}…`
}

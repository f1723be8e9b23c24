import { appLocale, formatCount, formatOrders, formatShortCount, units } from '../ui/format.ts'

const percentFormat = new Intl.NumberFormat(appLocale, { style: 'percent' })
const weekdayFormat = new Intl.DateTimeFormat(appLocale, { timeZone: 'UTC', weekday: 'short' })
const dateFormat = new Intl.DateTimeFormat(appLocale, {
  timeZone: 'UTC',
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  year: 'numeric',
})

/** Both take a date `YYYY-MM-DD`, a day of UTC. */
export const formatWeekday = (date: string) => weekdayFormat.format(new Date(date))
export const formatDate = (date: string) => dateFormat.format(new Date(date))

/** Whole percents, but never 0 % for something, nor 100 % while some is missing. */
export function formatShare(part: number, whole: number): string {
  if (whole === 0) return percentFormat.format(0)
  const share = part / whole
  if (share > 0 && share < 0.01) return `<${percentFormat.format(0.01)}`
  if (share > 0.99 && share < 1) return `>${percentFormat.format(0.99)}`
  return percentFormat.format(share)
}

const shortFrom = 10_000
/** A count: exact while it is short, then as 1.2M. */
export function formatFigure(count: number): string {
  return count < shortFrom ? formatCount(count) : formatShortCount(count)
}

/** For the hour (0 to 23) of the person. */
export function greetingAt(hour: number): string {
  if (hour >= 5 && hour < 12) return 'Good morning'
  return hour >= 12 && hour < 18 ? 'Good afternoon' : 'Good evening'
}

interface Waiting {
  count: number
  /** When the oldest one was created. */
  since: string | undefined
  /** Milliseconds since 1970. */
  now: number
}

/** What there is to do, in a sentence or two. */
export function waitingWords({ count, since, now }: Waiting): string {
  if (count === 0) return 'Nothing is waiting for approval.'
  const sentence = `${formatOrders(count)} ${count === 1 ? 'is' : 'are'} waiting for approval.`
  if (since === undefined) return sentence
  const waited = durationWords(now - new Date(since).getTime())
  return `${sentence} ${count === 1 ? 'It has' : 'The oldest has'} been waiting for ${waited}.`
}

/** As "3 days", in the largest unit that fits at least once. */
export function durationWords(milliseconds: number): string {
  const unit = units.find(([, length]) => milliseconds >= length)
  if (unit === undefined) return 'less than a minute'
  const [name, length] = unit
  const count = Math.floor(milliseconds / length)
  return `${formatCount(count)} ${count === 1 ? name : `${name}s`}`
}

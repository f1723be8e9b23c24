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

/** Both take a day, `YYYY-MM-DD`. */
export const formatWeekday = (date: string) => weekdayFormat.format(new Date(date))
export const formatDate = (date: string) => dateFormat.format(new Date(date))

/** Whole percents, but never 0 % for more than nothing, nor 100 % for less than everything. */
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

/** The greeting at the person's hour (0 to 23). */
export function greetingAt(hour: number): string {
  if (hour >= 5 && hour < 12) return 'Good morning'
  return hour >= 12 && hour < 18 ? 'Good afternoon' : 'Good evening'
}

interface Waiting {
  count: number
  /** How many of them wait for this person; undefined if they cannot decide. */
  mine: number | undefined
  /** When the oldest one was created. */
  since: string | undefined
  /** Milliseconds since 1970. */
  now: number
}

/** What there is to do, in a sentence or two. */
export function waitingWords({ count, mine, since, now }: Waiting): string {
  if (count === 0) return 'Nothing is waiting for approval.'
  const sentence = mine === undefined ? `${areWaiting(count)} for approval.` : forWhom(mine, count - mine)
  if (since === undefined) return sentence
  const waited = durationWords(now - new Date(since).getTime())
  return `${sentence} ${count === 1 ? 'It has' : 'The oldest has'} been waiting for ${waited}.`
}

const areWaiting = (count: number) => `${formatOrders(count)} ${count === 1 ? 'is' : 'are'} waiting`

function forWhom(mine: number, others: number): string {
  if (others <= 0) return `${areWaiting(mine)} for you.`
  return mine === 0
    ? `Nothing is waiting for you. ${areWaiting(others)} for others.`
    : `${areWaiting(mine)} for you, and ${formatCount(others)} for others.`
}

/** A rule of the policy that too few enabled accounts can satisfy, and its pending orders. */
export interface PolicyWarning {
  code: string
  detail: string
  pendingOrders: number
}

/** Which orders could get stuck, and why. One person who may approve is enough for what waits now. */
export function warningLines(warnings: readonly PolicyWarning[]): string[] {
  return warnings
    .filter(({ code, pendingOrders }) => code !== 'only-one' && pendingOrders > 0)
    .map(({ detail, pendingOrders }) => `${formatOrders(pendingOrders)}: ${detail}`)
}

/** Such as "3 days", in the largest unit that fits at least once. */
export function durationWords(milliseconds: number): string {
  const unit = units.find(([, length]) => milliseconds >= length)
  if (unit === undefined) return 'less than a minute'
  const [name, length] = unit
  const count = Math.floor(milliseconds / length)
  return `${formatCount(count)} ${count === 1 ? name : `${name}s`}`
}

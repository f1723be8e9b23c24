import type { Spelling } from '../proof/words.ts'
import { isolated } from '../rules/isolate.ts'
import { englishOf } from '../rules/locale.ts'

/** This page has no currency: it carries nothing of one service. */
const locale = englishOf(navigator.languages)
const totals = new Intl.NumberFormat(locale, { minimumFractionDigits: 2, maximumFractionDigits: 4 })
const counts = new Intl.NumberFormat(locale)
const instants = new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeStyle: 'long' })
const series = new Intl.ListFormat('en-GB')

/** Takes decimal text, for totals beyond what a number holds exactly. */
export const formatTotal = (total: `${number}`) => totals.format(total)
export const formatCount = (count: number) => counts.format(count)
/** With seconds and the name of the time zone. */
export const formatExactInstant = (instant: string) => instants.format(new Date(instant))
/** Such as "1, 2 and 3". */
export const inSeries = (parts: readonly string[]) => series.format(parts)
/** Words that were said without a capital and a full stop. */
export const sentence = (words: string) => `${words.charAt(0).toUpperCase()}${words.slice(1)}.`

export const spelling: Spelling = { total: formatTotal, instant: formatExactInstant, name: isolated }

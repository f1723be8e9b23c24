import type { SearchField } from '../fields.ts'
import { stateNames, words } from '../states.ts'
import { dateOf, dayAt } from './days.ts'
import { quoteValue } from './text.ts'

/** Suggestions of the search box besides fields and operators, with a hint for each. */

export interface Suggestion {
  /** The text that finds it, ignoring case. */
  name: string
  insert: string
  hint: string
}

export interface CompletionContext {
  /** Milliseconds since 1970, for the days that have names. */
  nowMilliseconds: number
  /** Empty when unknown. */
  userName: string
}

/** Keywords that may follow a term; NOT may also begin one. */
export const keywords: readonly Suggestion[] = [
  { name: 'AND', insert: 'AND ', hint: 'both must match' },
  { name: 'OR', insert: 'OR ', hint: 'either may match' },
  { name: 'NOT', insert: 'NOT ', hint: 'what follows must not match' },
]

/** The known values of a field. */
export function valuesOf(
  { name, kind, isNullable }: SearchField,
  operator: string,
  context: CompletionContext,
): readonly Suggestion[] {
  const all = operator === ':' && isNullable ? [{ name: '*', insert: '*', hint: 'has a value' }] : []
  if (kind === 'status') return statuses
  if (kind === 'instant') return [...daysOf(context.nowMilliseconds), ...all]
  if (kind === 'waits') return [waitsForYou]
  return name.endsWith('By') ? [...yourselfOf(context), ...all] : all
}

/** Whole restrictions, found by one word. */
export function shortcutsOf(context: CompletionContext): Suggestion[] {
  const byStatus = statuses.map(({ name, insert, hint }) => ({
    name,
    insert: `status=${insert}`,
    hint: `Status is ${hint}`,
  }))
  const byDay = daysOf(context.nowMilliseconds)
    .slice(0, 2)
    .map(({ insert, hint }) => ({ name: hint, insert: `createdAtUtc=${insert}`, hint: `created ${hint}` }))
  const byYou = yourselfOf(context).map(({ insert }) => ({
    name: 'mine',
    insert: `createdBy=${insert}`,
    hint: 'created by you',
  }))
  const waiting = { name: 'waiting', insert: `waits:${waitsForYou.insert}`, hint: 'waits for you' }
  return [waiting, ...byStatus, ...byDay, ...byYou]
}

const waitsForYou: Suggestion = { name: 'me', insert: 'me', hint: 'you' }

const statuses: readonly Suggestion[] = stateNames.map((name) => ({
  name,
  insert: name,
  hint: words[name].meaning,
}))

function yourselfOf({ userName }: CompletionContext): Suggestion[] {
  return userName === '' ? [] : [{ name: userName, insert: quoteValue(userName), hint: 'you' }]
}

/** 1970-01-01 was three days after a Monday. */
const daysAfterMonday = 3
const year10000Milliseconds = 253_402_300_800_000

/**
 * Days with a name in the person's calendar. A day with two names appears once. None outside 1970 to 9999.
 */
function daysOf(nowMilliseconds: number): Suggestion[] {
  if (!(nowMilliseconds >= 0 && nowMilliseconds < year10000Milliseconds)) return []
  const today = dayAt(nowMilliseconds)
  const hints = new Map<string, string>()
  const add = (date: string, hint: string) => {
    const same = hints.get(date)
    hints.set(date, same === undefined ? hint : `${same}, ${hint}`)
  }
  add(dateOf(today), 'today')
  add(dateOf(today - 1), 'yesterday')
  add(dateOf(today - ((today + daysAfterMonday) % 7)), 'start of this week')
  add(`${dateOf(today).slice(0, 8)}01`, 'start of this month')
  add(`${dateOf(today).slice(0, 5)}01-01`, 'start of this year')
  return [...hints].map(([date, hint]) => ({ name: date, insert: date, hint }))
}

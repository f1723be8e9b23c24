import { restrictionsOf, withRestriction } from './restrictions.ts'
import { fieldAt, readTokens, type Token } from './text.ts'

/**
 * A day in the search box is the person's day, as in the rows: from midnight to midnight on the browser's
 * clock. The service counts UTC days, so the search is sent with instants.
 */

const dayMilliseconds = 86_400_000
const dayPattern = /^\d{4}-\d\d-\d\d$/

/** The number of the day, counted from 1970-01-01, that the person's calendar shows at that moment. */
export function dayAt(milliseconds: number): number {
  const moment = new Date(milliseconds)
  return Date.UTC(moment.getFullYear(), moment.getMonth(), moment.getDate()) / dayMilliseconds
}

/** `YYYY-MM-DD` of a day by its number. */
export function dateOf(day: number): string {
  return new Date(day * dayMilliseconds).toISOString().slice(0, 10)
}

/** The number of the day `YYYY-MM-DD`; undefined if that is not a day. */
export function dayOf(date: string): number | undefined {
  if (!dayPattern.test(date)) return undefined
  const day = Date.parse(date) / dayMilliseconds
  return !Number.isNaN(day) && dateOf(day) === date ? day : undefined
}

/** The first moment of a day: not midnight if clocks go forward then. Undefined beyond four-digit years. */
export function startOf(day: number): string | undefined {
  const date = new Date(day * dayMilliseconds)
  const start = new Date(2000, 0, 1)
  start.setFullYear(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate())
  const instant = start.toISOString()
  return dayPattern.test(instant.slice(0, 10)) ? instant.replace('.000Z', 'Z') : undefined
}

type Part = { position: number; length: number }

interface Replacement {
  from: number
  to: number
  text: string
}

/** A search as it is sent, and where its parts are in the typed text. */
export interface Asked {
  text: string
  typedPart(part: Part): Part
}

/**
 * The same search with the person's days as instants. Takes any text; whatever is not a day stays unchanged.
 */
export function askedOf(typed: string): Asked {
  const replacements = replacementsOf(readTokens(typed))
  let text = ''
  let end = 0
  for (const { from, to, text: instants } of replacements) {
    text += typed.slice(end, from) + instants
    end = to
  }
  return {
    text: text + typed.slice(end),
    typedPart({ position, length }) {
      const from = typedPosition(replacements, position, 'from')
      return { position: from, length: typedPosition(replacements, position + length, 'to') - from }
    },
  }
}

/** The position in the typed text; within instants, the `edge` of their day. */
function typedPosition(replacements: readonly Replacement[], position: number, edge: 'from' | 'to'): number {
  let longer = 0
  for (const replacement of replacements) {
    const { from, to, text } = replacement
    if (position <= from + longer) break
    if (position < from + longer + text.length) return replacement[edge]
    longer += text.length - (to - from)
  }
  return position - longer
}

function replacementsOf(tokens: Token[]): Replacement[] {
  return tokens.flatMap((token, index) => {
    const field = fieldAt(tokens, index - 1)
    const value = tokens[index + 1]
    if (token.kind !== 'operator' || field?.kind !== 'instant' || value === undefined) return []
    const instants = inInstants(field.name, token.text, dayOf(value.meaning))
    const from = tokens[index - 1]?.from ?? 0
    return instants === undefined ? [] : [{ from, to: value.to, text: instants }]
  })
}

function inInstants(field: string, operator: string, day: number | undefined): string | undefined {
  if (day === undefined) return undefined
  const [start, end] = [startOf(day), startOf(day + 1)]
  if (start === undefined || end === undefined) return undefined
  if (operator === '>=' || operator === '<') return `${field}${operator}${start}`
  if (operator === '>') return `${field}>=${end}`
  if (operator === '<=') return `${field}<${end}`
  return operator === '!='
    ? `(${field}<${start} OR ${field}>=${end})`
    : `(${field}>=${start} ${field}<${end})`
}

/** The first and the last day of a range, as dates. An empty text means no limit. */
export interface Days {
  from: string
  to: string
}

/**
 * The days of creation that the text requires, if they are one range that `withDays` could change; otherwise
 * none.
 */
export function requiredDays(text: string): Days {
  let [from, to] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]
  for (const { operator, value } of restrictionsOf(text, 'createdAtUtc') ?? []) {
    const day = dayOf(value)
    if (day === undefined || operator === '!=') return { from: '', to: '' }
    if (!operator.startsWith('<')) from = Math.max(from, operator === '>' ? day + 1 : day)
    if (!operator.startsWith('>')) to = Math.min(to, operator === '<' ? day - 1 : day)
  }
  return { from: Number.isFinite(from) ? dateOf(from) : '', to: Number.isFinite(to) ? dateOf(to) : '' }
}

/** The text that requires these days of creation; `null` if `withRestriction` cannot change it. */
export function withDays(text: string, { from, to }: Days): string | null {
  const first = from && `createdAtUtc>=${from}`
  const last = to && `createdAtUtc<=${to}`
  const wanted = from === to ? from && `createdAtUtc=${from}` : [first, last].filter(Boolean).join(' ')
  return withRestriction(text, 'createdAtUtc', wanted || null)
}

import { stateNames } from '../states.ts'
import { dateOf, dayAt, dayOf } from './days.ts'
import { quoteValue, readTokens } from './text.ts'

/** A number with a sign or a code of a currency at either end, in groups of three, with up to four places. */
const amount =
  /^(?:\p{Sc}|\p{Lu}{3})?\s?(\d{1,3}(?:[ .,'’\u202f\u00a0]?\d{3})*)(?:[.,](\d{1,2}|\d{4}))?\s?(?:\p{Sc}|\p{Lu}{3})?$/u

/** Searches that a person may mean by words that are no filter, such as "today" or "€726.34". */
export function guessesFor(text: string, nowMilliseconds: number): string[] {
  const tokens = readTokens(text)
  if (tokens.length === 0 || tokens.some(({ kind }) => kind === 'operator' || kind === 'keyword')) return []
  const typed = text.trim()
  const [, whole, places] = amount.exec(typed) ?? []
  if (whole !== undefined) {
    const number = whole.replace(/\D/g, '')
    return [`total=${number}${places ? `.${places}` : ''}`, ...(number === typed ? [`number=${typed}`] : [])]
  }
  const wanted = typed.toLowerCase()
  const today = dayAt(nowMilliseconds)
  if (wanted === 'today') return [`createdAtUtc>=${dateOf(today)}`]
  if (wanted === 'yesterday') return [`createdAtUtc=${dateOf(today - 1)}`]
  if (dayOf(typed) !== undefined) return [`createdAtUtc=${typed}`]
  const state = stateNames.find((name) => name.toLowerCase() === wanted)
  if (state !== undefined) return [`status=${state}`]
  if (!/^[\p{L}\p{N}._@-]{1,64}$/u.test(typed)) return []
  return ['createdBy', 'approvedBy'].map((name) => `${name}=${quoteValue(typed)}`)
}

import { type OperatorWords, type SearchField, searchFields } from '../fields.ts'
import { mineFilter, nobodyFilter, ownFilter, stateNames, words } from '../states.ts'
import { dateOf, dayAt } from './days.ts'
import { fieldAt, quoteValue, readTokens, type Token } from './text.ts'

interface Suggestion {
  insert: string
  /** A few words for people: 'Created by', 'is at least', 'today'. */
  hint: string
}

/** Replaces text.slice(from, to), which holds the caret; the caret then goes to from + insert.length. */
export interface Completion extends Suggestion {
  from: number
  to: number
}

interface Context {
  /** Milliseconds since 1970, for the days that have names. */
  nowMilliseconds: number
  userName: string
}

const maximumCompletions = 8
/** A shorter word is more often a search than the beginning of a synonym. */
const shortestSynonym = 2
const shortestShortcut = 3

/**
 * Completions at the caret, best first, at most 8: values after an operator, operators after a field, else
 * fields and whole restrictions. Offers nothing in quotes, and nothing that leaves the text unchanged.
 * It takes any text and any caret. Linear in the length of the text.
 */
export function complete(text: string, caret: number, context: Context): Completion[] {
  const tokens = readTokens(text)
  const at = tokens.findLastIndex(({ from }) => from < caret)
  const token = tokens[at]
  const word = token && token.to >= caret && isWord(token) ? token : undefined
  const { from, to } = word ?? { from: caret, to: caret }
  const next = tokens[at + 1]
  const isInTheWay = next?.kind === 'operator' || (next?.from === caret && next.kind !== 'close')
  if (isInTheWay || !mayBegin(word ? tokens[at - 1] : token, from)) return []
  return suggestionsAt(tokens, word ? at - 1 : at, text.slice(from, caret).toLowerCase(), context)
    .filter(({ insert }) => insert.toLowerCase() !== text.slice(from, to).toLowerCase())
    .slice(0, maximumCompletions)
    .map((suggestion) => ({ ...suggestion, from, to }))
}

const isWord = ({ kind }: Token) => kind === 'word' || kind === 'keyword'

/** Whether something may begin at `from`, after this token. */
function mayBegin(before: Token | undefined, from: number): boolean {
  if (before === undefined || before.kind === 'operator' || before.kind === 'open') return true
  return before.kind !== 'junk' && before.to < from === (before.kind !== 'minus')
}

/** `before`: the index of the token before the typed word. */
function suggestionsAt(
  tokens: Token[],
  before: number,
  typed: string,
  context: Context,
): readonly Suggestion[] {
  const previous = tokens[before]
  if (previous?.kind === 'operator') {
    const field = fieldAt(tokens, before - 1)
    const isTaken = field?.operators.some(({ operator }) => operator === previous.text)
    return field && isTaken
      ? valuesOf(field, context).filter(({ insert, hint }) => begins(typed, insert, hint))
      : []
  }
  const named = typed === '' ? fieldAt(tokens, before) : undefined
  if (named) return operatorsOf(named).map(({ operator, hint }) => ({ insert: operator, hint }))
  return [...fieldsFor(typed), ...shortcutsFor(typed, context)]
}

/** Whether the typed text begins the name (ignoring case) or one of the words of the hint. */
function begins(typed: string, name: string, hint: string): boolean {
  if (name.toLowerCase().startsWith(typed)) return true
  return typed.length >= shortestSynonym && ` ${hint}`.includes(` ${typed}`)
}

/** Several fields, each with its most likely operator, or one field with all its operators. */
function fieldsFor(typed: string): Suggestion[] {
  const byName = searchFields.filter(({ name }) => name.toLowerCase().startsWith(typed))
  const isMeant = (word: string) => typed.length >= shortestSynonym && word.startsWith(typed)
  const byWord = searchFields.filter((field) => !byName.includes(field) && field.words.some(isMeant))
  const found = [...byName, ...byWord]
  return found.flatMap((field) => {
    const { name, label } = field
    const operators = found.length === 1 ? operatorsOf(field) : field.operators.slice(0, 1)
    return operators.map(({ operator, hint }) => ({
      insert: name + operator,
      hint: found.length === 1 ? `${label} ${hint}` : label,
    }))
  })
}

const operatorsOf = ({ operators, isNullable }: SearchField): OperatorWords[] =>
  isNullable ? [...operators, { operator: ':*', hint: 'has a value' }] : operators

/** The known values of a field. */
function valuesOf({ name, kind }: SearchField, context: Context): readonly Suggestion[] {
  if (kind === 'status') return statuses
  if (kind === 'instant') return daysOf(context.nowMilliseconds)
  if (kind === 'waits')
    return [
      { insert: 'me', hint: 'you' },
      { insert: 'nobody', hint: 'nobody can approve it now' },
    ]
  if (name === 'createdBy' || name === 'approvedBy') return [{ insert: 'me', hint: 'you' }]
  return name.endsWith('By') ? [{ insert: quoteValue(context.userName), hint: 'you' }] : []
}

/** Whole restrictions, each found by one word. */
function shortcutsFor(typed: string, context: Context): Suggestion[] {
  if (typed.length < shortestShortcut) return []
  const shortcuts = [
    { word: 'waiting', insert: mineFilter, hint: 'waits for you' },
    { word: 'nobody', insert: nobodyFilter, hint: 'waits for nobody' },
    ...statuses.map(({ insert: word, hint }) => ({
      word,
      insert: `status=${word}`,
      hint: `Status is ${hint}`,
    })),
    ...daysOf(context.nowMilliseconds)
      .slice(0, 2)
      .map(({ insert, hint: word }) => ({
        word,
        insert: `createdAtUtc=${insert}`,
        hint: `created ${word}`,
      })),
    { word: 'mine', insert: ownFilter, hint: 'created by you' },
  ]
  return shortcuts
    .filter(({ word }) => word.toLowerCase().startsWith(typed))
    .map(({ insert, hint }) => ({ insert, hint }))
}

const statuses = stateNames.map((name) => ({ insert: name, hint: words[name].meaning }))

/** 1970-01-01 was three days after a Monday. */
const daysAfterMonday = 3

/** Days with a name in the person's calendar. A day with two names appears once. */
function daysOf(nowMilliseconds: number): Suggestion[] {
  const today = dayAt(nowMilliseconds)
  const date = dateOf(today)
  const named: [date: string, hint: string][] = [
    [date, 'today'],
    [dateOf(today - 1), 'yesterday'],
    [dateOf(today - ((today + daysAfterMonday) % 7)), 'start of this week'],
    [`${date.slice(0, 8)}01`, 'start of this month'],
    [`${date.slice(0, 5)}01-01`, 'start of this year'],
  ]
  const days = Map.groupBy(named, ([day]) => day)
  return [...days].map(([insert, names]) => ({ insert, hint: names.map(([, hint]) => hint).join(', ') }))
}

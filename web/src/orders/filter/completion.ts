import { type OperatorWords, type SearchField, searchFields } from '../fields.ts'
import { fieldAt, readTokens, type Token } from './text.ts'
import { type CompletionContext, keywords, type Suggestion, shortcutsOf, valuesOf } from './vocabulary.ts'

export interface Completion {
  /** The text in the list, such as `status=`, `Pending`, `createdAtUtc>=`, `2026-11-01`. */
  label: string
  /** A few words for people: 'Created by', 'is at least', 'today'. */
  hint: string
  kind: 'field' | 'operator' | 'value' | 'keyword'
  /** Replaces text.slice(from, to), which holds the caret; the caret then goes to from + insert.length. */
  from: number
  to: number
  insert: string
}

/** Where a completion goes: what it replaces, and what is around it. */
interface Place {
  tokens: Token[]
  /** The index of the token before it. */
  before: number
  from: number
  to: number
  caret: number
  /** The part of the replaced token before the caret. */
  prefix: string
  /** The token that is replaced; undefined when nothing is. */
  replaced: Token | undefined
  /** The token after it. */
  next: Token | undefined
}

const maximumCompletions = 8
/** A shorter word is more often a search than the beginning of a synonym. */
const shortestSynonym = 2
const shortestShortcut = 3

/**
 * Completions at the caret, best first, at most 8. It offers nothing for a word that begins no field, keyword
 * or value, nothing in quotes except their end, and nothing that would leave the text unchanged. It takes any
 * text and any caret. Linear in the length of the text.
 */
export function complete(text: string, caret: number, context: CompletionContext): Completion[] {
  const at = Math.min(Math.max(Math.trunc(caret) || 0, 0), text.length)
  const tokens = readTokens(text)
  const index = tokens.findIndex(({ kind, to }) => to > at || (to === at && growsAtItsEnd(kind)))
  const token = tokens[index]
  if (token?.kind === 'string' && token.from < at) return closingOf(text, at, token)
  const place = placeOf(tokens, index === -1 ? tokens.length : index, at)
  if (place === null) return []
  return completionsAt(place, text, context)
    .filter(({ from, to, insert }) => insert.trimEnd() !== text.slice(from, to).trimEnd())
    .slice(0, maximumCompletions)
}

/** Whether a letter typed directly after it would belong to it. */
function growsAtItsEnd(kind: Token['kind']): boolean {
  return kind === 'word' || kind === 'keyword' || kind === 'string' || kind === 'junk'
}

function closingOf(text: string, caret: number, { closing }: Token): Completion[] {
  if (closing === '') return []
  const insert = text.slice(caret) + closing
  return [
    {
      label: closing.slice(-1),
      hint: 'closes the quotes',
      kind: 'value',
      from: caret,
      to: text.length,
      insert,
    },
  ]
}

/** `index`: the first token that ends after the caret or holds it. `null` where nothing can be completed. */
function placeOf(tokens: Token[], index: number, caret: number): Place | null {
  const token = tokens[index]
  const before = index - 1
  const common = { tokens, before, caret }
  const insertion = { ...common, from: caret, to: caret, prefix: '', replaced: undefined, next: token }
  if (token === undefined || token.from > caret) return insertion
  const { kind, from, to } = token
  const prefix = token.text.slice(0, caret - from)
  const replacement = { ...common, from, to, prefix, replaced: token, next: tokens[index + 1] }
  if (from < caret) return replacement
  if (kind === 'close') return insertion
  // At the start of a token, only a value or an operator is replaced.
  const isValue = tokens[before]?.kind === 'operator' && (kind === 'word' || kind === 'string')
  return isValue || kind === 'operator' ? replacement : null
}

function completionsAt(place: Place, text: string, context: CompletionContext): Completion[] {
  const { tokens, before, replaced, prefix } = place
  const previous = tokens[before]
  if (replaced?.kind === 'operator' || replaced?.kind === 'junk') {
    return operatorsAt(place).filter(({ insert }) => insert.startsWith(prefix))
  }
  if (previous?.kind === 'operator') return valuesAt(place, previous, context)
  if (previous === undefined || previous.kind === 'open') return termsAt(place, text, context)
  const isSpaced = previous.to < place.from
  if (previous.kind === 'minus') return isSpaced ? [] : termsAt(place, text, context)
  if (!isSpaced || previous.kind === 'junk') return []
  if (previous.kind === 'keyword') return termsAt(place, text, context)
  const operators = operatorsAt(place).filter(({ label, hint }) => begins(prefix, label, hint))
  const joining = keywords.flatMap((keyword) => keywordRow(place, text, keyword))
  return [...operators, ...joining, ...termsAt(place, text, context)]
}

/** Whether the typed text begins the name (ignoring case) or one of the words of the hint. */
function begins(prefix: string, name: string, hint: string): boolean {
  const typed = prefix.toLowerCase()
  if (name.toLowerCase().startsWith(typed)) return true
  return typed.length >= shortestSynonym && ` ${hint}`.includes(` ${typed}`)
}

/** Whatever can begin a term, or be one. After the whole name of a field, that is its operators. */
function termsAt(place: Place, text: string, context: CompletionContext): Completion[] {
  const { tokens, before, replaced, prefix, caret, next } = place
  const field = replaced?.text === prefix ? fieldAt(tokens, before + 1) : undefined
  if (field !== undefined && next?.kind !== 'operator') {
    return operatorRows(place, field, before + 1, { from: caret, to: caret })
  }
  const { kind, text: previous } = tokens[before] ?? { kind: 'open' }
  const startsTerm = kind === 'open' || (kind === 'keyword' && previous !== 'NOT')
  const negations = startsTerm ? keywords.filter((keyword) => keyword.name === 'NOT') : []
  return [
    ...fieldsAt(place),
    ...shortcutsAt(place, context),
    ...negations.flatMap((keyword) => keywordRow(place, text, keyword)),
  ]
}

/** A keyword and the space after it, which replaces one that is already there. */
function keywordRow(place: Place, text: string, { name, insert, hint }: Suggestion): Completion[] {
  const { prefix, from, to, next } = place
  if (next?.kind === 'operator' || !name.toLowerCase().startsWith(prefix.toLowerCase())) return []
  const end = text.charAt(to) === ' ' ? to + 1 : to
  return [{ label: name, hint, kind: 'keyword', from, to: end, insert }]
}

/**
 * Several fields, each with its most likely operator, or one field with all its operators. If an operator
 * follows, fields only.
 */
function fieldsAt(place: Place): Completion[] {
  const { found, from, index } = foundFields(place)
  const { to, next } = place
  const row = (text: string, hint: string): Completion => {
    return { label: text, hint, kind: 'field', from, to, insert: text }
  }
  if (next?.kind === 'operator') {
    const taking = found.filter((field) => field.operators.some(({ operator }) => operator === next.text))
    return taking.map(({ name, label }) => row(name, label))
  }
  const [only] = found
  if (only === undefined || found.length > 1) {
    return found.map(({ name, operators: [first], label }) => row(`${name}${first?.operator ?? ''}`, label))
  }
  return operatorRows({ ...place, from }, only, index, { from, to }).map((completion) => {
    const insert = completion.label.startsWith('-') ? completion.insert : only.name + completion.insert
    return { ...completion, kind: 'field', label: insert, insert, hint: `${only.label} ${completion.hint}` }
  })
}

/** The fields that begin with the word at the caret, or with that word and the one before it. */
function foundFields({ tokens, before, prefix, from }: Place) {
  const typed = prefix.toLowerCase()
  const previous = tokens[before]
  if (typed !== '' && previous?.kind === 'word' && tokens[before - 1]?.kind !== 'operator') {
    const phrase = `${previous.text} ${typed}`.toLowerCase()
    const found = searchFields.filter(({ label }) => label.toLowerCase().startsWith(phrase))
    if (found.length > 0) return { found, from: previous.from, index: before }
  }
  const byName = searchFields.filter(({ name }) => name.toLowerCase().startsWith(typed))
  const isMeant = (word: string) => typed.length >= shortestSynonym && word.startsWith(typed)
  const byWord = searchFields.filter((field) => !byName.includes(field) && field.words.some(isMeant))
  return { found: [...byName, ...byWord], from, index: before + 1 }
}

function shortcutsAt({ prefix, from, to, next }: Place, context: CompletionContext): Completion[] {
  if (prefix.length < shortestShortcut || next?.kind === 'operator') return []
  return shortcutsOf(context)
    .filter(({ name }) => name.toLowerCase().startsWith(prefix.toLowerCase()))
    .map(({ insert, hint }) => ({ label: insert, hint, kind: 'value', from, to, insert }))
}

/** Operators for the field before the place. When replacing one, only those that take a value. */
function operatorsAt(place: Place): Completion[] {
  const { tokens, before, from, to, replaced, next } = place
  const field = fieldAt(tokens, before)
  if (field === undefined) return []
  const isReplacement = replaced?.kind === 'operator' || replaced?.kind === 'junk'
  if (!isReplacement) return next?.kind === 'operator' ? [] : operatorRows(place, field, before, { from, to })
  return field.operators.map((words) => operatorRow(words, { from, to }))
}

type Range = Pick<Completion, 'from' | 'to'>

/** All operators of the field that is, or will be, the token of that index. */
function operatorRows(
  { tokens, from }: Place,
  field: SearchField,
  index: number,
  range: Range,
): Completion[] {
  const { name, operators, isNullable } = field
  const rows = operators.map((words) => operatorRow(words, range))
  if (!isNullable) return rows
  rows.push(operatorRow({ operator: ':*', hint: 'has a value' }, range))
  const previous = tokens[index - 1]
  if (previous?.kind === 'minus' || previous?.text === 'NOT') return rows
  const label = `-${name}:*`
  const start = Math.min(tokens[index]?.from ?? from, range.from)
  return [
    ...rows,
    { label, hint: 'has no value', kind: 'operator', from: start, to: range.to, insert: label },
  ]
}

function operatorRow({ operator, hint }: OperatorWords, range: Range): Completion {
  return { label: operator, hint, kind: 'operator', ...range, insert: operator }
}

/** Values for the field and the operator before the place, and longer operators that begin with this one. */
function valuesAt(place: Place, operator: Token, context: CompletionContext): Completion[] {
  const { tokens, before, from, to, caret, prefix, replaced } = place
  const field = fieldAt(tokens, before - 1)
  if (field === undefined) return []
  const isTaken = field.operators.some((known) => known.operator === operator.text)
  const values = isTaken || operator.text === ':' ? valuesOf(field, operator.text, context) : []
  const rows = values
    .filter((value) => begins(prefix, value.name, value.hint))
    .filter(({ insert }) => insert.toLowerCase() !== replaced?.text.toLowerCase())
    .map(({ insert, hint }): Completion => ({ label: insert, hint, kind: 'value', from, to, insert }))
  if (replaced !== undefined || operator.to < caret) return rows
  const begun = field.operators.filter((known) => known.operator.startsWith(operator.text))
  return [...rows, ...begun.map((known) => operatorRow(known, { from: operator.from, to: caret }))]
}

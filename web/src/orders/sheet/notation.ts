import { withoutCurrency } from '../create/currency.ts'
import { type Notation, readTotal } from '../create/total-input.ts'

/** The sign before decimal places. */
export type Decimal = '.' | ','

const other: Record<Decimal, Decimal> = { '.': ',', ',': '.' }
/** Before them, a last group of three digits: `1.234` is one of two numbers. */
const isGroup = /^[1-9]\d{0,2}$/
const digits = /\p{Nd}/gu

/** The notation that a total shows by itself: its decimal sign, that either is possible, or nothing. */
function shownBy(text: string): Decimal | 'either' | undefined {
  const bare = text.replace(digits, '1').trim()
  const signs = bare.match(/[.,]/g) ?? []
  const last = signs.at(-1) as Decimal | undefined
  if (last === undefined) return undefined
  if (signs.length > 1) return signs.every((sign) => sign === last) ? other[last] : last
  const [whole = '', places = ''] = bare.split(last)
  const isZero = /^\D*0/.test(text)
  if (places === '') return undefined
  return /^\d{3}$/.test(places) && isGroup.test(whole) && !isZero ? 'either' : last
}

export interface ColumnNotation {
  /** The sign in all totals that show one; undefined if none does, or some contradict others. */
  decimal: Decimal | undefined
  /** A total that could be one of two numbers, if nothing decides which. */
  doubt: string | undefined
}

/** Reads the notation of a column of totals from all its rows that have one. */
export function notationIn(texts: readonly string[], notation: Notation): ColumnNotation {
  const isTotal = (text: string) =>
    (['.', ','] as const).some((decimal) => readTotal(text, withDecimal(notation, decimal)).ok)
  const shown = texts.map((text) =>
    isTotal(text) ? shownBy(withoutCurrency(text, notation.currency)) : undefined,
  )
  const [decimal, ...others] = new Set(shown.filter((each) => each === '.' || each === ','))
  const isClear = decimal !== undefined && others.length === 0
  return {
    decimal: isClear ? decimal : undefined,
    doubt: isClear ? undefined : texts[shown.indexOf('either')],
  }
}

/** The notation with this sign before decimal places. Lakhs cannot be mistaken for anything then. */
export function withDecimal(notation: Notation, decimal: Decimal | undefined): Notation {
  return decimal === undefined
    ? notation
    : { ...notation, decimal, group: other[decimal], groupSizes: [3, 2] }
}

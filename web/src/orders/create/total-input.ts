import { withoutReordering } from '../../../../rules/isolate.ts'
import { strangerFault, withoutCurrency } from './currency.ts'

export interface Notation {
  decimal: string
  group: string
  /** Digits of the last group and of those before it: 3 and 3, or 3 and 2 where lakhs are counted. */
  groupSizes: readonly [last: number, others: number]
  /** The code of the currency that may stand before or after a number. */
  currency?: string | undefined
  /** Writes a decimal in the wire's notation as people read totals: exactly, with 2 to 4 places. */
  write(decimal: string): string
}

export type TotalReading =
  | {
      ok: true
      /** The canonical decimal: no leading or trailing zeros. */
      wire: string
      /** The number as understood, in the person's notation. Only what was shown is sent. */
      meaning: string
      /** The meaning of the same text in another notation. */
      otherwise?: string
    }
  | { ok: false; fault: string }

const wholeDigitsLimit = 11
const decimalPlacesLimit = 4
const largest = '99999999999.9999'
const example = '1250.5'

export function notationOf(locale: string): Notation {
  const format = new Intl.NumberFormat(locale, { minimumFractionDigits: 2, maximumFractionDigits: 4 })
  const parts = format.formatToParts(1_234_567_890.12)
  const textOf = (type: string) => parts.find((part) => part.type === type)?.value ?? ''
  const groups = parts.filter(({ type }) => type === 'integer').map(({ value }) => [...value].length)
  const [last = 3, others = last] = groups.length > 1 ? groups.toReversed() : [3]
  return {
    decimal: separatorOf(textOf('decimal')) ?? '.',
    group: separatorOf(textOf('group')) ?? '',
    groupSizes: [last, others],
    // A string is written exactly, a number only as exactly as a double can.
    write: (decimal) => format.format(decimal as `${number}`),
  }
}

/**
 * Reads a total as people write or paste it: in their own notation, or another one that cannot be mistaken
 * for it. Digits may be of any script. It is exact: it works on text, and never drops a digit.
 *
 * - Two kinds of separators: the last one is the decimal separator, as in `1.234,50`, `1,234.50` and
 *   `1’234.50`.
 * - One kind, more than once: groups, as in `1.234.567`.
 * - One separator: a group separator of the notation if only that is well-formed (`1.234` is 1234 in
 *   German), else the decimal separator of the notation or a plain `.` (`1.23` and `0.123` are decimals
 *   everywhere).
 * - The sign or code of the currency, before or after the number, changes nothing.
 * - Anything else is a fault. Spaces and apostrophes separate groups, and only groups, in every notation.
 *
 * `otherwise` is set where a reader of another notation would see another number: a single `.` as a group
 * separator, or a single separator before exactly three decimal places.
 */
export function readTotal(text: string, notation: Notation): TotalReading {
  const marks = marksOf(withoutCurrency(text, notation.currency))
  if (marks.length === 0) return { ok: false, fault: 'Enter the total.' }
  if (text.includes(turnsDigits) || marks.some((mark) => mark === undefined))
    return { ok: false, fault: faultOf(text, notation) }
  const { places, digits } = splitAt(marks as Mark[])
  if (digits.join('') === '') return { ok: false, fault: unclear(notation) }
  const shape = shapeOf(places, digits, notation)
  return shape === undefined ? { ok: false, fault: unclear(notation) } : judge(shape, notation)
}

/** Digits after it are shown from right to left, so people would see another number than is read. */
const turnsDigits = '\u202e'

/** A digit `0` to `9`, or a character that represents a kind of separator. */
type Mark = string

const isDecimalDigit = (codePoint: number) => /\p{Nd}/u.test(String.fromCodePoint(codePoint))

/** Decimal digits come in runs of ten, zero first, in every script (Unicode 4.6). */
function digitOf(character: string): string | undefined {
  const codePoint = character.codePointAt(0) ?? 0
  if (!isDecimalDigit(codePoint)) return undefined
  let zero = codePoint
  while (isDecimalDigit(zero - 1)) zero -= 1
  return String((codePoint - zero) % 10)
}

/** Characters that people use for the same separator count as one. */
function separatorOf(character: string): string | undefined {
  if (/^[ \u00a0\u2007-\u2009\u202f]$/.test(character)) return ' '
  if (/^['’]$/.test(character)) return '’'
  if (/^[.．]$/.test(character)) return '.'
  if (/^[,，]$/.test(character)) return ','
  return /^[٫٬\u2e41]$/.test(character) ? character : undefined
}

function marksOf(text: string): (Mark | undefined)[] {
  // Direction marks come with pasted Arabic and Hebrew; they are not part of the number.
  const characters = [...withoutReordering(text).trim()]
  return characters.map((character) => digitOf(character) ?? separatorOf(character))
}

function splitAt(marks: Mark[]): { places: string[]; digits: string[] } {
  const places: string[] = []
  const digits = ['']
  for (const mark of marks) {
    if (/\d/.test(mark)) digits.push((digits.pop() ?? '') + mark)
    else {
      places.push(mark)
      digits.push('')
    }
  }
  return { places, digits }
}

interface Shape {
  whole: string
  fraction: string
  /** The same digits as read in another notation. */
  otherwise?: { whole: string; fraction: string }
}

function shapeOf(places: string[], digits: string[], notation: Notation): Shape | undefined {
  if (places.length === 0) return { whole: digits.join(''), fraction: '' }
  if (places.length === 1) return shapeOfOne(places[0] as string, digits, notation)
  const first = places[0] as string
  const last = places.at(-1) as string
  if (isDecimalOnly(first) || places.slice(0, -1).some((place) => place !== first)) return undefined
  if (last === first) {
    return areGroups(digits, notation) ? { whole: digits.join(''), fraction: '' } : undefined
  }
  const groups = digits.slice(0, -1)
  const canBeDecimal = last === notation.decimal || '.,٫'.includes(last)
  if (!canBeDecimal || !areGroups(groups, notation)) return undefined
  return decimalShape(groups.join(''), digits.at(-1) ?? '', last, notation)
}

function shapeOfOne(place: string, digits: string[], notation: Notation): Shape | undefined {
  const [whole = '', fraction = ''] = digits
  const isGroup = place === notation.group || ' ’٬'.includes(place)
  const otherwise = { whole, fraction }
  if (isGroup && areGroups(digits, notation)) {
    return { whole: whole + fraction, fraction: '', ...(place === '.' && { otherwise }) }
  }
  const isDecimal = place === notation.decimal || place === '.' || place === '٫'
  if (!isDecimal) return undefined
  const shape = decimalShape(whole, fraction, place, notation)
  const isDoubtful = '.,'.includes(place) && areGroups(digits, notation)
  return shape && isDoubtful ? { ...shape, otherwise: { whole: whole + fraction, fraction: '' } } : shape
}

/** `5,` may become `5,50`. With a separator from another notation, it is not a number. */
function decimalShape(whole: string, fraction: string, place: string, notation: Notation): Shape | undefined {
  return fraction === '' && place !== notation.decimal ? undefined : { whole, fraction }
}

const isDecimalOnly = (place: string) => place === '٫'

function areGroups(groups: string[], { groupSizes: [lastSize, otherSize] }: Notation): boolean {
  const [first = '', ...rest] = groups
  const inThrees = rest.every(({ length }) => length === 3) && first.length <= 3
  const asWritten =
    rest.every(({ length }, at) => length === (at === rest.length - 1 ? lastSize : otherSize)) &&
    first.length <= otherSize
  // No one writes 123 as `0,123`.
  return (inThrees || asWritten) && rest.length > 0 && first !== '' && !first.startsWith('0')
}

function judge({ whole, fraction, otherwise }: Shape, notation: Notation): TotalReading {
  const wire = canonical(whole, fraction)
  const [wholeDigits = '', places = ''] = wire.split('.')
  if (wire === '0') return { ok: false, fault: 'The total must be greater than 0.' }
  if (wholeDigits.length > wholeDigitsLimit) {
    return { ok: false, fault: `The total can be at most ${notation.write(largest)}.` }
  }
  if (places.length > decimalPlacesLimit) {
    return { ok: false, fault: `The total can have at most ${decimalPlacesLimit} decimal places.` }
  }
  const other = otherwise && canonical(otherwise.whole, otherwise.fraction)
  const isOther = other !== undefined && other !== wire && other !== '0'
  return {
    ok: true,
    wire,
    meaning: notation.write(wire),
    ...(isOther && { otherwise: notation.write(other) }),
  }
}

function canonical(whole: string, fraction: string): string {
  const places = fraction.replace(/0+$/, '')
  return (whole.replace(/^0+/, '') || '0') + (places && `.${places}`)
}

const unclear = (notation: Notation) => `Write the total like ${notation.write(example)}.`

function faultOf(text: string, { currency }: Notation): string {
  if (/^\s*[-−–(]/.test(text)) return 'The total must be greater than 0.'
  return strangerFault(text, currency) ?? 'Enter only the number, without a currency or other words.'
}

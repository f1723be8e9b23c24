import type { NumberRange } from '../../server/orders/filter/fields.ts'
import type { Filter, TextPattern } from '../../server/orders/filter/parser.ts'

type NumberFilter = Extract<Filter, { kind: 'number' }>

/**
 * A text that means this filter: `parseFilter(printFilter(filter))` deep-equals `filter`, as long as it keeps
 * the shape that `Filter` promises and the limits of the language. It has parentheses only where they are
 * needed.
 */
export function printFilter(filter: Filter): string {
  switch (filter.kind) {
    case 'and':
      return filter.operands.map(printFilter).join(filter.operands.length % 2 === 0 ? ' AND ' : ' ')
    case 'or':
      return filter.operands.map((operand) => printInside(operand, ['and'])).join(' OR ')
    case 'not': {
      const sign = filter.operand.kind === 'search' ? '-' : 'NOT '
      return `${sign}${printInside(filter.operand, ['and', 'or', 'not'])}`
    }
    case 'search':
      return printText(filter.text)
    case 'hasValue':
      return `${filter.field}:*`
    case 'id':
      return `${filter.field} ${filter.operator} ${printPattern(filter.pattern)}`
    case 'idRange':
      return `id${filter.operator}${filter.id}`
    case 'text':
      return `${filter.field}${filter.operator}${printPattern(filter.pattern)}`
    case 'number':
      return `${filter.field} ${filter.operator} ${printRange(filter)}`
    case 'waits':
      return `waits:${filter.whom}`
    case 'caller':
      return `${filter.field}=me`
  }
}

function printInside(operand: Filter, inParentheses: Filter['kind'][]): string {
  const text = printFilter(operand)
  return inParentheses.includes(operand.kind) ? `(${text})` : text
}

/** Plain words stay unquoted, so that tests use both ways of writing a value. */
function printText(text: string): string {
  const isPlain = /^[a-zA-Z0-9.]+$/.test(text) && !/^(?:and|or|not)$/i.test(text) && !text.includes('.')
  return isPlain ? text : `"${escaped(text)}"`
}

function printPattern({ text, anyBefore, anyAfter }: TextPattern): string {
  if (!anyBefore && !anyAfter) return printText(text)
  return `'${anyBefore ? '*' : ''}${escaped(text)}${anyAfter && text !== '' ? '*' : ''}'`
}

function escaped(text: string): string {
  return text.replace(/[\\"'*]/g, '\\$&')
}

function printRange({ field, range }: NumberFilter): string {
  if (field === 'total') return printTotal(range)
  if (['status', 'approvalsMissing', 'number'].includes(field)) return String(range.low)
  const isDay = range.high - range.low > 1
  const isBetween = range.high === range.low
  const instant = new Date(isBetween ? range.low - 1 : range.low).toISOString()
  if (isDay) return instant.slice(0, 10)
  return isBetween ? instant.replace('Z', '5Z') : instant
}

/** In hundred-thousandths: the middle between two totals is then a whole number. */
function printTotal({ low, high }: NumberRange): string {
  const e5 = high === low ? BigInt(low) * 10n - 5n : BigInt(low) * 10n
  const sign = e5 < 0n ? '-' : ''
  const digits = String(e5 < 0n ? -e5 : e5).padStart(6, '0')
  return `${sign}${digits.slice(0, -5)}.${digits.slice(-5)}`
}

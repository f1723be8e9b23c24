import { problemOf } from '../../api/problem.ts'
import { endInWords } from '../../ui/describe.ts'
import { refusalsOf } from '../../ui/draft.ts'
import { formatCount, formatOrders, formatTotal, inSeries } from '../../ui/format.ts'
import { cellNames } from '../create/form.ts'
import { sumOfTotals } from '../decide/totals.ts'
import type { Result, Row } from './rows.ts'

/** Faults in a sheet or in one of its rows. */
export const sheetFaults = {
  empty: 'Paste rows, or choose a file.',
  size: 'The sheet is larger than 1 MB. Send it in parts.',
  rows: (count: number) => `The sheet has ${formatCount(count)} rows. Send at most 1,000 at a time.`,
  columns: 'It is not clear which columns to use. Choose them below.',
  sameColumn: 'Choose different columns for customer and total.',
  quotes: 'The quotation marks in this row do not match.',
  width:
    'This row has too many columns. A comma inside a name or a total needs quotation marks around the cell.',
}

export const rowsInWords = (count: number) => `${formatCount(count)} ${count === 1 ? 'row' : 'rows'}`

export function headingsInWords(headings: readonly string[]): string {
  const columns = ['customer', 'total', 'note'].slice(0, headings.length)
  const named = columns.map((name, at) => `${name} is “${headings[at]?.trim()}”`)
  return `The first row is read as headings: ${named.join(', ')}.`
}

/** Such as "183 orders can be created. 17 rows cannot be sent: 3, 8, 9 and 14 others." */
export function judgementInWords(rows: readonly Row[]): string {
  const wrong = rows.filter(({ values }) => values === undefined)
  const can = `${formatOrders(rows.length - wrong.length)} can be created.`
  return wrong.length === 0 ? can : `${can} ${rowsInWords(wrong.length)} cannot: ${numbersOf(wrong)}.`
}

/** Such as "183 orders, 12,345.00 in total." */
export function sumInWords(rows: readonly Row[]): string {
  const sum = formatTotal(sumOfTotals(rows.map(({ values }) => Number(values?.total ?? 0))))
  return `${formatOrders(rows.length)}, ${sum} in total.`
}

const namedRows = 5

export function numbersOf(rows: readonly Row[]): string {
  const named = rows.slice(0, namedRows).map(({ number }) => formatCount(number))
  const others = rows.length - named.length
  return inSeries(others > 0 ? [...named, `${formatCount(others)} more`] : named)
}

export function doubleInWords(double: Row['double']): string | undefined {
  if (double === undefined) return undefined
  return double === 'recent'
    ? 'An order like this was created in the last 24 hours.'
    : `The same as row ${formatCount(double)}.`
}

export const resultWords: Record<Exclude<Result['kind'], 'failed'>, string> = {
  created: 'Created',
  known: 'Already created when this sheet was sent before',
}

/** Why the service refused a row. */
export function whyRefused(failure: unknown): string {
  if (problemOf(failure, 'idempotency-key-reused')) {
    return 'This row was sent before from another time zone. Look for its order in the list.'
  }
  const refusals = refusalsOf(failure, cellNames)
  return refusals ? Object.values(refusals).join(' ') : endInWords(failure)
}

/** Such as "285 orders exist. 12 rows were not created." */
export function endWords(results: readonly Result[], failed: number): string {
  const made = results.filter(({ kind }) => kind !== 'failed').length
  const areNew = results.every(({ kind }) => kind !== 'known')
  const orders = `${formatOrders(made)} ${areNew ? 'created' : made === 1 ? 'exists' : 'exist'}.`
  return failed === 0
    ? orders
    : `${orders} ${rowsInWords(failed)} ${failed === 1 ? 'was' : 'were'} not created.`
}

/** Such as "56 of 150 were created." */
export function partInWords(results: readonly Result[], count: number): string {
  const made = results.filter(({ kind }) => kind !== 'failed').length
  return `${formatCount(made)} of ${formatOrders(count)} ${made === 1 ? 'was' : 'were'} created.`
}

export function doubtWords(number: number): string {
  return `This sheet was first sent more than 24 hours ago, and the service no longer knows what it got. Check in the list whether the order of row ${formatCount(number)} exists before you go on.`
}

/** The columns of the file of failures. The first three are found again by their names. */
export const fileHead = ['customer', 'total', 'note', 'row', 'why']

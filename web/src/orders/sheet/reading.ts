import Papa from 'papaparse'
import { unguarded } from '../../../../rules/cell.ts'
import { withoutCurrency } from '../create/currency.ts'
import { type CellName, cellNames, fields } from '../create/form.ts'
import { notation } from '../create/notation.ts'
import type { Cells } from './rows.ts'
import { sheetFaults } from './words.ts'

export const rowLimit = 1_000
/** Of a file, or of a text in characters. A thousand rows with many columns stay below it. */
export const sizeLimit = 1_000_000

/** `samples` has the first cells of each column, where the person points at the columns. */
export type Reading = { samples?: readonly string[] } & (
  | { ok: true; rows: readonly Cells[]; headings: readonly string[] | undefined }
  | { ok: false; fault: string }
)

interface Line {
  number: number
  cells: string[]
  isBroken: boolean
}
type Columns = Record<CellName, number> & { note?: number | undefined }
/** The columns that the person chose so far. */
export type Pointed = { [Name in keyof Columns]?: number | undefined }

/** Headings by which a column is found, in lower case. */
const headingsOf: Record<CellName, readonly string[]> = {
  customer: ['customer', 'client', 'company', 'customer name', 'kunde', 'firma', 'société', 'name', 'nom'],
  total: ['total', 'amount', 'sum', 'value', 'betrag', 'summe', 'gesamt', 'montant', 'somme'],
}
/** The column of notes is optional, and has a heading. */
const noteHeadings = [
  'note',
  'notes',
  'comment',
  'comments',
  'remark',
  'remarks',
  'bemerkung',
  'notiz',
  'remarque',
]
/** Headings of a column that says in which currency a total is. Codes and signs are known without one. */
const currencyHeadings = ['currency', 'ccy', 'währung', 'devise', 'monnaie', 'moneda', 'valuta']
const currencies = new Set(Intl.supportedValuesOf('currency'))
/** The first one decides a tie. */
const delimiters = ['\t', ';', ',']
const sampleLines = 50
const shownLines = 3

/**
 * Reads rows that were pasted from a spreadsheet, or a CSV file. Every row that is not empty is there. Once
 * the person has `pointed` at a column, no other is read instead, even if one is still to be chosen.
 */
export function readSheet(text: string, pointed?: Pointed): Reading {
  if (text.length > sizeLimit) return { ok: false, fault: sheetFaults.size }
  const lines = linesOf(text, delimiterOf(text))
  if (lines.length > rowLimit + 1) return { ok: false, fault: sheetFaults.rows(lines.length) }
  const { columns, hasHeadings } = pointed ? headingsAbove(lines, pointed) : columnsOf(lines)
  if (columns === undefined) {
    const isSame = pointed?.customer !== undefined && pointed.customer === pointed.total
    const fault = isSame ? sheetFaults.sameColumn : sheetFaults.columns
    return { ok: false, fault, samples: samplesOf(lines) }
  }
  const body = hasHeadings ? lines.slice(1) : lines
  if (body.length > rowLimit) return { ok: false, fault: sheetFaults.rows(body.length) }
  const headings = hasHeadings ? headingsAt(lines[0], columns) : undefined
  const width = hasHeadings ? widthOf(lines[0]) : usual(body.map(widthOf))
  const foreign = foreignCurrencies(lines[0], body, columns)
  const rows = body.map((line, at) => cellsOf(line, columns, width, foreign[at]))
  return { ok: true, rows, headings, ...(pointed && { samples: samplesOf(lines) }) }
}

function headingsAt(line: Line | undefined, { customer, total, note }: Columns): string[] {
  return [customer, total, note].filter((at) => at !== undefined).map((at) => cellAt(line, at))
}

/**
 * The currency of each row if a column names it, and it is neither the service's nor, where the service has
 * none, that of all rows.
 */
function foreignCurrencies(head: Line | undefined, body: readonly Line[], columns: Columns): string[] {
  const isNamed = (at: number) => currencyHeadings.includes(cellAt(head, at).trim().toLowerCase())
  const cellsAt = (at: number) => body.map((line) => cellAt(line, at).trim())
  const isCurrency = (cell: string) => /^\p{Sc}?$/u.test(cell) || currencies.has(cell.toUpperCase())
  const width = Math.max(...[head, ...body].map(widthOf))
  const column = Array.from({ length: width }, (_, at) => at)
    .filter((at) => !Object.values(columns).includes(at))
    .find((at) => isNamed(at) || (cellsAt(at).every(isCurrency) && cellsAt(at).some(isFilled)))
  const cells = column === undefined ? [] : cellsAt(column)
  const isOneForAll = notation.currency === undefined && new Set(cells.filter(isFilled)).size === 1
  return isOneForAll ? [] : cells.map((cell) => withoutCurrency(cell, notation.currency))
}

/** The first line holds headings if it has no total in the chosen column. */
function headingsAbove(lines: readonly Line[], { customer, total, note }: Pointed): Found {
  if (customer === undefined || total === undefined || customer === total) return { hasHeadings: false }
  const hasHeadings = lines.length > 1 && !isRead('total', cellAt(lines[0], total))
  return { columns: { customer, total, note }, hasHeadings }
}

function samplesOf(lines: readonly Line[]): string[] {
  const width = Math.max(0, ...lines.map(widthOf))
  const cellsAt = (at: number) => lines.slice(0, shownLines).map((line) => cellAt(line, at).trim())
  return Array.from({ length: width }, (_, at) => cellsAt(at).filter(isFilled).join(', '))
}

function linesOf(text: string, delimiter: string, preview = 0): Line[] {
  const { data, errors } = Papa.parse<string[]>(text, { delimiter, preview })
  const broken = new Set(errors.filter(({ type }) => type === 'Quotes').map(({ row }) => row))
  return data
    .map((cells, at) => ({ number: at + 1, cells: cells.map(unguarded), isBroken: broken.has(at) }))
    .filter(({ cells }) => cells.some(isFilled))
}

function delimiterOf(text: string): string {
  const trials = delimiters.map((delimiter) => {
    const lines = linesOf(text, delimiter, sampleLines)
    const { columns } = columnsOf(lines)
    const isOrder = (line: Line) =>
      columns && cellNames.every((name) => isRead(name, cellAt(line, columns[name])))
    const widths = lines.map(({ cells }) => cells.length)
    return {
      delimiter,
      orders: lines.filter(isOrder).length,
      isRegular: widths.every((width) => width === widths[0]),
      divided: widths.filter((width) => width > 1).length,
    }
  })
  // `Müller;1.234,50` also has a comma, so what divides every line alike comes first.
  const best =
    trials.find(({ orders, isRegular }) => orders > 0 && isRegular) ??
    trials.toSorted((a, b) => b.orders - a.orders || b.divided - a.divided)[0]
  return best?.delimiter ?? ','
}

/** No columns if that is not clear. */
interface Found {
  columns?: Columns | undefined
  hasHeadings: boolean
}

/** By the headings of the first line, else by what the columns hold. */
function columnsOf(lines: readonly Line[]): Found {
  const [first, ...others] = lines
  const words = first?.cells.map((cell) => cell.trim().toLowerCase()) ?? []
  const columnOf = (name: CellName) =>
    headingsOf[name].map((heading) => words.indexOf(heading)).find((at) => at >= 0)
  const named = { customer: columnOf('customer'), total: columnOf('total') }
  const isNamed = named.customer !== undefined || named.total !== undefined
  const byName = isNamed ? completed(others, named) : undefined
  // A customer may be called "Company": a line with a total is an order.
  if (isNamed && !(byName && isRead('total', cellAt(first, byName.total)))) {
    const note = noteHeadings.map((heading) => words.indexOf(heading)).find((at) => at >= 0)
    return { columns: byName && { ...byName, note }, hasHeadings: true }
  }
  const columns = completed(lines, {})
  const total = columns && cellAt(first, columns.total)
  // A word where the others have a number.
  const isWord = total !== undefined && /^\P{Nd}*\p{L}\P{Nd}*$/u.test(total)
  return { columns, hasHeadings: isWord && others.length > 0 }
}

/** Finds the columns that no heading names. */
function completed(
  lines: readonly Line[],
  named: Partial<Record<CellName, number | undefined>>,
): Columns | undefined {
  const width = Math.max(2, ...lines.map(widthOf))
  const all = Array.from({ length: width }, (_, at) => at)
  const filled = all.filter((at) => lines.some((line) => isFilled(cellAt(line, at))))
  const numbers = filled.filter((at) => isMostlyTotals(lines, at))
  const [one = 0, two = 1, ...more] = filled
  const pair = more.length === 0 ? { customer: one, total: two === one ? one + 1 : two } : undefined
  const total = named.total ?? only(numbers.filter((at) => at !== named.customer)) ?? pair?.total
  const rest = filled.filter((at) => at !== total)
  const customer =
    named.customer ?? only(rest.filter((at) => !numbers.includes(at))) ?? only(rest) ?? pair?.customer
  if (total === undefined || customer === undefined || total === customer) return undefined
  return { customer, total }
}

function isMostlyTotals(lines: readonly Line[], at: number): boolean {
  const texts = lines.map((line) => cellAt(line, at)).filter(isFilled)
  return texts.filter((text) => isRead('total', text)).length * 2 >= texts.length
}

/** A total in a foreign currency is refused by its name. */
function cellsOf(line: Line, columns: Columns, width: number, foreign = ''): Cells {
  const fault = line.isBroken ? sheetFaults.quotes : widthOf(line) > width ? sheetFaults.width : undefined
  const { number } = line
  const customer = cellAt(line, columns.customer)
  const note = columns.note === undefined ? undefined : cellAt(line, columns.note)
  const total = foreign === '' ? cellAt(line, columns.total) : `${foreign} ${cellAt(line, columns.total)}`
  return {
    number,
    customer,
    total,
    ...(note !== undefined && { note }),
    ...(fault !== undefined && { fault }),
  }
}

const isFilled = (text: string) => text.trim() !== ''
const isRead = (name: CellName, text: string) => fields[name](text).ok
const cellAt = (line: Line | undefined, at: number) => line?.cells[at] ?? ''
const widthOf = (line: Line | undefined) => (line?.cells.findLastIndex(isFilled) ?? -1) + 1
const only = <Value>(values: readonly Value[]) => (values.length === 1 ? values[0] : undefined)

/** The most frequent of the numbers; the greater one decides a tie. */
function usual(numbers: readonly number[]): number {
  const counts = Map.groupBy(numbers, (each) => each)
  return [...counts].sort(([a, as], [b, bs]) => bs.length - as.length || b - a)[0]?.[0] ?? 0
}

/** UTF-8, UTF-16 as its mark says, or what older spreadsheets write. */
export async function textOf(file: Blob): Promise<string> {
  const bytes = await file.arrayBuffer()
  const [first, second] = new Uint8Array(bytes)
  const isWide = first === 0xff && second === 0xfe
  try {
    return new TextDecoder(isWide ? 'utf-16le' : 'utf-8', { fatal: true }).decode(bytes)
  } catch {
    return new TextDecoder('windows-1252').decode(bytes)
  }
}

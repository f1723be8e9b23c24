import { observable } from '../../ui/observable.ts'
import { inBrowser } from '../../ui/persist.ts'
import { type ColumnName, columnNames, columns } from '../fields.ts'

/** The first is in every list: it names the row and leads to the order. */
export const usualColumns: readonly ColumnName[] = ['customer', 'total', 'status', 'createdAtUtc']

/** The known columns of a list separated by commas, each once; undefined if there is none. */
export function parseColumns(text: unknown): readonly ColumnName[] | undefined {
  const wanted = typeof text === 'string' ? text.split(',') : []
  const known = columnNames.filter((name) => wanted.includes(name))
  if (known.length === 0) return undefined
  return known.includes('customer') ? known : ['customer', ...known]
}

/** What this browser shows when the address names no columns. */
const kept = observable(parseColumns(inBrowser.read('columns')) ?? usualColumns)

export function columnsOf(inAddress: string | undefined): readonly ColumnName[] {
  return parseColumns(inAddress) ?? kept.get()
}

export function useColumns(inAddress: string | undefined): readonly ColumnName[] {
  const usual = kept.use()
  return parseColumns(inAddress) ?? usual
}

export function keepColumns(names: readonly ColumnName[]): void {
  kept.set(names)
  inBrowser.write('columns', names.join())
}

/** What is asked of the service besides summaries, separated by commas. */
export function askedColumns(inAddress: string | undefined): string {
  return columnsOf(inAddress)
    .flatMap((name) => columns[name].asks)
    .join()
}

import { observable } from '../../ui/observable.ts'
import { inBrowser } from '../../ui/persist.ts'
import { type ColumnName, columnNames, columns } from '../fields.ts'

/** The first is in every list: it names the row and leads to the order. */
export const usualColumns: readonly ColumnName[] = ['customer', 'total', 'status', 'createdAtUtc']

/** Those that there are, by commas, each once; undefined where there is none of them. */
export function parseColumns(text: unknown): readonly ColumnName[] | undefined {
  const wanted = typeof text === 'string' ? text.split(',') : []
  const known = columnNames.filter((name) => wanted.includes(name))
  if (known.length === 0) return undefined
  return known.includes('customer') ? known : ['customer', ...known]
}

/** What this browser shows where the address does not say. */
const kept = observable(parseColumns(inBrowser.read('columns')) ?? usualColumns)

/** Of an address, as it is now. */
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

/** What the list is asked for besides its summaries, by commas. */
export function askedColumns(inAddress: string | undefined): string {
  return columnsOf(inAddress)
    .flatMap((name) => columns[name].asks)
    .join()
}

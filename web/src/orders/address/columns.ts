import { observable } from '../../ui/observable.ts'
import { inBrowser } from '../../ui/persist.ts'
import { type ColumnName, columnNames } from '../fields.ts'

/** The first is in every list: it names the row and leads to the order. */
export const usualColumns: readonly ColumnName[] = ['customer', 'total', 'status', 'createdAtUtc']

/** The known columns in a comma-separated list, each once; undefined if there are none. */
export function parseColumns(text: unknown): readonly ColumnName[] | undefined {
  const wanted = typeof text === 'string' ? text.split(',') : []
  const known = columnNames.filter((name) => wanted.includes(name))
  if (known.length === 0) return undefined
  return known.includes('customer') ? known : ['customer', ...known]
}

/** The columns that this browser shows if the address names none. */
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

const inSummaries: readonly ColumnName[] = ['customer', 'total', 'status', 'createdAtUtc']
/** Every row shows its number, in a column or under the customer. */
export const alwaysAsked = 'number'

/** The columns that the list requests besides summaries, separated by commas. */
export function askedColumns(inAddress: string | undefined): string {
  const further = columnsOf(inAddress).filter((name) => name !== alwaysAsked && !inSummaries.includes(name))
  return [alwaysAsked, ...further].join()
}

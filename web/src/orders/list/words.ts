import { formatCount } from '../../ui/format.ts'
import { columns } from '../fields.ts'
import { type ListSearch, rowsOf, sortOf } from './search.ts'

export function countWords(count: number, filter: string | undefined): string {
  const orders = count === 1 ? '1 order' : `${formatCount(count)} orders`
  if (!filter) return count === 0 ? 'No orders' : orders
  if (count === 0) return 'No order matches'
  return `${orders} ${count === 1 ? 'matches' : 'match'}`
}

/** What a table shows, for those who see nothing around it: on paper, or by a screen reader. */
export function captionOf(
  search: ListSearch,
  rowCount: number,
  pageSize: number,
  totalCount: number,
): string {
  const { filter, pageNumber = 1 } = search
  const rows = rowsOf({ pageNumber, pageSize, count: rowCount })
  const range = rows
    ? `${formatCount(rows.first)}–${formatCount(rows.last)} of ${formatCount(totalCount)}`
    : 'none'
  const { orderBy, order } = sortOf(search)
  return `Orders${filter ? ` that match ${filter}` : ''}: ${range}, ${columns[orderBy].sorted[order]}`
}

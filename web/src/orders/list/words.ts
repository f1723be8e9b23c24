import { formatCount, formatOrders } from '../../ui/format.ts'
import { rowsOf } from '../../ui/paging.ts'
import { type ListSearch, sortOf } from '../address/address.ts'
import { sortedWords } from '../fields.ts'

export function countWords(count: number, filter: string | undefined): string {
  if (count === 0) return filter ? 'No orders match' : 'No orders'
  if (!filter) return formatOrders(count)
  return `${formatOrders(count)} ${count === 1 ? 'matches' : 'match'}`
}

/** The caption of a table, for print and screen readers. */
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
  return `Orders${filter ? ` matching ${filter}` : ''}: ${range}, ${sortedWords(orderBy, order)}`
}

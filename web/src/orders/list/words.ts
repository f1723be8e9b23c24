import { formatCount } from '../../ui/format.ts'
import type { ListSearch, SortKey } from './search.ts'
import { rowsOf, sortOf } from './search.ts'

const sortWords: Record<SortKey, Record<'Asc' | 'Desc', string>> = {
  createdAtUtc: { Asc: 'the oldest first', Desc: 'the latest first' },
  customer: { Asc: 'by customer', Desc: 'by customer, backwards' },
  total: { Asc: 'the smallest total first', Desc: 'the largest total first' },
  status: { Asc: 'pending ones first', Desc: 'approved ones first' },
}

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
  return `Orders${filter ? ` that match ${filter}` : ''}: ${range}, ${sortWords[orderBy][order]}`
}

import { defaultPageSize, type Paging, parsePaging } from '../../ui/paging.ts'
import { type Direction, firstDirection, type SortKey, sortKeys } from '../fields.ts'
import { askedOf } from '../filter/days.ts'
import { askedColumns, parseColumns } from './columns.ts'

/**
 * The state of the table, under the names of the API: the address holds the parameters that the service gets.
 */
export interface ListSearch extends Paging {
  filter?: string | undefined
  orderBy?: SortKey | undefined
  order?: Direction | undefined
  /** Separated by commas. If absent, the table shows the columns that this browser remembers. */
  columns?: string | undefined
}

export interface Sort {
  orderBy: SortKey
  order: Direction
}

/**
 * Reads an address. Values that make no sense count as absent, and defaults are left out, so one view has
 * one address. Every name is in the result, even if it is `undefined`: the router would keep its own value
 * for a missing name.
 */
export function parseListSearch(search: { [Name in keyof ListSearch]?: unknown }): ListSearch {
  const filter = typeof search.filter === 'string' ? search.filter.trim() : ''
  const orderBy = sortKeys.find((key) => key === search.orderBy)
  const order = (['Asc', 'Desc'] as const).find((name) => name === search.order)
  return {
    filter: filter === '' ? undefined : filter,
    ...parsePaging(search),
    orderBy: undefined,
    order: undefined,
    columns: parseColumns(search.columns)?.join(),
    ...sortParameters(sortOf({ orderBy, order })),
  }
}

/**
 * The query parameters for the service: what the table reads from an address, with the person's days as
 * instants.
 */
export function parametersOf({ filter, pageNumber, pageSize, orderBy, order, columns }: ListSearch) {
  return {
    pageSize: pageSize ?? defaultPageSize,
    ...(filter && { filter: askedOf(filter).text }),
    ...(pageNumber && { pageNumber }),
    ...(orderBy && { orderBy }),
    ...(order && { order }),
    columns: askedColumns(columns),
  }
}

/** How it is sorted; the defaults are those of the API. */
export function sortOf({ orderBy, order }: ListSearch): Sort {
  return { orderBy: orderBy ?? 'createdAtUtc', order: order ?? (orderBy === undefined ? 'Desc' : 'Asc') }
}

/** The sort parameters in their shortest form. */
function sortParameters({ orderBy, order }: Sort): Pick<ListSearch, 'orderBy' | 'order'> {
  if (order === 'Asc') return { orderBy }
  return orderBy === 'createdAtUtc' ? {} : { orderBy, order }
}

/**
 * The sort after a press on a heading: its natural direction first, then the other one. It leads to the
 * first page.
 */
export function sortedBy(search: ListSearch, key: SortKey): ListSearch {
  const { orderBy, order } = sortOf(search)
  const { pageNumber: _, orderBy: __, order: ___, ...others } = search
  const opposite = order === 'Asc' ? 'Desc' : 'Asc'
  return {
    ...others,
    ...sortParameters({ orderBy: key, order: orderBy === key ? opposite : firstDirection(key) }),
  }
}

/** Another search, from its first page. */
export function filteredBy(search: ListSearch, filter: string): ListSearch {
  const { pageNumber: _, filter: __, ...others } = search
  return { ...others, ...(filter !== '' && { filter }) }
}

import { defaultPageSize, type Paging, parsePaging } from '../../ui/paging.ts'
import { type Direction, firstDirection, type SortKey, sortKeys } from '../fields.ts'
import { askedOf } from '../filter/days.ts'
import { askedColumns, parseColumns } from './columns.ts'

/**
 * The state of the table, under the names of the API: what is in the address is what is asked of the service.
 */
export interface ListSearch extends Paging {
  filter?: string | undefined
  orderBy?: SortKey | undefined
  order?: Direction | undefined
  /** Separated by commas; absent: those that this browser keeps. */
  columns?: string | undefined
}

export interface Sort {
  orderBy: SortKey
  order: Direction
}

/**
 * Reads an address. What makes no sense in it counts as absent, and defaults are left out, so one view has
 * one address. Every name is in the result, if only as `undefined`: for a missing one, the router keeps what
 * it read itself.
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

/** What is asked of the service: what the table knows of an address, with the person's days as instants. */
export function parametersOf({ filter, pageNumber, pageSize, orderBy, order, columns }: ListSearch) {
  const further = askedColumns(columns)
  return {
    pageSize: pageSize ?? defaultPageSize,
    ...(filter && { filter: askedOf(filter).text }),
    ...(pageNumber && { pageNumber }),
    ...(orderBy && { orderBy }),
    ...(order && { order }),
    ...(further !== '' && { columns: further }),
  }
}

/** How it is sorted; the defaults are those of the API. */
export function sortOf({ orderBy, order }: ListSearch): Sort {
  return { orderBy: orderBy ?? 'createdAtUtc', order: order ?? (orderBy === undefined ? 'Desc' : 'Asc') }
}

/** In their shortest form. */
function sortParameters({ orderBy, order }: Sort): Pick<ListSearch, 'orderBy' | 'order'> {
  if (order === 'Asc') return { orderBy }
  return orderBy === 'createdAtUtc' ? {} : { orderBy, order }
}

/** After a press on the heading: its natural direction, then the other one; from the first page on. */
export function sortedBy(search: ListSearch, key: SortKey): ListSearch {
  const { orderBy, order } = sortOf(search)
  const { pageNumber: _, orderBy: __, order: ___, ...others } = search
  const opposite = order === 'Asc' ? 'Desc' : 'Asc'
  return {
    ...others,
    ...sortParameters({ orderBy: key, order: orderBy === key ? opposite : firstDirection(key) }),
  }
}

/** Another search, from the first page on. */
export function filteredBy(search: ListSearch, filter: string): ListSearch {
  const { pageNumber: _, filter: __, ...others } = search
  return { ...others, ...(filter !== '' && { filter }) }
}

import { type Direction, firstDirection, type SortKey, sortKeys } from '../fields.ts'
import { askedOf } from '../filter/days.ts'
import { askedColumns, parseColumns } from './columns.ts'

/** The state of the table, under the names of the API: what is in the address is what is asked of the service. */
export interface ListSearch {
  filter?: string | undefined
  pageNumber?: number | undefined
  pageSize?: number | undefined
  orderBy?: SortKey | undefined
  order?: Direction | undefined
  /** By commas; absent: those that this browser keeps. */
  columns?: string | undefined
}

export interface Sort {
  orderBy: SortKey
  order: Direction
}

export const pageSizes = [25, 50, 100] as const
export const defaultPageSize = 25

/**
 * Reads an address; what makes no sense in it counts as absent, and one view has one form: without its defaults. Every
 * name is in the result, if only as `undefined`, because the router keeps what it read itself for one that is not.
 */
export function parseListSearch(search: { [Name in keyof ListSearch]?: unknown }): ListSearch {
  const filter = typeof search.filter === 'string' ? search.filter.trim() : ''
  const pageNumber = wholeNumber(search.pageNumber)
  const pageSize = pageSizes.find((size) => size === wholeNumber(search.pageSize))
  const orderBy = sortKeys.find((key) => key === search.orderBy)
  const order = (['Asc', 'Desc'] as const).find((name) => name === search.order)
  return {
    filter: filter === '' ? undefined : filter,
    pageNumber: pageNumber === 1 ? undefined : pageNumber,
    pageSize: pageSize === defaultPageSize ? undefined : pageSize,
    orderBy: undefined,
    order: undefined,
    columns: parseColumns(search.columns)?.join(),
    ...sortParameters(sortOf({ orderBy, order })),
  }
}

/** What is asked of the service: of an address only what the table knows, and the person's days as instants. */
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

export function wholeNumber(value: unknown): number | undefined {
  const number = Number(value)
  return Number.isInteger(number) && number > 0 && number < 2 ** 31 ? number : undefined
}

/** By which order it is sorted, by the rule of the API for what is not said. */
export function sortOf({ orderBy, order }: ListSearch): Sort {
  return { orderBy: orderBy ?? 'createdAtUtc', order: order ?? (orderBy === undefined ? 'Desc' : 'Asc') }
}

/** The shortest that says it. */
function sortParameters({ orderBy, order }: Sort): Pick<ListSearch, 'orderBy' | 'order'> {
  if (order === 'Asc') return { orderBy }
  return orderBy === 'createdAtUtc' ? {} : { orderBy, order }
}

/** After a press on the heading: its natural direction, then the other one; from the first page. */
export function sortedBy(search: ListSearch, key: SortKey): ListSearch {
  const { orderBy, order } = sortOf(search)
  const opposite = order === 'Asc' ? 'Desc' : 'Asc'
  const { filter, pageSize, columns } = search
  return {
    ...(filter && { filter }),
    ...(pageSize && { pageSize }),
    ...(columns && { columns }),
    ...sortParameters({ orderBy: key, order: orderBy === key ? opposite : firstDirection(key) }),
  }
}

/** Searches for something else, from the first page. */
export function filteredBy({ orderBy, order, pageSize, columns }: ListSearch, filter: string): ListSearch {
  return {
    ...(filter !== '' && { filter }),
    ...(pageSize && { pageSize }),
    ...(orderBy && { orderBy }),
    ...(order && { order }),
    ...(columns && { columns }),
  }
}

export function onPage({ pageNumber: _, ...others }: ListSearch, pageNumber: number): ListSearch {
  return pageNumber > 1 ? { ...others, pageNumber } : others
}

/** With another number of rows, on the page that holds what was the first row. */
export function withPageSize(search: ListSearch, size: number): ListSearch {
  const { pageNumber = 1, pageSize = defaultPageSize, ...others } = search
  const page = Math.floor(((pageNumber - 1) * pageSize) / size) + 1
  return onPage({ ...others, ...(size !== defaultPageSize && { pageSize: size }) }, page)
}

/** The numbers of the first and the last row of a page, counted from 1; `undefined` of a page without rows. */
export function rowsOf(page: {
  pageNumber: number
  pageSize: number
  count: number
}): { first: number; last: number } | undefined {
  if (page.count === 0) return undefined
  const before = (page.pageNumber - 1) * page.pageSize
  return { first: before + 1, last: before + page.count }
}

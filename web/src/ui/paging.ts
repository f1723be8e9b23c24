/** Which page of a list is shown, as its address says, without the defaults. */
export interface Paging {
  pageNumber?: number | undefined
  pageSize?: number | undefined
}

export const pageSizes = [25, 50, 100] as const
export const defaultPageSize = 25

/** Reads an address; values that make no sense count as absent. */
export function parsePaging(search: { [Name in keyof Paging]?: unknown }): Paging {
  const pageNumber = wholeNumber(search.pageNumber)
  const pageSize = pageSizes.find((size) => size === wholeNumber(search.pageSize))
  return {
    pageNumber: pageNumber === 1 ? undefined : pageNumber,
    pageSize: pageSize === defaultPageSize ? undefined : pageSize,
  }
}

function wholeNumber(value: unknown): number | undefined {
  const number = Number(value)
  return Number.isInteger(number) && number > 0 && number < 2 ** 31 ? number : undefined
}

export function onPage<Search extends Paging>(search: Search, pageNumber: number): Search {
  const { pageNumber: _, ...others } = search
  return { ...others, ...(pageNumber > 1 && { pageNumber }) } as Search
}

/** The same search with another page size, on the page that holds the former first row. */
export function withPageSize<Search extends Paging>(search: Search, size: number): Search {
  const { pageNumber = 1, pageSize = defaultPageSize, ...others } = search
  const page = Math.floor(((pageNumber - 1) * pageSize) / size) + 1
  return onPage({ ...others, ...(size !== defaultPageSize && { pageSize: size }) } as Search, page)
}

/**
 * The numbers of the first and the last row of a page, counted from 1; `undefined` for a page without rows.
 */
export function rowsOf(page: {
  pageNumber: number
  pageSize: number
  count: number
}): { first: number; last: number } | undefined {
  if (page.count === 0) return undefined
  const before = (page.pageNumber - 1) * page.pageSize
  return { first: before + 1, last: before + page.count }
}

/** Lists of orders: a request becomes a plan, which is a value, and the plan becomes SQL on either engine. */
import type { AppDatabase } from '../../db/port.ts'
import { describePage, type PageDescription, pageJson, pageRequest } from '../../http/paging.ts'
import { Problem } from '../../http/problems.ts'
import { FilterError } from '../filter/fault.ts'
import { type Filter, parseFilter } from '../filter/parser.ts'
import { type ColumnName, columnNames, type SortKey, summaryNames } from '../order.ts'
import type { ListRequest } from './plan.ts'

/** What one list may take before it is stopped with `filter-too-expensive`. */
const listLimitMilliseconds = 2_000

export interface ListQuery {
  pageNumber: number | undefined
  pageSize: number | undefined
  orderBy: SortKey | undefined
  order: 'asc' | 'desc' | undefined
  filter: string | undefined
  paginated: boolean | undefined
  columns: readonly ColumnName[] | undefined
}

export interface List {
  /** The whole page. */
  json: string
  description: PageDescription
}

/** Filter, sort and columns of a list, for a page or all of it. Throws `invalid-filter`. */
export function readList({ filter, orderBy, order, columns }: ListQuery): Omit<ListRequest, 'page'> {
  return {
    filter: readFilter(filter ?? ''),
    sortKey: orderBy ?? 'createdAtUtc',
    direction: order ?? (orderBy === undefined ? 'desc' : 'asc'),
    // Always in the same order, so that one statement serves all requests.
    ...(columns && {
      columns: columnNames.filter(
        (name) => columns.includes(name) || summaryNames.some((summary) => summary === name),
      ),
    }),
  }
}

/**
 * Items and totals from one snapshot. Throws `invalid-filter`, `result-too-large`, `QueryTooSlow`,
 * `TooManyWaiting`.
 */
export async function listOrders(db: AppDatabase, query: ListQuery, caller: string): Promise<List> {
  const page = query.paginated === false ? null : pageRequest(query.pageNumber, query.pageSize)
  const { items, totalCount } = await db.query(
    'findOrders',
    { ...readList(query), page: page && { offset: page.offset, limit: page.pageSize } },
    { limitMilliseconds: listLimitMilliseconds, caller },
  )
  const description = describePage(totalCount, page)
  return { json: pageJson(items, description), description }
}

function readFilter(text: string): Filter | null {
  try {
    return parseFilter(text)
  } catch (error) {
    if (!(error instanceof FilterError)) throw error
    const { fault } = error
    throw new Problem('invalid-filter', {
      detail: fault.detail,
      errors: [{ parameter: 'filter', code: 'syntax', ...fault }],
    })
  }
}

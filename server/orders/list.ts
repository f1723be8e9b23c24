import { type Page, pageRequest, toPage, toSinglePage } from '../http/paging.ts'
import { Problem } from '../http/problems.ts'
import type { AppDatabase } from '../operations.ts'
import { FilterError } from './filter/fault.ts'
import { type Filter, parseFilter } from './filter/parser.ts'
import { countOrders, listOrders, type OrderSummary, type SortKey } from './store.ts'

/** What one listing may take; then it is stopped with `filter-too-expensive`. */
const listLimitMilliseconds = 2_000
const unpagedLimit = 10_000

export interface ListOrdersRequest {
  pageNumber: number | undefined
  pageSize: number | undefined
  orderBy: SortKey | undefined
  order: 'asc' | 'desc' | undefined
  filter: string | undefined
  paginated: boolean | undefined
}

/** Items and totals of one snapshot. Throws `invalid-filter`, `result-too-large`, `QueryTooSlow`. */
export function findPage(db: AppDatabase, request: ListOrdersRequest): Promise<Page<OrderSummary>> {
  const filter = readFilter(request.filter ?? '')
  const list = {
    filter,
    sortKey: request.orderBy ?? 'createdAtUtc',
    direction: request.order ?? (request.orderBy === undefined ? 'desc' : 'asc'),
  } as const
  return db.readWithin(listLimitMilliseconds, async (snapshot) => {
    const totalCount = await countOrders(snapshot, filter)
    if (request.paginated === false) {
      if (totalCount > unpagedLimit) throw tooLarge(totalCount)
      return toSinglePage(await listOrders(snapshot, list, { offset: 0, limit: unpagedLimit }))
    }
    const page = pageRequest(request.pageNumber, request.pageSize)
    const isPastEnd = page.offset >= totalCount
    const items = isPastEnd
      ? []
      : await listOrders(snapshot, list, { offset: page.offset, limit: page.pageSize })
    return toPage(items, totalCount, page)
  })
}

function tooLarge(totalCount: number): Problem {
  return new Problem('result-too-large', {
    detail: `${totalCount} orders match; at most ${unpagedLimit} are returned as one page.`,
    members: { totalCount, limit: unpagedLimit },
  })
}

function readFilter(text: string): Filter | null {
  try {
    return parseFilter(text)
  } catch (error) {
    if (!(error instanceof FilterError)) throw error
    const { position, length, detail, expected } = error
    throw new Problem('invalid-filter', {
      detail,
      errors: [{ parameter: 'filter', code: 'syntax', position, length, detail, expected }],
    })
  }
}

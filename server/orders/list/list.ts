import { describeSinglePage, type Page, pageRequest, toPage } from '../../http/paging.ts'
import { Problem } from '../../http/problems.ts'
import type { AppDatabase } from '../../operations.ts'
import { FilterError } from '../filter/fault.ts'
import { type Filter, parseFilter } from '../filter/parser.ts'
import type { Ordering, OrderSummary, SortKey } from './query.ts'

/** What one listing may take; then it is stopped with `filter-too-expensive`. */
const listLimitMilliseconds = 2_000

export interface ListOrdersRequest {
  pageNumber: number | undefined
  pageSize: number | undefined
  orderBy: SortKey | undefined
  order: 'asc' | 'desc' | undefined
  filter: string | undefined
  paginated: boolean | undefined
}

/** Items and totals of one snapshot. Throws `invalid-filter`, `QueryTooSlow`. */
export async function findPage(
  db: AppDatabase,
  request: ListOrdersRequest,
  caller: string,
): Promise<Page<OrderSummary>> {
  const { ordering, filter, options } = readRequest(request, caller)
  const page = pageRequest(request.pageNumber, request.pageSize)
  const { offset, pageSize: limit } = page
  const { items, totalCount } = await db.query(
    'findOrders',
    { ordering, filter, page: { offset, limit } },
    options,
  )
  return toPage(items, totalCount, page)
}

/** Every match as the JSON text of one page. Throws `invalid-filter`, `result-too-large`, `QueryTooSlow`. */
export async function findAll(db: AppDatabase, request: ListOrdersRequest, caller: string): Promise<Buffer> {
  const { ordering, filter, options } = readRequest(request, caller)
  const { itemsJson, count } = await db.query('findOrdersAsJson', { ordering, filter, page: null }, options)
  const rest = JSON.stringify(describeSinglePage(count)).slice(1)
  return Buffer.concat([Buffer.from('{"items":'), itemsJson, Buffer.from(`,${rest}`)])
}

function readRequest({ orderBy, order, filter }: ListOrdersRequest, caller: string) {
  const ordering: Ordering = {
    sortKey: orderBy ?? 'createdAtUtc',
    direction: order ?? (orderBy === undefined ? 'desc' : 'asc'),
  }
  const options = { limitMilliseconds: listLimitMilliseconds, caller }
  return { ordering, filter: readFilter(filter ?? ''), options }
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

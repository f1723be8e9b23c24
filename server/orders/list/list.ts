/** Lists of orders: a request becomes a plan, which is a value, and the plan becomes SQL on either engine. */
import type { Place } from '../../../proof/place.ts'
import type { Principal } from '../../caller/principal.ts'
import { type AppDatabase, pageLimitMilliseconds } from '../../db/port.ts'
import type { Db } from '../../db/tables.ts'
import { describePage, type PageDescription, pageJson, pageRequest } from '../../http/paging.ts'
import { Problem } from '../../problems/problems.ts'
import { lastTurn, rightsOf } from '../conditions.ts'
import { FilterError } from '../filter/fault.ts'
import { asksWhatWaits, type Filter, parseFilter } from '../filter/parser.ts'
import { type ColumnName, columnNames, type SortKey, summaryNames } from '../order.ts'
import type { ListRequest } from './plan.ts'

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
  /** The place in the log from which the live list has every change that is not in this list. */
  place: Place
}

/** The reader of a list, and the time: `waits` depends on both. */
export interface Reader {
  caller: Principal
  nowMilliseconds: number
}

/** The filter, sort and columns of a list, for one page or for the whole list. Throws `invalid-filter`. */
export async function readList(
  db: Db,
  { filter, orderBy, order, columns }: ListQuery,
  reader: Reader,
): Promise<Omit<ListRequest, 'page'>> {
  return {
    ...(await readFilter(db, filter ?? '', reader, columns?.includes('mayApprove') ?? false)),
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
export async function listOrders(db: AppDatabase, query: ListQuery, reader: Reader): Promise<List> {
  const page = query.paginated === false ? null : pageRequest(query.pageNumber, query.pageSize)
  const { items, totalCount, place } = await db.query(
    'findOrders',
    {
      ...(await readList(db.read, query, reader)),
      page: page && { offset: page.offset, limit: page.pageSize },
    },
    { limitMilliseconds: pageLimitMilliseconds, caller: String(reader.caller.id) },
  )
  const description = describePage(totalCount, page)
  return { json: pageJson(items, description), description, place }
}

async function readFilter(
  db: Db,
  text: string,
  { caller, nowMilliseconds }: Reader,
  isShown: boolean,
): Promise<Pick<ListRequest, 'filter' | 'askings' | 'asOf'>> {
  const filter = readText(text, caller)
  const needsRights = isShown || asksWhatWaits(filter, 'me')
  return {
    filter,
    ...(needsRights && { askings: await rightsOf(db, 'approve', caller, nowMilliseconds) }),
    ...(asksWhatWaits(filter, 'nobody') && { asOf: await lastTurn(db, nowMilliseconds) }),
  }
}

function readText(text: string, { id }: Principal): Filter | null {
  try {
    return parseFilter(text, id)
  } catch (error) {
    throw error instanceof FilterError ? invalidFilter(error) : error
  }
}

function invalidFilter({ fault }: FilterError): Problem {
  const { detail } = fault
  return new Problem('invalid-filter', {
    detail,
    errors: [{ parameter: 'filter', code: 'syntax', ...fault }],
  })
}

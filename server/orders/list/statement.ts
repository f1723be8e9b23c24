import { type RawBuilder, sql } from '#kysely'
import { Latest } from '../../db/latest.ts'
import { orderFields } from '../order.ts'
import type { ListRequest, Page, Window } from './plan.ts'

type Sort = Pick<ListRequest, 'sortKey' | 'direction'>

export function sortColumn({ sortKey }: Sort): RawBuilder<unknown> {
  return sql.ref(orderFields[sortKey].sort.column)
}

/** The order of the list, or of the list seen from its other end. */
export function wayOf({ direction }: Sort, { isReversed }: Pick<Window, 'isReversed'>): RawBuilder<unknown> {
  return sql.raw((direction === 'asc') === isReversed ? 'desc' : 'asc')
}

/** Orders that were never changed sort before the others. */
export function orderOf(
  list: Sort,
  window: Pick<Window, 'isReversed'>,
  column = sortColumn(list),
): RawBuilder<unknown> {
  const way = wayOf(list, window)
  const { sort, nullable } = orderFields[list.sortKey]
  if (sort.column === 'id') return sql`id ${way}`
  const isAscending = (list.direction === 'asc') !== window.isReversed
  const nulls = nullable ? sql.raw(isAscending ? 'nulls first' : 'nulls last') : sql``
  return sql`${column} ${way} ${nulls}, id ${way}`
}

/** How many statements are kept. */
const keptStatements = 256

/**
 * All pages of one list are one statement, kept while it is among the latest: compiling it costs as much as
 * running it.
 */
export function oncePerList<Found extends Page, Statement>(
  make: (request: ListRequest, page: Found) => Statement,
): (request: ListRequest, page: Found) => Statement {
  const statements = new Latest<Statement>(keptStatements)
  return (request, page) => {
    const list = JSON.stringify([
      { ...request, page: null },
      { ...page, skip: 0, take: 0 },
    ])
    const statement = statements.get(list) ?? make(request, page)
    statements.set(list, statement)
    return statement
  }
}

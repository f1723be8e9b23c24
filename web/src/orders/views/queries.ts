import { queryOptions, useQuery } from '@tanstack/react-query'
import type { components } from '../../../../client/src/schema.ts'
import { answerOf, client } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { tellOtherTabs } from '../../auth/other-tabs.ts'
import { useMay } from '../../auth/session.ts'
import { type ListSearch, parseListSearch, sortOf } from '../address/address.ts'
import { columnsOf } from '../address/columns.ts'
import { sortKeys } from '../fields.ts'

/** A named list of orders, the person's own. */
export type View = components['schemas']['View']

/** All of them, by name. */
export const viewsQuery = queryOptions({
  queryKey: ['views'],
  queryFn: ({ signal }): Promise<View[]> => Array.fromAsync(client.each('/v1/views', { signal })),
})

/** Empty while they load. */
export function useViews(): readonly View[] {
  return useQuery({ ...viewsQuery, enabled: useMay('Orders.Read') }).data ?? none
}

const none: readonly View[] = []

/** The address of the list that shows the view. */
export function searchOf({ filter, sort, columns }: Pick<View, 'filter' | 'sort' | 'columns'>): ListSearch {
  const orderBy = sortKeys.find((key) => key === sort.orderBy)
  return parseListSearch({
    filter,
    orderBy,
    order: sort.order === 0 ? 'Asc' : 'Desc',
    columns: columns.join(),
  })
}

/** The content of a view of the current list. */
export function contentOf(search: ListSearch): Pick<View, 'filter' | 'sort' | 'columns'> {
  const { orderBy, order } = sortOf(search)
  return {
    filter: search.filter ?? '',
    sort: { orderBy, order: order === 'Asc' ? 0 : 1 },
    columns: [...columnsOf(search.columns)],
  }
}

/** The view that the list shows now, on whatever page. */
export function viewOf(search: ListSearch, views: readonly View[]): View | undefined {
  const shown = JSON.stringify(contentOf(search))
  return views.find((view) => JSON.stringify(contentOf(searchOf(view))) === shown)
}

/**
 * Saves a new view, or replaces one. Throws `ProblemError` or `NoAnswerError`; may be called again with the
 * same input.
 */
export async function keepView({ id, ...body }: View): Promise<void> {
  await answerOf(client.PUT('/v1/views/{id}', { params: { path: { id } }, body }))
  await viewsChanged()
}

export async function deleteView(id: string): Promise<void> {
  await answerOf(client.DELETE('/v1/views/{id}', { params: { path: { id } } }))
  await viewsChanged()
}

async function viewsChanged(): Promise<void> {
  tellOtherTabs({ kind: 'changed' })
  await queries.invalidateQueries({ queryKey: viewsQuery.queryKey })
}

import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { answerOf, client } from '../api/client.ts'
import { queries } from '../api/queries.ts'
import { tellOtherTabs } from '../auth/other-tabs.ts'
import type { OrderEvent, VersionedOrder } from './order.ts'

export function orderQuery(id: string) {
  return queryOptions({
    queryKey: ['orders', 'one', id],
    queryFn: async ({ signal, meta }): Promise<VersionedOrder> => {
      const { data, response } = await client.GET('/v1/orders/{id}', {
        params: { path: { id } },
        signal,
        ...meta,
      })
      return { order: data, etag: response.headers.get('etag') ?? undefined }
    },
  })
}

/** The approvals given, how many it takes, and whether this person may give one. */
export function approvalsQuery(id: string) {
  return queryOptions({
    queryKey: ['orders', 'approvals', id],
    queryFn: ({ signal }) =>
      answerOf(client.GET('/v1/orders/{id}/approvals', { params: { path: { id } }, signal })),
  })
}

const eventsOfAPage = 100
/** An event is sealed within two seconds. */
const sealedWithinMilliseconds = 2_500

/** What happened to the order, the oldest first, a page at a time. */
export function historyQuery(id: string) {
  return infiniteQueryOptions({
    queryKey: ['orders', 'history', id],
    queryFn: ({ signal, pageParam }) =>
      answerOf(
        client.GET('/v1/orders/{id}/history', {
          params: { path: { id }, query: { pageNumber: pageParam, pageSize: eventsOfAPage } },
          signal,
        }),
      ),
    initialPageParam: 1,
    getNextPageParam: ({ pageNumber, totalPages }) => (pageNumber < totalPages ? pageNumber + 1 : undefined),
    refetchInterval: ({ state: { data } }) =>
      data?.pages.some(({ items }) => items.some(isUnsealed)) ? sealedWithinMilliseconds : false,
  })
}

const isUnsealed = ({ sequence }: OrderEvent) => sequence === null

/**
 * Everything that was fetched about orders is asked for again, in this tab and the others. If only `one` has
 * changed, what is known about each other order stays.
 */
export async function ordersChanged(one?: string): Promise<void> {
  tellOtherTabs({ kind: 'changed' })
  await queries.invalidateQueries({
    queryKey: ['orders'],
    predicate: ({ queryKey: [, part, id] }) => one === undefined || id === one || !isOfOne(part),
  })
}

/** The queries about a single order, by the second part of their keys. */
export const partsOfOne = ['one', 'approvals', 'history', 'receipt'] as const
const isOfOne = (part: unknown) => partsOfOne.some((name) => name === part)

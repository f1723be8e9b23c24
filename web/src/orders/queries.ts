import { type InfiniteData, infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { answerOf, client } from '../api/client.ts'
import { prefetch, queries } from '../api/queries.ts'
import { tellOtherTabs } from '../auth/other-tabs.ts'
import { type Order, type OrderEvent, type VersionedOrder, versionOf } from './order.ts'
import type { PolicyRow } from './policy.ts'

export function orderQuery(id: string) {
  return queryOptions({
    queryKey: ['orders', 'one', id],
    queryFn: async ({ signal, meta }): Promise<VersionedOrder> => {
      const { data: order, etag } = await client.orders.get(id, { signal, ...meta })
      // Documents raise the version.
      if (versionOf(etag) === 1) return { order, etag, documents: [] }
      const path = { params: { path: { id } }, signal, ...meta }
      const { items: documents } = await answerOf(client.GET('/v1/orders/{id}/documents', path))
      return { order, etag, documents }
    },
  })
}

export interface Policy {
  rows: PolicyRow[]
  etag: string
}

export const policyQuery = queryOptions({
  queryKey: ['policy'],
  queryFn: async ({ signal }): Promise<Policy> => {
    const { data, response } = await client.GET('/v1/approval-policy', { signal })
    const rows = data.rows.map((row) => ({ ...row, role: row.role ?? null, passkey: row.passkey ?? false }))
    return { rows, etag: response.headers.get('etag') ?? '' }
  },
})

/** The approvals given, how many the order needs, and whether this person may give one. */
export function approvalsQuery(id: string) {
  return queryOptions({
    queryKey: ['orders', 'approvals', id],
    queryFn: ({ signal }) => answerOf(client.orders.approvals(id, { signal })),
  })
}

const eventsOfAPage = 100
/** An event is sealed within two seconds. */
const sealedWithinMilliseconds = 2_500

/** The events of the order, oldest first, a page at a time. */
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

/** The absent person in whose place the last change of the order was made, as far as its history is known. */
export function absentOfChange(
  { updatedAtUtc }: Pick<Order, 'updatedAtUtc'>,
  history: InfiniteData<{ items: readonly OrderEvent[] }> | undefined,
): string | null | undefined {
  const events = history?.pages.flatMap(({ items }) => items)
  return events?.find(({ kind, atUtc }) => kind !== 'noted' && atUtc === updatedAtUtc)?.for
}

/** Fetches what the view of an order shows, before it is opened. */
export function prefetchOrder(id: string): void {
  prefetch(orderQuery(id))
  prefetch(approvalsQuery(id))
  void queries.prefetchInfiniteQuery({ ...historyQuery(id), retry: false })
}

/**
 * Fetches everything about orders again, in this tab and the others. If only `one` has changed, what is known
 * about other orders stays.
 */
export async function ordersChanged(one?: string): Promise<void> {
  tellOtherTabs({ kind: 'changed' })
  await queries.invalidateQueries({
    queryKey: ['orders'],
    predicate: ({ queryKey: [, part, id] }) => one === undefined || id === one || !isOfOne(part),
  })
}

/** The queries about a single order, listed by the second part of their keys. */
export const partsOfOne = ['one', 'approvals', 'history', 'receipt'] as const
const isOfOne = (part: unknown) => partsOfOne.some((name) => name === part)

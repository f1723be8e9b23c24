import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { answerOf, client, exchangeOf } from '../api/client.ts'
import { queries } from '../api/queries.ts'
import { tellOtherTabs } from '../auth/other-tabs.ts'
import { viewerTimeZone } from '../ui/format.ts'
import { type ListSearch, parametersOf } from './list/search.ts'
import type { VersionedOrder } from './order.ts'

export function listQuery(search: ListSearch) {
  const query = parametersOf(search)
  return queryOptions({
    queryKey: ['orders', 'list', query],
    queryFn: ({ signal, meta }) => answerOf(client.GET('/v1/orders', { params: { query }, signal, ...meta })),
    // The page before stays in sight while the next one is on its way.
    placeholderData: keepPreviousData,
  })
}

export function orderQuery(id: string) {
  return queryOptions({
    queryKey: ['orders', 'one', id],
    queryFn: async ({ signal, meta }): Promise<VersionedOrder> => {
      const { data, response } = await exchangeOf(
        client.GET('/v1/orders/{id}', { params: { path: { id } }, signal, ...meta }),
      )
      return { order: data, etag: response.headers.get('etag') ?? undefined }
    },
  })
}

/** What a person entered; `total` is a decimal in the wire's notation, and sent as it is. */
export interface NewOrder {
  customer: string
  total: string
  /** The same for every try of one order, so that a second press or a retry never makes two. */
  idempotencyKey: string
}

/**
 * Returns the id of the new order. Throws `ProblemError` or `NoAnswerError`; may be called again with the same input.
 */
export async function createOrder({ customer, total, idempotencyKey }: NewOrder): Promise<string> {
  const { id } = await answerOf(
    client.POST('/v1/orders', {
      body: { customer, total },
      params: { header: { 'Idempotency-Key': idempotencyKey, 'Time-Zone': viewerTimeZone } },
    }),
  )
  // Whoever created it need not wait for the views.
  void ordersChanged()
  return id
}

export interface Approval {
  id: string
  /** The version that the person saw. Absent: whatever version is there, as long as it is pending. */
  etag?: string | undefined
  idempotencyKey: string
}

/**
 * Approves the version that the person saw. Throws `ProblemError` (`precondition-failed`, `order-not-pending`,
 * `order-not-found`, ...) or `NoAnswerError`; may be called again with the same input.
 */
export async function approveOrder({ id, etag, idempotencyKey }: Approval): Promise<void> {
  await answerOf(
    client.PATCH('/v1/orders/{id}/approve', {
      params: {
        path: { id },
        header: {
          'Idempotency-Key': idempotencyKey,
          'Time-Zone': viewerTimeZone,
          ...(etag && { 'If-Match': etag }),
        },
      },
    }),
  )
}

/** Everything that was fetched about orders is asked for anew, in this tab and the others. */
export async function ordersChanged(): Promise<void> {
  tellOtherTabs({ kind: 'changed' })
  await queries.invalidateQueries({ queryKey: ['orders'] })
}

export function newIdempotencyKey(): string {
  return crypto.randomUUID()
}

import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { answerOf, client } from '../api/client.ts'
import { queries } from '../api/queries.ts'
import { tellOtherTabs } from '../auth/other-tabs.ts'
import { isMadeHere } from '../live/arrivals.ts'
import { viewerTimeZone } from '../ui/format.ts'
import { askedOf } from './filter/days.ts'
import { type ListSearch, parametersOf } from './list/search.ts'
import type { OrderEvent, VersionedOrder } from './order.ts'

export function listQuery(search: ListSearch) {
  const query = parametersOf(search)
  return queryOptions({
    queryKey: ['orders', 'list', query],
    queryFn: ({ signal, meta }) => answerOf(client.GET('/v1/orders', { params: { query }, signal, ...meta })),
    // The page before stays in sight while the next one is on its way.
    placeholderData: keepPreviousData,
  })
}

/** How many orders the search finds, by the person's days as in the list. `turn` tells one question from the next. */
export function countQuery(filter: string, turn = 0) {
  return queryOptions({
    queryKey: ['orders', 'count', filter, turn],
    queryFn: async ({ signal }): Promise<number> => {
      const query = { filter: askedOf(filter).text, pageSize: 1 }
      return (await answerOf(client.GET('/v1/orders', { params: { query }, signal }))).totalCount ?? 0
    },
    retry: false,
  })
}

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

/** Who gave their approval, how many it takes, and whether this person may give one. */
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

/** The signed statement about an approved order. While its approval is not sealed, it is asked for again. */
export function receiptQuery(id: string) {
  return queryOptions({
    queryKey: ['orders', 'receipt', id],
    queryFn: ({ signal }) =>
      answerOf(client.GET('/v1/orders/{id}/receipt', { params: { path: { id } }, signal })),
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
  isMadeHere(id)
  // Whoever created it need not wait for the views.
  void ordersChanged()
  return id
}

/** What a person decided about an order. */
export interface Decision {
  id: string
  /** The version that the person saw. Absent: whatever version is there, as long as it is pending. */
  etag?: string | undefined
  reason?: string
  idempotencyKey: string
}

/**
 * Each decides about the version that the person saw. They throw `ProblemError` (`precondition-failed`,
 * `order-not-pending`, `order-not-found`, ...) or `NoAnswerError`, and may be called again with the same input.
 */
export async function approveOrder(decision: Decision): Promise<void> {
  await answerOf(client.PATCH('/v1/orders/{id}/approve', requestOf(decision)))
}

export async function rejectOrder(decision: Decision): Promise<void> {
  const { reason = '' } = decision
  await answerOf(client.PATCH('/v1/orders/{id}/reject', { ...requestOf(decision), body: { reason } }))
}

/** Only who created the order may; else `not-the-creator`. */
export async function withdrawOrder(decision: Decision): Promise<void> {
  const { reason } = decision
  const body = reason && { body: { reason } }
  await answerOf(client.PATCH('/v1/orders/{id}/withdraw', { ...requestOf(decision), ...body }))
}

/** What was sent goes on when its page goes. */
function requestOf({ id, etag, idempotencyKey }: Decision) {
  const header = { 'Idempotency-Key': idempotencyKey, 'Time-Zone': viewerTimeZone }
  return {
    params: { path: { id }, header: { ...header, ...(etag && { 'If-Match': etag }) } },
    keepalive: true,
  }
}

export interface NewNote {
  id: string
  text: string
  /** The same for every try of one note. */
  idempotencyKey: string
}

/** Throws `ProblemError` or `NoAnswerError`; may be called again with the same input. */
export async function addNote({ id, text, idempotencyKey }: NewNote): Promise<void> {
  const header = { 'Idempotency-Key': idempotencyKey, 'Time-Zone': viewerTimeZone }
  const params = { path: { id }, header }
  await answerOf(client.POST('/v1/orders/{id}/notes', { params, body: { text } }))
}

/**
 * Everything that was fetched about orders is asked for anew, in this tab and the others. If only one has changed, what
 * is known of each other one stays.
 */
export async function ordersChanged(one?: string): Promise<void> {
  tellOtherTabs({ kind: 'changed' })
  await queries.invalidateQueries({
    queryKey: ['orders'],
    predicate: ({ queryKey: [, part, id] }) => one === undefined || id === one || !isOfOne(part),
  })
}

/** What is fetched of a single order, by the second part of its key. */
export const partsOfOne = ['one', 'approvals', 'history', 'receipt'] as const
const isOfOne = (part: unknown) => partsOfOne.some((name) => name === part)

export function newIdempotencyKey(): string {
  return crypto.randomUUID()
}

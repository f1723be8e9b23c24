import { afterEach, beforeEach, mock } from 'node:test'
import { QueryObserver } from '@tanstack/react-query'
import type { Change } from '../../../client/src/changes.ts'
import type { ListedOrder, Order, OrderEvent, OrderSummary } from '../../../web/src/orders/order.ts'
import { answerWith, hear, serviceIs, settled } from '../../support/page.ts'
import { liveList } from './connection.ts'

const { queries } = await import('../../../web/src/api/queries.ts')
const { endSession, loadSession } = await import('../../../web/src/auth/session.ts')
const { listen } = await import('../../../web/src/live/live.ts')
const { arrived } = await import('../../../web/src/orders/arrivals.ts')
const { orderQuery } = await import('../../../web/src/orders/queries.ts')
const { silence, toasts } = await import('../../../web/src/ui/announce.ts')

export const row = (id: string, status: OrderSummary['status'] = 0): ListedOrder => ({
  ...{ id, customer: id, total: 1, status, version: status === 0 ? 1 : 2 },
  createdAtUtc: '2026-11-20T09:30:00.000Z',
})
/** The row after an approval was heard of, in the version that was read. */
export const heard = (id: string): ListedOrder => ({ ...row(id), status: 1, newest: 2 })
export const page = (...items: OrderSummary[]) => ({
  items,
  pageNumber: 1,
  totalPages: 1,
  place: null as string | null,
})
export const approval = (id: string, given: Partial<Change> = {}): Change => ({
  id,
  kind: 'approved',
  version: 2,
  status: 1,
  ...given,
})

/** The service as this tab meets it, and what the tab does. */
export const tab = {
  permissions: [] as string[],
  userId: 1,
  /** How many orders the service finds. */
  count: 0,
  /** The orders as the service has them now. */
  items: [] as Partial<ListedOrder & Order>[],
  /** The history of each order. */
  events: [] as Partial<OrderEvent>[],
  etag: '"1"',
  asked: [] as URL[],
  /** The place in the log at which lists are read. */
  readAt: undefined as string | undefined,
  /** Holds back the answers to this path. */
  held: undefined as { path: string; answers: Promise<void> } | undefined,
  service: liveList(),
  /** The place of the last change that was heard of. */
  place: 0,
  stop: (): void => undefined,
}

export const pathsAsked = () => tab.asked.map(({ pathname }) => pathname)
export const said = () => toasts.get().map(({ text }) => text)

/** The reading tab hears of these changes. */
export async function happens(...changes: Change[]): Promise<void> {
  tab.place += 1
  hear('countersign-live', { place: `1.${tab.place}`, changes, isReset: false })
  await settled()
}

/** A view shows this query. */
export function shown(query: object): () => void {
  const observer = new QueryObserver(queries, query as ReturnType<typeof orderQuery>)
  return observer.subscribe(() => undefined)
}

export function knows(id: string, version: number): void {
  const order = { ...row(id), modifiedBy: null } as Order
  queries.setQueryData(orderQuery(id).queryKey, { order, etag: `"${version}"`, documents: [] })
}

function answer(path: string, request: Request): Response {
  if (path === '/v1/auth/me') return answerWith(200, { id: tab.userId, userName: 'mara', roles: [] })
  if (path === '/v1/auth/me/permissions') return answerWith(200, { permissions: tab.permissions })
  if (path === '/v1/orders/events') return tab.service.answer(request)
  tab.asked.push(new URL(request.url))
  if (path.endsWith('/approvals')) return answerWith(200, { required: 1, given: [] })
  if (path.endsWith('/history')) return answerWith(200, { items: tab.events, pageNumber: 1, totalPages: 1 })
  if (path === '/v1/orders') {
    return answerWith(
      200,
      { items: tab.items, totalCount: tab.count },
      tab.readAt === undefined ? {} : { 'last-event-id': tab.readAt },
    )
  }
  return answerWith(200, tab.items[0], { etag: tab.etag })
}

async function begins(): Promise<void> {
  mock.timers.enable({ apis: ['setTimeout'] })
  Object.assign(tab, {
    permissions: ['Orders.Read'],
    userId: 1,
    count: 3,
    items: [],
    events: [],
    etag: '"1"',
  })
  Object.assign(tab, { readAt: undefined, held: undefined, service: liveList() })
  await loadSession()
  tab.stop = listen()
  await settled()
  tab.asked = []
}

async function ends(): Promise<void> {
  tab.stop()
  await settled()
  endSession('signed-out')
  queries.clear()
  arrived.set([])
  silence()
  // The figures are refreshed once more.
  mock.timers.tick(3_000)
  await settled()
  mock.timers.tick(3_000)
  mock.timers.reset()
}

export function aPersonListens(): void {
  serviceIs(async (path, request) => {
    const response = answer(path, request)
    if (tab.held?.path === path) await tab.held.answers
    return response
  })
  beforeEach(begins)
  afterEach(ends)
}

import { spellPlace } from '../../proof/place.ts'
import { registerByteRoutes } from '../http/bytes.ts'
import { acceptedForm } from '../http/export.ts'
import { noContent } from '../http/fields.ts'
import { announceReplay, idempotencyProblems, replayedHeader } from '../http/idempotency.ts'
import { pageLinks, sendJson } from '../http/paging.ts'
import { cacheControl, etagHeader, revalidate, sendVersion, versionTag } from '../http/preconditions.ts'
import { type App, callerOf, header, locationHeader, type Routes, register, route } from '../http/route.ts'
import { newOrderedId } from '../ids.ts'
import { Problem } from '../problems/problems.ts'
import { documentByteRoutes, documentRoutes } from './documents/routes.ts'
import { exportOrders } from './export/export.ts'
import { lifeRoutes } from './life/routes.ts'
import { listOrders, readList } from './list/list.ts'
import { fieldNames } from './order.ts'
import { newNote } from './orders.ts'
import { overviewRoutes } from './overview/routes.ts'
import { policyRoutes } from './policy/routes.ts'
import {
  changeHeaders,
  type OrderParts,
  readChange,
  readingOrder,
  readingPages,
  requireOrderId,
} from './requests.ts'
import { toResponse } from './responses.ts'
import {
  CreateOrderCommand,
  CreateOrderResponse,
  ListOrdersQuery,
  OrderResponse,
  PaginatedListOfOrderSummary,
} from './schemas.ts'
import { findOrder } from './store.ts'
import { viewRoutes } from './views/routes.ts'

const placeHeader = header(
  'Last-Event-ID',
  'The place in the log at which the list was read. The live list misses nothing if it begins there.',
  { example: '1.1043' },
)
const exportTypes = ['text/csv', 'application/jsonl'] as const

const orderRoutes: Routes<OrderParts> = {
  createOrder: route('POST /v1/orders', {
    summary: 'Create an order',
    description:
      'The new order is pending. With an Idempotency-Key, a repeated request never creates a second order.',
    access: 'Orders.Create',
    problems: ['order-not-found', 'order-not-replaceable', 'already-replaced', ...idempotencyProblems],
    requestHeaders: changeHeaders,
    responseHeaders: {
      201: [locationHeader, etagHeader, replayedHeader],
    },
    body: CreateOrderCommand,
    response: { 201: CreateOrderResponse },
    handler: async (parts, request, reply) => {
      const change = readChange(request, parts)
      const { note, ...facts } = request.body
      const now = change.stamp.nowMilliseconds
      const created = await parts.db.write('createOrder', {
        ...change,
        order: { ...facts, id: newOrderedId(now) },
        note: note === null ? null : newNote(note, now),
      })
      const { id, version } = created.result
      announceReplay(reply, created)
      reply.code(201).header('location', `/v1/orders/${id}`).header('etag', versionTag(version))
      reply.header('cache-control', cacheControl)
      return { id }
    },
  }),
  listOrders: route('GET /v1/orders', {
    summary: 'List orders',
    description:
      'In pages, sorted and filtered. Totals are exact. With `Accept: text/csv` or `application/jsonl` the answer is an export: every match, as a stream.',
    ...readingPages,
    responseHeaders: { 200: [...readingPages.responseHeaders[200], placeHeader] },
    problems: ['invalid-filter', 'filter-too-expensive', 'result-too-large', 'overloaded', 'export-running'],
    exports: exportTypes,
    querystring: ListOrdersQuery,
    response: { 200: PaginatedListOfOrderSummary, 304: noContent },
    onSend: revalidate,
    handler: async ({ db, clock, exports }, request, reply) => {
      const { query } = request
      const caller = callerOf(request)
      const reader = { caller, nowMilliseconds: clock() }
      const type = acceptedForm(request, exportTypes)
      if (type !== undefined) {
        const wanted = { ...(await readList(db.read, query, reader)), type, bom: query.bom ?? false }
        return exports.send(request, reply, {
          type,
          fileName: 'orders',
          batches: exportOrders(db, wanted, String(caller.id)),
        })
      }
      const { json, description, place } = await listOrders(db, query, reader)
      reply.header('last-event-id', spellPlace(place))
      if (query.paginated !== false) {
        reply.headers(pageLinks('/v1/orders', request.raw.url, ListOrdersQuery, description))
      }
      return sendJson(reply, json)
    },
  }),
  ...overviewRoutes,
  getOrder: route('GET /v1/orders/:id', {
    summary: 'Read an order with its audit trail',
    description: 'All fields. Send the entity tag as If-Match with an approval.',
    ...readingOrder,
    response: { 200: OrderResponse, 304: noContent },
    handler: async ({ db }, request, reply) => {
      const order = await findOrder(db.read, requireOrderId(request))
      if (order === undefined) throw new Problem('order-not-found')
      return sendVersion(request, reply, order.version, toResponse(fieldNames, order))
    },
  }),
  ...lifeRoutes,
  ...documentRoutes,
  ...policyRoutes,
}

export function registerOrders(app: App, parts: OrderParts): Promise<void> {
  register(app, 'Orders', orderRoutes, parts)
  register(app, 'Views', viewRoutes, parts)
  return registerByteRoutes(app, (scope) => register(scope, 'Orders', documentByteRoutes, parts))
}

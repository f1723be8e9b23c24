import { acceptedExport } from '../http/export.ts'
import { noContent } from '../http/fields.ts'
import { announceReplay, idempotencyProblems, replayedHeader } from '../http/idempotency.ts'
import { pageLinks, sendJson } from '../http/paging.ts'
import { cacheControl, etagHeader, sendVersion, versionTag } from '../http/preconditions.ts'
import { Problem } from '../http/problems.ts'
import { type App, callerOf, locationHeader } from '../http/route.ts'
import { newOrderedId } from '../ids.ts'
import { exportOrders } from './export/export.ts'
import { registerOrderLife } from './life/routes.ts'
import { listOrders, readList } from './list/list.ts'
import { fieldNames } from './order.ts'
import { registerOverview } from './overview/routes.ts'
import { registerApprovalPolicy } from './policy/routes.ts'
import {
  changeHeaders,
  type OrderParts,
  readChange,
  readingOrder,
  readingPages,
  requireOrderId,
  revalidate,
  tags,
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
import { registerViews } from './views/routes.ts'

export function registerOrders(app: App, parts: OrderParts): void {
  registerCreate(app, parts)
  registerList(app, parts)
  registerOverview(app, parts)
  registerGet(app, parts)
  registerOrderLife(app, parts)
  registerApprovalPolicy(app, parts)
  registerViews(app, parts)
}

function registerCreate(app: App, parts: OrderParts): void {
  app.route({
    method: 'POST',
    url: '/v1/orders',
    config: {
      access: 'Orders.Create',
      problems: idempotencyProblems,
      requestHeaders: changeHeaders,
      responseHeaders: {
        201: [locationHeader, etagHeader, replayedHeader],
      },
    },
    schema: {
      operationId: 'createOrder',
      summary: 'Create an order',
      description:
        'The new order is pending. With an Idempotency-Key, a repeated request never creates a second order.',
      tags,
      body: CreateOrderCommand,
      response: { 201: CreateOrderResponse },
    },
    handler: async (request, reply) => {
      const { customer, total: totalE4 } = request.body
      const change = readChange(request, parts)
      const order = { id: newOrderedId(change.stamp.nowMilliseconds), customer, totalE4 }
      const created = await parts.db.write('createOrder', { ...change, order })
      const { id, version } = created.result
      announceReplay(reply, created)
      reply.code(201).header('location', `/v1/orders/${id}`).header('etag', versionTag(version))
      reply.header('cache-control', cacheControl)
      return { id }
    },
  })
}

const exportTypes = ['text/csv', 'application/jsonl'] as const

function registerList(app: App, { db, exports }: OrderParts): void {
  app.route({
    method: 'GET',
    url: '/v1/orders',
    config: {
      ...readingPages,
      problems: [
        'invalid-filter',
        'filter-too-expensive',
        'result-too-large',
        'overloaded',
        'export-running',
      ],
      exports: exportTypes,
    },
    schema: {
      operationId: 'listOrders',
      summary: 'List orders',
      description:
        'In pages, sorted and filtered. Totals are exact. With `Accept: text/csv` or `application/jsonl` the answer is an export: every match, as a stream.',
      tags,
      querystring: ListOrdersQuery,
      response: { 200: PaginatedListOfOrderSummary, 304: noContent },
    },
    onSend: revalidate,
    handler: async (request, reply) => {
      const { query } = request
      const caller = String(callerOf(request).id)
      const type = acceptedExport(request, exportTypes)
      if (type !== undefined) {
        const wanted = { ...readList(query), type, bom: query.bom ?? false }
        return exports.send(request, reply, {
          type,
          fileName: 'orders',
          batches: exportOrders(db, wanted, caller),
        })
      }
      const { json, description } = await listOrders(db, query, caller)
      if (query.paginated !== false) {
        reply.headers(pageLinks('/v1/orders', request.raw.url, ListOrdersQuery, description))
      }
      return sendJson(reply, json)
    },
  })
}

function registerGet(app: App, { db }: OrderParts): void {
  app.route({
    method: 'GET',
    url: '/v1/orders/:id',
    config: readingOrder,
    schema: {
      operationId: 'getOrder',
      summary: 'Read an order with its audit trail',
      description: 'Every field. The entity tag is for the If-Match of an approval.',
      tags,
      response: { 200: OrderResponse, 304: noContent },
    },
    handler: async (request, reply) => {
      const order = await findOrder(db.read, requireOrderId(request))
      if (order === undefined) throw new Problem('order-not-found')
      return sendVersion(request, reply, order.version, toResponse(fieldNames, order))
    },
  })
}

import type { FastifyReply } from 'fastify'
import { acceptedExport } from '../http/export.ts'
import { noContent } from '../http/fields.ts'
import {
  announceReplay,
  idempotencyKeyHeader,
  idempotencyProblems,
  type Once,
  readIdempotency,
  replayedHeader,
} from '../http/idempotency.ts'
import { linkHeader, pageLinks, sendJson } from '../http/paging.ts'
import {
  cacheControl,
  etagHeader,
  ifNoneMatchHeader,
  matchesNone,
  versionTag,
} from '../http/preconditions.ts'
import { Problem } from '../http/problems.ts'
import { type App, callerOf, locationHeader } from '../http/route.ts'
import { newOrderedId } from '../ids.ts'
import { exportOrders } from './export/export.ts'
import { registerOrderLife } from './life/routes.ts'
import { listOrders, readList } from './list/list.ts'
import { fieldNames } from './order.ts'
import type { CreatedOrder } from './orders.ts'
import { registerOverview } from './overview/routes.ts'
import { registerApprovalPolicy } from './policy/routes.ts'
import {
  idParameter,
  type OrderParts,
  readStamp,
  requireOrderId,
  revalidate,
  tags,
  timeZoneHeader,
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

function registerCreate(app: App, { config, db, clock }: OrderParts): void {
  app.route({
    method: 'POST',
    url: '/v1/orders',
    config: {
      access: 'Orders.Create',
      problems: idempotencyProblems,
      requestHeaders: [timeZoneHeader, idempotencyKeyHeader],
      responseHeaders: {
        201: [locationHeader, etagHeader, replayedHeader],
      },
    },
    schema: {
      operationId: 'createOrder',
      summary: 'Create an order',
      description:
        'The order is pending. With an Idempotency-Key a repeated request never makes a second one.',
      tags,
      body: CreateOrderCommand,
      response: { 201: CreateOrderResponse },
    },
    handler: async (request, reply) => {
      const { customer, total: totalE4 } = request.body
      const now = clock()
      const order = { id: newOrderedId(now), customer, totalE4 }
      const stamp = readStamp(request, config, now)
      const idempotency = readIdempotency(request, now)
      const created = await db.write('createOrder', { order, stamp, idempotency })
      return sendCreated(reply, created)
    },
  })
}

function sendCreated(reply: FastifyReply, created: Once<CreatedOrder>) {
  announceReplay(reply, created)
  const { id, version } = created.result
  reply.code(201).header('location', `/v1/orders/${id}`).header('etag', versionTag(version))
  reply.header('cache-control', cacheControl)
  return { id }
}

const exportTypes = ['text/csv', 'application/jsonl'] as const

function registerList(app: App, { db, exports }: OrderParts): void {
  app.route({
    method: 'GET',
    url: '/v1/orders',
    config: {
      access: 'Orders.Read',
      problems: [
        'invalid-filter',
        'filter-too-expensive',
        'result-too-large',
        'overloaded',
        'export-running',
      ],
      exports: exportTypes,
      requestHeaders: [ifNoneMatchHeader],
      responseHeaders: {
        200: [linkHeader, etagHeader],
      },
    },
    schema: {
      operationId: 'listOrders',
      summary: 'List orders',
      description:
        'Paged, sorted and filtered. Totals are exact. To `Accept: text/csv` or `application/jsonl` it is an export: every match, as a stream.',
      tags,
      querystring: ListOrdersQuery,
      response: { 200: PaginatedListOfOrderSummary, 304: noContent },
    },
    onSend: revalidate,
    handler: async (request, reply) => {
      const { query } = request
      const caller = String(callerOf(request).id)
      reply.header('cache-control', cacheControl)
      const type = acceptedExport(request, exportTypes)
      if (type !== undefined) {
        const wanted = { ...readList(query), type, bom: query.bom ?? false }
        return exports.send(request, reply, {
          type,
          fileName: 'orders',
          portions: exportOrders(db, wanted, caller),
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
    config: {
      access: 'Orders.Read',
      problems: ['order-not-found'],
      parameters: idParameter,
      requestHeaders: [ifNoneMatchHeader],
      responseHeaders: { 200: [etagHeader] },
    },
    schema: {
      operationId: 'getOrder',
      summary: 'Read an order with its audit trail',
      description: 'Every field. The entity tag is what If-Match of an approval takes.',
      tags,
      response: { 200: OrderResponse, 304: noContent },
    },
    handler: async (request, reply) => {
      const order = await findOrder(db.read, requireOrderId(request))
      if (order === undefined) throw new Problem('order-not-found')
      const etag = versionTag(order.version)
      reply.header('etag', etag).header('cache-control', cacheControl)
      if (matchesNone(request.headers['if-none-match'], etag)) return toResponse(fieldNames, order)
      return reply.code(304).send(undefined)
    },
  })
}

import type { FastifyReply, FastifyRequest } from 'fastify'
import { callerOf } from '../auth/principal.ts'
import { type Clock, parseTimeZone } from '../clock.ts'
import type { Config } from '../config.ts'
import { noContent } from '../http/fields.ts'
import {
  announceReplay,
  idempotencyKeyHeader,
  type Once,
  readIdempotency,
  replayedHeader,
} from '../http/idempotency.ts'
import { linkHeader, pageLinks } from '../http/paging.ts'
import { acceptedVersions, matchesNone, versionTag } from '../http/preconditions.ts'
import { Problem } from '../http/problems.ts'
import type { App, HeaderDescription } from '../http/route.ts'
import { newOrderId, sha256 } from '../ids.ts'
import type { AppDatabase } from '../operations.ts'
import { listOrders } from './list/list.ts'
import { fieldNames, summaryNames } from './order.ts'
import type { CreatedOrder, TransitionInput } from './orders.ts'
import { getOrdersOverview } from './overview.ts'
import { toDate, toResponse } from './responses.ts'
import {
  CreateOrderCommand,
  CreateOrderResponse,
  ListOrdersQuery,
  OrderResponse,
  OrderStatistics,
  OrdersOverviewQuery,
  PaginatedListOfOrderSummary,
} from './schemas.ts'
import { findOrder, parseOrderId } from './store.ts'

export interface OrderParts {
  config: Config
  db: AppDatabase
  clock: Clock
}

const tags = ['Orders']
const cacheControl = 'private, no-cache'

const idParameter = {
  id: {
    description: 'Id of the order, in any case. A malformed id is answered like an unknown one.',
    schema: { type: 'string', format: 'uuid' },
    example: '019a9d2e-5b7c-7f3a-9c41-6d2f8e0b1a57',
  },
}
const timeZoneHeader: HeaderDescription = {
  name: 'Time-Zone',
  description: 'IANA time zone of the audit stamp; else the user’s own, else the default of the service.',
  schema: { type: 'string', example: 'Europe/Berlin' },
}
const etagHeader: HeaderDescription = {
  name: 'ETag',
  description: 'Row version as a strong entity tag.',
  schema: { type: 'string', example: '"1"' },
}
const ifNoneMatchHeader: HeaderDescription = {
  name: 'If-None-Match',
  description: 'Entity tags that the caller has; a match is answered 304.',
  schema: { type: 'string', example: '"1"' },
}

export function registerOrders(app: App, parts: OrderParts): void {
  registerCreate(app, parts)
  registerList(app, parts)
  registerOverview(app, parts)
  registerGet(app, parts)
  registerApprove(app, parts)
}

function registerCreate(app: App, { config, db, clock }: OrderParts): void {
  app.route({
    method: 'POST',
    url: '/v1/orders',
    config: {
      access: 'Orders.Create',
      problems: [
        'invalid-time-zone',
        'invalid-idempotency-key',
        'idempotency-key-reused',
        'idempotency-in-progress',
      ],
      requestHeaders: [timeZoneHeader, idempotencyKeyHeader],
      responseHeaders: {
        201: [
          { name: 'Location', description: 'Path of the new order.', schema: { type: 'string' } },
          etagHeader,
          replayedHeader,
        ],
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
      const order = {
        id: newOrderId(now),
        customer,
        totalE4,
        createdAtTimeZone: auditZone(request, config),
        createdBy: callerOf(request).userName,
      }
      const idempotency = readIdempotency(request, now)
      const created = await db.write('createOrder', { order, idempotency })
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

function registerList(app: App, { db }: OrderParts): void {
  app.route({
    method: 'GET',
    url: '/v1/orders',
    config: {
      access: 'Orders.Read',
      problems: ['invalid-filter', 'filter-too-expensive', 'result-too-large', 'overloaded'],
      requestHeaders: [ifNoneMatchHeader],
      responseHeaders: {
        200: [linkHeader, { ...etagHeader, description: 'Entity tag of the page: a hash of it.' }],
      },
    },
    schema: {
      operationId: 'listOrders',
      summary: 'List orders',
      description: 'Paged, sorted and filtered. Totals are exact.',
      tags,
      querystring: ListOrdersQuery,
      response: { 200: PaginatedListOfOrderSummary, 304: noContent },
    },
    onSend: async (request, reply, payload) => revalidate(request, reply, payload),
    handler: async (request, reply) => {
      const { query } = request
      const caller = String(callerOf(request).id)
      reply.header('cache-control', cacheControl)
      const { json, description } = await listOrders(db, query, caller)
      if (query.paginated !== false) {
        reply.headers(pageLinks('/v1/orders', request.raw.url, ListOrdersQuery, description))
      }
      return sendJson(reply, json)
    },
  })
}

function registerOverview(app: App, { db, clock }: OrderParts): void {
  app.route({
    method: 'GET',
    url: '/v1/orders/summary',
    config: {
      access: 'Orders.Read',
      requestHeaders: [ifNoneMatchHeader],
      responseHeaders: {
        200: [{ ...etagHeader, description: 'Entity tag of the overview: a hash of it.' }],
      },
    },
    schema: {
      operationId: 'getOrdersOverview',
      summary: 'Counts and sums of orders, by day, and who waits longest',
      description: 'Everything of one moment, and exact. Days are UTC days of creation.',
      tags,
      querystring: OrdersOverviewQuery,
      response: { 200: OrderStatistics, 304: noContent },
    },
    onSend: async (request, reply, payload) => revalidate(request, reply, payload),
    handler: async (request, reply) => {
      const { days } = request.query
      const overview = await getOrdersOverview(db.read, { days, nowMilliseconds: clock() })
      reply.header('cache-control', cacheControl)
      return {
        ...overview,
        days: overview.days.map(({ startsAt, ...day }) => ({ date: toDate(startsAt), ...day })),
        oldestPending: overview.oldestPending.map((order) => toResponse(summaryNames, order)),
      }
    },
  })
}

function sendJson(reply: FastifyReply, json: string): FastifyReply {
  return reply.header('content-type', 'application/json; charset=utf-8').send(json)
}

/** What has no version of its own is tagged with a hash of what would be sent. */
function revalidate(request: FastifyRequest, reply: FastifyReply, payload: unknown): unknown {
  if (reply.statusCode !== 200) return payload
  if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return payload
  const etag = `"${sha256(payload)}"`
  reply.header('etag', etag)
  if (matchesNone(request.headers['if-none-match'], etag)) return payload
  reply.code(304).removeHeader('content-type').removeHeader('content-length')
  return null
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

function registerApprove(app: App, { config, db, clock }: OrderParts): void {
  app.route({
    method: 'PATCH',
    url: '/v1/orders/:id/approve',
    config: {
      access: 'Orders.Approve',
      problems: [
        'order-not-found',
        'order-not-pending',
        'concurrency-conflict',
        'precondition-failed',
        'invalid-time-zone',
        'invalid-idempotency-key',
        'idempotency-key-reused',
        'idempotency-in-progress',
      ],
      parameters: idParameter,
      requestHeaders: [
        {
          name: 'If-Match',
          description:
            'Approve only this version, or any by `*`. A tag that a proxy has weakened counts as it was.',
          schema: { type: 'string', example: '"1"' },
        },
        timeZoneHeader,
        idempotencyKeyHeader,
      ],
      responseHeaders: { 204: [etagHeader, replayedHeader], 409: [etagHeader], 412: [etagHeader] },
    },
    schema: {
      operationId: 'approveOrder',
      summary: 'Approve a pending order',
      description:
        'Exactly one of any number of simultaneous approvals succeeds; a second one is refused with 409.',
      tags,
      response: { 204: noContent },
    },
    handler: async (request, reply) => {
      const change = readTransition(request, config, clock())
      return sendTransitioned(reply, await db.write('approveOrder', change))
    },
  })
}

/** What every transition of an order takes from its request. */
function readTransition(request: FastifyRequest, config: Config, now: number): TransitionInput {
  const timeZone = auditZone(request, config)
  const idempotency = readIdempotency(request, now)
  return {
    id: requireOrderId(request),
    acceptedVersions: acceptedVersions(request.headers['if-match']),
    nowMilliseconds: now,
    timeZone,
    modifiedBy: callerOf(request).userName,
    idempotency,
  }
}

function sendTransitioned(reply: FastifyReply, changed: Once<{ version: number }>): FastifyReply {
  announceReplay(reply, changed)
  reply.header('etag', versionTag(changed.result.version)).header('cache-control', cacheControl)
  return reply.code(204).send()
}

function requireOrderId(request: FastifyRequest): string {
  const id = parseOrderId((request.params as { id: string }).id)
  if (id === undefined) throw new Problem('order-not-found')
  return id
}

/** The zone that the request names, else the user's own, else the default. Throws `invalid-time-zone`. */
function auditZone(request: FastifyRequest, config: Config): string {
  const given = request.headers['time-zone']
  if (given === undefined) return request.principal?.timeZone ?? config.defaultTimeZone
  const zone = typeof given === 'string' ? parseTimeZone(given) : undefined
  if (zone !== undefined) return zone
  const detail = 'Time-Zone must be an IANA name such as Europe/Berlin.'
  throw new Problem('invalid-time-zone', {
    detail,
    errors: [{ header: 'Time-Zone', code: 'unknown', detail }],
  })
}

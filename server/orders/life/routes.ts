import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Words } from '../../audit/event.ts'
import { signReceipt } from '../../audit/statements.ts'
import { noContent } from '../../http/fields.ts'
import {
  announceReplay,
  idempotencyKeyHeader,
  idempotencyProblems,
  type Once,
  readIdempotency,
  replayedHeader,
} from '../../http/idempotency.ts'
import { linkHeader, pageLinks, pageRequest } from '../../http/paging.ts'
import {
  acceptedVersions,
  cacheControl,
  etagHeader,
  ifMatchHeader,
  ifNoneMatchHeader,
  versionTag,
} from '../../http/preconditions.ts'
import type { ProblemCode } from '../../http/problems.ts'
import { type App, callerOf } from '../../http/route.ts'
import { newSalt } from '../../ids.ts'
import type { Permission } from '../../permissions.ts'
import {
  idParameter,
  type OrderParts,
  readStamp,
  requireOrderId,
  revalidate,
  tags,
  timeZoneHeader,
} from '../requests.ts'
import { readApprovals, readHistory } from './history.ts'
import type { TransitionInput } from './life.ts'
import { makeReceipt } from './receipt.ts'
import {
  AddNoteCommand,
  AddNoteResponse,
  ListHistoryQuery,
  OrderApprovals,
  OrderReceipt,
  PaginatedListOfOrderEvent,
  RejectOrderCommand,
  WithdrawOrderCommand,
} from './schemas.ts'

/** What happens to an order after its creation, and what is told of it (section 14 of the contract). */
export function registerOrderLife(app: App, parts: OrderParts): void {
  registerApprove(app, parts)
  registerReject(app, parts)
  registerWithdraw(app, parts)
  registerNote(app, parts)
  registerHistory(app, parts)
  registerApprovals(app, parts)
  registerReceipt(app, parts)
}

/** What the description says of every transition. */
function transitionConfig(access: Permission, problems: readonly ProblemCode[] = []) {
  return {
    access,
    problems: [
      'order-not-found',
      'order-not-pending',
      ...problems,
      'concurrency-conflict',
      'precondition-failed',
      ...idempotencyProblems,
    ] satisfies ProblemCode[],
    parameters: idParameter,
    requestHeaders: [ifMatchHeader, timeZoneHeader, idempotencyKeyHeader],
    responseHeaders: {
      204: [etagHeader, replayedHeader],
      ...(problems.length > 0 && { 403: [etagHeader] }),
      409: [etagHeader],
      412: [etagHeader],
    },
  }
}

function registerApprove(app: App, parts: OrderParts): void {
  app.route({
    method: 'PATCH',
    url: '/v1/orders/:id/approve',
    config: transitionConfig('Orders.Approve', [
      'self-approval',
      'service-approval',
      'already-approved-by-you',
    ]),
    schema: {
      operationId: 'approveOrder',
      summary: 'Approve a pending order',
      description:
        'Gives one approval. The last that the order needs approves it; before, it stays pending with a new version. Any number of simultaneous approvals gives exactly as many as are needed, each of another caller; the others are refused.',
      tags,
      response: { 204: noContent },
    },
    handler: async (request, reply) =>
      sendTransitioned(reply, await parts.db.write('approveOrder', readTransition(request, parts, null))),
  })
}

function registerReject(app: App, parts: OrderParts): void {
  app.route({
    method: 'PATCH',
    url: '/v1/orders/:id/reject',
    config: transitionConfig('Orders.Approve'),
    schema: {
      operationId: 'rejectOrder',
      summary: 'Reject a pending order',
      description: 'Final. The reason stands in the history of the order.',
      tags,
      body: RejectOrderCommand,
      response: { 204: noContent },
    },
    handler: async (request, reply) => {
      const change = readTransition(request, parts, request.body.reason)
      return sendTransitioned(reply, await parts.db.write('rejectOrder', change))
    },
  })
}

function registerWithdraw(app: App, parts: OrderParts): void {
  app.route({
    method: 'PATCH',
    url: '/v1/orders/:id/withdraw',
    config: transitionConfig('Orders.Create', ['not-the-creator']),
    schema: {
      operationId: 'withdrawOrder',
      summary: 'Withdraw a pending order',
      description: 'Final, and only for who created the order.',
      tags,
      body: WithdrawOrderCommand,
      response: { 204: noContent },
    },
    handler: async (request, reply) => {
      const change = readTransition(request, parts, request.body.reason)
      return sendTransitioned(reply, await parts.db.write('withdrawOrder', change))
    },
  })
}

/** What every transition of an order takes from its request. */
function readTransition(
  request: FastifyRequest,
  { config, clock }: OrderParts,
  reason: string | null,
): TransitionInput {
  const now = clock()
  const stamp = readStamp(request, config, now)
  const idempotency = readIdempotency(request, now)
  return {
    id: requireOrderId(request),
    acceptedVersions: acceptedVersions(request.headers['if-match']),
    actor: { ...stamp, isService: callerOf(request).kind === 'client' },
    words: reason === null ? null : wordsOf(reason),
    idempotency,
  }
}

function wordsOf(text: string): Words {
  return { text, salt: newSalt() }
}

function sendTransitioned(reply: FastifyReply, changed: Once<{ version: number }>): FastifyReply {
  announceReplay(reply, changed)
  reply.header('etag', versionTag(changed.result.version)).header('cache-control', cacheControl)
  return reply.code(204).send()
}

function registerNote(app: App, { config, db, clock }: OrderParts): void {
  app.route({
    method: 'POST',
    url: '/v1/orders/:id/notes',
    config: {
      access: 'Orders.Note',
      problems: ['order-not-found', ...idempotencyProblems],
      parameters: idParameter,
      requestHeaders: [timeZoneHeader, idempotencyKeyHeader],
      responseHeaders: { 201: [replayedHeader] },
    },
    schema: {
      operationId: 'addNote',
      summary: 'Add a note to an order',
      description: 'In every state. The order itself stays as it is; the note stands in its history.',
      tags,
      body: AddNoteCommand,
      response: { 201: AddNoteResponse },
    },
    handler: async (request, reply) => {
      const now = clock()
      const stamp = readStamp(request, config, now)
      const idempotency = readIdempotency(request, now)
      const id = requireOrderId(request)
      const noted = await db.write('addNote', { id, stamp, words: wordsOf(request.body.text), idempotency })
      announceReplay(reply, noted)
      reply.code(201).header('cache-control', cacheControl)
      return noted.result
    },
  })
}

function registerHistory(app: App, { db }: OrderParts): void {
  app.route({
    method: 'GET',
    url: '/v1/orders/:id/history',
    config: {
      access: 'Orders.Read',
      problems: ['order-not-found'],
      parameters: idParameter,
      requestHeaders: [ifNoneMatchHeader],
      responseHeaders: { 200: [linkHeader, etagHeader] },
    },
    schema: {
      operationId: 'listOrderHistory',
      summary: 'What happened to an order',
      description: 'Every event of the order, in the order of the log.',
      tags,
      querystring: ListHistoryQuery,
      response: { 200: PaginatedListOfOrderEvent, 304: noContent },
    },
    onSend: revalidate,
    handler: async (request, reply) => {
      const { pageNumber, pageSize, order } = request.query
      const id = requireOrderId(request)
      const page = await readHistory(db.read, id, pageRequest(pageNumber, pageSize), order ?? 'asc')
      reply.header('cache-control', cacheControl)
      reply.headers(pageLinks(`/v1/orders/${id}/history`, request.raw.url, ListHistoryQuery, page))
      return page
    },
  })
}

function registerApprovals(app: App, { db }: OrderParts): void {
  app.route({
    method: 'GET',
    url: '/v1/orders/:id/approvals',
    config: {
      access: 'Orders.Read',
      problems: ['order-not-found'],
      parameters: idParameter,
      requestHeaders: [ifNoneMatchHeader],
      responseHeaders: { 200: [etagHeader] },
    },
    schema: {
      operationId: 'getOrderApprovals',
      summary: 'Approvals of an order: given, needed, and whether the caller may give one',
      description: 'Says before one tries what an approval would be answered.',
      tags,
      response: { 200: OrderApprovals, 304: noContent },
    },
    onSend: revalidate,
    handler: async (request, reply) => {
      reply.header('cache-control', cacheControl)
      return readApprovals(db.read, requireOrderId(request), callerOf(request))
    },
  })
}

function registerReceipt(app: App, { db, clock, keys, publicUrl }: OrderParts): void {
  app.route({
    method: 'GET',
    url: '/v1/orders/:id/receipt',
    config: {
      access: 'Orders.Read',
      problems: ['order-not-found', 'order-not-approved', 'receipt-not-ready'],
      parameters: idParameter,
      requestHeaders: [ifNoneMatchHeader],
      responseHeaders: { 200: [etagHeader] },
    },
    schema: {
      operationId: 'getOrderReceipt',
      summary: 'Receipt of an approved order',
      description: 'A signed statement that anybody can check, without this service.',
      tags,
      response: { 200: OrderReceipt, 304: noContent },
    },
    onSend: revalidate,
    handler: async (request, reply) => {
      const receipt = await makeReceipt(db, requireOrderId(request))
      reply.header('cache-control', cacheControl)
      return { receipt: await signReceipt(keys, publicUrl(), receipt, clock()) }
    },
  })
}

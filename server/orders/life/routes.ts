import { newWords } from '../../audit/audit.ts'
import { noContent } from '../../http/fields.ts'
import { announceReplay, idempotencyProblems, replayedHeader } from '../../http/idempotency.ts'
import { pageLinks, pageRequest } from '../../http/paging.ts'
import { acceptedVersions, cacheControl, etagHeader, ifMatchHeader } from '../../http/preconditions.ts'
import { type App, callerOf } from '../../http/route.ts'
import { type TransitionName, transitions } from '../order.ts'
import {
  changeHeaders,
  idParameter,
  type OrderParts,
  readChange,
  readingOrder,
  readingPages,
  requireOrderId,
  revalidate,
  sendChanged,
  tags,
} from '../requests.ts'
import { readApprovals, readHistory } from './history.ts'
import { refusalsOf } from './life.ts'
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

/** What happens to an order after its creation (section 14 of the contract). */
export function registerOrderLife(app: App, parts: OrderParts): void {
  for (const name of Object.keys(transitions)) registerTransition(app, parts, name as TransitionName)
  registerNote(app, parts)
  registerHistory(app, parts)
  registerApprovals(app, parts)
  registerReceipt(app, parts)
}

interface TransitionDescription {
  summary: string
  description: string
  /** With the reason. */
  body?: typeof RejectOrderCommand | typeof WithdrawOrderCommand
}

const descriptions: Record<TransitionName, TransitionDescription> = {
  approve: {
    summary: 'Approve a pending order',
    description:
      'Gives one approval. The last one needed approves the order; until then it stays pending, with a new version. Of any number of simultaneous requests, exactly as many succeed as approvals are needed, each from another caller.',
  },
  reject: {
    summary: 'Reject a pending order',
    description: 'Final. The reason is kept in the history of the order.',
    body: RejectOrderCommand,
  },
  withdraw: {
    summary: 'Withdraw a pending order',
    description: 'Final. Only the creator can withdraw an order.',
    body: WithdrawOrderCommand,
  },
}

function registerTransition(app: App, parts: OrderParts, name: TransitionName): void {
  const { permission, by } = transitions[name]
  const { body, ...description } = descriptions[name]
  const tagged = [etagHeader]
  app.route({
    method: 'PATCH',
    url: `/v1/orders/:id/${name}`,
    config: {
      access: permission,
      problems: [...refusalsOf(name), ...idempotencyProblems],
      parameters: idParameter,
      requestHeaders: [ifMatchHeader, ...changeHeaders],
      responseHeaders: {
        204: [etagHeader, replayedHeader],
        ...(by !== 'anyone' && { 403: tagged }),
        409: tagged,
        412: tagged,
      },
    },
    schema: {
      operationId: `${name}Order`,
      ...description,
      tags,
      ...(body && { body }),
      response: { 204: noContent },
    },
    handler: async (request, reply) => {
      const { stamp, idempotency } = readChange(request, parts)
      const { reason = null } = (request.body ?? {}) as { reason?: string | null }
      const changed = await parts.db.write(`${name}Order`, {
        id: requireOrderId(request),
        acceptedVersions: acceptedVersions(request.headers['if-match']),
        actor: { ...stamp, isService: callerOf(request).kind === 'client' },
        words: reason === null ? null : newWords(reason),
        idempotency,
      })
      return sendChanged(reply, changed)
    },
  })
}

function registerNote(app: App, parts: OrderParts): void {
  app.route({
    method: 'POST',
    url: '/v1/orders/:id/notes',
    config: {
      access: 'Orders.Note',
      problems: ['order-not-found', ...idempotencyProblems],
      parameters: idParameter,
      requestHeaders: changeHeaders,
      responseHeaders: { 201: [replayedHeader] },
    },
    schema: {
      operationId: 'addNote',
      summary: 'Add a note to an order',
      description: 'In any state. The order does not change; the note is kept in its history.',
      tags,
      body: AddNoteCommand,
      response: { 201: AddNoteResponse },
    },
    handler: async (request, reply) => {
      const change = readChange(request, parts)
      const id = requireOrderId(request)
      const noted = await parts.db.write('addNote', { ...change, id, words: newWords(request.body.text) })
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
    config: { ...readingOrder, ...readingPages },
    schema: {
      operationId: 'listOrderHistory',
      summary: 'List what happened to an order',
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
      reply.headers(pageLinks(`/v1/orders/${id}/history`, request.raw.url, ListHistoryQuery, page))
      return page
    },
  })
}

function registerApprovals(app: App, { db }: OrderParts): void {
  app.route({
    method: 'GET',
    url: '/v1/orders/:id/approvals',
    config: readingOrder,
    schema: {
      operationId: 'getOrderApprovals',
      summary: 'Read the approvals of an order',
      description: 'Which were given, how many are needed, and whether the caller may give one.',
      tags,
      response: { 200: OrderApprovals, 304: noContent },
    },
    onSend: revalidate,
    handler: (request) => readApprovals(db.read, requireOrderId(request), callerOf(request)),
  })
}

function registerReceipt(app: App, { db, signReceipt }: OrderParts): void {
  app.route({
    method: 'GET',
    url: '/v1/orders/:id/receipt',
    config: {
      ...readingOrder,
      problems: ['order-not-found', 'order-not-approved', 'receipt-not-ready'],
    },
    schema: {
      operationId: 'getOrderReceipt',
      summary: 'Read the receipt of an approved order',
      description: 'A signed statement that anyone can check without this service.',
      tags,
      response: { 200: OrderReceipt, 304: noContent },
    },
    onSend: revalidate,
    handler: async (request) => {
      const receipt = await makeReceipt(db, requireOrderId(request))
      return { receipt: await signReceipt(receipt) }
    },
  })
}

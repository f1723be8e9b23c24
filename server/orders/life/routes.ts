import { spellLineProof } from '../../../proof/proof.ts'
import { readReceipt } from '../../../proof/receipt.ts'
import { acceptedForm } from '../../http/export.ts'
import { noContent, type ParsedBy } from '../../http/fields.ts'
import { announceReplay, idempotencyProblems, replayedHeader } from '../../http/idempotency.ts'
import { pageLinks, pageRequest, sendText } from '../../http/paging.ts'
import {
  acceptedVersions,
  cacheControl,
  etagHeader,
  ifMatchHeader,
  revalidate,
} from '../../http/preconditions.ts'
import { callerOf, type Routes, route } from '../../http/route.ts'
import { refusalsOf, signatureRefusals } from '../conditions.ts'
import { isDecision, type TransitionName, transitions } from '../order.ts'
import {
  changeHeaders,
  idParameter,
  type OrderParts,
  readChange,
  readingOrder,
  readingPages,
  requireOrderId,
  sendChanged,
} from '../requests.ts'
import { prepareDecisions } from './decisions.ts'
import { readApprovals, readHistory } from './history.ts'
import { notesLimit } from './life.ts'
import { receiptOf } from './receipt.ts'
import {
  AddNoteCommand,
  AddNoteResponse,
  ListHistoryQuery,
  OrderApprovals,
  OrderProof,
  OrderReceipt,
  PaginatedListOfOrderEvent,
  PrepareDecisionsCommand,
  PreparedDecisions,
  RejectOrderCommand,
  WithdrawOrderCommand,
} from './schemas.ts'
import { readSignature, signatureHeader } from './signature.ts'

/** The bodies that carry a reason. */
type Reasoned = typeof RejectOrderCommand | typeof WithdrawOrderCommand

interface TransitionDescription {
  summary: string
  description: string
  body?: Reasoned
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

const transitionRoute = (name: TransitionName) => {
  const { permission, by, isDecision: byDeputies } = transitions[name]
  const { body, ...description } = descriptions[name]
  const tagged = [etagHeader]
  return route(`PATCH /v1/orders/:id/${name}`, {
    ...description,
    access: permission,
    byDeputies,
    problems: [...refusalsOf(name), ...idempotencyProblems],
    parameters: idParameter,
    requestHeaders: [ifMatchHeader, ...(isDecision(name) ? [signatureHeader] : []), ...changeHeaders],
    responseHeaders: {
      204: [etagHeader, replayedHeader],
      ...(by !== 'anyone' && { 403: tagged }),
      409: tagged,
      412: tagged,
    },
    ...(body && { body }),
    response: { 204: noContent },
    handler: async (parts: OrderParts, request, reply) => {
      const { stamp, idempotency } = readChange(request, parts)
      const { reason, ...others } = body ? (request.body as ParsedBy<Reasoned>) : { reason: null }
      const { permissions } = callerOf(request)
      const id = requireOrderId(request)
      const signed = isDecision(name) ? await readSignature(parts, request, { action: name, id }) : null
      const changed = await parts.db.write(`${name}Order`, {
        ...others,
        id,
        acceptedVersions: acceptedVersions(request.headers['if-match']),
        actor: { ...stamp, asDeputy: !permissions.has(permission) },
        text: reason,
        signature: signed,
        idempotency,
      })
      return sendChanged(reply, changed)
    },
  })
}

const names = Object.keys(transitions) as TransitionName[]

/** Changes of an order after its creation (section 14 of the contract). */
export const lifeRoutes: Routes<OrderParts> = {
  ...Object.fromEntries(names.map((name) => [`${name}Order`, transitionRoute(name)])),
  prepareDecisions: route('POST /v1/orders/decisions', {
    summary: 'Prepare signed decisions',
    description:
      'Statements that say what approving or rejecting these orders would do now, and request options for `navigator.credentials.get`: one touch signs them all, because the challenge is the root of the RFC 9162 tree over the statements. Check that the statements say what you mean before you ask for the touch. Then send each decision with its `Decision-Signature`, within five minutes. Nothing is stored.',
    access: transitions.approve.permission,
    byDeputies: true,
    problems: [
      ...refusalsOf('approve').filter((code) => !signatureRefusals.includes(code)),
      'passkeys-unavailable',
    ],
    body: PrepareDecisionsCommand,
    response: { 200: PreparedDecisions },
    handler: (parts, request) => prepareDecisions(parts, callerOf(request), request.body),
  }),
  addNote: route('POST /v1/orders/:id/notes', {
    summary: 'Add a note to an order',
    description: `In any state. The order does not change; the note is kept in its history. An order can have ${notesLimit} notes.`,
    access: 'Orders.Note',
    problems: ['order-not-found', 'too-many-notes', ...idempotencyProblems],
    parameters: idParameter,
    requestHeaders: changeHeaders,
    responseHeaders: { 201: [replayedHeader] },
    body: AddNoteCommand,
    response: { 201: AddNoteResponse },
    handler: async (parts, request, reply) => {
      const change = readChange(request, parts)
      const id = requireOrderId(request)
      const { text, ...others } = request.body
      const noted = await parts.db.write('addNote', { ...others, ...change, id, text })
      announceReplay(reply, noted)
      reply.code(201).header('cache-control', cacheControl)
      return noted.result
    },
  }),
  listOrderHistory: route('GET /v1/orders/:id/history', {
    summary: 'List what happened to an order',
    description: 'Every event of the order, in the order of the log.',
    ...readingOrder,
    ...readingPages,
    problems: ['order-not-found', 'overloaded', 'filter-too-expensive'],
    querystring: ListHistoryQuery,
    response: { 200: PaginatedListOfOrderEvent, 304: noContent },
    onSend: revalidate,
    handler: async ({ db }, request, reply) => {
      const { pageNumber, pageSize, order: direction = 'asc' } = request.query
      const id = requireOrderId(request)
      const wanted = { ...pageRequest(pageNumber, pageSize), direction }
      const page = await readHistory(db, id, wanted, String(callerOf(request).id))
      reply.headers(pageLinks(`/v1/orders/${id}/history`, request.raw.url, ListHistoryQuery, page))
      return page
    },
  }),
  getOrderApprovals: route('GET /v1/orders/:id/approvals', {
    summary: 'Read the approvals of an order',
    description: 'Which were given, how many are needed, and whether the caller may give one.',
    ...readingOrder,
    response: { 200: OrderApprovals, 304: noContent },
    onSend: revalidate,
    handler: ({ db, clock }, request) =>
      readApprovals(db.read, requireOrderId(request), callerOf(request), clock()),
  }),
  getOrderReceipt: route('GET /v1/orders/:id/receipt', {
    summary: 'Read the receipt of an approved order',
    description:
      'The lines of the log that are the whole approval, each with the proof of its place, and a checkpoint: anyone can check it with the key of the log alone. It is the same text until a name in it is erased, for as long as the key that signed it is published and the service keeps its address. With `Accept: text/plain` the answer is the proof of the last line.',
    ...readingOrder,
    problems: ['order-not-found', 'order-not-approved', 'receipt-not-ready', 'log-contradicted'],
    textForm: OrderProof,
    response: { 200: OrderReceipt, 304: noContent },
    onSend: revalidate,
    handler: async (parts, request, reply) => {
      const receipt = await receiptOf(parts, requireOrderId(request))
      if (acceptedForm(request, ['text/plain']) === undefined) return { receipt }
      reply.header('content-disposition', 'attachment; filename="receipt.tlog-proof"')
      const { lines, checkpoint } = readReceipt(receipt)
      return sendText(
        reply,
        lines
          .slice(-1)
          .map((last) => spellLineProof(last, checkpoint))
          .join(''),
      )
    },
  }),
}

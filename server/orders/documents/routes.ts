import type { FastifyRequest } from 'fastify'
import { noContent } from '../../http/fields.ts'
import { idempotencyProblems, isAnswered, readIdempotency, replayedHeader } from '../../http/idempotency.ts'
import { acceptedVersions, etagHeader, ifMatchHeader } from '../../http/preconditions.ts'
import { list, pageOf, requireUuid } from '../../http/resource.ts'
import { header, locationHeader, type Routes, route } from '../../http/route.ts'
import {
  announceChange,
  changeHeaders,
  idParameter,
  type OrderParts,
  readChange,
  readingOrder,
  requireOrderId,
  sendChanged,
} from '../requests.ts'
import {
  documentLimitBytes,
  documentsLimit,
  judgeChange,
  readDocuments,
  requireDocument,
} from './documents.ts'
import { mediaTypes } from './media-type.ts'
import { receiveDocument } from './receive.ts'
import {
  AddDocumentQuery,
  AddDocumentResponse,
  DocumentBytes,
  PaginatedListOfOrderDocument,
  toAnswer,
} from './schemas.ts'
import { sendDocument } from './serve.ts'

const documentParameters = {
  ...idParameter,
  documentId: {
    description: 'Id of the document.',
    schema: { type: 'string', format: 'uuid' },
    example: '019a9d2e-5b7c-7f3a-9c41-6d2f8e0b1a60',
  },
}

const changing = {
  access: 'Orders.Create',
  requestHeaders: [ifMatchHeader, ...changeHeaders],
} as const
const changeProblems = [
  'order-not-found',
  'not-the-creator',
  'order-not-pending',
  'already-approved',
  'concurrency-conflict',
  'precondition-failed',
  ...idempotencyProblems,
] as const
const tagged = { 403: [etagHeader], 409: [etagHeader], 412: [etagHeader] }
const digestHeader = header('Repr-Digest', 'SHA-256 of the bytes (RFC 9530).', {
  example: 'sha-256=:n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg=:',
})

/** Documents of orders (section 23 of the contract). */
export const documentRoutes: Routes<OrderParts> = {
  listDocuments: list('/v1/orders/:id/documents', {
    summary: 'List the documents of an order',
    description: 'In the order in which they were added.',
    access: 'Orders.Read',
    parameters: idParameter,
    problems: ['order-not-found'],
    page: PaginatedListOfOrderDocument,
    isTagged: true,
    find: async ({ db }, wanted, request) =>
      pageOf((await readDocuments(db.read, requireOrderId(request))).map(toAnswer), wanted),
  }),
  getDocument: route('GET /v1/orders/:id/documents/:documentId', {
    summary: 'Read a document',
    description:
      'The bytes, under the media type that they show. Pictures, text and PDF may be shown, everything else is an attachment; nothing in it runs.',
    ...readingOrder,
    parameters: documentParameters,
    problems: ['order-not-found', 'document-not-found', 'document-erased'],
    responseHeaders: { 200: [etagHeader, digestHeader] },
    mediaTypes: Object.values(mediaTypes),
    response: { 200: DocumentBytes, 304: noContent },
    handler: async ({ db }, request, reply) => {
      const document = await requireDocument(db.read, requireOrderId(request), requireDocumentId(request))
      return sendDocument(db.read, request, reply, document)
    },
  }),
  removeDocument: route('DELETE /v1/orders/:id/documents/:documentId', {
    summary: 'Remove a document',
    description: 'Under the conditions of adding one. The log keeps its hash.',
    ...changing,
    problems: ['document-not-found', ...changeProblems],
    parameters: documentParameters,
    responseHeaders: { 204: [etagHeader, replayedHeader], ...tagged },
    response: { 204: noContent },
    handler: async (parts, request, reply) => {
      const removed = await parts.db.write('removeDocument', {
        ...readChange(request, parts),
        orderId: requireOrderId(request),
        acceptedVersions: acceptedVersions(request.headers['if-match']),
        id: requireDocumentId(request),
      })
      return sendChanged(reply, removed)
    },
  }),
}

/** The route that takes bytes. */
export const documentByteRoutes: Routes<OrderParts> = {
  addDocument: route('POST /v1/orders/:id/documents', {
    summary: 'Add a document to an order',
    description: `The body is the document: 1 byte to ${documentLimitBytes / 2 ** 20} MiB, of any media type. An order can have ${documentsLimit} documents. Only the creator of the order, or the owner of the client that created it, can add one, while it is pending and nobody has approved it. The version of the order rises, so an approval with \`If-Match\` is about the documents that were there.`,
    ...changing,
    takesBytes: true,
    problems: ['too-many-documents', ...changeProblems],
    parameters: idParameter,
    querystring: AddDocumentQuery,
    responseHeaders: { 201: [locationHeader, etagHeader, replayedHeader], ...tagged },
    response: { 201: AddDocumentResponse },
    handler: async (parts, request, reply) => {
      const { db } = parts
      const { name } = request.query
      const { stamp: begun, idempotency } = readChange(request, parts)
      const orderId = requireOrderId(request)
      const change = { orderId, acceptedVersions: acceptedVersions(request.headers['if-match']) }
      // A repeated request gets the first answer, whatever became of the order.
      const isRepeated = idempotency !== null && (await isAnswered(db.read, idempotency))
      if (!isRepeated) await judgeChange(db.read, { ...change, stamp: begun }, { removes: null })
      const receiving = { ...parts, nowMilliseconds: begun.nowMilliseconds, isKept: !isRepeated }
      const document = { ...(await receiveDocument(request, reply, receiving)), name }
      const { sha256, mediaType } = document
      // The bytes can take minutes; the document is added when the last one is there.
      const { stamp } = readChange(request, parts)
      const said = [sha256, name, mediaType]
      const key = readIdempotency(request, parts.fingerprint, stamp.nowMilliseconds, said)
      const limitBytes = parts.config.documentBytesPerHour
      const added = await db.write('addDocument', {
        ...change,
        stamp,
        document,
        limitBytes,
        idempotency: key,
      })
      announceChange(reply, added)
      const { id } = added.result
      reply.code(201).header('location', `/v1/orders/${orderId}/documents/${id}`)
      return { id, sha256: added.result.sha256 }
    },
  }),
}

function requireDocumentId(request: FastifyRequest): string {
  return requireUuid(request, 'document-not-found', 'documentId')
}

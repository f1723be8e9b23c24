/**
 * Documents of orders. Their bytes are written in pieces that nothing refers to; one last transaction makes
 * the document, its event and the next version of the order, so that an approval of a version is about these
 * documents and no others.
 */
import { recordEvent } from '../../audit/audit.ts'
import type { Stamp } from '../../caller/stamp.ts'
import { requireStanding } from '../../caller/standing.ts'
import { tooFarAhead } from '../../clock.ts'
import type { Db, Trx } from '../../db/tables.ts'
import { hourMilliseconds, tooManyBytes } from '../../http/allowance.ts'
import { type IdempotencyInput, type Once, once } from '../../http/idempotency.ts'
import { type AcceptedVersions, requireVersion, versionTag } from '../../http/preconditions.ts'
import { Problem } from '../../problems/problems.ts'
import type { Job } from '../../upkeep.ts'
import { type Decided, orderEvent } from '../event.ts'
import { awaitingApproval } from '../order.ts'
import { findOrder, lockOrder } from '../store.ts'
import {
  addedSince,
  changeDocuments,
  type Document,
  deleteBytes,
  deleteDocument,
  deletePieces,
  findChangeable,
  findDocument,
  findDocuments,
  insertDocument,
  insertLeftover,
  insertPiece,
  type StoredDocument,
} from './store.ts'

export const documentsLimit = 5
export const documentLimitBytes = 5 * 1024 * 1024

/** Unfinished documents are deleted after this time. */
const unfinishedMilliseconds = 3_600_000

export interface ChangeInput {
  orderId: string
  acceptedVersions: AcceptedVersions
  stamp: Stamp & { byId: number }
}

/** Which document is removed; null to add one. */
type Removed = { removes: string | null }

/** Throws the reason why the caller may not change the documents of the order now. */
export async function judgeChange(
  db: Db,
  { orderId, acceptedVersions, stamp: { byId } }: ChangeInput,
  { removes }: Removed,
): Promise<void> {
  const order = await findChangeable(db, orderId, byId)
  if (order === undefined) throw new Problem('order-not-found')
  const documents = await findDocuments(db, orderId)
  const isThere = removes === null || documents.some(({ id }) => id === removes)
  if (!isThere) throw new Problem('document-not-found')
  const { version, status } = order
  requireVersion(acceptedVersions, version)
  const headers = { etag: versionTag(version) }
  if (!order.is_author) throw new Problem('not-the-creator', { headers })
  if (status !== awaitingApproval) {
    throw new Problem('order-not-pending', { headers, members: { currentStatus: status } })
  }
  if (order.approvals_given > 0) throw new Problem('already-approved', { headers })
  if (removes === null && documents.length >= documentsLimit) {
    throw new Problem('too-many-documents', { headers })
  }
}

/** The row is read only to name the reason why it was not changed. */
async function changeOrder(trx: Trx, input: ChangeInput, removed: Removed): Promise<Decided> {
  const order = await changeDocuments(trx, input)
  if (order !== undefined) return order
  await requireStanding(trx, input.stamp, 'Orders.Create')
  await judgeChange(trx, input, removed)
  throw new Problem('concurrency-conflict')
}

export interface PieceInput {
  documentId: string
  /** From 0. */
  piece: number
  bytes: Uint8Array
  nowMilliseconds: number
}

/** Keeps a piece of a document that is arriving. Nothing refers to it until `addDocument`. */
export async function keepPiece(trx: Trx, { documentId, piece, bytes, nowMilliseconds }: PieceInput) {
  if (piece === 0) {
    await insertLeftover(trx, { id: documentId, due_at: nowMilliseconds + unfinishedMilliseconds })
  }
  await insertPiece(trx, { document_id: documentId, piece, bytes })
}

interface Changed {
  id: string
  sha256: string
  /** Row version of the order. */
  version: number
}

/**
 * Adds a document whose pieces are kept. Throws what `judgeChange` throws, and `timed-out` if its pieces are
 * gone.
 */
export function addDocument(
  trx: Trx,
  {
    document,
    limitBytes,
    idempotency,
    ...input
  }: ChangeInput & {
    document: Document
    /** Of the caller in an hour, over all instances. */
    limitBytes: number
    idempotency: IdempotencyInput | null
  },
): Promise<Once<Changed>> {
  return once(trx, idempotency, async () => {
    const order = await changeOrder(trx, input, { removes: null })
    // The row of the order is locked now, so nobody else adds one.
    if ((await findDocuments(trx, order.id)).length >= documentsLimit) {
      throw new Problem('too-many-documents')
    }
    await requireBytes(trx, document, { limitBytes, stamp: input.stamp })
    if (!(await insertDocument(trx, document, input))) throw new Problem('timed-out')
    await recordEvent(trx, input.stamp, documentEvent('document-added', order, document))
    return { id: document.id, sha256: document.sha256, version: order.version }
  })
}

/** Each instance counts the bytes that arrive; what other instances took is only known here. */
async function requireBytes(
  trx: Trx,
  { size }: Document,
  { limitBytes, stamp: { by, nowMilliseconds } }: Pick<ChangeInput, 'stamp'> & { limitBytes: number },
): Promise<void> {
  const times = { after: nowMilliseconds - hourMilliseconds, until: tooFarAhead(nowMilliseconds, 0) }
  const { bytes, first } = await addedSince(trx, by, times)
  if (bytes + size > limitBytes) throw tooManyBytes(limitBytes, first + hourMilliseconds - nowMilliseconds)
}

/** Throws what `judgeChange` throws. */
export function removeDocument(
  trx: Trx,
  { id, idempotency, ...input }: ChangeInput & { id: string; idempotency: IdempotencyInput | null },
): Promise<Once<Changed>> {
  return once(trx, idempotency, async () => {
    const order = await changeOrder(trx, input, { removes: id })
    const { orderId, stamp } = input
    const document = await deleteDocument(trx, { orderId, id, nowMilliseconds: stamp.nowMilliseconds })
    if (document === undefined) throw new Problem('document-not-found')
    await recordEvent(trx, stamp, documentEvent('document-removed', order, document))
    return { id, sha256: document.sha256, version: order.version }
  })
}

/**
 * Deletes the bytes of a document for good; its hash stays. Throws `document-not-found`, also if they are
 * erased already.
 */
export async function eraseDocument(
  trx: Trx,
  { orderId, id, stamp }: { orderId: string; id: string; stamp: Stamp },
): Promise<Document> {
  const order = await lockOrder(trx, orderId)
  const document = await deleteBytes(trx, { orderId, id, nowMilliseconds: stamp.nowMilliseconds })
  if (!document || !order) throw new Problem('document-not-found')
  await recordEvent(trx, stamp, documentEvent('document-erased', order, document))
  return document
}

function documentEvent(
  kind: 'document-added' | 'document-removed' | 'document-erased',
  order: Decided,
  { id, name, mediaType, size, sha256 }: Document,
) {
  const named = kind === 'document-erased' ? {} : { documentName: name }
  return orderEvent(kind, order, null, { document: { id, mediaType, size, sha256 }, ...named })
}

/** Throws `order-not-found`. */
export async function readDocuments(db: Db, orderId: string): Promise<StoredDocument[]> {
  const documents = await findDocuments(db, orderId)
  if (documents.length === 0 && (await findOrder(db, orderId)) === undefined) {
    throw new Problem('order-not-found')
  }
  return documents
}

/** Throws `document-not-found`, `document-erased`. */
export async function requireDocument(db: Db, orderId: string, id: string): Promise<StoredDocument> {
  const document = await findDocument(db, orderId, id)
  if (document === undefined) throw new Problem('document-not-found')
  if (document.isErased) throw new Problem('document-erased')
  return document
}

/** Deletes the bytes of documents that were not finished in an hour, and of removed ones. */
export const leftovers: Job = {
  name: 'removeLeftoverPieces',
  everyMilliseconds: 60_000,
  batch: 8,
  pauseMilliseconds: 20,
  isAlone: true,
  run: (trx, { beforeMilliseconds, limit }) => deletePieces(trx, beforeMilliseconds, limit),
  failure: 'the bytes of removed documents could not be deleted; trying again in a minute',
}

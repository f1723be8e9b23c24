import { type RawBuilder, type SqlBool, sql } from '#kysely'
import type { Stamp } from '../../caller/stamp.ts'
import { stands } from '../../caller/standing.ts'
import { prepared } from '../../db/prepared.ts'
import type { Database, Db, Trx } from '../../db/tables.ts'
import { type AcceptedVersions, hasVersion } from '../../http/preconditions.ts'
import type { Decided } from '../event.ts'
import { awaitingApproval } from '../order.ts'

export interface Document {
  id: string
  name: string
  mediaType: string
  /** Bytes. */
  size: number
  /** Hexadecimal. */
  sha256: string
}

export interface StoredDocument extends Document {
  addedAt: number
  by: string
  isErased: boolean
}

/** The creator, or the owner of the client that created the order. */
export function isAuthor(byId: number): RawBuilder<SqlBool> {
  return sql`coalesce(${byId} in (created_by_id, created_by_owner_id), false)`
}

interface Change {
  orderId: string
  acceptedVersions: AcceptedVersions
  stamp: Stamp & { byId: number }
}

/**
 * Raises the version of the order by one conditional UPDATE, if its documents may change and the caller may
 * change them. Undefined if not.
 */
export async function changeDocuments(
  trx: Trx,
  { orderId, acceptedVersions, stamp }: Change,
): Promise<Decided | undefined> {
  return trx
    .updateTable('orders')
    .set((eb) => ({
      version: eb('version', '+', 1),
      updated_at: stamp.nowMilliseconds,
      updated_at_time_zone: stamp.timeZone,
      modified_by: stamp.by,
    }))
    .where('id', '=', orderId)
    .where(hasVersion(acceptedVersions))
    .where('status', '=', awaitingApproval)
    .where('approvals_given', '=', 0)
    .where(isAuthor(stamp.byId))
    .where(stands(trx, stamp, 'Orders.Create'))
    .returning(['id', 'version', 'customer', 'total_e4 as total'])
    .executeTakeFirst()
}

/** The facts that decide whether the caller may change the documents of an order. */
export async function findChangeable(db: Db, orderId: string, byId: number) {
  return db
    .selectFrom('orders')
    .select(['version', 'status', 'approvals_given'])
    .select(isAuthor(byId).as('is_author'))
    .where('id', '=', orderId)
    .executeTakeFirst()
}

const columns = [
  'id',
  'name',
  'media_type as mediaType',
  'size',
  'sha256',
  'added_at',
  'added_by as by',
  'erased_at',
] as const

function selectDocuments(db: Db, orderId: string) {
  const documents = db.selectFrom('order_documents').select(columns).where('order_id', '=', orderId)
  // An id is of the first byte.
  return documents.orderBy('added_at').orderBy('id')
}

/** A document whose name was erased is called by the beginning of its hash. */
const documentOf = ({
  added_at,
  erased_at,
  ...document
}: Document & { added_at: number; by: string; erased_at: number | null }): StoredDocument => ({
  ...document,
  name: document.name || `document-${document.sha256.slice(0, 8)}`,
  addedAt: added_at,
  isErased: erased_at !== null,
})

/** In the order in which they were added. */
export async function findDocuments(db: Db, orderId: string): Promise<StoredDocument[]> {
  return (await selectDocuments(db, orderId).execute()).map(documentOf)
}

/** The bytes of the documents that someone added in this time and that are kept, and the oldest time. */
export async function addedSince(
  db: Db,
  by: string,
  { after, until }: { after: number; until: number },
): Promise<{ bytes: number; first: number }> {
  const { rows } = await sql<{ bytes: number; first: number }>`
    select coalesce(sum(size), 0) as bytes, coalesce(min(added_at), ${after}) as first
    from order_documents where added_by = ${by} and added_at > ${after} and added_at <= ${until}`.execute(db)
  return { bytes: Number(rows[0]?.bytes), first: Number(rows[0]?.first) }
}

export async function findDocument(db: Db, orderId: string, id: string): Promise<StoredDocument | undefined> {
  const row = await selectDocuments(db, orderId).where('id', '=', id).executeTakeFirst()
  return row && documentOf(row)
}

/** False if the pieces are no longer kept for it; some of them may be gone already. */
export async function insertDocument(
  trx: Trx,
  { id, name, mediaType, size, sha256 }: Document,
  { orderId, stamp }: Pick<Change, 'orderId' | 'stamp'>,
): Promise<boolean> {
  const kept = await trx
    .deleteFrom('document_leftovers')
    .where('id', '=', id)
    .where('due_at', '>', stamp.nowMilliseconds)
    .executeTakeFirstOrThrow()
  if (kept.numDeletedRows !== 1n) return false
  const about = { added_at: stamp.nowMilliseconds, added_by: stamp.by, erased_at: null }
  await trx
    .insertInto('order_documents')
    .values({ id, order_id: orderId, name, media_type: mediaType, size, sha256, ...about })
    .execute()
  return true
}

/** The pieces are deleted later, in batches. Undefined if the order has no such document. */
export async function deleteDocument(
  trx: Trx,
  { orderId, id, nowMilliseconds }: { orderId: string; id: string; nowMilliseconds: number },
): Promise<StoredDocument | undefined> {
  const row = await trx
    .deleteFrom('order_documents')
    .where('id', '=', id)
    .where('order_id', '=', orderId)
    .returning(columns)
    .executeTakeFirst()
  if (row?.erased_at === null) {
    await trx.insertInto('document_leftovers').values({ id, due_at: nowMilliseconds }).execute()
  }
  return row && documentOf(row)
}

/** The documents whose bytes were erased, in the order in which that happened. */
export function erasedDocuments(db: Db): Promise<{ id: string; orderId: string }[]> {
  return db
    .selectFrom('order_documents')
    .select(['id', 'order_id as orderId'])
    .where('erased_at', 'is not', null)
    .orderBy('erased_at')
    .execute()
}

/** Undefined if the order has no such document, or it is erased already. */
export async function deleteBytes(
  trx: Trx,
  { orderId, id, nowMilliseconds }: { orderId: string; id: string; nowMilliseconds: number },
): Promise<StoredDocument | undefined> {
  const row = await trx
    .updateTable('order_documents')
    .set('erased_at', nowMilliseconds)
    .where('id', '=', id)
    .where('order_id', '=', orderId)
    .where('erased_at', 'is', null)
    .returning(columns)
    .executeTakeFirst()
  if (row !== undefined) await trx.deleteFrom('document_pieces').where('document_id', '=', id).execute()
  return row && documentOf(row)
}

export async function insertPiece(trx: Trx, row: Database['document_pieces']): Promise<void> {
  await addPiece(trx, row)
}

const addPiece = prepared((trx, { document_id, piece, bytes }: Database['document_pieces']) =>
  trx.insertInto('document_pieces').values({ document_id, piece, bytes }),
)

export async function insertLeftover(trx: Trx, row: Database['document_leftovers']): Promise<void> {
  await trx.insertInto('document_leftovers').values(row).execute()
}

export async function findPiece(db: Db, document_id: string, piece: number): Promise<Uint8Array | undefined> {
  return (await selectPiece(db, { document_id, piece })).rows[0]?.bytes
}

const selectPiece = prepared((db, { document_id, piece }: Omit<Database['document_pieces'], 'bytes'>) =>
  db
    .selectFrom('document_pieces')
    .select('bytes')
    .where('document_id', '=', document_id)
    .where('piece', '=', piece),
)

/** Returns how many pieces were deleted. When none is left, their documents are forgotten. */
export async function deletePieces(trx: Trx, dueAt: number, limit: number): Promise<number> {
  const due = sql`select id from document_leftovers where due_at <= ${dueAt}`
  const { numAffectedRows } = await sql`delete from document_pieces where (document_id, piece) in (
    select document_id, piece from document_pieces where document_id in (${due}) limit ${limit})`.execute(trx)
  const deleted = Number(numAffectedRows)
  if (deleted < limit) {
    await sql`delete from document_leftovers where due_at <= ${dueAt}
      and not exists (select 1 from document_pieces where document_id = document_leftovers.id)`.execute(trx)
  }
  return deleted
}

/** Erasures that a database lost, because it went back to an earlier state. */

import type { Places } from '../audit/audit.ts'
import type { Stamp } from '../caller/stamp.ts'
import type { Db, Trx } from '../db/tables.ts'
import { eraseDocument } from '../orders/documents/documents.ts'
import { erasedDocuments, findDocument } from '../orders/documents/store.ts'
import { eraseCustomerOf, eraseFromLog, erasePerson } from './erasure.ts'
import { hasValue, lineAt, personOf } from './store.ts'

/** The facts in an event `erased` or `document-erased`. */
export interface Erasure {
  /** Its subject: `person-17`, `customer-413`, the sequence of a line, or the order of a document. */
  subject: string
  places: Places
  /** The orders of a customer. */
  orders: string[]
  /** The id of the document whose bytes were erased. */
  document: string | undefined
}

/** The erasures of a log, the oldest first. Those of several lines come as several. */
export async function erasuresOf(db: Db): Promise<Erasure[]> {
  const rows = await db
    .selectFrom('events')
    .select(['subject_id', 'data'])
    .where('kind', '=', 'erased')
    .orderBy('sequence')
    .execute()
  return rows.map(({ subject_id, data }) => erasureOf(subject_id, JSON.parse(data)))
}

export function erasureOf(
  subject: string,
  { erased = {}, orders = [], document }: { erased?: Places; orders?: string[]; document?: { id: string } },
): Erasure {
  return { subject, places: erased, orders, document: document?.id }
}

/** The id of the person, if the erasure is one. */
export const personIn = ({ subject }: Erasure) => Number(/^person-(\d+)$/.exec(subject)?.[1] ?? 0)
export const isOfCustomer = ({ subject }: Erasure) => subject.startsWith('customer-')
export const isOfLines = (erasure: Erasure) =>
  personIn(erasure) === 0 && !isOfCustomer(erasure) && erasure.document === undefined

/** An erasure, with what shows whether it fits another database. */
export interface FormerErasure extends Erasure {
  /** When the account of the person was made. */
  createdAt: number | undefined
  /** Of each line that was erased alone, by its sequence. */
  hashes: Map<number, string>
}

/** All that is read of a former database, before anything is done again: it may be damaged. */
export async function formerErasures(former: Db): Promise<FormerErasure[]> {
  const erasures: FormerErasure[] = []
  for (const erasure of await erasuresOf(former)) {
    const id = personIn(erasure)
    const createdAt = id > 0 ? (await personOf(former, id))?.createdAt : undefined
    const hashes = new Map<number, string>()
    if (isOfLines(erasure)) {
      for (const sequence of Object.values(erasure.places).flat()) {
        hashes.set(sequence, (await lineAt(former, sequence))?.hash ?? '')
      }
    }
    erasures.push({ ...erasure, createdAt, hashes })
  }
  const unnamed = { places: {}, orders: [], createdAt: undefined, hashes: new Map<number, string>() }
  const documents = await erasedDocuments(former)
  return [
    ...erasures,
    ...documents.map(({ id, orderId }) => ({ ...unnamed, subject: orderId, document: id })),
  ]
}

/**
 * Does the erasures again, as far as the restored database still has the names, also of the last
 * administrator. `stamp` makes one for each. A person counts as the same if the account was made at the same
 * instant.
 */
export async function eraseAgain(
  restored: Trx,
  erasures: readonly FormerErasure[],
  stamp: () => Stamp,
): Promise<number> {
  let count = 0
  for (const erasure of erasures) {
    const id = personIn(erasure)
    if (id > 0) {
      const is = await personOf(restored, id)
      if (is === undefined || is.createdAt !== erasure.createdAt) continue
      if ((await erasePerson(restored, { id, stamp: stamp(), mayBeLast: true })) !== null) count += 1
    } else if (isOfCustomer(erasure)) {
      const { subject: name, orders } = erasure
      const done = await eraseCustomerOf(restored, { name, orders, stamp: stamp() })
      if (done.values > 0) count += 1
    } else if (erasure.document !== undefined) {
      const place = { orderId: erasure.subject, id: erasure.document }
      if (!(await hasBytes(restored, place))) continue
      await eraseDocument(restored, { ...place, stamp: stamp() })
      count += 1
    } else {
      count += await eraseLines(restored, erasure, stamp)
    }
  }
  return count
}

async function eraseLines(
  restored: Trx,
  { places, hashes }: FormerErasure,
  stamp: () => Stamp,
): Promise<number> {
  let count = 0
  for (const [name, sequences] of Object.entries(places)) {
    for (const sequence of sequences) {
      if (!(await hasValue(restored, { sequence, name, hash: hashes.get(sequence) }))) continue
      await eraseFromLog(restored, { sequence, name, stamp: stamp() })
      count += 1
    }
  }
  return count
}

/** Whether the order has the document, with its bytes. */
export async function hasBytes(db: Db, { orderId, id }: { orderId: string; id: string }): Promise<boolean> {
  return (await findDocument(db, orderId, id))?.isErased === false
}

import { formatCount } from '../../ui/format.ts'
import type { OrderDocument, OrderSummary, VersionedOrder } from '../order.ts'

export type ShownDocument = Pick<OrderDocument, 'name' | 'sha256'>
/** The documents that the person saw or, in a list, how many there were. */
export type ShownDocuments = readonly ShownDocument[] | number

interface Shown extends Pick<OrderSummary, 'customer' | 'total' | 'status'> {
  /** Undefined if the service did not list them. */
  documents?: ShownDocuments | undefined
}

/** The facts that differ in another version, in the order in which the view shows them. */
export function changesOf(before: Shown, { order, documents }: Pick<VersionedOrder, 'order' | 'documents'>) {
  const facts = (['customer', 'total', 'status'] as const).filter((name) => before[name] !== order[name])
  return isSame(before.documents, documents) ? facts : [...facts, 'documents' as const]
}

/** A number other than 0 leaves open which documents there were. */
function isSame(before: ShownDocuments | undefined, now: readonly ShownDocument[]): boolean {
  if (before === undefined) return true
  if (typeof before === 'number') return before === 0 && now.length === 0
  const hashes = (documents: readonly ShownDocument[]) => String(documents.map(({ sha256 }) => sha256).sort())
  return hashes(before) === hashes(now)
}

export function countOf(documents: ShownDocuments = 0): number {
  return typeof documents === 'number' ? documents : documents.length
}

/** As "2 documents"; empty if there are none. */
export function countInWords(documents: ShownDocuments | undefined): string {
  const count = countOf(documents)
  if (count === 0) return ''
  return count === 1 ? '1 document' : `${formatCount(count)} documents`
}

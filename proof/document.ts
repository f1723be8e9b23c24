import type { LogLine } from './line.ts'
import { type Act, actIn, documentIn, endings, type OrderDocument } from './order.ts'

/** A file that an approval names: a document of an approved order. */
export interface ApprovedDocument {
  sha256: string
  orderId: string
  /** Null if the line that created the order is not there. */
  number: number | null
  /** Null if the line that added it is not there. */
  document: OrderDocument | null
  /** By whom, and whether with a passkey. */
  approvals: (Act & { isSigned: boolean })[]
}

type Found = Omit<ApprovedDocument, 'sha256' | 'document'> & { documents: OrderDocument[] }

/**
 * Looks for files among the documents of approved orders, by their SHA-256 in hex: a name says nothing. It
 * sees the lines of a receipt or of a log by sequence, which fit each other, and keeps facts of orders that
 * are not decided yet.
 */
export class DocumentSearch {
  readonly found: ApprovedDocument[] = []
  readonly #wanted: ReadonlySet<string>
  readonly #orders = new Map<string, Found>()

  constructor(wanted: Iterable<string>) {
    this.#wanted = new Set(wanted)
  }

  see(line: LogLine): void {
    const { kind, subject, data } = line
    if (subject.kind !== 'order' || this.#wanted.size === 0) return
    const order = this.#orders.get(subject.id) ?? {
      orderId: subject.id,
      ...{ number: null, documents: [], approvals: [] },
    }
    if (kind === 'created') this.#orders.set(subject.id, { ...order, number: data.number as number })
    if (kind === 'document-added') order.documents.push(documentIn(line))
    if (kind === 'approval-given' || kind === 'approved') {
      order.approvals.push({ ...actIn(line), isSigned: data.signature !== undefined })
    }
    if (kind === 'approved') this.#judge(order, data.documents)
    if (endings.includes(kind)) this.#orders.delete(subject.id)
  }

  #judge({ documents, ...order }: Found, approved: unknown): void {
    for (const sha256 of new Set(Array.isArray(approved) ? approved : [])) {
      if (!this.#wanted.has(sha256)) continue
      const document = documents.find((one) => one.sha256 === sha256) ?? null
      this.found.push({ sha256, document, ...order })
    }
  }
}

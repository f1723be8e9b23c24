import type { KeptSignature } from '../../../proof/decision.ts'
import type { LogLine } from '../../../proof/line.ts'
import { readOrder } from '../../../proof/order.ts'
import { eventsOfKinds, refuseContradicted, type StoredEvent, sealedLine } from '../../audit/audit.ts'
import type { AppDatabase } from '../../db/port.ts'
import type { Db } from '../../db/tables.ts'
import { Problem, retryAfter } from '../../problems/problems.ts'
import { transitions } from '../order.ts'
import type { OrderParts } from '../requests.ts'
import { findOrder } from '../store.ts'
import { approvalKinds } from './history.ts'
import { findReceipt } from './store.ts'

/** How many events may wait before the approval: as many as creates at full rate leave in half a second. */
const sealedForReceipt = 1_000

/**
 * The receipt of an order, signed. It is signed once and kept, so that two prints of it are the same text
 * (ADR 46), until a name in its lines is erased. Throws as `readSealedLines` does.
 */
export async function receiptOf(parts: OrderParts, id: string): Promise<string> {
  const { db, receipts } = parts
  const { lines, version } = await readSealedLines(db, id)
  const former = await findReceipt(db.read, id)
  if (former !== undefined && (await receipts.isCurrent(former, lines))) return former
  await refuseContradicted(db.read)
  await requireApproval(lines)
  const receipt = await receipts.sign(lines)
  const kept = await db.write('keepReceipt', { orderId: id, receipt, former: former ?? null, version })
  // An erasure has come between.
  return kept ?? receiptOf(parts, id)
}

/** A log that was changed by hand makes no receipt, and takes the place of none. */
async function requireApproval(lines: readonly LogLine[]): Promise<void> {
  await readOrder(lines).catch((cause: Error) => {
    throw new Problem('order-not-approved', { detail: `The log does not show it: ${cause.message}.`, cause })
  })
}

/**
 * The lines of the log that the receipt of an order is made of. Seals the approval first if it is not sealed
 * yet. Throws `order-not-found`, `order-not-approved`, `log-contradicted` or, while another instance seals,
 * `receipt-not-ready`.
 */
async function readSealedLines(db: AppDatabase, id: string): Promise<Source> {
  const source = await readLines(db.read, id)
  if (source !== undefined) return source
  await refuseContradicted(db.read)
  await db.write('sealEvents', { limit: sealedForReceipt })
  const sealed = await readLines(db.read, id)
  if (sealed === undefined) throw new Problem('receipt-not-ready', { headers: retryAfter(1_000) })
  return sealed
}

/** Undefined until the approval has a place in the log. */
async function readLines(db: Db, id: string): Promise<Source | undefined> {
  const order = await findOrder(db, id)
  if (order === undefined) throw new Problem('order-not-found')
  if (order.status !== transitions.approve.to) {
    throw new Problem('order-not-approved', { members: { currentStatus: order.status } })
  }
  const kinds = ['created', 'document-added', 'document-removed', ...approvalKinds]
  const events = (await eventsOfKinds(db, { kind: 'order', id }, kinds)).map((event) => ({
    ...event,
    facts: JSON.parse(event.data) as Facts,
  }))
  const approval = events.find(({ kind }) => kind === transitions.approve.event)
  if (approval === undefined) {
    throw new Problem('order-not-approved', { detail: 'The log has no approval of this order.' })
  }
  const removed = new Set(
    events.flatMap(({ kind, facts }) => (kind === 'document-removed' ? facts.document?.id : [])),
  )
  const shown = events.filter(({ kind, facts: { document } }) => {
    if (document === undefined) return true
    return (
      kind === 'document-added' &&
      !removed.has(document.id) &&
      approval.facts.documents?.includes(document.sha256)
    )
  })
  const enrolments = shown.map((event) => enrolmentOf(db, event, event.facts))
  const all = [...shown, ...(await Promise.all(enrolments))]
  const lines = all.flatMap((event) => (event === undefined ? [] : sealed(event)))
  if (approval.sequence === null) return undefined
  return { lines: lines.sort((one, other) => one.sequence - other.sequence), version: order.version }
}

interface Source {
  lines: LogLine[]
  /** The version of the order before its lines were read, which an erasure raises. */
  version: number
}

/** The members of `data` that say which lines belong to an approval. */
interface Facts {
  document?: { id: string; sha256: string }
  documents?: string[]
  signature?: KeptSignature
}

const sealed = (event: StoredEvent) => (event.sequence === null ? [] : sealedLine(event))

/** The event by which the account had got the passkey that signed. It may have got it again since. */
async function enrolmentOf(db: Db, { by_id: byId, sequence: signedAt }: StoredEvent, { signature }: Facts) {
  if (signature === undefined || signedAt === null) return undefined
  const events = await eventsOfKinds(db, { kind: 'account', id: String(byId) }, ['passkey-added'])
  return events.findLast(
    ({ sequence, data }) =>
      sequence !== null && sequence < signedAt && JSON.parse(data).passkey.id === signature.credential.id,
  )
}

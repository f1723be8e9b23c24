import type { Kysely } from '#kysely'
import { eventsOfKinds, headOfLog, type Receipt } from '../../audit/audit.ts'
import { formatInstant } from '../../clock.ts'
import type { AppDatabase } from '../../db/port.ts'
import type { Database } from '../../db/tables.ts'
import { Problem, retryAfter } from '../../http/problems.ts'
import { decimalOf, transitions } from '../order.ts'
import { findOrder } from '../store.ts'
import { approvalKinds, approvalOf } from './history.ts'

/** How many events may wait before the approval: as many as creates at full rate leave in half a second. */
const sealedForReceipt = 1_000

/**
 * The receipt of an order. Seals the approval first if it is not sealed yet. Throws
 * `order-not-found`, `order-not-approved` or, while another instance seals, `receipt-not-ready`.
 */
export async function makeReceipt(db: AppDatabase, id: string): Promise<Receipt> {
  const receipt = await readReceipt(db.read, id)
  if (receipt !== undefined) return receipt
  await db.write('sealEvents', { limit: sealedForReceipt })
  const sealed = await readReceipt(db.read, id)
  if (sealed === undefined) throw new Problem('receipt-not-ready', { headers: retryAfter(1_000) })
  return sealed
}

/** Undefined until the approval has a place in the log. */
async function readReceipt(db: Kysely<Database>, id: string): Promise<Receipt | undefined> {
  const order = await findOrder(db, id)
  if (order === undefined) throw new Problem('order-not-found')
  if (order.status !== transitions.approve.to) {
    throw new Problem('order-not-approved', { members: { currentStatus: order.status } })
  }
  const events = await eventsOfKinds(db, { kind: 'order', id }, ['created', ...approvalKinds])
  const event = events.find(({ kind }) => kind === transitions.approve.event)
  const creation = events.find(({ kind }) => kind === 'created')
  if (event === undefined) {
    throw new Problem('order-not-approved', { detail: 'The log has no approval of this order.' })
  }
  if (event.sequence === null || event.hash === null) return undefined
  return {
    order: {
      id,
      version: event.version ?? order.version,
      customer: order.customer,
      total: decimalOf(order.total),
      createdBy: order.createdBy,
      createdById: creation?.by_id ?? null,
      createdAtUtc: formatInstant(order.createdAtUtc),
    },
    approvals: events.filter(({ kind }) => kind !== 'created').map(approvalOf),
    event: { sequence: event.sequence, hash: event.hash },
    checkpoint: await headOfLog(db),
  }
}

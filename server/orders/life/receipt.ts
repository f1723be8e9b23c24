import type { KeptSignature } from '../../../proof/decision.ts'
import { accountIn, type Clear, valueIn } from '../../../proof/line.ts'
import { eventsOfKinds, type Receipt, refuseContradicted, sealedLine } from '../../audit/audit.ts'
import { formatInstant } from '../../clock.ts'
import type { AppDatabase } from '../../db/port.ts'
import type { Db, EventColumns } from '../../db/tables.ts'
import { Problem, retryAfter } from '../../problems/problems.ts'
import { decimalOf, transitions } from '../order.ts'
import type { OrderParts } from '../requests.ts'
import { findOrder } from '../store.ts'
import { approvalKinds, approvalOf } from './history.ts'
import { findReceipt } from './store.ts'

/** How many events may wait before the approval: as many as creates at full rate leave in half a second. */
const sealedForReceipt = 1_000

/** The order's part of a receipt. */
type Facts = Pick<Receipt, 'order' | 'approvals' | 'line'>

/**
 * The receipt of an order, signed. It is signed once and kept, so that two prints of it are the same text
 * (ADR 46). Throws as `makeReceipt` does.
 */
export async function receiptOf({ db, config, receipts }: OrderParts, id: string): Promise<string> {
  const kept = await findReceipt(db.read, id)
  if (kept !== undefined && (await receipts.isCurrent(kept))) return kept
  const { organisationName: organisation = null } = config
  const facts = await makeReceipt(db, id)
  const place = await receipts.place(facts.line.sequence)
  const receipt = await receipts.sign({ organisation, ...facts, ...place })
  return db.write('keepReceipt', { orderId: id, receipt, former: kept ?? null })
}

/**
 * The content of the receipt of an order. Seals the approval first if it is not sealed yet. Throws
 * `order-not-found`, `order-not-approved`, `log-contradicted` or, while another instance seals,
 * `receipt-not-ready`.
 */
async function makeReceipt(db: AppDatabase, id: string): Promise<Facts> {
  const receipt = await readReceipt(db.read, id)
  await refuseContradicted(db.read)
  if (receipt !== undefined) return receipt
  await db.write('sealEvents', { limit: sealedForReceipt })
  const sealed = await readReceipt(db.read, id)
  if (sealed === undefined) throw new Problem('receipt-not-ready', { headers: retryAfter(1_000) })
  return sealed
}

/** Undefined until the approval has a place in the log. */
async function readReceipt(db: Db, id: string): Promise<Facts | undefined> {
  const order = await findOrder(db, id)
  if (order === undefined) throw new Problem('order-not-found')
  if (order.status !== transitions.approve.to) {
    throw new Problem('order-not-approved', { members: { currentStatus: order.status } })
  }
  const events = await eventsOfKinds(db, { kind: 'order', id }, ['created', ...approvalKinds])
  const event = events.find(({ kind }) => kind === transitions.approve.event)
  const creation = events.find(({ kind }) => kind === 'created')
  const approvals = events.filter(({ kind }) => kind !== 'created')
  if (event === undefined) {
    throw new Problem('order-not-approved', { detail: 'The log has no approval of this order.' })
  }
  const { sequence, hash } = event
  if (sequence === null || hash === null) return undefined
  return {
    order: {
      id,
      number: order.number,
      version: event.version ?? order.version,
      customer: order.customer,
      total: decimalOf(order.total),
      createdBy: order.createdBy,
      createdById: creation?.by_id ?? null,
      createdAtUtc: formatInstant(order.createdAtUtc),
    },
    approvals: await Promise.all(approvals.map((approval) => signedApproval(db, approval))),
    line: sealedLine({ ...event, sequence, hash }),
  }
}

/** The approval, with the approver's signature and the passkey that made it, as far as the log has both. */
async function signedApproval(db: Db, event: Parameters<typeof approvalOf>[0]) {
  const { signed: _, byName: __, forName: ___, ...approval } = approvalOf(event)
  const { signature }: { signature?: KeptSignature } = JSON.parse(event.data)
  if (signature === undefined) return { ...approval, signature: null }
  const owner = { kind: 'account', id: String(event.by_id) } as const
  const added = (await eventsOfKinds(db, owner, ['passkey-added'])).map((each) => ({
    ...each,
    passkey: JSON.parse(each.data).passkey,
  }))
  const enrolment = added.findLast(({ passkey }) => passkey.id === signature.credential.id)
  // Without the salts nobody could check the names that it covers.
  const salts = saltsIn(event)
  if (enrolment === undefined || salts === undefined) return { ...approval, signature: null }
  const { publicKey } = enrolment.passkey
  const { sequence } = enrolment
  const clear = { clear: JSON.parse(enrolment.clear) }
  const name = valueIn(clear, 'passkeyName') ?? ''
  const { passkey: other, password, passwordSetBy } = enrolment.passkey.restedOn
  const setBy =
    password === 'set' ? (valueIn(clear, 'passwordSetBy') ?? accountIn(passwordSetBy)) : 'a mailed link'
  const restedOn =
    other === undefined ? { passwordSetBy: password === 'own' ? null : setBy } : { passkey: other }
  const passkey = { name, publicKey, addedAtUtc: formatInstant(enrolment.at), sequence, restedOn }
  return { ...approval, signature: { ...signature, salts, passkey } }
}

/** By name; undefined if something was erased. */
function saltsIn({ clear }: Pick<EventColumns, 'clear'>): Record<string, string> | undefined {
  const members: [string, Clear][] = Object.entries(JSON.parse(clear))
  const salts = members.flatMap(([name, { salt }]) => (salt === null ? [] : [[name, salt]]))
  return salts.length < members.length ? undefined : Object.fromEntries(salts)
}

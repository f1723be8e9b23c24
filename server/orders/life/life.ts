import type { Transaction } from '#kysely'
import type { Stamp, Words } from '../../audit/event.ts'
import { recordEvent } from '../../audit/events.ts'
import type { Database } from '../../db/tables.ts'
import { type IdempotencyInput, type Once, once } from '../../http/idempotency.ts'
import { versionTag } from '../../http/preconditions.ts'
import { Problem, type ProblemCode } from '../../http/problems.ts'
import { orderEvent } from '../event.ts'
import { nameOfStatus, orderStatus, type TransitionName, transitions } from '../order.ts'
import { findDecision, giveApproval, lockOrder, moveOrder, type OrderDecision } from './store.ts'

/** Who changes an order: a service may be kept from approving. */
export interface Actor extends Stamp {
  isService: boolean
}

export interface TransitionInput {
  id: string
  /** Row versions that If-Match accepts; null for any. */
  acceptedVersions: number[] | null
  actor: Actor
  /** The reason, where one is given. */
  words: Words | null
  idempotency: IdempotencyInput | null
}

type Trx = Transaction<Database>
type Transitioned = Promise<Once<{ version: number }>>

/**
 * Gives one approval, by one conditional UPDATE: of any number of simultaneous ones exactly as many succeed as the order
 * needs, each of another person. The last approves the order; before, it stays pending. Throws what `refusalOf` names.
 */
export function approveOrder(trx: Trx, input: TransitionInput): Transitioned {
  return once(trx, input.idempotency, async () => {
    const { actor } = input
    const order = await giveApproval(trx, input)
    if (order === undefined) throw await refusal(trx, 'approve', input)
    const isLast = order.status === transitions.approve.to
    await recordEvent(trx, actor, orderEvent(isLast ? transitions.approve.event : 'approval-given', order))
    return { version: order.version }
  })
}

export function rejectOrder(trx: Trx, input: TransitionInput): Transitioned {
  return move(trx, 'reject', input)
}

/** Only who created it. */
export function withdrawOrder(trx: Trx, input: TransitionInput): Transitioned {
  return move(trx, 'withdraw', input)
}

/**
 * Ends a pending order by one conditional UPDATE, so that exactly one of any number of simultaneous moves succeeds.
 * Throws what `refusalOf` names.
 */
function move(trx: Trx, name: 'reject' | 'withdraw', input: TransitionInput): Transitioned {
  return once(trx, input.idempotency, async () => {
    const order = await moveOrder(trx, name, input)
    if (order === undefined) throw await refusal(trx, name, input)
    await recordEvent(trx, input.actor, orderEvent(transitions[name].event, order, input.words))
    return { version: order.version }
  })
}

/** The row is read only now, to name the reason for which nothing was updated. */
async function refusal(trx: Trx, name: TransitionName, input: TransitionInput): Promise<Problem> {
  const { id, actor, acceptedVersions } = input
  const order = await findDecision(trx, id, actor.byId)
  if (order === undefined) return new Problem('order-not-found')
  const headers = { etag: versionTag(order.version) }
  if (acceptedVersions !== null && !acceptedVersions.includes(order.version)) {
    return new Problem('precondition-failed', { headers })
  }
  const code = refusalOf(name, order, actor)
  if (code === undefined) return new Problem('concurrency-conflict', { headers })
  if (code !== 'order-not-pending') return new Problem(code, { headers })
  const done = nameOfStatus(transitions[name].to).toLowerCase()
  return new Problem(code, {
    detail: `Only a pending order can be ${done}.`,
    members: { currentStatus: order.status },
    headers,
  })
}

/**
 * Why this person may not do it to this order now; undefined if there is no reason. The conditional UPDATEs of store.ts
 * decide by the same conditions.
 */
export function refusalOf(
  name: TransitionName,
  order: OrderDecision,
  { byId, isService }: Pick<Actor, 'byId' | 'isService'>,
): ProblemCode | undefined {
  const isCreator = order.createdById !== null && order.createdById === byId
  if (name === 'withdraw' && !isCreator) return 'not-the-creator'
  if (order.status !== orderStatus.Pending) return 'order-not-pending'
  if (name !== 'approve') return undefined
  if (isService && !order.serviceApproval) return 'service-approval'
  if (isCreator && !order.selfApproval) return 'self-approval'
  return order.hasApproved ? 'already-approved-by-you' : undefined
}

export interface NoteInput {
  id: string
  stamp: Stamp
  words: Words
  idempotency: IdempotencyInput | null
}

/** Adds a note in any state; the order itself stays as it is. Throws `order-not-found`. */
export function addNote(
  trx: Trx,
  { id, stamp, words, idempotency }: NoteInput,
): Promise<Once<{ id: string }>> {
  return once(trx, idempotency, async () => {
    const order = await lockOrder(trx, id)
    if (order === undefined) throw new Problem('order-not-found')
    await recordEvent(trx, stamp, orderEvent('noted', order, words))
    return { id: stamp.eventId }
  })
}

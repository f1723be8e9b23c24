/** Changes of an order after its creation: each is one conditional UPDATE together with its event. */
import type { Transaction } from '#kysely'
import { recordEvent, type Stamp, type Words } from '../../audit/audit.ts'
import type { Database } from '../../db/tables.ts'
import { type IdempotencyInput, type Once, once } from '../../http/idempotency.ts'
import { requireVersion, versionTag } from '../../http/preconditions.ts'
import { Problem, type ProblemCode } from '../../http/problems.ts'
import { orderEvent } from '../event.ts'
import {
  type LeftStatus,
  nameOfStatus,
  orderStatus,
  type Transition,
  type TransitionName,
  transitions,
} from '../order.ts'
import { changeStatus, findDecision, lockOrder, type OrderDecision } from './store.ts'

/** Who changes an order: the policy may keep services from approving it. */
interface Actor extends Stamp {
  byId: number
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

/**
 * Gives one approval. Any number of simultaneous requests gives exactly as many approvals as the order needs,
 * each of another caller. The last one approves the order; until then it stays pending. Throws what
 * `refusalOf` names.
 */
export const approveOrder = operationOf('approve')

/** If several requests end an order at the same time, one succeeds. Throws what `refusalOf` names. */
export const rejectOrder = operationOf('reject')

/** Like `rejectOrder`, but only for the creator. */
export const withdrawOrder = operationOf('withdraw')

function operationOf(name: TransitionName) {
  const { to, event } = transitions[name]
  return (trx: Trx, input: TransitionInput): Promise<Once<{ version: number }>> =>
    once(trx, input.idempotency, async () => {
      const order = await changeStatus(trx, name, input)
      if (order === undefined) throw await refusal(trx, name, input)
      const kind = order.status === to ? event : 'approval-given'
      await recordEvent(trx, input.actor, orderEvent(kind, order, input.words))
      return { version: order.version }
    })
}

/** The row is read only now, to name the reason why nothing was updated. */
async function refusal(trx: Trx, name: TransitionName, input: TransitionInput): Promise<Problem> {
  const { id, actor, acceptedVersions } = input
  const order = await findDecision(trx, id, actor.byId)
  if (order === undefined) return new Problem('order-not-found')
  requireVersion(acceptedVersions, order.version)
  const { from, to } = transitions[name]
  const code = refusalOf(name, order, actor) ?? 'concurrency-conflict'
  const isState = code === otherState[from[0]]
  const [states, done] = [from.map(nameOfStatus).join(' or '), nameOfStatus(to)]
  return new Problem(code, {
    headers: { etag: versionTag(order.version) },
    ...(isState && {
      detail: `Only an order that is ${states.toLowerCase()} can be ${done.toLowerCase()}.`,
      members: { currentStatus: order.status },
    }),
  })
}

/** The answer for an order that is not in the state which a transition leaves. */
const otherState: Record<LeftStatus, ProblemCode> = { [orderStatus.Pending]: 'order-not-pending' }

/** Every reason why a transition is refused. */
export function refusalsOf(name: TransitionName): ProblemCode[] {
  const { from, by } = transitions[name]
  const states = from.map((status) => otherState[status])
  return ['order-not-found', ...states, ...notBy[by], 'concurrency-conflict', 'precondition-failed']
}

/** The codes that refuse a caller because of their part in the order. */
const notBy: Record<Transition['by'], readonly ProblemCode[]> = {
  anyone: [],
  creator: ['not-the-creator'],
  approver: ['self-approval', 'service-approval', 'already-approved-by-you'],
}

/** Why the caller may not make the transition now; undefined if the caller may. */
export function refusalOf(
  name: TransitionName,
  order: OrderDecision,
  { byId, isService }: Pick<Actor, 'byId' | 'isService'>,
): ProblemCode | undefined {
  const { from, by } = transitions[name]
  const isCreator = order.createdById === byId
  if (by === 'creator' && !isCreator) return 'not-the-creator'
  if (!from.some((status) => status === order.status)) return otherState[from[0]]
  if (by !== 'approver') return undefined
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

/** Adds a note in any state; the order does not change. Throws `order-not-found`. */
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

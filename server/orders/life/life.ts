/** Changes of an order after its creation: each is one conditional UPDATE together with its event. */
import { countEventsOfKind, eventRow, insertEvent, recordEvent } from '../../audit/audit.ts'
import type { Stamp } from '../../caller/stamp.ts'
import { authoritiesOf, neededOfDeputies, requireStanding } from '../../caller/standing.ts'
import type { Trx } from '../../db/tables.ts'
import { type IdempotencyInput, type Once, once } from '../../http/idempotency.ts'
import { type AcceptedVersions, requireVersion, versionTag } from '../../http/preconditions.ts'
import { Problem } from '../../problems/problems.ts'
import { inEach, otherState } from '../conditions.ts'
import { type Decided, orderEvent } from '../event.ts'
import { isDecision, nameOfStatus, type TransitionName, transitions } from '../order.ts'
import { documentHashes, lockOrder } from '../store.ts'
import {
  faultFor,
  requireHashes,
  type Signature,
  type Signed,
  signatureInvalid,
  takeSignature,
} from './signature.ts'
import { changeStatus, type Decision, findDecision } from './store.ts'

/** The caller who changes an order. The policy may keep services from approving it. */
interface Actor extends Stamp {
  byId: number
  isService: boolean
  /** The credential does not allow it in the caller's own right. */
  asDeputy?: boolean
}

export interface TransitionInput {
  id: string
  acceptedVersions: AcceptedVersions
  actor: Actor
  /** The reason, if one is given. */
  text: string | null
  signature: Signature | null
  idempotency: IdempotencyInput | null
}

/**
 * Gives one approval. However many requests arrive at once, the order gets exactly as many approvals as it
 * needs, each from a different caller. The last one approves the order; until then it stays pending. Throws
 * the problems that `refusalsOf` names.
 */
export const approveOrder = operationOf('approve')

/**
 * If several requests end an order at the same time, one succeeds. Throws the problems that `refusalsOf`
 * names.
 */
export const rejectOrder = operationOf('reject')

/** Like `rejectOrder`, but only for the creator. */
export const withdrawOrder = operationOf('withdraw')

function operationOf(name: TransitionName) {
  const { to, event } = transitions[name]
  return (trx: Trx, input: TransitionInput): Promise<Once<{ version: number }>> => {
    const [version, ...others] = input.acceptedVersions ?? []
    const known = version === undefined || others.length > 0 ? undefined : { version: version + 1 }
    const effect = async () => {
      const own = input.actor.asDeputy ? undefined : await change(trx, name, input, input.actor)
      const { order, actor, signature } = own ?? (await changeForAnother(trx, name, input))
      const kind = order.status === to ? event : 'approval-given'
      const decided = isDecision(name) ? { documents: await documentsBefore(trx, order) } : {}
      const signed = signature && (await takeSignature(trx, signature, { ...order, ...decided }, actor))
      const more = { ...(order.role && { role: order.role }), ...(signed && { signature: signed.kept }) }
      const happened = orderEvent(kind, order, input.text, { ...decided, ...more })
      const row = eventRow(actor, { ...happened, salts: signed?.salts ?? {} })
      if (signed !== null) requireHashes(signed.statement, row)
      await insertEvent(trx, row)
      return { version: order.version }
    }
    return once(trx, input.idempotency, effect, known)
  }
}

/** The row of the order is locked, so nobody changes its documents meanwhile. */
async function documentsBefore(trx: Trx, { id, version }: Decided): Promise<string[]> {
  return (await documentHashes(trx, [{ id, version: version - 1 }])).get(id) ?? []
}

/** Undefined if this right does not suffice. */
async function change(trx: Trx, name: TransitionName, input: TransitionInput, actor: Actor) {
  const { signature } = input
  if (signature !== null && faultFor(signature, actor) !== undefined) {
    const decision = await findDecision(trx, input.id, name, { ...actor, isSigned: true })
    // The statement does not fit the right that is used: the first that suffices.
    if (decision?.refusal === undefined) throw await refusal(trx, name, input, actor)
    return undefined
  }
  const order = await changeStatus(trx, name, { ...input, actor: { ...actor, isSigned: signature !== null } })
  return order && { order, actor, signature: signature as Signed | null }
}

/**
 * Tries the right of each absent person, after the caller's own was refused. If all are refused, the problem
 * is that of the caller's own right, if they have one.
 */
async function changeForAnother(trx: Trx, name: TransitionName, input: TransitionInput) {
  const { actor } = input
  const { permission } = transitions[name]
  const actors = isDecision(name)
    ? inEach(actor, await authoritiesOf(trx, actor, permission, !actor.asDeputy))
    : []
  for (const deputy of actors.filter((each) => each !== actor)) {
    const changed = await change(trx, name, input, deputy)
    if (changed !== undefined) return changed
  }
  throw await refusal(trx, name, input, actors[0] ?? actor)
}

/** The row is read only now, to name the reason why nothing was updated. */
async function refusal(
  trx: Trx,
  name: TransitionName,
  input: TransitionInput,
  actor: Actor,
): Promise<Problem> {
  const { id, acceptedVersions, signature } = input
  const { from, to, permission } = transitions[name]
  await requireStanding(trx, actor, actor.for === undefined ? permission : neededOfDeputies)
  const order = await findDecision(trx, id, name, { ...actor, isSigned: signature !== null })
  if (order === undefined) return new Problem('order-not-found')
  requireVersion(acceptedVersions, order.version)
  const headers = { etag: versionTag(order.version) }
  const fault = signature && order.refusal === undefined ? faultFor(signature, actor) : undefined
  if (fault !== undefined) return signatureInvalid(fault)
  const code = order.refusal ?? 'concurrency-conflict'
  const { role } = order.rules
  const [states, done] = [from.map(nameOfStatus).join(' or '), nameOfStatus(to)]
  return new Problem(code, {
    headers,
    ...(code === 'role-needed' && { detail: `One approver must hold the role ${role}.`, members: { role } }),
    ...(code === otherState[from[0]] && {
      detail: `Only an order that is ${states.toLowerCase()} can be ${done.toLowerCase()}.${ownChange(order, actor)}`,
      members: { currentStatus: order.status },
    }),
  })
}

/** For a caller who did not get the answer to an earlier request. */
function ownChange({ status, modifiedBy }: Decision, { by }: Actor): string {
  return modifiedBy === by ? ` You are the one who ${nameOfStatus(status).toLowerCase()} it.` : ''
}

export interface NoteInput {
  id: string
  stamp: Stamp
  text: string
  idempotency: IdempotencyInput | null
}

/** How many notes an order can have, so that no caller fills its history. */
export const notesLimit = 1_000

/**
 * Adds a note in any state; the order does not change, but its row is locked, so that notes are counted one
 * after the other. Throws `order-not-found`, `too-many-notes`.
 */
export function addNote(
  trx: Trx,
  { id, stamp, text, idempotency }: NoteInput,
): Promise<Once<{ id: string }>> {
  return once(trx, idempotency, async () => {
    const order = await lockOrder(trx, id)
    if (order === undefined) throw new Problem('order-not-found')
    const event = orderEvent('noted', order, text)
    if ((await countEventsOfKind(trx, event.subject, event.kind)) >= notesLimit) {
      throw new Problem('too-many-notes')
    }
    await recordEvent(trx, stamp, event)
    return { id: stamp.eventId }
  })
}

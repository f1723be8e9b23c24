import { signDecisions } from '../../../../client/src/signing.ts'
import { isolated } from '../../../../rules/isolate.ts'
import { client } from '../../api/client.ts'
import { ProblemError, problemOf } from '../../api/problem.ts'
import { queries } from '../../api/queries.ts'
import { knowsPasskeys, touchOver } from '../../auth/passkeys.ts'
import { currentSession } from '../../auth/session.ts'
import { formatOrders, formatTotal } from '../../ui/format.ts'
import { numberOf } from '../identity.ts'
import type { OrderApprovals, VersionedOrder } from '../order.ts'
import { orderQuery } from '../queries.ts'
import type { ActionName } from '../states.ts'
import type { Subject } from './decisions.ts'

/** By the id of the order. */
export type Signatures = ReadonlyMap<string, string>

type Signable = 'approve' | 'reject'
const isSignable = (action: ActionName): action is Signable => action === 'approve' || action === 'reject'

/** The order as it is on the screen, for a decision about exactly this version. */
export function subjectOf(
  { order, etag }: VersionedOrder,
  approvals: Pick<OrderApprovals, 'passkey'> | undefined,
): Subject {
  return { ...order, etag, ...(approvals?.passkey && { signedVersion: versionOf(etag) }) }
}

/** The version that an entity tag names. */
export function versionOf(etag: string | undefined): number | undefined {
  const [, version] = /^(?:W\/)?"(\d+)"$/.exec(etag ?? '') ?? []
  return version === undefined ? undefined : Number(version)
}

/**
 * Asks for one touch of a passkey that signs these decisions. An order that the service would refuse has no
 * signature: its decision is then refused with the reason. A person without a passkey may still reject.
 * Rejects when the touch is cancelled (`touchFailure` says how), or a single order is refused.
 */
export async function sign(
  action: ActionName,
  subjects: readonly Subject[],
  signal: AbortSignal,
): Promise<Signatures> {
  const session = currentSession()
  if (!isSignable(action) || session.kind !== 'signed-in') return new Map()
  if (!knowsPasskeys && action === 'approve') throw new DOMException('', 'NotSupportedError')
  let signable = subjects
  while (signable.length > 0) {
    const orders = signable.map(({ id, signedVersion: version = 1, customer, total, reason = null }) => {
      return { id, version, customer, total, reason }
    })
    try {
      const data = await prepare(action, signable, signal)
      const meant = { issuer: location.origin, action, byId: session.user.id, orders }
      return await signDecisions(data, meant, (options) => touchOver(options, { signal }))
    } catch (failure) {
      if (action === 'reject' && problemOf(failure, 'passkey-needed')) break
      const refused = signable[placeOf(failure) ?? signable.length]
      if (refused === undefined || subjects.length === 1) throw failure
      const changed = problemOf(failure, 'precondition-failed') && (await asItIsNow(refused, signal))
      signable = signable.flatMap((each) => (each === refused ? (changed ?? []) : each))
    }
  }
  return new Map()
}

async function prepare(action: Signable, subjects: readonly Subject[], signal: AbortSignal) {
  const orders = subjects.map(({ id, signedVersion: version = 1 }) => ({ id, version }))
  const reason = subjects[0]?.reason
  const wanted = { action, orders, ...(reason !== undefined && { reason }) }
  return (await client.orders.prepareDecisions(wanted, { signal })).data
}

/** The index of the order that the service refuses. */
function placeOf(failure: unknown): number | undefined {
  const pointer = failure instanceof ProblemError ? failure.problem.errors?.[0]?.pointer : undefined
  const [, index] = /^#\/orders\/(\d+)$/.exec(pointer ?? '') ?? []
  return index === undefined ? undefined : Number(index)
}

/** Several orders are decided in whatever version they have: customer and total never change. */
async function asItIsNow(subject: Subject, signal: AbortSignal): Promise<Subject | undefined> {
  signal.throwIfAborted()
  const { etag } = await queries.fetchQuery({ ...orderQuery(subject.id), staleTime: 0, retry: false })
  const signedVersion = versionOf(etag)
  return signedVersion === subject.signedVersion ? undefined : { ...subject, signedVersion }
}

/** What one touch signs, as in "Your passkey signs: approve #1042, Acme, 1,250.50." */
export function signedInWords(action: ActionName, subjects: readonly Subject[]): string | undefined {
  const [first, ...others] = subjects.filter(({ signedVersion }) => signedVersion !== undefined)
  if (first === undefined || !isSignable(action)) return undefined
  if (others.length > 0) {
    return `Your passkey signs with one touch: ${action} ${formatOrders(others.length + 1)}.`
  }
  const parts = [numberOf(first), isolated(first.customer), formatTotal(first.total)]
  return `Your passkey signs: ${action} ${parts.filter(Boolean).join(', ')}.`
}

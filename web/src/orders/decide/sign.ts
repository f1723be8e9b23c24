import { signDecisions } from '../../../../client/src/signing.ts'
import { isolated } from '../../../../rules/isolate.ts'
import { client } from '../../api/client.ts'
import { ProblemError, problemOf } from '../../api/problem.ts'
import { queries } from '../../api/queries.ts'
import { knowsPasskeys, touchOver } from '../../auth/passkeys.ts'
import { currentSession } from '../../auth/session.ts'
import { formatOrders, formatTotal, inSeries } from '../../ui/format.ts'
import { numberOf } from '../identity.ts'
import { tagOf, type VersionedOrder, versionOf } from '../order.ts'
import { orderQuery } from '../queries.ts'
import type { ActionName } from '../states.ts'
import { changesOf, countInWords, countOf } from './changes.ts'
import type { Signatures, Subject } from './decisions.ts'

type Signable = 'approve' | 'reject'
const isSignable = (action: ActionName): action is Signable => action === 'approve' || action === 'reject'

/** The order as it is on the screen, for a decision about exactly this version. */
export function subjectOf(
  { order, etag, documents }: VersionedOrder,
  { isSigned }: { isSigned: boolean | undefined },
): Subject {
  return { ...order, etag, documents, ...(isSigned && { signedVersion: versionOf(etag) }) }
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
    const orders = signable.map(
      ({ id, signedVersion: version = 1, customer, total, documents, reason = null }) => {
        const shown = typeof documents === 'object' ? documents.map(({ sha256 }) => sha256) : documents
        return { id, version, customer, total, reason, ...(shown !== undefined && { documents: shown }) }
      },
    )
    try {
      const data = await prepare(action, signable, signal)
      const meant = { issuer: location.origin, action, byId: session.user.id, orders }
      const signed = await signDecisions(data, meant, (options) => touchOver(options, { signal }))
      return new Map(
        orders.map(({ id, version }) => [id, { signature: signed.get(id) ?? '', etag: tagOf(version) }]),
      )
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

/** The same order in its new version; undefined if something that was shown is different. */
async function asItIsNow(subject: Subject, signal: AbortSignal): Promise<Subject | undefined> {
  signal.throwIfAborted()
  const now = await queries.fetchQuery({ ...orderQuery(subject.id), staleTime: 0, retry: false })
  const signedVersion = versionOf(now.etag)
  const isSame = signedVersion !== subject.signedVersion && changesOf(subject, now).length === 0
  return isSame ? { ...subject, signedVersion } : undefined
}

/** What one touch signs, as in "Your passkey signs: approve #1042, Acme, 1,250.50, with Offer.pdf." */
export function signedInWords(action: ActionName, subjects: readonly Subject[]): string | undefined {
  const [first, ...others] = subjects.filter(({ signedVersion }) => signedVersion !== undefined)
  if (first === undefined || !isSignable(action)) return undefined
  if (others.length > 0) {
    const documents = countInWords(sumOf([first, ...others].map((subject) => countOf(subject.documents))))
    const parts = [formatOrders(others.length + 1), documents && `with ${documents}`]
    return `Your passkey signs with one touch: ${action} ${parts.filter(Boolean).join(' ')}.`
  }
  const { documents = [] } = first
  const named =
    typeof documents === 'number'
      ? countInWords(documents)
      : inSeries(documents.map(({ name }) => isolated(name)))
  const parts = [
    numberOf(first),
    isolated(first.customer),
    formatTotal(first.total),
    named && `with ${named}`,
  ]
  return `Your passkey signs: ${action} ${parts.filter(Boolean).join(', ')}.`
}

const sumOf = (counts: readonly number[]) => counts.reduce((sum, count) => sum + count, 0)

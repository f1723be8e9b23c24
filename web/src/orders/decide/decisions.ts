import { isPassing, ProblemError, problemOf } from '../../api/problem.ts'
import { Unsendable } from '../../ui/describe.ts'
import type { Identity } from '../identity.ts'
import type { OrderSummary, VersionedOrder } from '../order.ts'
import {
  failureOf,
  isConflict,
  type NotDone,
  type OnItsWay,
  Outbox,
  type Snapshot as SnapshotOf,
  type Step as StepOf,
  type Try,
  unsentUnder,
} from '../outbox.ts'
import { changesOf, type ShownDocuments } from './changes.ts'
import type { Decision } from './queries.ts'

/**
 * The order as shown when the person was asked. The decision applies to exactly the version in `etag`, or to
 * a later one in which nothing that was shown is different. Without it, nothing is decided.
 */
export interface Subject extends Identity {
  status: OrderSummary['status']
  documents?: ShownDocuments | undefined
  etag?: string | undefined
  /** The reason, for an action that takes one. */
  reason?: string
  /** The version that a passkey has to sign; undefined if none has to. */
  signedVersion?: number | undefined
  signature?: string
}

/** By the id of the order: what a touch signed, and the version that it is about. */
export type Signatures = ReadonlyMap<string, Pick<Subject, 'signature' | 'etag'>>

export type Outcome =
  /** `missing`: how many more people have to approve the order; undefined if that could not be read. */
  | { kind: 'decided'; missing: number | undefined }
  /** `now` is there when someone else was faster and the order could be read. */
  | (NotDone & { now?: VersionedOrder })

export type Progress = OnItsWay | Outcome
export type Step = Pick<StepOf<Subject, Outcome>, 'subject' | 'progress'>
export type Snapshot = Pick<SnapshotOf<Subject, Outcome>, 'phase'> & { steps: readonly Step[] }

export interface Service {
  decide(decision: Decision): Promise<void>
  /** After a decision: how many more people have to decide the same before it counts, if that is known. */
  missing(id: string): Promise<number | undefined>
  read(id: string): Promise<VersionedOrder>
}

export type Decisions = ReturnType<typeof prepareDecisions>

/** Decisions on some orders, three at a time. When the session or the permission ends, the rest stops. */
export function prepareDecisions(subjects: readonly Subject[], service: Service) {
  const outbox = new Outbox<Subject, Outcome>({
    noun: 'decision',
    isPatient: false,
    atATime: 3,
    send: (step, tryIt) => decideOne(step, service, tryIt),
    stopsAt: (end) => problemOf(failureOf(end), 'permission-denied', 'authentication-required') !== undefined,
  })
  outbox.load(subjects.map((subject) => ({ subject: { ...subject }, sent: unsentUnder() })))
  const { snapshot } = outbox

  return {
    snapshot,
    /** The decisions that a passkey has to sign before the next start. */
    toSign(): Subject[] {
      const { steps } = snapshot.get()
      const isToSign = ({ subject: { signedVersion, signature }, progress }: Step) =>
        signedVersion !== undefined &&
        mayTryAgain(progress) &&
        (signature === undefined || isSignatureRefused(progress))
      return steps.filter(isToSign).map(({ subject }) => subject)
    },
    /**
     * Resolves once nothing is in progress, and never throws. Another call retries every decision without a
     * final result. `signatures` are those of `toSign`, by id.
     */
    async start(signatures?: Signatures): Promise<void> {
      const { phase, steps } = snapshot.get()
      if (phase === 'running' || phase === 'stopping') return
      for (const { subject, sent } of steps) {
        const signed = signatures?.get(subject.id)
        if (signed === undefined) continue
        // Another request, and so under another key.
        Object.assign(subject, signed)
        sent.idempotencyKey = crypto.randomUUID()
      }
      outbox.send(({ progress }) => mayTryAgain(progress))
      await outbox.rest()
    },
    stop: () => outbox.stop(),
  }
}

const withoutVersion =
  'The version of the order is missing, probably because a proxy removes the ETag header: ask your administrator.'

/**
 * Decides on one order, and reads how that left it. If only the version is another one, such as after
 * someone's approval, the decision is sent again with the new tag, unless a passkey signed the old one. Never
 * throws.
 */
export async function decideOne(
  { subject, sent }: Pick<StepOf<Subject, Outcome>, 'subject' | 'sent'>,
  service: Service,
  tryIt: Try,
): Promise<Outcome | { kind: 'waiting' }> {
  const { idempotencyKey } = sent
  const { etag } = subject
  if (etag === undefined) return { kind: 'refused', failure: new Unsendable(withoutVersion) }
  const answer = await tryIt(() => service.decide({ ...subject, etag, idempotencyKey }), sent)
  if (answer.kind === 'done') {
    const counting = await tryIt(() => service.missing(subject.id))
    return { kind: 'decided', missing: counting.kind === 'done' ? counting.value : undefined }
  }
  if (answer.kind !== 'refused' || !isConflict(answer.failure)) return answer
  const reading = await tryIt(() => service.read(subject.id))
  if (reading.kind === 'done') {
    const now = reading.value
    const isOutdated = problemOf(answer.failure, 'precondition-failed') && now.etag !== subject.etag
    const mayFollow = isOutdated && subject.signature === undefined && changesOf(subject, now).length === 0
    return mayFollow
      ? decideOne({ subject: { ...subject, etag: now.etag }, sent }, service, tryIt)
      : { ...answer, now }
  }
  const isGone = problemOf(failureOf(reading), 'order-not-found') !== undefined
  return isGone ? { ...answer, failure: failureOf(reading) } : answer
}

/** Whether another try may succeed even if nobody changes anything. */
export function isWorthTrying(progress: Progress): boolean {
  if (progress.kind === 'waiting') return true
  if (progress.kind !== 'refused' && progress.kind !== 'unclear') return false
  const { failure } = progress
  if (failure instanceof Unsendable) return false
  return isPassing(failure) || !(failure instanceof ProblemError) || failure.problem.status >= 500
}

/** The order has changed, or five minutes have passed: nothing happened, and another touch may succeed. */
const isSignatureRefused = (progress: Progress) =>
  problemOf(failureOf(progress), 'decision-signature-invalid') !== undefined

/** Whether another try of the person may succeed. */
export const mayTryAgain = (progress: Progress) => isWorthTrying(progress) || isSignatureRefused(progress)

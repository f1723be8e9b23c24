import { isPassing, ProblemError, problemOf } from '../../api/problem.ts'
import type { Sent } from '../../ui/draft.ts'
import { type Observable, observable } from '../../ui/observable.ts'
import type { Identity } from '../identity.ts'
import type { OrderSummary, VersionedOrder } from '../order.ts'
import { untilAnswered } from '../retry.ts'
import type { Decision } from './queries.ts'

/**
 * What the person was shown when asked. With `etag`, the decision applies to exactly that version or to none.
 */
export interface Subject extends Identity {
  status: OrderSummary['status']
  etag?: string | undefined
  /** The reason, for an action that takes one. */
  reason?: string
  /** The version that a passkey has to sign; undefined if none has to. */
  signedVersion?: number | undefined
}

export type Progress =
  /** Not begun, or stopped when it was certain that nothing had happened. */
  | { kind: 'waiting' }
  | { kind: 'sending' }
  | { kind: 'retrying'; failure: unknown }
  /** `missing`: how many more people have to approve the order; undefined if that could not be read. */
  | { kind: 'decided'; missing: number | undefined }
  /** `now` is there when someone else was faster and the order could be read. */
  | { kind: 'refused'; failure: unknown; now?: VersionedOrder }
  /** It may have taken effect, but no answer says so. `failure` is the last failure. */
  | { kind: 'unclear'; failure: unknown }

export interface Step {
  readonly subject: Subject
  readonly progress: Progress
}

export interface Snapshot {
  /** `stopping`: nothing new begins, but sent requests still get their answers. */
  readonly phase: 'asking' | 'running' | 'stopping' | 'done'
  readonly steps: readonly Step[]
}

type Request = Decision & Sent

export interface Service {
  newKey(): string
  decide(decision: Decision): Promise<void>
  /** After a decision: how many more people have to decide the same before it counts, if that is known. */
  missing(id: string): Promise<number | undefined>
  read(id: string): Promise<VersionedOrder>
  /** Ends early when the connection is back or the signal aborts. */
  pause(milliseconds: number, signal: AbortSignal): Promise<void>
}

export interface Decisions {
  snapshot: Pick<Observable<Snapshot>, 'get' | 'use'>
  /** The decisions that a passkey has to sign before the next start. */
  toSign(): readonly Subject[]
  /**
   * Resolves once nothing is in progress, and never throws. Another call retries every decision without a
   * final result. `signatures` are those of `toSign`, by id.
   */
  start(signatures?: ReadonlyMap<string, string>): Promise<void>
  /**
   * Begins nothing more and tries nothing again. A request that was sent cannot be undone: its answer is
   * awaited.
   */
  stop(): void
}

const atATime = 3

/**
 * Decides on some orders, each under one idempotency key: however often a decision is tried, it counts once.
 * Passing failures are retried until they pass, or until the person stops. It is not part of a view, so a
 * view that goes away loses no result. When the session or the permission ends, the rest stops.
 */
export function prepareDecisions(subjects: readonly Subject[], service: Service): Decisions {
  const snapshot = observable<Snapshot>({
    phase: 'asking',
    steps: subjects.map((subject) => ({ subject, progress: { kind: 'waiting' } })),
  })
  const requests = subjects.map(
    (subject): Request => ({ ...subject, idempotencyKey: service.newKey(), mayHaveHappened: false }),
  )
  let halt = new AbortController()
  const become = (next: Partial<Snapshot>) => snapshot.set({ ...snapshot.get(), ...next })

  function stop(): void {
    halt.abort()
    if (snapshot.get().phase === 'running') become({ phase: 'stopping' })
  }

  async function decide(index: number, request: Request): Promise<void> {
    const report = (progress: Progress) => {
      const { steps } = snapshot.get()
      become({ steps: steps.map((step, at) => (at === index ? { ...step, progress } : step)) })
    }
    const progress = await decideOne(request, service, halt.signal, report)
    report(progress)
    if (problemOf(failureOf(progress), 'permission-denied', 'authentication-required')) stop()
  }

  function toSign(): Subject[] {
    const { steps } = snapshot.get()
    const isToSign = ({ subject, progress }: Step, at: number) =>
      subject.signedVersion !== undefined &&
      mayTryAgain(progress) &&
      (requests[at]?.signature === undefined || isSignatureRefused(progress))
    return steps.filter(isToSign).map(({ subject }) => subject)
  }

  async function start(signatures?: ReadonlyMap<string, string>): Promise<void> {
    const { phase, steps } = snapshot.get()
    if (phase === 'running' || phase === 'stopping') return
    for (const request of requests) {
      const signature = signatures?.get(request.id)
      if (signature !== undefined) Object.assign(request, { signature, idempotencyKey: service.newKey() })
    }
    halt = new AbortController()
    become({ phase: 'running' })
    const queue = [...requests.entries()].filter(([at]) => steps[at] && mayTryAgain(steps[at].progress))
    const work = async () => {
      for (let next = queue.shift(); next && !halt.signal.aborted; next = queue.shift()) {
        await decide(...next)
      }
    }
    await Promise.all(Array.from({ length: atATime }, work))
    become({ phase: 'done' })
  }

  return { snapshot, toSign, start, stop }
}

/** Tries until there is a final result or the signal aborts. Calls `report` at each step. Never throws. */
export async function decideOne(
  request: Request,
  service: Service,
  signal: AbortSignal,
  report: (progress: Progress) => void,
): Promise<Progress> {
  const { pause } = service
  const onRetry = (failure: unknown) => report({ kind: 'retrying', failure })
  const answered = <Value>(attempt: () => Promise<Value>, sent?: Request) => {
    report({ kind: 'sending' })
    return untilAnswered(attempt, { signal, pause, onRetry, ...(sent && { sent }) })
  }
  const answer = await answered(() => service.decide(request), request)
  if (answer.kind === 'done') {
    const counting = await answered(() => service.missing(request.id))
    return { kind: 'decided', missing: counting.kind === 'done' ? counting.value : undefined }
  }
  const { failure } = answer
  if (!isConflict(failure)) {
    // The service looks at the order and the signature only when it does not know the key: then no earlier
    // try has had an effect.
    const isCertain =
      !request.mayHaveHappened || problemOf(failure, 'order-not-found', 'decision-signature-invalid')
    if (!isCertain) return { kind: 'unclear', failure }
    return answer.kind === 'stopped' ? { kind: 'waiting' } : { kind: 'refused', failure }
  }
  const reading = await answered(() => service.read(request.id))
  if (reading.kind === 'done') return { kind: 'refused', failure, now: reading.value }
  const isGone = problemOf(reading.failure, 'order-not-found')
  return { kind: 'refused', failure: isGone ? reading.failure : failure }
}

function isConflict(failure: unknown): boolean {
  return problemOf(failure, 'precondition-failed', 'order-not-pending', 'concurrency-conflict') !== undefined
}

/** Whether another try may succeed even if nobody changes anything. */
export function isWorthTrying(progress: Progress): boolean {
  if (progress.kind === 'waiting') return true
  if (progress.kind !== 'refused' && progress.kind !== 'unclear') return false
  const { failure } = progress
  return isPassing(failure) || !(failure instanceof ProblemError) || failure.problem.status >= 500
}

/** The order has changed, or five minutes have passed: nothing happened, and another touch may succeed. */
const isSignatureRefused = (progress: Progress) =>
  problemOf(failureOf(progress), 'decision-signature-invalid') !== undefined

/** Whether another try of the person may succeed. */
export const mayTryAgain = (progress: Progress) => isWorthTrying(progress) || isSignatureRefused(progress)

export function failureOf(progress: Progress): unknown {
  return 'failure' in progress ? progress.failure : undefined
}

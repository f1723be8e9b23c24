import { isPassing, mayHaveHappened, problemOf, retryDelayMilliseconds } from '../api/problem.ts'
import { reportUnsent, type Unsent } from '../auth/unsent.ts'
import type { Sent } from '../ui/draft.ts'
import { observable } from '../ui/observable.ts'
import { pause } from '../ui/pause.ts'

/** A request without a result. */
export type OnItsWay =
  /** Not sent, and nothing sends it by itself. */
  | { kind: 'waiting' }
  /** Not sent. It goes at `until`, or as soon after that as anything can be sent. */
  | { kind: 'held'; until: number }
  | { kind: 'sending' }
  /** `failure` leads to another try. */
  | { kind: 'retrying'; failure: unknown }

export type NotDone =
  | { kind: 'refused'; failure: unknown }
  /** It may have taken effect, but no answer says so. `failure` is the last failure. */
  | { kind: 'unclear'; failure: unknown }

/** `waiting`: stopped when it was certain that nothing had happened. */
export type Answer<Value> = { kind: 'done'; value: Value } | { kind: 'waiting' } | NotDone

/** A request under one idempotency key: however often it is sent, it takes effect once. */
export interface Step<Subject, End> {
  readonly subject: Subject
  readonly sent: Sent
  readonly progress: OnItsWay | End
}

export interface Snapshot<Subject, End> {
  /** `stopping`: nothing new begins, but sent requests still get their answers. */
  readonly phase: 'asking' | 'running' | 'stopping' | 'done'
  /** In the order in which they are sent. */
  readonly steps: readonly Step<Subject, End>[]
}

/**
 * Tries until there is an answer, or a failure that does not pass. Once the outbox stops, waits only for the
 * running request. Never throws. With `sent`, it counts as a try of that request.
 */
export type Try = <Value>(attempt: () => Promise<Value>, sent?: Sent) => Promise<Answer<Value>>

/** If it is patient, what cannot be sent offline or without its person is held. */
interface Rules<Subject, End> extends Pick<Unsent, 'noun' | 'isPatient'> {
  /** How many requests may be under way. */
  atATime: number
  /** Never throws. */
  send(step: Step<Subject, End>, tryIt: Try): Promise<End | { kind: 'waiting' }>
  /** Whether the others are not sent after this. */
  stopsAt?(end: OnItsWay | End): boolean
}

type Which<Subject, End> = (step: Step<Subject, End>) => boolean

/**
 * Sends requests in their order and retries passing failures until they pass. It is not part of a view, so a
 * view that goes away loses no result. Nothing is sent because the page goes away.
 */
export class Outbox<Subject extends object, End extends { kind: string }> {
  readonly #rules: Rules<Subject, End>
  readonly snapshot = observable<Snapshot<Subject, End>>({ phase: 'asking', steps: [] })
  #halt = new AbortController()
  #timer: ReturnType<typeof setTimeout> | undefined
  #isBegun = false
  #resting: (() => void)[] = []

  constructor(rules: Rules<Subject, End>) {
    this.#rules = rules
  }

  /** Stops, and takes these instead of what was there. Requests under way may still take effect. */
  load(steps: readonly Pick<Step<Subject, End>, 'subject' | 'sent'>[]): void {
    this.stop()
    for (const { sent } of this.#steps.filter(isUnderWay)) sent.mayHaveHappened = true
    this.#isBegun = false
    this.#set(steps.map(({ subject, sent }) => ({ subject, sent, progress: { kind: 'waiting' } })))
  }

  hold(subject: Subject, sent: Sent, milliseconds: number): void {
    this.#set([...this.#steps, { subject, sent, progress: heldFor(milliseconds) }])
    this.go()
  }

  /** From now on, everything that is held is held for this long. */
  holdAll(milliseconds: number): void {
    this.#hold(isHeld, milliseconds)
  }

  /** Sends these without waiting any longer, again if they have a result. Those under way stay so. */
  send(which: Which<Subject, End> = ({ progress }) => progress.kind === 'waiting'): void {
    this.#isBegun = true
    this.#hold((step) => !isUnderWay(step) && which(step), 0)
  }

  /** Takes these away: they are not sent, and what becomes of those under way is not shown. */
  remove(which: Which<Subject, End>): void {
    this.#set(this.#steps.filter((step) => !which(step)))
    this.go()
  }

  /** Begins nothing more and tries nothing again. A sent request cannot be undone: its answer is awaited. */
  stop(): void {
    clearTimeout(this.#timer)
    this.#halt.abort()
    const back = ({ progress }: Step<Subject, End>) => !this.#rules.isPatient && progress.kind === 'held'
    this.#set(this.#steps.map((step) => (back(step) ? { ...step, progress: { kind: 'waiting' } } : step)))
  }

  clear(): void {
    this.load([])
  }

  /** Resolves once nothing is on its way. */
  rest(): Promise<void> {
    if (!this.#steps.some(isOpen)) return Promise.resolve()
    return new Promise((resolve) => this.#resting.push(resolve))
  }

  /** Sends whatever is due and can be sent. */
  go(): void {
    clearTimeout(this.#timer)
    const { atATime, isPatient } = this.#rules
    if (this.#halt.signal.aborted || (isPatient && !navigator.onLine)) return
    const next = this.#steps.find(isHeld)
    if (next === undefined || this.#steps.filter(isUnderWay).length >= atATime) return
    const wait = next.progress.until - Date.now()
    if (wait > 0) {
      this.#timer = setTimeout(() => this.go(), wait)
    } else {
      void this.#send(next)
      this.go()
    }
  }

  get #steps(): readonly Step<Subject, End>[] {
    return this.snapshot.get().steps
  }

  #hold(which: Which<Subject, End>, milliseconds: number): void {
    if (this.#halt.signal.aborted) this.#halt = new AbortController()
    const progress = heldFor(milliseconds)
    this.#set(this.#steps.map((step) => (which(step) ? { ...step, progress } : step)))
    this.go()
  }

  async #send(step: Step<Subject, End>): Promise<void> {
    const { isPatient, stopsAt, send } = this.#rules
    const { signal } = this.#halt
    const report = (progress: OnItsWay | End) => this.#become(step, progress)
    report({ kind: 'sending' })
    const end = await send(step, (attempt, sent) => {
      report({ kind: 'sending' })
      return untilAnswered(attempt, signal, report, sent)
    })
    const isUnfinished = isPatient && isCutOff(end)
    report(isUnfinished ? heldFor(0) : end)
    // A late answer does not stop what was begun since.
    if ((isUnfinished || stopsAt?.(end)) && signal === this.#halt.signal) this.stop()
    this.go()
  }

  #become({ subject }: Step<Subject, End>, progress: OnItsWay | End): void {
    this.#set(this.#steps.map((step) => (step.subject === subject ? { ...step, progress } : step)))
  }

  #set(steps: readonly Step<Subject, End>[]): void {
    const open = steps.filter(isOpen)
    const now = this.#halt.signal.aborted ? 'stopping' : 'running'
    this.snapshot.set({ steps, phase: open.length > 0 ? now : this.#isBegun ? 'done' : 'asking' })
    const { noun, isPatient } = this.#rules
    const failure = open.map(({ progress }) => failureOf(progress)).find((each) => each !== undefined)
    reportUnsent(this, { noun, isPatient, count: open.length, failure, ...this.#answers })
    if (open.length > 0) return
    for (const resolve of this.#resting.splice(0)) resolve()
  }

  readonly #answers = {
    send: () => this.send(isHeld),
    discard: () => this.clear(),
    isAllSent: () =>
      this.#steps.every(({ progress }) => progress.kind !== 'waiting' && failureOf(progress) === undefined),
  }
}

/** Whether only the end of the session keeps the request from being tried again. */
const isCutOff = (end: { kind: string; failure?: unknown }) =>
  end.kind === 'waiting' ||
  isPassing(end.failure) ||
  problemOf(end.failure, 'authentication-required') !== undefined

async function untilAnswered<Value>(
  attempt: () => Promise<Value>,
  signal: AbortSignal,
  report: (progress: OnItsWay) => void,
  sent: Pick<Sent, 'mayHaveHappened'> = { mayHaveHappened: false },
): Promise<Answer<Value>> {
  for (let tries = 0; ; tries += 1) {
    try {
      return { kind: 'done', value: await attempt() }
    } catch (failure) {
      sent.mayHaveHappened ||= mayHaveHappened(failure)
      if (isPassing(failure)) {
        report({ kind: 'retrying', failure })
        if (!signal.aborted) await pause(retryDelayMilliseconds(tries, failure), signal)
        if (!signal.aborted) continue
      }
      if (sent.mayHaveHappened && !isFirst(failure)) return { kind: 'unclear', failure }
      return isPassing(failure) ? { kind: 'waiting' } : { kind: 'refused', failure }
    }
  }
}

/**
 * The service looks at the order and the signature only when it does not know the key: then no earlier try
 * has had an effect.
 */
const isFirst = (failure: unknown) =>
  isConflict(failure) || problemOf(failure, 'order-not-found', 'decision-signature-invalid') !== undefined

export function isConflict(failure: unknown): boolean {
  return problemOf(failure, 'precondition-failed', 'order-not-pending', 'concurrency-conflict') !== undefined
}

/** A request that was not sent yet, under a key that no other has. */
export const unsentUnder = (idempotencyKey: string = crypto.randomUUID()): Sent => ({
  idempotencyKey,
  mayHaveHappened: false,
})

interface Has {
  readonly progress: { readonly kind: string; readonly failure?: unknown }
}

export const failureOf = (progress: Has['progress']): unknown => progress.failure

function isHeld<Given extends Has>(
  step: Given,
): step is Given & { progress: Extract<OnItsWay, { kind: 'held' }> } {
  return step.progress.kind === 'held'
}
const isUnderWay = ({ progress: { kind } }: Has) => kind === 'sending' || kind === 'retrying'
/** Whether something more happens even if the person does nothing. */
export const isOpen = (step: Has) => isHeld(step) || isUnderWay(step)
/** Whether it is certain that nothing has been sent. */
export const canUndo = (step: Has & { readonly sent: Sent }) => isHeld(step) && !step.sent.mayHaveHappened

const heldFor = (milliseconds: number): OnItsWay => ({ kind: 'held', until: Date.now() + milliseconds })

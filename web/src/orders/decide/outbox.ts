import { problemOf } from '../../api/problem.ts'
import type { User } from '../../auth/session.ts'
import { observable } from '../../ui/observable.ts'
import type { Identity } from '../identity.ts'
import type { OrderSummary } from '../order.ts'
import type { ActionName } from '../states.ts'
import { failureOf, type Progress } from './decisions.ts'
import type { Decision } from './queries.ts'

export type State =
  /** Not sent, and can be undone. It is sent at `until`, or as soon after that as anything can be sent. */
  | { kind: 'held'; until: number }
  | { kind: 'under-way'; progress: Progress }
  /** It failed, or may have failed. It is shown until the person dismisses it. */
  | { kind: 'failed'; progress: Progress }

export interface Entry {
  user: Pick<User, 'id' | 'userName'>
  action: ActionName
  /** Its idempotency key identifies it. */
  decision: Decision
  /** The order as the person saw it. */
  order: Identity & Pick<OrderSummary, 'status'>
  state: State
}

export interface Parts {
  now(): number
  /** Returns a function that cancels it. */
  after(milliseconds: number, act: () => void): () => void
  /** Whether a request of this person can leave the page now. */
  canSend(entry: Entry): boolean
  /** Resolves to the final progress. Never throws. Once the signal aborts, it tries nothing again. */
  send(entry: Entry, report: (progress: Progress) => void, signal: AbortSignal): Promise<Progress>
  /** Called after each change. */
  onChange(entries: readonly Entry[]): void
  /** Called when nothing is held or under way any more, with how many were sent since the last time. */
  onSent(count: number): void
}

export const undoMilliseconds = 5_000

const keyOf = ({ decision }: Entry) => decision.idempotencyKey

/**
 * Decisions that were made without a question. Each is held for five seconds and then sent, one at a time, in
 * their order. What was not sent can be undone, however long it waits for the connection or for the person to
 * sign in again. Nothing is sent because the page goes away.
 */
export class Outbox {
  readonly #parts: Parts
  readonly #entries = observable<readonly Entry[]>([])
  #callOff = () => {}
  #here = new AbortController()
  #sentCount = 0

  readonly get = this.#entries.get
  readonly use = this.#entries.use

  constructor(parts: Parts) {
    this.#parts = parts
  }

  hold(made: Omit<Entry, 'state'>): void {
    this.#set([...this.get(), { ...made, state: this.#heldFor(undoMilliseconds) }])
    this.sendDue()
  }

  /** Undoes the last decision that is still held, or all of them. Returns them. */
  undo(which: 'last' | 'all'): Entry[] {
    const undone = this.get()
      .filter(isHeld)
      .slice(which === 'last' ? -1 : 0)
    this.#set(this.get().filter((entry) => !undone.includes(entry)))
    this.sendDue()
    return undone
  }

  /** Sends what is held without waiting any longer. */
  hurry(): void {
    this.#hold(0)
    this.sendDue()
  }

  /** Sends the first decision that is due, if it can be sent and no other is under way. */
  sendDue(): void {
    this.#callOff()
    const { now, after, canSend, onSent } = this.#parts
    const next = this.get().find(isHeld)
    if (this.get().some(isUnderWay)) return
    if (next?.state.kind !== 'held') {
      if (this.#sentCount > 0) onSent(this.#sentCount)
      this.#sentCount = 0
    } else if (next.state.until > now()) {
      this.#callOff = after(next.state.until - now(), () => this.sendDue())
    } else if (canSend(next)) void this.send(keyOf(next))
  }

  /** Sends a decision at once. If it was sent before, the key is the same. */
  async send(key: string): Promise<void> {
    const entry = this.#find(key)
    if (entry === undefined || isUnderWay(entry)) return
    const report = (progress: Progress) => this.#become(key, { kind: 'under-way', progress })
    report({ kind: 'sending' })
    const progress = await this.#parts.send(entry, report, this.#here.signal)
    if (!this.#find(key)) return
    const isUnsent = progress.kind === 'waiting' || problemOf(failureOf(progress), 'authentication-required')
    if (progress.kind === 'decided') this.#sentCount += 1
    if (progress.kind === 'decided') this.dismiss(key)
    else this.#become(key, isUnsent ? this.#heldFor(0) : { kind: 'failed', progress })
    this.sendDue()
  }

  /** Removes a decision that needs no more attention. */
  dismiss(key: string): void {
    this.#set(this.get().filter((entry) => keyOf(entry) !== key))
  }

  /** Called when the session ends: nothing more is tried until this person is back. */
  pause(): void {
    this.#callOff()
    this.#here.abort()
    this.#here = new AbortController()
  }

  /** Called when a person is there. Returns how many decisions of someone else were dropped unsent. */
  resume(userId: User['id']): number {
    const others = this.get().filter(({ user }) => user.id !== userId)
    this.#set(this.get().filter((entry) => !others.includes(entry)))
    this.#hold(undoMilliseconds)
    this.sendDue()
    return others.filter(isHeld).length
  }

  /** Nothing is sent, undone or shown any more. */
  clear(): void {
    this.pause()
    this.#set([])
  }

  #heldFor(milliseconds: number): State {
    return { kind: 'held', until: this.#parts.now() + milliseconds }
  }

  /** From now on, everything that is held is held for this long. */
  #hold(milliseconds: number): void {
    this.#set(
      this.get().map((entry) => (isHeld(entry) ? { ...entry, state: this.#heldFor(milliseconds) } : entry)),
    )
  }

  #become(key: string, state: State): void {
    this.#set(this.get().map((entry) => (keyOf(entry) === key ? { ...entry, state } : entry)))
  }

  #find(key: string): Entry | undefined {
    return this.get().find((entry) => keyOf(entry) === key)
  }

  #set(entries: readonly Entry[]): void {
    this.#entries.set(entries)
    this.#parts.onChange(entries)
  }
}

export const isHeld = ({ state }: Entry) => state.kind === 'held'
const isUnderWay = ({ state }: Entry) => state.kind === 'under-way'
/** Whether something more happens even if the person does nothing. */
export const isOpen = ({ state }: Entry) => state.kind !== 'failed'

/** Whether a request may have been sent, and no answer says whether it took effect. */
export const mayHaveHappened = ({ state }: Entry) =>
  state.kind === 'failed' && state.progress.kind === 'unclear'

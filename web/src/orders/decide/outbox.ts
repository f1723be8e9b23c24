import { observable } from '../../ui/observable.ts'
import type { Identity } from '../identity.ts'
import type { ActionName } from '../states.ts'
import type { Progress } from './decisions.ts'
import type { Decision } from './queries.ts'

/** A decision as it was made; its idempotency key identifies it. */
export interface Made {
  userId: number | string
  action: ActionName
  decision: Decision
}

export type State =
  /** Can be undone until then. */
  | { kind: 'held'; until: number }
  | { kind: 'under-way'; progress: Progress }
  /** It did not happen, or that is not certain. It is shown until the person dismisses it. */
  | { kind: 'failed'; progress: Progress }
  /** Another page made it and is gone; it may not have been sent. */
  | { kind: 'left' }

export interface Entry extends Made {
  /** Unknown if another page has left it. */
  order?: Identity | undefined
  state: State
}

/** What outlives the page. From that instant on it cannot be undone, and another page may send it. */
export interface Left extends Made {
  from: number
}

export interface Parts {
  now(): number
  /** Returns what calls it off. */
  after(milliseconds: number, act: () => void): () => void
  /** Resolves when there is an end; undefined if the person who decided is gone. Never throws. */
  send(entry: Entry, report: (progress: Progress) => void, signal: AbortSignal): Promise<Progress | undefined>
  kept: {
    put(left: Left): void
    drop(key: string): void
    all(): Left[]
  }
}

export const undoMilliseconds = 5_000
/** By then the page that made it has its answer or is gone. */
const takeOverMilliseconds = 40_000
/** What was left longer ago is sent only if the person says so. */
const recentMilliseconds = 60_000
/** How long another person's decision is kept for them. */
const keptMilliseconds = 86_400_000

const keyOf = ({ decision }: Made) => decision.idempotencyKey

/**
 * Decisions that were made without a question. Each is held for five seconds, in which it can be undone, and
 * then sent under its key until there is an end. Nothing that was shown as decided gets lost: it is sent, or
 * the person hears of it.
 */
export class Outbox {
  readonly #parts: Parts
  readonly #entries = observable<readonly Entry[]>([])
  readonly #timers = new Map<string, () => void>()
  readonly #sending = new Map<string, Promise<void>>()
  #here = new AbortController()

  readonly get = this.#entries.get
  readonly use = this.#entries.use

  constructor(parts: Parts) {
    this.#parts = parts
  }

  hold(made: Made, order: Identity): void {
    const until = this.#parts.now() + undoMilliseconds
    this.#add({ ...made, order, state: { kind: 'held', until } })
    this.#keep(made, until + takeOverMilliseconds)
    this.#in(undoMilliseconds, keyOf(made), () => this.send(keyOf(made)))
  }

  /** The last one that is still held. */
  undo(): Entry | undefined {
    const last = this.get().findLast(({ state }) => state.kind === 'held')
    if (last) this.dismiss(keyOf(last))
    return last
  }

  /** At once; again, under the same key. */
  send(key: string): void {
    const entry = this.#find(key)
    if (entry === undefined || this.#sending.has(key)) return
    this.#callOff(key)
    const { signal } = this.#here
    const report = (progress: Progress) => {
      if (!signal.aborted) this.#become(key, { kind: 'under-way', progress })
    }
    report({ kind: 'sending' })
    const settled = this.#parts.send(entry, report, signal).then((progress) => {
      if (signal.aborted) return
      this.#sending.delete(key)
      if (progress?.kind === 'decided') this.dismiss(key)
      else if (progress !== undefined) this.#become(key, { kind: 'failed', progress })
    })
    this.#sending.set(key, settled)
  }

  /** Nothing is left to do or to show. */
  dismiss(key: string): void {
    this.#callOff(key)
    this.#parts.kept.drop(key)
    this.#entries.set(this.get().filter((entry) => keyOf(entry) !== key))
  }

  /** Goes on with what other pages of this person have left. */
  takeOver(userId: Made['userId']): void {
    const { kept, now } = this.#parts
    for (const left of kept.all()) {
      const age = now() - left.from
      const isOwn = left.userId === userId
      if (!isOwn && age >= keptMilliseconds) kept.drop(keyOf(left))
      if (!isOwn || this.#find(keyOf(left))) continue
      if (age < 0) this.#in(-age, keyOf(left), () => this.takeOver(userId))
      else this.#adopt(left)
      if (age >= 0 && age < recentMilliseconds) this.send(keyOf(left))
    }
  }

  /** Sends everything at once, even what other pages hold. Whether all of it was done within the time. */
  async flush(userId: Made['userId'], withinMilliseconds: number): Promise<boolean> {
    const shown = this.get().filter(isOver)
    for (const left of this.#parts.kept.all()) {
      if (left.userId === userId && !this.#find(keyOf(left))) this.#adopt(left)
    }
    const open = this.get()
      .filter((entry) => !shown.includes(entry))
      .map(keyOf)
    for (const key of open) this.send(key)
    const time = new Promise<void>((resolve) => this.#parts.after(withinMilliseconds, resolve))
    await Promise.race([Promise.all(open.map((key) => this.#sending.get(key))), time])
    if (open.some((key) => this.#find(key))) return false
    for (const entry of shown) this.dismiss(keyOf(entry))
    return true
  }

  /** The page goes, perhaps for good: what is held is sent, and the next page finds out what became of it. */
  leave(): void {
    this.#leaveOpen()
    for (const entry of this.get()) if (entry.state.kind === 'held') this.send(keyOf(entry))
  }

  /** Another person comes: nothing more is shown or tried. */
  forget(): void {
    this.#here.abort()
    this.#here = new AbortController()
    this.#leaveOpen()
    for (const key of [...this.#timers.keys()]) this.#callOff(key)
    this.#sending.clear()
    this.#entries.set([])
  }

  #leaveOpen(): void {
    for (const entry of this.get()) if (!isOver(entry)) this.#keep(entry, this.#parts.now())
  }

  #adopt({ userId, action, decision }: Left): void {
    this.#add({ userId, action, decision, state: { kind: 'left' } })
  }

  #keep({ userId, action, decision }: Made, from: number): void {
    this.#parts.kept.put({ userId, action, decision, from })
  }

  #add(entry: Entry): void {
    this.#entries.set([...this.get(), entry])
  }

  #become(key: string, state: State): void {
    this.#entries.set(this.get().map((entry) => (keyOf(entry) === key ? { ...entry, state } : entry)))
  }

  #find(key: string): Entry | undefined {
    return this.get().find((entry) => keyOf(entry) === key)
  }

  #in(milliseconds: number, key: string, act: () => void): void {
    this.#callOff(key)
    this.#timers.set(key, this.#parts.after(milliseconds, act))
  }

  #callOff(key: string): void {
    this.#timers.get(key)?.()
    this.#timers.delete(key)
  }
}

/** Nothing more happens with it by itself. */
export const isOver = ({ state: { kind } }: Entry) => kind === 'failed' || kind === 'left'

/** Whether a request was sent, perhaps, and no answer says what became of it. */
export const mayHaveHappened = (state: State) =>
  state.kind === 'left' || (state.kind === 'failed' && state.progress.kind === 'unclear')

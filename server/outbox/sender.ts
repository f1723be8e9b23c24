import { isSame } from '../../proof/place.ts'
import { contradictionOf, endOfLog, readOn, type SealedEvent } from '../audit/audit.ts'
import { machineStamp } from '../caller/stamp.ts'
import { type Clock, tooFarAhead } from '../clock.ts'
import type { AppDatabase } from '../db/port.ts'
import type { Log } from '../log.ts'
import { Problem } from '../problems/problems.ts'
import { repeat } from '../upkeep.ts'
import { type Courier, isSelected, messageIdOf, typeOf } from './outbox.ts'
import { afterFailure, defaultRetries, longestPause, type Report, type Retries } from './retries.ts'
import { findSubscriptions, knownOf, type Subscription, type SubscriptionKind } from './store.ts'

/** The log is sealed twice a second; both together stay far below two seconds. */
const lookIntervalMilliseconds = 500
/** An attempt begins with two thirds of it left at least, so it ends before another instance may begin. */
const defaultLeaseMilliseconds = 20_000
const name = 'outbox'

export interface OutboxParts {
  db: AppDatabase
  couriers: Readonly<Record<SubscriptionKind, Courier>>
  clock: Clock
  /** At least 0 and below 1. */
  random: () => number
  log: Pick<Log, 'info' | 'warn'>
  monotonic?: Clock
  retries?: Retries
  leaseMilliseconds?: number
}

/** Sends events while the service runs. Returns the way to stop. */
export function startOutbox(sender: Sender): () => Promise<void> {
  const task = {
    everyMilliseconds: lookIntervalMilliseconds,
    isDoneAtStart: true,
    run: () => sender.look(),
    failure: 'the outbox could not read the log; trying again every half second',
  }
  const stop = repeat(task, sender.parts.log)
  return () => {
    stop()
    return sender.stop()
  }
}

/** The sender of one instance. It sends while it holds the lease, and asks for it only when there is work. */
export class Sender {
  readonly parts: Required<OutboxParts>
  /** How many attempts there were so far. */
  readonly outcomes = { delivered: 0, failed: 0, disabled: 0 }
  readonly #stopping = new AbortController()
  readonly #lease: OutboxLease
  /** Subscriptions that are being sent to. */
  readonly #busy = new Set<string>()

  constructor(parts: OutboxParts) {
    this.parts = {
      monotonic: () => performance.now(),
      retries: defaultRetries,
      leaseMilliseconds: defaultLeaseMilliseconds,
      ...parts,
    }
    this.#lease = new OutboxLease(this.parts)
  }

  /**
   * Begins with each subscription that has something to get now. While the log is stopped everything waits,
   * because no checkpoint can be signed that would go with an event.
   */
  async look(): Promise<void> {
    const { db, clock, retries } = this.parts
    const end = await endOfLog(db.read)
    // An attempt may end after this read, which then does not know what it has put off.
    const busy = new Set(this.#busy)
    const now = clock()
    const isDue = ({ nextAttemptAt, failures }: Subscription) =>
      nextAttemptAt === null ||
      nextAttemptAt <= now ||
      nextAttemptAt > tooFarAhead(now, longestPause(failures, retries))
    const due = (await findSubscriptions(db.read)).filter(
      (one) => one.enabled && !busy.has(one.id) && !isSame(one.place, end) && isDue(one),
    )
    if (due.length === 0 || (await contradictionOf(db.read)) !== undefined) return
    if (await this.#lease.isHeld()) {
      for (const subscription of due) void this.#serve(subscription)
    }
  }

  /** Attempts that are running are given up: they will be repeated. Another instance may send at once. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#lease.end()
  }

  /** Each subscription has this to itself, so none waits for another. */
  async #serve(subscription: Subscription): Promise<void> {
    const { id } = subscription
    if (this.#busy.has(id)) return
    this.#busy.add(id)
    try {
      let current: Subscription | undefined = subscription
      while (current !== undefined && !this.#stopping.signal.aborted) current = await this.#sendBatch(current)
    } catch (err) {
      if (!this.#stopping.signal.aborted) {
        this.parts.log.warn({ err, subscription: id }, 'the outbox failed; trying again')
      }
    } finally {
      this.#busy.delete(id)
    }
  }

  /** Returns the subscription as it is then; undefined if there is nothing more to do now. */
  async #sendBatch(subscription: Subscription): Promise<Subscription | undefined> {
    const { db } = this.parts
    const { events, reached, lastLeft } = await readOn(db.read, subscription.place)
    if (isSame(subscription.place, reached)) return undefined
    let current = { ...subscription, replayedTo: Math.min(subscription.replayedTo, lastLeft) }
    for (const event of events.filter((one) => isSelected(subscription.events, one))) {
      const after = await this.#send(current, event, reached.era)
      if (after === undefined) return undefined
      current = after
    }
    if (isSame(current.place, reached)) return current
    const { replayedTo } = current
    return db.write('passOver', { subscription: knownOf(current), place: reached, replayedTo })
  }

  /** Undefined if the event was not delivered, or somebody else changed the subscription meanwhile. */
  async #send(
    subscription: Subscription,
    event: SealedEvent,
    era: number,
  ): Promise<Subscription | undefined> {
    const { db, clock, random, retries } = this.parts
    if (!(await this.#lease.isHeld())) return undefined
    const report = await this.#attempt(subscription, event)
    if (report === undefined || this.#stopping.signal.aborted) return undefined
    const { isGone: _, wishedPause: __, ...attempt } = report
    const isDelivered = report.failure === null
    const { replayedTo } = subscription
    const next = isDelivered
      ? ({ kind: 'delivered', place: { era, sequence: event.sequence }, replayedTo } as const)
      : afterFailure(subscription, report, { retries, random: random() })
    const sent = { eventId: messageIdOf(subscription, event), type: typeOf(event), sequence: event.sequence }
    const stamp = machineStamp(clock())
    const after = await db.write('recordAttempt', {
      subscription: knownOf(subscription),
      sent,
      attempt,
      next,
      stamp,
    })
    const { kind } = next
    this.outcomes[kind === 'retry' ? 'failed' : kind] += 1
    if (after !== undefined) this.#reportChange(subscription, after, report)
    return isDelivered ? after : undefined
  }

  /** Undefined if the log was stopped meanwhile: that is no failure of the receiver. */
  async #attempt(subscription: Subscription, event: SealedEvent): Promise<Report | undefined> {
    const { couriers, clock, monotonic } = this.parts
    const [at, began] = [clock(), monotonic()]
    try {
      return await couriers[subscription.kind].deliver(subscription, event, this.#stopping.signal)
    } catch (error) {
      if (error instanceof Problem && error.code === 'log-contradicted') return undefined
      const durationMilliseconds = Math.round(monotonic() - began)
      const failure = (error as Error).message
      return { at, durationMilliseconds, status: null, failure, answer: null }
    }
  }

  /** One line when a subscription begins to fail, one when it is disabled, and one when it works again. */
  #reportChange(before: Subscription, after: Subscription, { failure, status }: Report): void {
    const { log } = this.parts
    const line = { event: 'outbox', kind: after.kind, subscription: after.id, failure, status }
    if (!after.enabled) log.warn({ ...line, because: after.disabledBecause }, 'a subscription was disabled')
    else if (before.failures === 0 && after.failures > 0) log.warn(line, 'an event was not delivered')
    else if (before.failures > 0 && after.failures === 0) log.info(line, 'events are delivered again')
  }
}

/** Makes this instance the one sender. It is asked for, and extended, by those who are about to send. */
class OutboxLease {
  readonly #parts: Required<Pick<OutboxParts, 'db' | 'monotonic' | 'leaseMilliseconds'>>
  #term: number | null = null
  /** Until then the lease needs no extension. */
  #isFreshUntil = Number.NEGATIVE_INFINITY
  #asking: Promise<boolean> | undefined
  #isOver = false

  constructor(parts: Required<Pick<OutboxParts, 'db' | 'monotonic' | 'leaseMilliseconds'>>) {
    this.#parts = parts
  }

  /** If it holds, it still does so for two thirds of its time. */
  isHeld(): Promise<boolean> {
    if (this.#isOver) return Promise.resolve(false)
    if (this.#parts.monotonic() < this.#isFreshUntil) return Promise.resolve(true)
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined
    })
    return this.#asking
  }

  /** For good, and also a term that is being asked for. Without the database, it ends by itself. */
  async end(): Promise<void> {
    this.#isOver = true
    await this.#asking?.catch(() => undefined)
    const term = this.#term
    if (term !== null) await this.#parts.db.write('endLease', { name, term }).catch(() => undefined)
  }

  async #ask(): Promise<boolean> {
    const { db, monotonic, leaseMilliseconds: milliseconds } = this.#parts
    const asked = monotonic()
    this.#term = await db.write('holdLease', { name, term: this.#term, milliseconds })
    if (this.#term === null) return false
    this.#isFreshUntil = asked + milliseconds / 3
    return true
  }
}

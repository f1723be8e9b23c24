/**
 * The outbox reads the sealed log and brings its events to subscribers (ADR 56). A subscription is a kind, an
 * address, a selection of events and a place in the log. Each has its events in the order of the log, and its
 * place moves only after its receiver has the event. So each event arrives at least once, and a receiver that
 * fails delays itself alone. Nothing waits for the outbox: no write, no seal, no start and no stop.
 *
 * Another kind of subscription joins in four steps: name it in the table `subscriptions` (db/tables.ts, and
 * the check in db/tables-of-both.ts), insert its row by `insertSubscription`, write a `Courier`, and hand it
 * to `startOutbox` in serve.ts. A courier that only queues, as one for mail may, queues by one write under
 * the id of the event, because it can be asked for the same event again.
 */
import { type Event, recordEvent, type SealedEvent } from '../audit/audit.ts'
import type { Stamp } from '../caller/stamp.ts'
import type { Trx } from '../db/tables.ts'
import type { Report } from './retries.ts'
import {
  type Attempt,
  advance,
  insertAttempt,
  type Known,
  type Next,
  type Sent,
  type Subscription,
} from './store.ts'

export type { Subscription } from './store.ts'

/** Brings the events of one kind of subscription to their receivers. */
export interface Courier {
  /** Tries once. An error that it throws counts as a failure. */
  deliver(subscription: Subscription, event: SealedEvent, signal: AbortSignal): Promise<Report>
}

/** `order.approved`. */
export function typeOf({ subject_kind, kind }: Pick<SealedEvent, 'subject_kind' | 'kind'>): string {
  return `${subject_kind}.${kind}`
}

/** The number of the replay to which the event belongs; undefined if it is sent for the first time. */
export function replayOf(
  { replays, replayedTo }: Pick<Subscription, 'replays' | 'replayedTo'>,
  { sequence }: Pick<SealedEvent, 'sequence'>,
): number | undefined {
  return sequence <= replayedTo ? replays : undefined
}

/** The same for each attempt; other for each replay, because receivers drop what they know. */
export function messageIdOf(subscription: Subscription, event: SealedEvent): string {
  const replay = replayOf(subscription, event)
  return replay === undefined ? event.id : `${event.id}_${replay}`
}

/** A restore concerns every subscriber: lines that they have may be gone. */
export function isSelected(selection: readonly string[], event: SealedEvent): boolean {
  return (
    selection.includes(event.subject_kind) ||
    selection.includes(typeOf(event)) ||
    event.kind === 'log-restored'
  )
}

export interface AttemptInput {
  subscription: Known
  sent: Sent
  attempt: Attempt
  next: Next
  /** For the event of a subscription that is disabled. */
  stamp: Stamp
}

/**
 * Keeps an attempt and what follows from it. Returns the subscription as it is now; undefined if it is not as
 * the sender knew it, and then nothing changes.
 */
export async function recordAttempt(
  trx: Trx,
  { subscription: known, sent, attempt, next, stamp }: AttemptInput,
): Promise<Subscription | undefined> {
  const subscription = await advance(trx, known, next)
  if (subscription === undefined) return undefined
  await insertAttempt(trx, known.id, { ...sent, ...attempt })
  if (next.kind === 'disabled') await recordEvent(trx, stamp, disablingOf(subscription, next.because))
  return subscription
}

function disablingOf({ id, kind, address }: Subscription, because: string): Event {
  const { origin } = new URL(address)
  return { kind: `${kind}-disabled`, subject: { kind, id }, facts: { origin, because } }
}

/** Passes over lines that the subscription does not ask for. Undefined as for `recordAttempt`. */
export function passOver(
  trx: Trx,
  { subscription, ...reached }: { subscription: Known } & Pick<Subscription, 'place' | 'replayedTo'>,
): Promise<Subscription | undefined> {
  return advance(trx, subscription, { kind: 'delivered', ...reached })
}

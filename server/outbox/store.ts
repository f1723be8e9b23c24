import { type Selectable, sql } from '#kysely'
import type { Place } from '../../proof/place.ts'
import type { Database, Db, Trx } from '../db/tables.ts'

export type SubscriptionKind = Database['subscriptions']['kind']

/** A right to events of the log, which are sent in its order (outbox.ts). Instants in milliseconds. */
export interface Subscription {
  id: string
  kind: SubscriptionKind
  address: string
  /** Kinds of subjects (`order`) and single kinds (`order.approved`). */
  events: readonly string[]
  enabled: boolean
  disabledBecause: 'failing' | 'gone' | null
  /** It has everything up to here that it asks for. */
  place: Place
  /** How often a person had events sent again. */
  replays: number
  /** Events up to this sequence belong to the newest replay. */
  replayedTo: number
  failures: number
  failingSince: number | null
  nextAttemptAt: number | null
  secretVersion: number
  previousSecretUntil: number | null
  createdAt: number
  version: number
}

type Row = Selectable<Database['subscriptions']>

/** By name: a later version may add columns while this one serves. */
const columns = [
  ...(['id', 'kind', 'address', 'events', 'enabled', 'disabled_because', 'era', 'sequence'] as const),
  ...(['failures', 'failing_since', 'next_attempt_at', 'secret_version', 'previous_secret_until'] as const),
  ...(['replays', 'replayed_to', 'created_at', 'version'] as const),
] satisfies (keyof Row)[]

function toSubscription(row: Row): Subscription {
  return {
    id: row.id,
    kind: row.kind,
    address: row.address,
    events: JSON.parse(row.events),
    enabled: row.enabled === 1,
    disabledBecause: row.disabled_because,
    place: { era: row.era, sequence: row.sequence },
    replays: row.replays,
    replayedTo: row.replayed_to,
    failures: row.failures,
    failingSince: row.failing_since,
    nextAttemptAt: row.next_attempt_at,
    secretVersion: row.secret_version,
    previousSecretUntil: row.previous_secret_until,
    createdAt: row.created_at,
    version: row.version,
  }
}

/** In the order of creation. They are few. */
export async function findSubscriptions(db: Db): Promise<Subscription[]> {
  return (await db.selectFrom('subscriptions').select(columns).orderBy('id').execute()).map(toSubscription)
}

export async function findSubscription(
  db: Db,
  id: string,
  kind: SubscriptionKind,
): Promise<Subscription | undefined> {
  const row = await db
    .selectFrom('subscriptions')
    .select(columns)
    .where('id', '=', id)
    .where('kind', '=', kind)
    .executeTakeFirst()
  return row && toSubscription(row)
}

/** The same, locked by a write that changes nothing: it stays so until the transaction ends. */
export async function lockSubscription(
  trx: Trx,
  id: string,
  kind: SubscriptionKind,
): Promise<Subscription | undefined> {
  const row = await trx
    .updateTable('subscriptions')
    .set((eb) => ({ version: eb.ref('version') }))
    .where('id', '=', id)
    .where('kind', '=', kind)
    .returning(columns)
    .executeTakeFirst()
  return row && toSubscription(row)
}

export async function countSubscriptions(db: Db, kind: SubscriptionKind): Promise<number> {
  const { count } = await db
    .selectFrom('subscriptions')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('kind', '=', kind)
    .executeTakeFirstOrThrow()
  return Number(count)
}

const notFailing = { failures: 0, failing_since: null, next_attempt_at: null }

export interface NewSubscription
  extends Pick<Subscription, 'id' | 'kind' | 'address' | 'events' | 'enabled' | 'place' | 'createdAt'> {}

export async function insertSubscription(trx: Trx, added: NewSubscription): Promise<void> {
  const { events, enabled, place, createdAt, ...others } = added
  await trx
    .insertInto('subscriptions')
    .values({
      ...others,
      ...place,
      ...notFailing,
      events: JSON.stringify(events),
      enabled: Number(enabled),
      disabled_because: null,
      replays: 0,
      replayed_to: 0,
      secret_version: 1,
      previous_secret_until: null,
      created_at: createdAt,
      version: 1,
    })
    .execute()
}

type Settings = Pick<Subscription, 'address' | 'events' | 'enabled'>

/** A failed event is tried again at once. */
export async function updateSettings(
  trx: Trx,
  id: string,
  { address, events, enabled }: Settings,
): Promise<number> {
  return updateSubscription(trx, id, {
    ...notFailing,
    address,
    events: JSON.stringify(events),
    enabled: Number(enabled),
    disabled_because: null,
  })
}

/** A failed event is tried again at once. */
export async function tryAtOnce(trx: Trx, id: string): Promise<void> {
  await trx.updateTable('subscriptions').set(notFailing).where('id', '=', id).execute()
}

/** The previous secret goes on until then. */
export async function updateSecret(trx: Trx, id: string, previousUntil: number | null): Promise<number> {
  return updateSubscription(trx, id, {
    secret_version: sql<number>`secret_version + 1`,
    previous_secret_until: previousUntil,
  })
}

/** Begins a replay at the place, up to `replayedTo`. A failed event is tried again at once. */
export async function beginReplay(trx: Trx, id: string, place: Place, replayedTo: number): Promise<number> {
  const replays = sql<number>`replays + 1`
  return updateSubscription(trx, id, { ...place, replays, replayed_to: replayedTo, ...notFailing })
}

/** Returns the new version. */
async function updateSubscription(trx: Trx, id: string, changed: object): Promise<number> {
  const { version } = await trx
    .updateTable('subscriptions')
    .set((eb) => ({ ...changed, version: eb('version', '+', 1) }))
    .where('id', '=', id)
    .returning('version')
    .executeTakeFirstOrThrow()
  return version
}

export async function deleteSubscription(trx: Trx, id: string): Promise<void> {
  await trx.deleteFrom('subscriptions').where('id', '=', id).execute()
}

/** The subscription as the sender read it. */
export type Known = Pick<Subscription, 'id' | 'place' | 'version'>

export function knownOf({ id, place, version }: Subscription): Known {
  return { id, place, version }
}

/** The next state of a subscription after an attempt to deliver an event. */
export type Next =
  | { kind: 'delivered'; place: Place; replayedTo: number }
  | { kind: 'retry'; failingSince: number; at: number }
  | { kind: 'disabled'; because: 'failing' | 'gone' }

/**
 * Changes the subscription if it is still as the sender read it, and returns it as it is now. Undefined if a
 * person changed it, or another instance moved it, in the meantime: then nothing changes.
 */
export async function advance(trx: Trx, known: Known, next: Next): Promise<Subscription | undefined> {
  const row = await trx
    .updateTable('subscriptions')
    .set((eb) => {
      if (next.kind === 'delivered') return { ...next.place, replayed_to: next.replayedTo, ...notFailing }
      const failures = eb('failures', '+', 1)
      if (next.kind === 'retry') {
        return { failures, failing_since: next.failingSince, next_attempt_at: next.at }
      }
      const version = eb('version', '+', 1)
      return { failures, next_attempt_at: null, enabled: 0, disabled_because: next.because, version }
    })
    .where('id', '=', known.id)
    .where('version', '=', known.version)
    .where('era', '=', known.place.era)
    .where('sequence', '=', known.place.sequence)
    .returning(columns)
    .executeTakeFirst()
  return row && toSubscription(row)
}

/** An attempt to bring an event to its receiver. */
export interface Attempt {
  at: number
  durationMilliseconds: number
  /** That of an HTTP answer; null without one. */
  status: number | null
  /** Why the event counts as not delivered; null if it was delivered. */
  failure: string | null
  /** The beginning of the answer, without characters that control or reorder text. */
  answer: string | null
}

/** What was sent: an event, or a trial, which has no place in the log. */
export interface Sent {
  eventId: string
  /** `order.approved`; `ping` for a trial. */
  type: string
  sequence: number | null
}

export type StoredAttempt = Attempt & Sent

/** How many attempts of each subscription are kept. */
export const attemptsLimit = 50

/** Keeps the attempt, and forgets the oldest. */
export async function insertAttempt(trx: Trx, subscriptionId: string, stored: StoredAttempt): Promise<void> {
  const { eventId, durationMilliseconds, ...others } = stored
  await trx
    .insertInto('delivery_attempts')
    .values({
      ...others,
      subscription_id: subscriptionId,
      event_id: eventId,
      duration_milliseconds: durationMilliseconds,
    })
    .execute()
  await trx
    .deleteFrom('delivery_attempts')
    .where('subscription_id', '=', subscriptionId)
    .where('id', '<=', (eb) =>
      eb
        .selectFrom('delivery_attempts as kept')
        .select('kept.id')
        .where('kept.subscription_id', '=', subscriptionId)
        .orderBy('kept.id', 'desc')
        .offset(attemptsLimit)
        .limit(1),
    )
    .execute()
}

/** The newest first. */
export async function findAttempts(db: Db, subscriptionId: string): Promise<StoredAttempt[]> {
  const rows = await db
    .selectFrom('delivery_attempts')
    .select([
      'event_id as eventId',
      'type',
      'sequence',
      'at',
      'duration_milliseconds as durationMilliseconds',
    ])
    .select(['status', 'failure', 'answer'])
    .where('subscription_id', '=', subscriptionId)
    .orderBy('id', 'desc')
    .execute()
  return rows
}

/** Webhooks: subscriptions whose receiver is a URL (section 21 of the contract). */
import { isDeepStrictEqual } from 'node:util'
import { type EventKind, endOfLog, eventKinds, readOn, recordEvent } from '../../audit/audit.ts'
import type { Permission } from '../../caller/permissions.ts'
import type { Stamp } from '../../caller/stamp.ts'
import { requireStanding } from '../../caller/standing.ts'
import { formatInstantOrNull } from '../../clock.ts'
import type { Trx } from '../../db/tables.ts'
import { type AcceptedVersions, requireVersion } from '../../http/preconditions.ts'
import { Problem } from '../../problems/problems.ts'
import {
  beginReplay,
  countSubscriptions,
  deleteSubscription,
  insertAttempt,
  insertSubscription,
  lockSubscription,
  type StoredAttempt,
  type Subscription,
  tryAtOnce,
  updateSecret,
  updateSettings,
} from '../store.ts'

export const managing: Permission = 'Webhooks.Manage'

/** Each has a request under way at times. */
export const webhooksLimit = 50

/** What a webhook can ask for: every event of a kind of subject, or events of one kind. */
export const selectable: readonly string[] = Object.entries(eventKinds).flatMap(([subject, kinds]) => [
  subject,
  ...kinds.map((kind) => `${subject}.${kind}`),
])

export interface AddWebhookInput {
  id: string
  url: string
  events: string[]
  enabled: boolean
  stamp: Stamp
}

/** It gets what is sealed from now on. Throws `too-many-webhooks`. */
export async function addWebhook(trx: Trx, { url, stamp, ...settings }: AddWebhookInput): Promise<void> {
  await requireStanding(trx, stamp, managing)
  if ((await countSubscriptions(trx, 'webhook')) >= webhooksLimit) throw new Problem('too-many-webhooks')
  const place = await endOfLog(trx)
  const added = {
    ...settings,
    kind: 'webhook',
    address: url,
    place,
    createdAt: stamp.nowMilliseconds,
  } as const
  await insertSubscription(trx, added)
  await record(trx, stamp, 'webhook-added', added, settingsOf(added))
}

interface ChangeInput {
  id: string
  acceptedVersions: AcceptedVersions
  stamp: Stamp
}

export interface ChangeWebhookInput extends ChangeInput {
  /** Null leaves a value as it was. */
  changes: { url: string | null; events: string[] | null; enabled: boolean | null }
}

/**
 * A disabled webhook that is enabled again continues where it was. A failed event is tried again at once,
 * even if nothing changes. Throws `webhook-not-found`, `precondition-failed`.
 */
export async function changeWebhook(
  trx: Trx,
  { changes, stamp, ...input }: ChangeWebhookInput,
): Promise<{ version: number }> {
  const webhook = await requireChangeable(trx, { stamp, ...input })
  const changed = {
    address: changes.url ?? webhook.address,
    events: changes.events ?? webhook.events,
    enabled: changes.enabled ?? webhook.enabled,
  }
  if (isDeepStrictEqual(settingsIn(changed), settingsIn(webhook))) {
    await tryAtOnce(trx, webhook.id)
    return { version: webhook.version }
  }
  const version = await updateSettings(trx, webhook.id, changed)
  await record(trx, stamp, 'webhook-changed', { id: webhook.id, ...changed }, settingsOf(changed))
  return { version }
}

/** Throws `webhook-not-found`. */
export async function removeWebhook(
  trx: Trx,
  { id, stamp }: Omit<ChangeInput, 'acceptedVersions'>,
): Promise<void> {
  const webhook = await requireChangeable(trx, { id, acceptedVersions: null, stamp })
  await deleteSubscription(trx, id)
  await record(trx, stamp, 'webhook-removed', webhook, {})
}

export interface RotateWebhookSecretInput extends Omit<ChangeInput, 'acceptedVersions'> {
  /** Until when the secret before signs too; null for not at all. */
  previousUntil: number | null
}

/** Throws `webhook-not-found`. */
export async function rotateWebhookSecret(
  trx: Trx,
  { id, previousUntil, stamp }: RotateWebhookSecretInput,
): Promise<Pick<Subscription, 'id' | 'secretVersion'>> {
  const webhook = await requireChangeable(trx, { id, acceptedVersions: null, stamp })
  await updateSecret(trx, id, previousUntil)
  const data = { previousUntilUtc: formatInstantOrNull(previousUntil) }
  await record(trx, stamp, 'webhook-secret-rotated', webhook, data)
  return { id, secretVersion: webhook.secretVersion + 1 }
}

/**
 * Sends every event again that it asks for, from this sequence on. Those that it had are a replay. Throws
 * `webhook-not-found`.
 */
export async function replayWebhook(
  trx: Trx,
  { id, from, stamp }: Omit<ChangeInput, 'acceptedVersions'> & { from: number },
): Promise<void> {
  const webhook = await requireChangeable(trx, { id, acceptedVersions: null, stamp })
  const { end, lastLeft } = await readOn(trx, webhook.place, 0)
  const sentTo = Math.max(webhook.place.sequence, webhook.replayedTo)
  await beginReplay(
    trx,
    id,
    { ...end, sequence: Math.min(from - 1, end.sequence) },
    Math.min(sentTo, lastLeft),
  )
  await record(trx, stamp, 'webhook-replayed', webhook, { from })
}

/** Keeps the outcome of a trial, unless the webhook is gone. */
export async function recordPing(
  trx: Trx,
  { id, attempt }: { id: string; attempt: StoredAttempt },
): Promise<void> {
  if ((await lockSubscription(trx, id, 'webhook')) !== undefined) await insertAttempt(trx, id, attempt)
}

async function requireChangeable(
  trx: Trx,
  { id, acceptedVersions, stamp }: ChangeInput,
): Promise<Subscription> {
  await requireStanding(trx, stamp, managing)
  const webhook = await lockSubscription(trx, id, 'webhook')
  if (webhook === undefined) throw new Problem('webhook-not-found')
  requireVersion(acceptedVersions, webhook.version)
  return webhook
}

type Settings = Pick<Subscription, 'address' | 'events' | 'enabled'>

const settingsIn = ({ address, events, enabled }: Settings): Settings => ({ address, events, enabled })

/** The settings as an event has them. */
const settingsOf = ({ events, enabled }: Settings) => ({ events, enabled })

/** Only the origin of the address: its path is often a secret of the receiver's, and the log is for ever. */
function record(
  trx: Trx,
  stamp: Stamp,
  kind: EventKind<'webhook'>,
  { id, address }: Pick<Subscription, 'id' | 'address'>,
  data: Record<string, unknown>,
): Promise<void> {
  const { origin } = new URL(address)
  return recordEvent(trx, stamp, { kind, subject: { kind: 'webhook', id }, facts: { origin, ...data } })
}

/**
 * Keys of webhooks, by Standard Webhooks. They are derived from one key of the service, so that no copy of
 * the database has them.
 */
import { createHmac, createPrivateKey, hkdfSync, type KeyObject } from 'node:crypto'
import { ed25519PublicKey, ed25519Sign } from '../../private-keys.ts'
import type { Subscription } from '../store.ts'

/** How long the secret before a new one still signs. */
export const overlapMilliseconds = 24 * 3_600_000

/**
 * The keys that sign for one webhook. Only the receiver can verify by `secret`; anyone can by the public key.
 */
interface WebhookKeys {
  secret: Buffer
  privateKey: KeyObject
}

/** PKCS #8 of an Ed25519 key, without the 32 bytes of its seed (RFC 8410 §7). */
const pkcs8OfSeed = Buffer.from('302e020100300506032b657004220420', 'hex')

function keysOf(key: Buffer, id: string, version: number): WebhookKeys {
  const derive = (use: string) =>
    Buffer.from(hkdfSync('sha256', key, '', `countersign webhook ${use} ${id} ${version}`, 32))
  const der = Buffer.concat([pkcs8OfSeed, derive('v1a')])
  return { secret: derive('v1'), privateKey: createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }) }
}

type Versions = Pick<Subscription, 'id' | 'secretVersion' | 'previousSecretUntil'>

/** The keys that sign now, the newest first. */
function activeKeys(key: Buffer, webhook: Versions, nowMilliseconds: number): WebhookKeys[] {
  const { id, secretVersion, previousSecretUntil } = webhook
  const isOverlapping = nowMilliseconds < (previousSecretUntil ?? 0)
  const versions = isOverlapping ? [secretVersion, secretVersion - 1] : [secretVersion]
  return versions.map((version) => keysOf(key, id, version))
}

/** The newest secret, as it is shown once. */
export function secretOf(key: Buffer, { id, secretVersion }: Omit<Versions, 'previousSecretUntil'>): string {
  return `whsec_${keysOf(key, id, secretVersion).secret.toString('base64')}`
}

/** The public keys that verify now, the newest first. */
export function publicKeysOf(key: Buffer, webhook: Versions, nowMilliseconds: number): string[] {
  return activeKeys(key, webhook, nowMilliseconds).map(
    ({ privateKey }) => `whpk_${Buffer.from(ed25519PublicKey(privateKey)).toString('base64')}`,
  )
}

export interface Message {
  id: string
  body: string
}

/** The headers of a message that is sent now. */
export function signedHeaders(
  key: Buffer,
  webhook: Versions,
  { id, body }: Message,
  nowMilliseconds: number,
): Record<string, string> {
  const timestamp = String(Math.floor(nowMilliseconds / 1000))
  const signed = Buffer.from(`${id}.${timestamp}.${body}`)
  const signatures = activeKeys(key, webhook, nowMilliseconds).flatMap(({ secret, privateKey }) => [
    `v1,${createHmac('sha256', secret).update(signed).digest('base64')}`,
    `v1a,${Buffer.from(ed25519Sign(privateKey, signed)).toString('base64')}`,
  ])
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') }
}

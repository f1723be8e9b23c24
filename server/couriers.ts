import type { LogKeys } from './audit/checkpoints/checkpoints.ts'
import { newestCheckpoint } from './audit/checkpoints/proof.ts'
import type { Clock } from './clock.ts'
import type { Config } from './config.ts'
import type { AppDatabase } from './db/port.ts'
import { nameServers } from './names.ts'
import { orderStatuses } from './orders/orders.ts'
import { Destinations } from './outbox/webhooks/address.ts'
import { WebhookCourier } from './outbox/webhooks/courier.ts'

export interface CourierParts {
  config: Config
  db: AppDatabase
  clock: Clock
  logKeys: LogKeys
  /** In development, instead of the key in the configuration. */
  webhookKey?: Buffer | undefined
}

/** What sends webhooks, made of parts of several slices: for the sender, and for trials by the API. */
export interface WebhookSending {
  destinations: Destinations
  /** Null if there is no key. */
  sending: { key: Buffer; courier: WebhookCourier } | null
}

export function webhookSending(parts: CourierParts, publicUrl: () => string): WebhookSending {
  const { config, db, clock, logKeys } = parts
  const key = config.webhookKeyFile?.key ?? parts.webhookKey
  const destinations = new Destinations(config.webhookNetworks, nameServers())
  if (key === undefined) return { destinations, sending: null }
  const checkpoint = async () => (await newestCheckpoint({ db, keys: logKeys, publicUrl })).checkpoint
  const statusAfter = async (event: Parameters<typeof orderStatuses>[1][number]) =>
    (await orderStatuses(db.read, [event]))[0] ?? null
  return {
    destinations,
    sending: { key, courier: new WebhookCourier({ key, destinations, checkpoint, statusAfter, clock }) },
  }
}

import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { machineStamp } from '../../server/caller/stamp.ts'
import { webhookSending } from '../../server/couriers.ts'
import type { AppDatabase } from '../../server/db/port.ts'
import { type OutboxParts, Sender } from '../../server/outbox/sender.ts'
import { findSubscription } from '../../server/outbox/store.ts'
import { newAdministrator } from './administration.ts'
import type { Client } from './client.ts'
import { noteSecret } from './discretion.ts'
import { publicUrl, type Service } from './service.ts'

/** Lets webhooks go to a receiver in this process. */
export const toReceivers = { WEBHOOK_NETWORKS: '127.0.0.1/32' }

/** A message as it arrived. */
export interface Received {
  headers: Record<string, string>
  /** The text of the body. */
  text: string
  type: string
  sequence: number | undefined
}

type Answering = (message: Received, response: ServerResponse, request: IncomingMessage) => unknown

type Until = { after(hook: () => unknown): void }

export interface Receiver {
  url: string
  /** In the order in which they arrived. */
  received: Received[]
  /** Its answer to a message; at first 204. */
  answer: Answering
}

/** A receiver of webhooks in this process, until the test ends. */
export async function startReceiver(t: Until): Promise<Receiver> {
  const received: Received[] = []
  const receiver = {
    url: '',
    received,
    answer: ((_message, response) => response.writeHead(204).end()) as Answering,
  }
  const server = createServer(async (request, response) => {
    const body = await text(request)
    const { type, data } = JSON.parse(body)
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, `${value}`]),
    )
    const message = { headers, text: body, type, sequence: data.sequence }
    received.push(message)
    await receiver.answer(message, response, request)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
  return receiver
}

export interface TestWebhook {
  id: string
  path: string
  secret: string
  publicKeys: string[]
}

export async function newWebhook(
  caller: Client,
  { url, events = ['order'] }: { url: string; events?: string[] },
): Promise<TestWebhook> {
  const { status, body, text: answered, headers } = await caller.post('/v1/webhooks', { url, events })
  assert.equal(status, 201, answered)
  noteSecret(body.secret)
  return { ...body, path: headers.get('location') ?? '' }
}

/** An administrator who has just signed in, and a webhook of orders for a receiver until the test ends. */
export async function newScene(t: Until, service: Service) {
  const receiver = await startReceiver(t)
  const { caller } = await newAdministrator(service)
  await sealAll(service.db)
  const { id, path } = await newWebhook(caller, receiver)
  const stamp = () => machineStamp(service.now())
  t.after(() => service.db.write('removeWebhook', { id, stamp: stamp() }).catch(() => undefined))
  return { receiver, caller, id, path }
}

/** There is a disabled webhook of this id, to an address that nothing can be sent to. */
export async function keepWebhook({ db, now }: Service, id: string): Promise<void> {
  if ((await findSubscription(db.read, id, 'webhook')) !== undefined) return
  const settings = { url: 'https://127.0.0.1:9/', events: ['order'], enabled: false }
  await db.write('addWebhook', { id, ...settings, stamp: machineStamp(now()) })
}

/** A sender of this process on the database of the service, by the service's clock. */
export function newSender(service: Service, options: Partial<OutboxParts> = {}): Sender {
  const { config, db, logKeys, now: clock } = service
  const { sending } = webhookSending({ config, db, logKeys, clock }, () => publicUrl)
  assert.ok(sending !== null)
  const log = { info: () => undefined, warn: () => undefined }
  return new Sender({ db, clock, log, random: () => 0.5, couriers: { webhook: sending.courier }, ...options })
}

export async function sealAll(db: Readonly<AppDatabase>): Promise<void> {
  while ((await db.write('sealEvents', { limit: 1_000 })) > 0);
}

/** Looks again and again until the condition holds. */
export async function sendUntil(sender: Sender, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await holds()); tries += 1) {
    assert.ok(tries < 3_000, 'the sender did not come as far')
    await sender.look()
    await delay(10)
  }
}

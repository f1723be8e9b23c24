import type { FastifyRequest } from 'fastify'
import { type Clock, formatInstant, formatInstantOrNull } from '../../clock.ts'
import type { Config } from '../../config.ts'
import type { AppDatabase } from '../../db/port.ts'
import { etagHeader, versionTag } from '../../http/preconditions.ts'
import {
  addition,
  change,
  ending,
  list,
  pageOf,
  readStamp,
  requireUuid,
  shownOnce,
} from '../../http/resource.ts'
import { type App, type Routes, register, route } from '../../http/route.ts'
import { newOrderedId } from '../../ids.ts'
import { joined } from '../../names.ts'
import { Problem } from '../../problems/problems.ts'
import { waitingAt } from '../report.ts'
import {
  findAttempts,
  findSubscription,
  findSubscriptions,
  type StoredAttempt,
  type Subscription,
} from '../store.ts'
import type { Destinations } from './address.ts'
import type { WebhookCourier } from './courier.ts'
import { overlapMilliseconds, publicKeysOf, secretOf } from './keys.ts'
import {
  AddWebhookCommand,
  AddWebhookResponse,
  ChangeWebhookCommand,
  PaginatedListOfWebhook,
  PaginatedListOfWebhookDelivery,
  ReplayWebhookCommand,
  RotateWebhookSecretCommand,
  RotateWebhookSecretResponse,
  Webhook,
  WebhookDelivery,
} from './schemas.ts'
import { managing } from './webhooks.ts'

export interface WebhookRouteParts {
  config: Config
  db: AppDatabase
  clock: Clock
  /** Null if WEBHOOK_KEY_FILE is not set. */
  sending: { key: Buffer; courier: WebhookCourier } | null
  destinations: Destinations
  /** Aborted when the service stops. */
  signal: AbortSignal
  /** Trials under way, by webhook: each webhook has one at a time. */
  pings: Map<string, Promise<ReturnType<typeof toDelivery>>>
}

const parameters = {
  id: {
    description: 'Id of the webhook. A malformed id gets the same answer as an unknown one.',
    schema: { type: 'string', format: 'uuid' },
    example: '019a9d2e-5b7c-7f3a-9c41-6d2f8e0b1a57',
  },
}

/** Webhooks (section 21 of the contract). */
const webhookRoutes: Routes<WebhookRouteParts> = {
  listWebhooks: list('/v1/webhooks', {
    summary: 'List webhooks',
    description: 'In the order of their creation.',
    access: managing,
    page: PaginatedListOfWebhook,
    find: async (parts, page) => {
      const webhooks = (await findSubscriptions(parts.db.read)).filter(({ kind }) => kind === 'webhook')
      return pageOf(await Promise.all(webhooks.map((webhook) => toResponse(webhook, parts))), page)
    },
  }),
  addWebhook: addition('/v1/webhooks', {
    summary: 'Add a webhook',
    description:
      'It is sent what is logged from now on. The answer has its secret, which is never shown again. The address is refused if it leads to a network that is not public.',
    access: managing,
    problems: ['too-many-webhooks', 'webhook-key-missing'],
    body: AddWebhookCommand,
    answer: AddWebhookResponse,
    isShownOnce: true,
    add: async (parts, body, stamp) => {
      const { key } = requireSending(parts)
      await requireAddress(body.url, parts)
      const id = newOrderedId(stamp.nowMilliseconds)
      await parts.db.write('addWebhook', { ...body, id, enabled: body.enabled ?? true, stamp })
      const first = { id, secretVersion: 1, previousSecretUntil: null }
      const publicKeys = publicKeysOf(key, first, stamp.nowMilliseconds)
      return { name: id, answer: { id, secret: secretOf(key, first), publicKeys } }
    },
  }),
  getWebhook: route('GET /v1/webhooks/:id', {
    summary: 'Read a webhook',
    description:
      'Send the entity tag as If-Match with a change. Deliveries do not change the tag, so a cache must not keep the answer.',
    access: managing,
    problems: ['webhook-not-found'],
    parameters,
    responseHeaders: { 200: [etagHeader] },
    response: { 200: Webhook },
    handler: async (parts, request, reply) => {
      const webhook = await requireWebhook(request, parts)
      reply.header('etag', versionTag(webhook.version))
      return toResponse(webhook, parts)
    },
  }),
  changeWebhook: change('PATCH /v1/webhooks/:id', {
    summary: 'Change a webhook',
    description:
      'Changes everything that is sent, or nothing. An event that failed is tried again at once. One that was disabled continues at its place when it is enabled.',
    access: managing,
    problems: ['webhook-not-found'],
    parameters,
    body: ChangeWebhookCommand,
    change: async (parts, changes, how, request) => {
      const { id } = await requireWebhook(request, parts)
      if (changes.url !== null) await requireAddress(changes.url, parts)
      return parts.db.write('changeWebhook', { id, changes, ...how })
    },
  }),
  removeWebhook: ending('/v1/webhooks/:id', {
    summary: 'Remove a webhook',
    description: 'Nothing more is sent. Its deliveries are forgotten.',
    access: managing,
    problems: ['webhook-not-found'],
    parameters,
    end: ({ db }, request, stamp) => db.write('removeWebhook', { id: webhookId(request), stamp }),
  }),
  rotateWebhookSecret: route('POST /v1/webhooks/:id/secrets', {
    summary: 'Give a webhook a new secret',
    description:
      'The answer has the secret, which is never shown again. For 24 hours every message has signatures of both, unless `dropOld` is true.',
    access: managing,
    needsRecentSignIn: true,
    problems: ['webhook-not-found', 'webhook-key-missing'],
    parameters,
    body: RotateWebhookSecretCommand,
    response: { 201: RotateWebhookSecretResponse },
    handler: async (parts, request, reply) => {
      const { key } = requireSending(parts)
      const stamp = readStamp(request, parts)
      const { dropOld, ...others } = request.body
      const previousUntil = dropOld ? null : stamp.nowMilliseconds + overlapMilliseconds
      const input = { ...others, id: webhookId(request), previousUntil, stamp }
      const rotated = await parts.db.write('rotateWebhookSecret', input)
      const active = { ...rotated, previousSecretUntil: previousUntil }
      reply.code(201).headers(shownOnce)
      return { secret: secretOf(key, rotated), publicKeys: publicKeysOf(key, active, stamp.nowMilliseconds) }
    },
  }),
  listWebhookDeliveries: list('/v1/webhooks/:id/deliveries', {
    summary: 'List the last attempts to send events',
    description: 'The newest first; the last 50 are kept.',
    access: managing,
    problems: ['webhook-not-found'],
    parameters,
    page: PaginatedListOfWebhookDelivery,
    find: async (parts, page, request) => {
      const { id } = await requireWebhook(request, parts)
      return pageOf((await findAttempts(parts.db.read, id)).map(toDelivery), page)
    },
  }),
  replayWebhook: route('POST /v1/webhooks/:id/replay', {
    summary: 'Send events again',
    description:
      'Every event that the webhook asks for is sent again from the sequence `from` on, in the order of the log. Events that it had already get a new `webhook-id`, and the number of the replay in `data.replay`.',
    access: managing,
    needsRecentSignIn: true,
    problems: ['webhook-not-found'],
    parameters,
    body: ReplayWebhookCommand,
    handler: async (parts, request) => {
      const stamp = readStamp(request, parts)
      await parts.db.write('replayWebhook', { ...request.body, id: webhookId(request), stamp })
    },
  }),
  pingWebhook: route('POST /v1/webhooks/:id/ping', {
    summary: 'Send a trial',
    description:
      'Sends a message of the type `ping` at once, whether the webhook is enabled or not, and answers with what came of it. It is no event of the log. Requests that arrive while a trial is under way share it.',
    access: managing,
    problems: ['webhook-not-found', 'webhook-key-missing', 'log-contradicted'],
    parameters,
    response: { 200: WebhookDelivery },
    handler: async (parts, request) => {
      const { courier } = requireSending(parts)
      const webhook = await requireWebhook(request, parts)
      return joined(parts.pings, webhook.id, async () => {
        const eventId = newOrderedId(parts.clock())
        const { isGone: _, wishedPause: __, ...attempt } = await courier.ping(webhook, eventId, parts.signal)
        const stored = { eventId, type: 'ping', sequence: null, ...attempt }
        await parts.db.write('recordPing', { id: webhook.id, attempt: stored })
        return toDelivery(stored)
      })
    },
  }),
}

export function registerWebhooks(app: App, parts: Omit<WebhookRouteParts, 'signal' | 'pings'>): void {
  const stopping = new AbortController()
  app.addHook('preClose', async () => stopping.abort())
  register(app, 'Webhooks', webhookRoutes, {
    ...parts,
    signal: stopping.signal,
    pings: new Map(),
  })
}

const webhookId = (request: FastifyRequest) => requireUuid(request, 'webhook-not-found')

async function requireWebhook(request: FastifyRequest, { db }: WebhookRouteParts): Promise<Subscription> {
  const webhook = await findSubscription(db.read, webhookId(request), 'webhook')
  if (webhook === undefined) throw new Problem('webhook-not-found')
  return webhook
}

function requireSending({ sending }: WebhookRouteParts) {
  if (sending === null) throw new Problem('webhook-key-missing')
  return sending
}

/** Throws `validation-failed` if the address leads where it must not. A name may begin to exist later. */
async function requireAddress(text: string, { destinations }: WebhookRouteParts): Promise<void> {
  const refusal = await destinations.refusalOf(new URL(text))
  if (refusal === undefined) return
  const detail = `url: ${refusal}.`
  throw new Problem('validation-failed', { detail, errors: [{ pointer: '#/url', code: 'address', detail }] })
}

async function toResponse(webhook: Subscription, { db, sending, clock }: WebhookRouteParts) {
  const { id, events, enabled, disabledBecause, place, failures } = webhook
  const { sequence, waiting } = await waitingAt(db.read, place)
  const now = clock()
  const { previousSecretUntil: until } = webhook
  return {
    id,
    url: webhook.address,
    events: [...events],
    enabled,
    disabledBecause,
    publicKeys: sending === null ? [] : publicKeysOf(sending.key, webhook, now),
    previousSecretUntilUtc: formatInstantOrNull(now < (until ?? 0) ? until : null),
    sequence,
    waiting,
    failures,
    failingSinceUtc: formatInstantOrNull(webhook.failingSince),
    nextAttemptAtUtc: formatInstantOrNull(webhook.nextAttemptAt),
    createdAtUtc: formatInstant(webhook.createdAt),
  }
}

function toDelivery({ at, ...attempt }: StoredAttempt) {
  return { ...attempt, atUtc: formatInstant(at) }
}

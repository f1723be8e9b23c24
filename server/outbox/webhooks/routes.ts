import type { FastifyRequest } from 'fastify'
import { endOfLog } from '../../audit/audit.ts'
import { type Stamp, stampOf } from '../../caller/stamp.ts'
import { type Clock, formatInstant, formatInstantOrNull } from '../../clock.ts'
import type { Config } from '../../config.ts'
import type { AppDatabase } from '../../db/port.ts'
import { noContent } from '../../http/fields.ts'
import { describePage, linkHeader, pageLinks, pageRequest } from '../../http/paging.ts'
import {
  acceptedVersions,
  cacheControl,
  etagHeader,
  ifMatchHeader,
  versionTag,
} from '../../http/preconditions.ts'
import { type App, callerOf, locationHeader, type Routes, register, route } from '../../http/route.ts'
import { newOrderedId, parseUuid } from '../../ids.ts'
import { Problem } from '../../problems/problems.ts'
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
  WebhookPages,
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
}

const parameters = {
  id: {
    description: 'Id of the webhook. A malformed id gets the same answer as an unknown one.',
    schema: { type: 'string', format: 'uuid' },
    example: '019a9d2e-5b7c-7f3a-9c41-6d2f8e0b1a57',
  },
}

const reading = { access: managing } as const
const changing = { access: managing, needsRecentSignIn: true } as const
const shownOnce = { 'cache-control': 'no-store' }

/** Webhooks (section 21 of the contract). */
const webhookRoutes: Routes<WebhookRouteParts> = {
  listWebhooks: route('GET /v1/webhooks', {
    summary: 'List webhooks',
    description: 'In the order of their creation.',
    ...reading,
    responseHeaders: { 200: [linkHeader] },
    querystring: WebhookPages,
    response: { 200: PaginatedListOfWebhook },
    handler: async (parts, request, reply) => {
      const webhooks = (await findSubscriptions(parts.db.read)).filter(({ kind }) => kind === 'webhook')
      const { items, ...page } = pageOf(webhooks, request.query)
      const end = await endOfLog(parts.db.read)
      reply.headers(pageLinks('/v1/webhooks', request.raw.url, WebhookPages, page))
      return { items: items.map((webhook) => toResponse(webhook, end.sequence, parts)), ...page }
    },
  }),
  addWebhook: route('POST /v1/webhooks', {
    summary: 'Add a webhook',
    description:
      'It is sent what is logged from now on. The answer has its secret, which is never shown again. The address is refused if it leads to a network that is not public.',
    ...changing,
    problems: ['too-many-webhooks', 'webhook-key-missing'],
    responseHeaders: { 201: [locationHeader, etagHeader] },
    body: AddWebhookCommand,
    response: { 201: AddWebhookResponse },
    handler: async (parts, request, reply) => {
      const { url, events, enabled } = request.body
      const { key } = requireSending(parts)
      await requireAddress(url, parts)
      const stamp = readStamp(request, parts)
      const id = newOrderedId(stamp.nowMilliseconds)
      await parts.db.write('addWebhook', { id, url, events, enabled: enabled ?? true, stamp })
      reply.code(201).headers({ location: `/v1/webhooks/${id}`, etag: versionTag(1), ...shownOnce })
      const first = { id, secretVersion: 1, previousSecretUntil: null }
      return { id, secret: secretOf(key, first), publicKeys: publicKeysOf(key, first, stamp.nowMilliseconds) }
    },
  }),
  getWebhook: route('GET /v1/webhooks/:id', {
    summary: 'Read a webhook',
    description:
      'Send the entity tag as If-Match with a change. What is sent meanwhile does not change the tag, so a cache must not keep the answer.',
    ...reading,
    problems: ['webhook-not-found'],
    parameters,
    responseHeaders: { 200: [etagHeader] },
    response: { 200: Webhook },
    handler: async (parts, request, reply) => {
      const webhook = await requireWebhook(request, parts)
      const end = await endOfLog(parts.db.read)
      reply.header('etag', versionTag(webhook.version))
      return toResponse(webhook, end.sequence, parts)
    },
  }),
  changeWebhook: route('PATCH /v1/webhooks/:id', {
    summary: 'Change a webhook',
    description:
      'Changes everything that is sent, or nothing. An event that failed is tried again at once. One that was disabled continues at its place when it is enabled.',
    ...changing,
    problems: ['webhook-not-found', 'precondition-failed'],
    parameters,
    requestHeaders: [ifMatchHeader],
    responseHeaders: { 204: [etagHeader], 412: [etagHeader] },
    body: ChangeWebhookCommand,
    response: { 204: noContent },
    handler: async (parts, request, reply) => {
      const { url } = request.body
      const { id } = await requireWebhook(request, parts)
      if (url !== null) await requireAddress(url, parts)
      const { version } = await parts.db.write('changeWebhook', {
        id,
        changes: request.body,
        acceptedVersions: acceptedVersions(request.headers['if-match']),
        stamp: readStamp(request, parts),
      })
      reply.header('etag', versionTag(version)).header('cache-control', cacheControl)
      return reply.code(204).send()
    },
  }),
  removeWebhook: route('DELETE /v1/webhooks/:id', {
    summary: 'Remove a webhook',
    description: 'Nothing more is sent. Its deliveries are forgotten.',
    ...changing,
    problems: ['webhook-not-found'],
    parameters,
    response: { 204: noContent },
    handler: async (parts, request, reply) => {
      await parts.db.write('removeWebhook', { id: requireId(request), stamp: readStamp(request, parts) })
      return reply.code(204).send()
    },
  }),
  rotateWebhookSecret: route('POST /v1/webhooks/:id/secrets', {
    summary: 'Give a webhook a new secret',
    description:
      'The answer has the secret, which is never shown again. For 24 hours every message has signatures of both, unless `dropOld` is true.',
    ...changing,
    problems: ['webhook-not-found', 'webhook-key-missing'],
    parameters,
    body: RotateWebhookSecretCommand,
    response: { 201: RotateWebhookSecretResponse },
    handler: async (parts, request, reply) => {
      const { key } = requireSending(parts)
      const stamp = readStamp(request, parts)
      const previousUntil = request.body?.dropOld ? null : stamp.nowMilliseconds + overlapMilliseconds
      const rotated = await parts.db.write('rotateWebhookSecret', {
        id: requireId(request),
        previousUntil,
        stamp,
      })
      const active = { ...rotated, previousSecretUntil: previousUntil }
      reply.code(201).headers(shownOnce)
      return { secret: secretOf(key, rotated), publicKeys: publicKeysOf(key, active, stamp.nowMilliseconds) }
    },
  }),
  listWebhookDeliveries: route('GET /v1/webhooks/:id/deliveries', {
    summary: 'List the last attempts to send events',
    description: 'The newest first; the last 50 are kept.',
    ...reading,
    problems: ['webhook-not-found'],
    parameters,
    responseHeaders: { 200: [linkHeader] },
    querystring: WebhookPages,
    response: { 200: PaginatedListOfWebhookDelivery },
    handler: async (parts, request, reply) => {
      const { id } = await requireWebhook(request, parts)
      const { items, ...page } = pageOf(await findAttempts(parts.db.read, id), request.query)
      reply.headers(pageLinks(`/v1/webhooks/${id}/deliveries`, request.raw.url, WebhookPages, page))
      return { items: items.map(toDelivery), ...page }
    },
  }),
  replayWebhook: route('POST /v1/webhooks/:id/replay', {
    summary: 'Send events again',
    description:
      'Every event that the webhook asks for is sent again from the sequence `from` on, in the order of the log and under the same `webhook-id`.',
    ...changing,
    problems: ['webhook-not-found'],
    parameters,
    body: ReplayWebhookCommand,
    response: { 204: noContent },
    handler: async (parts, request, reply) => {
      const { from } = request.body
      await parts.db.write('replayWebhook', {
        id: requireId(request),
        from,
        stamp: readStamp(request, parts),
      })
      return reply.code(204).send()
    },
  }),
  pingWebhook: route('POST /v1/webhooks/:id/ping', {
    summary: 'Send a trial',
    description:
      'Sends a message of the type `ping` at once, whether the webhook is enabled or not, and answers with what came of it. It is no event of the log.',
    ...reading,
    problems: ['webhook-not-found', 'webhook-key-missing', 'log-contradicted'],
    parameters,
    response: { 200: WebhookDelivery },
    handler: async (parts, request) => {
      const { courier } = requireSending(parts)
      const webhook = await requireWebhook(request, parts)
      const eventId = newOrderedId(parts.clock())
      const { isGone: _, wishedPause: __, ...attempt } = await courier.ping(webhook, eventId, parts.signal)
      const stored = { eventId, type: 'ping', sequence: null, ...attempt }
      await parts.db.write('recordPing', { id: webhook.id, attempt: stored })
      return toDelivery(stored)
    },
  }),
}

export function registerWebhooks(app: App, parts: Omit<WebhookRouteParts, 'signal'>): void {
  const stopping = new AbortController()
  app.addHook('preClose', async () => stopping.abort())
  register(app, 'Webhooks', webhookRoutes, { ...parts, signal: stopping.signal })
}

/** Throws `webhook-not-found` if the id is malformed. */
function requireId(request: FastifyRequest): string {
  const id = parseUuid((request.params as { id: string }).id)
  if (id === undefined) throw new Problem('webhook-not-found')
  return id
}

async function requireWebhook(request: FastifyRequest, { db }: WebhookRouteParts): Promise<Subscription> {
  const webhook = await findSubscription(db.read, requireId(request), 'webhook')
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

function readStamp(request: FastifyRequest, { config, clock }: WebhookRouteParts): Stamp {
  const caller = callerOf(request)
  return stampOf(caller, clock(), caller.timeZone ?? config.defaultTimeZone)
}

/** One page of a list that was read as a whole. */
function pageOf<Item>(all: Item[], query: { pageNumber: number | undefined; pageSize: number | undefined }) {
  const wanted = pageRequest(query.pageNumber, query.pageSize)
  const items = all.slice(wanted.offset, wanted.offset + wanted.pageSize)
  return { items, ...describePage(all.length, wanted) }
}

function toResponse(webhook: Subscription, end: number, { sending, clock }: WebhookRouteParts) {
  const { id, events, enabled, disabledBecause, place, failures } = webhook
  const now = clock()
  const { previousSecretUntil: until } = webhook
  return {
    id,
    url: webhook.address,
    events: [...events],
    enabled,
    disabledBecause,
    publicKeys: sending === null ? [] : publicKeysOf(sending.key, webhook, now),
    previousSecretUntilUtc: formatInstantOrNull(until !== null && now < until ? until : null),
    sequence: place.sequence,
    waiting: Math.max(0, end - place.sequence),
    failures,
    failingSinceUtc: formatInstantOrNull(webhook.failingSince),
    nextAttemptAtUtc: formatInstantOrNull(webhook.nextAttemptAt),
    createdAtUtc: formatInstant(webhook.createdAt),
  }
}

function toDelivery({ at, ...attempt }: StoredAttempt) {
  return { ...attempt, atUtc: formatInstant(at) }
}

import type { FastifyRequest } from 'fastify'
import { formatInstant, formatInstantOrNull } from '../../../clock.ts'
import { noContent } from '../../../http/fields.ts'
import { describePage, linkHeader, pageLinks, pageRequest } from '../../../http/paging.ts'
import {
  acceptedVersions,
  cacheControl,
  etagHeader,
  ifMatchHeader,
  ifNoneMatchHeader,
  versionTag,
} from '../../../http/preconditions.ts'
import { Problem } from '../../../http/problems.ts'
import { type App, locationHeader } from '../../../http/route.ts'
import { newSecret, sha256 } from '../../../ids.ts'
import {
  findClientAccount,
  listClients,
  type ClientAccount as StoredClient,
} from '../../accounts/clients/store.ts'
import { countAccounts } from '../../accounts/store.ts'
import type { AuthParts } from '../../login.ts'
import {
  AddClientCommand,
  AddClientResponse,
  ChangeClientCommand,
  ClientAccount,
  ListClientsQuery,
  PaginatedListOfClientAccount,
  RotateClientSecretCommand,
  RotateClientSecretResponse,
} from './client-schemas.ts'
import { changing, idParameter, readStamp, requireId, sendVersion, shownOnce, tags } from './requests.ts'

const url = '/v1/clients/:id'

export function registerClients(app: App, parts: AuthParts): void {
  registerList(app, parts)
  registerAdd(app, parts)
  registerGet(app, parts)
  registerChange(app, parts)
  registerRotate(app, parts)
  registerDropOld(app, parts)
}

function registerList(app: App, { db }: AuthParts): void {
  app.route({
    method: 'GET',
    url: '/v1/clients',
    config: { access: 'Accounts.Manage', responseHeaders: { 200: [linkHeader] } },
    schema: {
      operationId: 'listClients',
      summary: 'List service clients',
      description: 'In the order of their ids.',
      tags,
      querystring: ListClientsQuery,
      response: { 200: PaginatedListOfClientAccount },
    },
    handler: async (request, reply) => {
      const page = pageRequest(request.query.pageNumber, request.query.pageSize)
      const clients = await listClients(db.read, { offset: page.offset, limit: page.pageSize })
      const description = describePage(await countAccounts(db.read, 'client'), page)
      reply.headers(pageLinks('/v1/clients', request.raw.url, ListClientsQuery, description))
      return { items: clients.map(toResponse), ...description }
    },
  })
}

function registerAdd(app: App, parts: AuthParts): void {
  app.route({
    method: 'POST',
    url: '/v1/clients',
    config: {
      ...changing,
      problems: ['name-taken', 'unknown-role'],
      responseHeaders: { 201: [locationHeader, etagHeader] },
    },
    schema: {
      operationId: 'addClient',
      summary: 'Add a service client',
      description: 'Its secret is in the answer, and is never shown again.',
      tags,
      body: AddClientCommand,
      response: { 201: AddClientResponse },
    },
    handler: async (request, reply) => {
      const { endsAtUtc: endsAt, ...client } = request.body
      const clientSecret = newSecret()
      const secretHash = sha256(clientSecret)
      const input = { ...client, endsAt, secretHash, stamp: readStamp(request, parts) }
      const { id } = await parts.db.write('addClient', input)
      reply.code(201).header('location', `/v1/clients/${id}`).header('etag', versionTag(1))
      reply.headers(shownOnce)
      return { id, clientSecret }
    },
  })
}

function registerGet(app: App, { db }: AuthParts): void {
  app.route({
    method: 'GET',
    url,
    config: {
      access: 'Accounts.Manage',
      problems: ['client-not-found'],
      parameters: idParameter,
      requestHeaders: [ifNoneMatchHeader],
      responseHeaders: { 200: [etagHeader] },
    },
    schema: {
      operationId: 'getClient',
      summary: 'Read a service client',
      description:
        'The entity tag is for the If-Match of a change. It does not change when the client is used.',
      tags,
      response: { 200: ClientAccount, 304: noContent },
    },
    handler: async (request, reply) => {
      const client = await requireClient({ db }, request)
      return sendVersion(request, reply, client.version, toResponse(client))
    },
  })
}

function registerChange(app: App, parts: AuthParts): void {
  app.route({
    method: 'PATCH',
    url,
    config: {
      ...changing,
      problems: ['client-not-found', 'precondition-failed', 'unknown-role'],
      parameters: idParameter,
      requestHeaders: [ifMatchHeader],
      responseHeaders: { 204: [etagHeader], 412: [etagHeader] },
    },
    schema: {
      operationId: 'changeClient',
      summary: 'Change a service client',
      description:
        'All of it or nothing. Disabling, or taking a role away, ends the tokens that it has within five minutes, as an earlier end does; from its end on it gets none.',
      tags,
      body: ChangeClientCommand,
      response: { 204: noContent },
    },
    handler: async (request, reply) => {
      const input = {
        id: requireId(request, 'client-not-found'),
        acceptedVersions: acceptedVersions(request.headers['if-match']),
        changes: request.body,
        stamp: readStamp(request, parts),
      }
      const { version } = await parts.db.write('changeClient', input)
      reply.header('etag', versionTag(version)).header('cache-control', cacheControl)
      return reply.code(204).send(undefined)
    },
  })
}

function registerRotate(app: App, parts: AuthParts): void {
  app.route({
    method: 'POST',
    url: `${url}/secrets`,
    config: { ...changing, problems: ['client-not-found'], parameters: idParameter },
    schema: {
      operationId: 'rotateClientSecret',
      summary: 'Give a service client another secret',
      description:
        'It is in the answer, and is never shown again. The previous one goes on working beside it until it is dropped; an older one ends, and with it the tokens issued so far.',
      tags,
      body: RotateClientSecretCommand,
      response: { 201: RotateClientSecretResponse },
    },
    handler: async (request, reply) => {
      const clientSecret = newSecret()
      await parts.db.write('rotateClientSecret', {
        account: { kind: 'client', id: requireId(request, 'client-not-found') },
        secretHash: sha256(clientSecret),
        dropOld: request.body?.dropOld ?? false,
        stamp: readStamp(request, parts),
      })
      reply.code(201).headers(shownOnce)
      return { clientSecret }
    },
  })
}

function registerDropOld(app: App, parts: AuthParts): void {
  app.route({
    method: 'DELETE',
    url: `${url}/secrets`,
    config: { ...changing, problems: ['client-not-found'], parameters: idParameter },
    schema: {
      operationId: 'dropOldClientSecrets',
      summary: 'End a rotation: only the newest secret stays',
      description: 'The tokens issued so far end within five minutes, if there was another secret.',
      tags,
      response: { 204: noContent },
    },
    handler: async (request, reply) => {
      const account = { kind: 'client', id: requireId(request, 'client-not-found') } as const
      await parts.db.write('dropOldClientSecrets', { account, stamp: readStamp(request, parts) })
      return reply.code(204).send(undefined)
    },
  })
}

async function requireClient({ db }: Pick<AuthParts, 'db'>, request: FastifyRequest): Promise<StoredClient> {
  const client = await findClientAccount(db.read, requireId(request, 'client-not-found'))
  if (client === undefined) throw new Problem('client-not-found')
  return client
}

function toResponse({ endsAt, lastUsedAt, createdAt, demo: _, version: __, ...client }: StoredClient) {
  return {
    ...client,
    endsAtUtc: formatInstantOrNull(endsAt),
    lastUsedAtUtc: formatInstantOrNull(lastUsedAt),
    createdAtUtc: formatInstant(createdAt),
  }
}

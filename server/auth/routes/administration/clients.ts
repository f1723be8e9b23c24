import { formatInstant, formatInstantOrNull } from '../../../clock.ts'
import { Problem } from '../../../http/problems.ts'
import type { App } from '../../../http/route.ts'
import { newSecret, sha256 } from '../../../ids.ts'
import {
  findClientAccount,
  listClients,
  type ClientAccount as StoredClient,
} from '../../accounts/clients/store.ts'
import { countAccounts } from '../../accounts/store.ts'
import type { AuthParts } from '../../login.ts'
import { changing, idParameter, readStamp, requireId, shownOnce, tags } from './requests.ts'
import { registerAdd, registerChange, registerEnd, registerList, registerRead } from './resource.ts'
import {
  AddClientCommand,
  AddClientResponse,
  ChangeClientCommand,
  ClientAccount,
  PaginatedListOfClientAccount,
  RotateClientSecretCommand,
  RotateClientSecretResponse,
} from './schemas.ts'

const url = '/v1/clients'
const one = { url: `${url}/:id`, parameters: idParameter }
const secrets = { ...one, url: `${one.url}/secrets` }

export function registerClients(app: App, parts: AuthParts): void {
  const { db } = parts
  registerList(app, {
    url,
    operationId: 'listClients',
    summary: 'List service clients',
    description: 'Ordered by id.',
    response: PaginatedListOfClientAccount,
    find: async ({ offset, pageSize: limit }) => ({
      items: (await listClients(db.read, { offset, limit })).map(toResponse),
      totalCount: await countAccounts(db.read, 'client'),
    }),
  })
  registerAddClient(app, parts)
  registerRead(app, {
    ...one,
    operationId: 'getClient',
    summary: 'Read a service client',
    description: 'A change takes the entity tag as its If-Match. Using the client does not change the tag.',
    problems: ['client-not-found'],
    response: ClientAccount,
    find: async (request) => {
      const client = await findClientAccount(db.read, requireId(request, 'client-not-found'))
      if (client === undefined) throw new Problem('client-not-found')
      return { version: client.version, answer: toResponse(client) }
    },
  })
  registerChange(app, parts, {
    method: 'PATCH',
    ...one,
    operationId: 'changeClient',
    summary: 'Change a service client',
    description:
      'Changes everything that is sent, or nothing. Disabling the client, taking a role away or choosing an earlier end ends its current tokens within five minutes. From its end on it gets no token.',
    problems: ['client-not-found', 'unknown-role'],
    body: ChangeClientCommand,
    change: (changes, how, request) =>
      db.write('changeClient', { id: requireId(request, 'client-not-found'), changes, ...how }),
  })
  registerRotate(app, parts)
  registerDropOld(app, parts)
}

function registerAddClient(app: App, parts: AuthParts): void {
  registerAdd(app, parts, {
    url,
    operationId: 'addClient',
    summary: 'Add a service client',
    description: 'The answer has its secret, which is never shown again.',
    problems: ['name-taken', 'unknown-role'],
    body: AddClientCommand,
    response: AddClientResponse,
    isShownOnce: true,
    add: async ({ endsAtUtc: endsAt, ...client }, stamp) => {
      const clientSecret = newSecret()
      const secretHash = sha256(clientSecret)
      const { id } = await parts.db.write('addClient', { ...client, endsAt, secretHash, stamp })
      return { name: id, answer: { id, clientSecret } }
    },
  })
}

function registerRotate(app: App, parts: AuthParts): void {
  app.route({
    method: 'POST',
    url: secrets.url,
    config: { ...changing, problems: ['client-not-found'], parameters: idParameter },
    schema: {
      operationId: 'rotateClientSecret',
      summary: 'Give a service client a new secret',
      description:
        'The answer has the secret, which is never shown again. The previous secret works until it is dropped. One before that ends at once, with the tokens issued so far.',
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
  registerEnd(app, parts, {
    ...secrets,
    operationId: 'dropOldClientSecrets',
    summary: 'End a rotation: keep the newest secret only',
    description: 'If there was another secret, the tokens issued so far end within five minutes.',
    problems: ['client-not-found'],
    end: (request, stamp) => {
      const account = { kind: 'client', id: requireId(request, 'client-not-found') } as const
      return parts.db.write('dropOldClientSecrets', { account, stamp })
    },
  })
}

function toResponse({ endsAt, lastUsedAt, createdAt, demo: _, version: __, ...client }: StoredClient) {
  return {
    ...client,
    endsAtUtc: formatInstantOrNull(endsAt),
    lastUsedAtUtc: formatInstantOrNull(lastUsedAt),
    createdAtUtc: formatInstant(createdAt),
  }
}

import { formatInstant, formatInstantOrNull } from '../../../clock.ts'
import { etagHeader, versionTag } from '../../../http/preconditions.ts'
import { addition, change, ending, readStamp, search, shownOnce } from '../../../http/resource.ts'
import { type Routes, route } from '../../../http/route.ts'
import { newSecret, sha256 } from '../../../ids.ts'
import { Problem } from '../../../problems/problems.ts'
import { findClientAccount, type ClientAccount as StoredClient } from '../../accounts/clients/store.ts'
import type { AuthParts } from '../../login.ts'
import { idParameter, managing, requireId } from './requests.ts'
import {
  AddClientCommand,
  AddClientResponse,
  ChangeClientCommand,
  ClientAccount,
  PaginatedListOfClientAccount,
  RotateClientSecretCommand,
  RotateClientSecretResponse,
} from './schemas.ts'

export const clientRoutes: Routes<AuthParts> = {
  listClients: search('/v1/clients', {
    summary: 'List service clients',
    description: 'Ordered by id. `filter` is the beginning of a client ID or a display name.',
    access: managing,
    page: PaginatedListOfClientAccount,
    find: async ({ db }, wanted, options) => {
      const { items, totalCount } = await db.query('findClients', wanted, options)
      return { items: items.map(toResponse), totalCount }
    },
  }),
  addClient: addition('/v1/clients', {
    summary: 'Add a service client',
    description: 'The answer has its secret, which is never shown again.',
    access: managing,
    problems: ['name-taken', 'unknown-role', 'not-an-owner'],
    body: AddClientCommand,
    answer: AddClientResponse,
    isShownOnce: true,
    add: async ({ db }, { endsAtUtc: endsAt, ownerId, ...client }, stamp) => {
      const clientSecret = newSecret()
      const details = { endsAt, ownerId: ownerId?.value ?? null, secretHash: sha256(clientSecret) }
      const { id } = await db.write('addClient', { ...client, ...details, stamp })
      return { name: id, answer: { id, clientSecret } }
    },
  }),
  getClient: route('GET /v1/clients/:id', {
    summary: 'Read a service client',
    description:
      'Send the entity tag as If-Match with a change. Using the client does not change the tag, so a cache must not keep the answer.',
    access: managing,
    problems: ['client-not-found'],
    parameters: idParameter,
    responseHeaders: { 200: [etagHeader] },
    response: { 200: ClientAccount },
    handler: async ({ db }, request, reply) => {
      const client = await findClientAccount(db.read, requireId(request, 'client-not-found'))
      if (client === undefined) throw new Problem('client-not-found')
      reply.header('etag', versionTag(client.version))
      return toResponse(client)
    },
  }),
  changeClient: change('PATCH /v1/clients/:id', {
    summary: 'Change a service client',
    description:
      'Changes everything that is sent, or nothing. Disabling the client, taking a role away or choosing an earlier end ends its current tokens within five minutes. After its end it gets no token.',
    access: managing,
    problems: ['client-not-found', 'unknown-role', 'not-an-owner'],
    parameters: idParameter,
    body: ChangeClientCommand,
    canStrand: true,
    change: ({ change }, changes, how, request) =>
      change('changeClient', { id: requireId(request, 'client-not-found'), changes, ...how }),
  }),
  rotateClientSecret: route('POST /v1/clients/:id/secrets', {
    summary: 'Give a service client a new secret',
    description:
      'The answer has the secret, which is never shown again. The previous secret works until it is dropped. One before that ends at once, with the tokens issued so far.',
    access: managing,
    needsRecentSignIn: true,
    problems: ['client-not-found'],
    parameters: idParameter,
    body: RotateClientSecretCommand,
    response: { 201: RotateClientSecretResponse },
    handler: async (parts, request, reply) => {
      const clientSecret = newSecret()
      const { dropOld, ...others } = request.body
      await parts.db.write('rotateClientSecret', {
        ...others,
        account: { kind: 'client', id: requireId(request, 'client-not-found') },
        secretHash: sha256(clientSecret),
        dropOld: dropOld ?? false,
        stamp: readStamp(request, parts),
      })
      reply.code(201).headers(shownOnce)
      return { clientSecret }
    },
  }),
  dropOldClientSecrets: ending('/v1/clients/:id/secrets', {
    summary: 'End a rotation: keep the newest secret only',
    description: 'If there was another secret, the tokens issued so far end within five minutes.',
    access: managing,
    problems: ['client-not-found'],
    parameters: idParameter,
    end: ({ change }, request, stamp) => {
      const account = { kind: 'client', id: requireId(request, 'client-not-found') } as const
      return change('dropOldClientSecrets', { account, stamp })
    },
  }),
}

function toResponse({ endsAt, lastUsedAt, createdAt, demo: _, version: __, ...client }: StoredClient) {
  return {
    ...client,
    endsAtUtc: formatInstantOrNull(endsAt),
    lastUsedAtUtc: formatInstantOrNull(lastUsedAt),
    createdAtUtc: formatInstant(createdAt),
  }
}

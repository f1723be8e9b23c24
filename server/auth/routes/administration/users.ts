import { formatInstant } from '../../../clock.ts'
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
import { countAccounts } from '../../accounts/store.ts'
import { linkAddress } from '../../accounts/users/links.ts'
import { findUser, listUsers, type UserAccount as StoredUser } from '../../accounts/users/store.ts'
import type { AuthParts } from '../../login.ts'
import { changing, idParameter, readStamp, requireId, sendVersion, shownOnce, tags } from './requests.ts'
import {
  AddUserCommand,
  AddUserResponse,
  ChangeUserCommand,
  ListUsersQuery,
  PaginatedListOfUserAccount,
  UserAccount,
  UserLink,
} from './user-schemas.ts'

export function registerUsers(app: App, parts: AuthParts): void {
  registerList(app, parts)
  registerAdd(app, parts)
  registerGet(app, parts)
  registerChange(app, parts)
  registerMakeLink(app, parts)
}

function registerList(app: App, { db }: AuthParts): void {
  app.route({
    method: 'GET',
    url: '/v1/users',
    config: { access: 'Accounts.Manage', responseHeaders: { 200: [linkHeader] } },
    schema: {
      operationId: 'listUsers',
      summary: 'List users',
      description: 'In the order of their ids.',
      tags,
      querystring: ListUsersQuery,
      response: { 200: PaginatedListOfUserAccount },
    },
    handler: async (request, reply) => {
      const page = pageRequest(request.query.pageNumber, request.query.pageSize)
      const users = await listUsers(db.read, { offset: page.offset, limit: page.pageSize })
      const description = describePage(await countAccounts(db.read, 'user'), page)
      reply.headers(pageLinks('/v1/users', request.raw.url, ListUsersQuery, description))
      return { items: users.map(toResponse), ...description }
    },
  })
}

function registerAdd(app: App, parts: AuthParts): void {
  app.route({
    method: 'POST',
    url: '/v1/users',
    config: {
      ...changing,
      problems: ['name-taken', 'email-taken', 'unknown-role'],
      responseHeaders: { 201: [locationHeader, etagHeader] },
    },
    schema: {
      operationId: 'addUser',
      summary: 'Add a user',
      description: 'The user has no password, and cannot sign in until a link has been used.',
      tags,
      body: AddUserCommand,
      response: { 201: AddUserResponse },
    },
    handler: async (request, reply) => {
      const input = { ...request.body, passwordHash: null, stamp: readStamp(request, parts) }
      const { id } = await parts.db.write('addUser', input)
      reply.code(201).header('location', `/v1/users/${id}`).header('etag', versionTag(1))
      reply.header('cache-control', cacheControl)
      return { id }
    },
  })
}

function registerGet(app: App, { db }: AuthParts): void {
  app.route({
    method: 'GET',
    url: '/v1/users/:id',
    config: {
      access: 'Accounts.Manage',
      problems: ['user-not-found'],
      parameters: idParameter,
      requestHeaders: [ifNoneMatchHeader],
      responseHeaders: { 200: [etagHeader] },
    },
    schema: {
      operationId: 'getUser',
      summary: 'Read a user',
      description: 'The entity tag is for the If-Match of a change.',
      tags,
      response: { 200: UserAccount, 304: noContent },
    },
    handler: async (request, reply) => {
      const user = await findUser(db.read, requireId(request, 'user-not-found'))
      if (user === undefined) throw new Problem('user-not-found')
      return sendVersion(request, reply, user.version, toResponse(user))
    },
  })
}

function registerChange(app: App, parts: AuthParts): void {
  app.route({
    method: 'PATCH',
    url: '/v1/users/:id',
    config: {
      ...changing,
      problems: [
        'user-not-found',
        'precondition-failed',
        'name-taken',
        'email-taken',
        'unknown-role',
        'last-administrator',
      ],
      parameters: idParameter,
      requestHeaders: [ifMatchHeader],
      responseHeaders: { 204: [etagHeader], 412: [etagHeader] },
    },
    schema: {
      operationId: 'changeUser',
      summary: 'Change a user',
      description:
        'All of it or nothing. Disabling ends every session and token of the user; a role that is taken away ends with it everywhere. The last account that may manage accounts keeps that permission.',
      tags,
      body: ChangeUserCommand,
      response: { 204: noContent },
    },
    handler: async (request, reply) => {
      const input = {
        id: requireId(request, 'user-not-found'),
        acceptedVersions: acceptedVersions(request.headers['if-match']),
        changes: request.body,
        stamp: readStamp(request, parts),
      }
      const { version } = await parts.db.write('changeUser', input)
      reply.header('etag', versionTag(version)).header('cache-control', cacheControl)
      return reply.code(204).send(undefined)
    },
  })
}

function registerMakeLink(app: App, parts: AuthParts): void {
  app.route({
    method: 'POST',
    url: '/v1/users/:id/links',
    config: {
      ...changing,
      problems: ['user-not-found', 'account-disabled'],
      parameters: idParameter,
    },
    schema: {
      operationId: 'makeLink',
      summary: 'Make a one-time link for a user',
      description:
        'An invitation, or a way back for anyone who has forgotten the password: whoever opens it can set the password, once, within 24 hours. It is shown once, and voids the one before. No mail is sent.',
      tags,
      response: { 201: UserLink },
    },
    handler: async (request, reply) => {
      const token = newSecret()
      const account = { kind: 'user', id: requireId(request, 'user-not-found') } as const
      const input = { account, tokenHash: sha256(token), stamp: readStamp(request, parts) }
      const { email, expiresAt } = await parts.db.write('makeLink', input)
      reply.code(201).headers(shownOnce)
      return {
        link: linkAddress(parts.publicUrl(), { token, email }),
        expiresAtUtc: formatInstant(expiresAt),
      }
    },
  })
}

function toResponse({ id, userName, email, timeZone, roles, enabled, hasPassword, createdAt }: StoredUser) {
  const createdAtUtc = formatInstant(createdAt)
  return { id, userName, email, timeZone, roles, enabled, hasPassword, createdAtUtc }
}

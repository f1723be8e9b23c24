import { formatInstant } from '../../../clock.ts'
import { Problem } from '../../../http/problems.ts'
import type { App } from '../../../http/route.ts'
import { newSecret, sha256 } from '../../../ids.ts'
import { countAccounts } from '../../accounts/store.ts'
import { linkAddress } from '../../accounts/users/links.ts'
import { findUser, listUsers, type UserAccount as StoredUser } from '../../accounts/users/store.ts'
import type { AuthParts } from '../../login.ts'
import { changing, idParameter, readStamp, requireId, shownOnce, tags } from './requests.ts'
import { registerAdd, registerChange, registerList, registerRead } from './resource.ts'
import {
  AddUserCommand,
  AddUserResponse,
  ChangeUserCommand,
  PaginatedListOfUserAccount,
  UserAccount,
  UserLink,
} from './schemas.ts'

const url = '/v1/users'
const one = { url: `${url}/:id`, parameters: idParameter }

export function registerUsers(app: App, parts: AuthParts): void {
  const { db } = parts
  registerList(app, {
    url,
    operationId: 'listUsers',
    summary: 'List users',
    description: 'Ordered by id.',
    response: PaginatedListOfUserAccount,
    find: async ({ offset, pageSize: limit }) => ({
      items: (await listUsers(db.read, { offset, limit })).map(toResponse),
      totalCount: await countAccounts(db.read, 'user'),
    }),
  })
  registerAdd(app, parts, {
    url,
    operationId: 'addUser',
    summary: 'Add a user',
    description: 'The user has no password, and cannot sign in before setting one by a link.',
    problems: ['name-taken', 'email-taken', 'unknown-role'],
    body: AddUserCommand,
    response: AddUserResponse,
    add: async (body, stamp) => {
      const { id } = await db.write('addUser', { ...body, passwordHash: null, stamp })
      return { name: id, answer: { id } }
    },
  })
  registerRead(app, {
    ...one,
    operationId: 'getUser',
    summary: 'Read a user',
    description: 'A change takes the entity tag as its If-Match.',
    problems: ['user-not-found'],
    response: UserAccount,
    find: async (request) => {
      const user = await findUser(db.read, requireId(request, 'user-not-found'))
      if (user === undefined) throw new Problem('user-not-found')
      return { version: user.version, answer: toResponse(user) }
    },
  })
  registerChangeUser(app, parts)
  registerMakeLink(app, parts)
}

function registerChangeUser(app: App, parts: AuthParts): void {
  registerChange(app, parts, {
    method: 'PATCH',
    ...one,
    operationId: 'changeUser',
    summary: 'Change a user',
    description:
      'Changes everything that is sent, or nothing. Disabling ends every session and token of the user; a role that is taken away is gone from all of them. The last account that can manage accounts keeps that permission.',
    problems: ['user-not-found', 'name-taken', 'email-taken', 'unknown-role', 'last-administrator'],
    body: ChangeUserCommand,
    change: (changes, how, request) =>
      parts.db.write('changeUser', { id: requireId(request, 'user-not-found'), changes, ...how }),
  })
}

function registerMakeLink(app: App, parts: AuthParts): void {
  app.route({
    method: 'POST',
    url: `${url}/:id/links`,
    config: { ...changing, problems: ['user-not-found', 'account-disabled'], parameters: idParameter },
    schema: {
      operationId: 'makeLink',
      summary: 'Make a one-time link for a user',
      description:
        'An invitation, or a way back for a user who has forgotten the password: anyone who opens the link can set the password, once, within 24 hours. The link is shown once, and voids the one before. No mail is sent.',
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

function toResponse({ createdAt, demo: _, version: __, ...user }: StoredUser) {
  return { ...user, createdAtUtc: formatInstant(createdAt) }
}

import { formatInstant, formatInstantOrNull } from '../../../clock.ts'
import { claimRolesOf } from '../../../config.ts'
import { addition, change, read, readStamp, search, shownOnce } from '../../../http/resource.ts'
import { type Routes, route } from '../../../http/route.ts'
import { newSecret, sha256 } from '../../../ids.ts'
import { Problem } from '../../../problems/problems.ts'
import { linkAddress } from '../../accounts/users/links.ts'
import { findUser, type UserAccount as StoredUser } from '../../accounts/users/store.ts'
import type { AuthParts } from '../../login.ts'
import { idParameter, managing, presentedSignIn, requireId } from './requests.ts'
import {
  AddUserCommand,
  AddUserResponse,
  ChangeUserCommand,
  PaginatedListOfUserAccount,
  UserAccount,
  UserLink,
} from './schemas.ts'

export const userRoutes: Routes<AuthParts> = {
  listUsers: search('/v1/users', {
    summary: 'List users',
    description: 'Ordered by id. `filter` is the beginning of a user name or an email.',
    access: managing,
    page: PaginatedListOfUserAccount,
    find: async ({ db }, wanted, options) => {
      const { items, totalCount } = await db.query('findUsers', wanted, options)
      return { items: items.map(toListed), totalCount }
    },
  }),
  addUser: addition('/v1/users', {
    summary: 'Add a user',
    description: 'The user has no password, and cannot sign in before setting one by a link.',
    access: managing,
    problems: ['name-taken', 'email-taken', 'unknown-role'],
    body: AddUserCommand,
    answer: AddUserResponse,
    add: async ({ db }, { name: fullName, ...body }, stamp) => {
      const { id } = await db.write('addUser', { ...body, fullName, passwordHash: null, stamp })
      return { name: id, answer: { id } }
    },
  }),
  getUser: read('/v1/users/:id', {
    summary: 'Read a user',
    description: 'Send the entity tag as If-Match with a change.',
    access: managing,
    problems: ['user-not-found'],
    parameters: idParameter,
    answer: UserAccount,
    find: async ({ db }, request) => {
      const user = await findUser(db.read, requireId(request, 'user-not-found'))
      if (user === undefined) throw new Problem('user-not-found')
      return { version: user.version, answer: toResponse(user) }
    },
  }),
  changeUser: change('PATCH /v1/users/:id', {
    summary: 'Change a user',
    description:
      'Changes everything that is sent, or nothing. Disabling ends every session and token of the user; a role that is taken away disappears from all of them. The last account that can manage accounts keeps that permission.',
    access: managing,
    problems: [
      ...(['user-not-found', 'account-erased', 'name-taken', 'email-taken', 'unknown-role'] as const),
      'last-administrator',
      'role-follows-claim',
    ],
    parameters: idParameter,
    body: ChangeUserCommand,
    canStrand: true,
    change: ({ change, config }, { name: fullName, ...others }, how, request) => {
      const changes = { ...others, fullName }
      const claimRoles = claimRolesOf(config)
      return change('changeUser', { id: requireId(request, 'user-not-found'), changes, claimRoles, ...how })
    },
  }),
  makeLink: route('POST /v1/users/:id/links', {
    summary: 'Make a one-time link for a user',
    description:
      'An invitation, or a way back for a user who has forgotten the password: anyone who opens the link can set the password, once, within 24 hours. The link is shown once, and voids the previous one. It ends if the sign-in in which it was made is ended, or if its maker loses the permission. If the service sends mail, the user is mailed another link for the same time, unless the account has a passkey.',
    access: managing,
    needsRecentSignIn: true,
    problems: ['user-not-found', 'account-disabled'],
    parameters: idParameter,
    response: { 201: UserLink },
    handler: async (parts, request, reply) => {
      const token = newSecret()
      const account = { kind: 'user', id: requireId(request, 'user-not-found') } as const
      const { id: signInId } = presentedSignIn(request)
      const input = { account, tokenHash: sha256(token), signInId, stamp: readStamp(request, parts) }
      const { email, expiresAt } = await parts.db.write('makeLink', input)
      reply.code(201).headers(shownOnce)
      return {
        link: linkAddress(parts.publicUrl(), { token, email }),
        expiresAtUtc: formatInstant(expiresAt),
      }
    },
  }),
}

function toListed(user: StoredUser) {
  return { ...toResponse(user), lastSignInAtUtc: formatInstantOrNull(user.lastSignInAt) }
}

function toResponse({ createdAt, lastSignInAt: _, demo: __, version: ___, ...user }: StoredUser) {
  return { ...user, createdAtUtc: formatInstant(createdAt) }
}

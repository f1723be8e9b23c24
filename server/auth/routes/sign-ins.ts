import type { FastifyReply, FastifyRequest } from 'fastify'
import { stampOf } from '../../audit/audit.ts'
import { formatInstant } from '../../clock.ts'
import { noContent } from '../../http/fields.ts'
import type { PageRequest } from '../../http/paging.ts'
import { Problem } from '../../http/problems.ts'
import { type App, callerOf } from '../../http/route.ts'
import { newSecret, sha256 } from '../../ids.ts'
import type { SignIn } from '../../principal.ts'
import { findUser, findUserById } from '../accounts/users/store.ts'
import type { KeptSignIn } from '../credentials/credentials.ts'
import { hashNewPassword } from '../credentials/passwords/judge.ts'
import { clearSession, sessionCookieName, setCookie } from '../credentials/sessions/cookies.ts'
import { findSignIns } from '../credentials/store.ts'
import { type AuthParts, confirmPassword, logSignIn } from '../login.ts'
import { idParameter, requireId } from './administration/requests.ts'
import { registerEnd, registerList } from './administration/resource.ts'
import { ChangePasswordCommand, OwnAccount, PaginatedListOfSignIn } from './schemas.ts'

const tags = ['Own account']
const url = '/v1/auth/sessions'
const ofUser = { url: '/v1/users/:id/sessions', parameters: idParameter }
const signInId = {
  description: 'Id of the session or token family, as in the list.',
  schema: { type: 'string' },
  example: 'Zr3mQe0bT1u8y7w6v5s4rA',
}

const renewedCookie = {
  name: 'Set-Cookie',
  description: 'For a cookie caller: from now on the session has this id only.',
  schema: { type: 'string' },
}

/** One's own sessions and token families, those of any user for administrators, and one's password. */
export function registerSignIns(app: App, parts: AuthParts): void {
  registerAccount(app, parts)
  registerLists(app, parts)
  registerEndOwn(app, parts)
  registerEndOthers(app, parts)
  registerChangePassword(app, parts)
  registerEndOfUser(app, parts)
}

function registerAccount(app: App, { db }: AuthParts): void {
  app.route({
    method: 'GET',
    url: '/v1/auth/me/account',
    config: { access: 'person' },
    schema: {
      operationId: 'getOwnAccount',
      summary: "The caller's own account",
      description: 'With the email, and the time zone of audit stamps if one is stored.',
      tags,
      response: { 200: OwnAccount },
    },
    handler: async (request) => {
      const { id, userName, roles, timeZone } = callerOf(request)
      const { email = '' } = (await findUserById(db.read, id)) ?? {}
      return { id, userName, email, roles: [...roles], timeZone }
    },
  })
}

function registerLists(app: App, parts: AuthParts): void {
  const list = {
    description: 'All that still work, the most recently used first.',
    response: PaginatedListOfSignIn,
  }
  registerList(app, {
    ...list,
    url,
    operationId: 'listSignIns',
    summary: "The caller's sessions and token families",
    access: 'person',
    tags,
    find: (page, request) => signInsOf(parts, callerOf(request).id, page, request),
  })
  registerList(app, {
    ...list,
    ...ofUser,
    operationId: 'listUserSignIns',
    summary: 'Sessions and token families of a user',
    problems: ['user-not-found'],
    find: async (page, request) => signInsOf(parts, await requireUserId(request, parts), page, request),
  })
}

async function signInsOf(
  { db, clock, config }: AuthParts,
  principalId: number,
  { offset, pageSize: limit }: PageRequest,
  request: FastifyRequest,
) {
  const sessionIdleTtlMilliseconds = config.sessionIdleTtlSeconds * 1000
  const whose = { principalId, nowMilliseconds: clock(), sessionIdleTtlMilliseconds }
  const { signIns, totalCount } = await findSignIns(db.read, whose, { offset, limit })
  const currentId = callerOf(request).signIn?.id
  const items = signIns.map(({ createdAt, lastUsedAt, ...signIn }) => ({
    ...signIn,
    createdAtUtc: formatInstant(createdAt),
    lastUsedAtUtc: formatInstant(lastUsedAt),
    current: signIn.id === currentId,
  }))
  return { items, totalCount }
}

/** The id in the path, if a user has it. */
async function requireUserId(request: FastifyRequest, { db }: AuthParts): Promise<number> {
  const id = requireId(request, 'user-not-found')
  if ((await findUser(db.read, id)) === undefined) throw new Problem('user-not-found')
  return id
}

function registerEndOfUser(app: App, parts: AuthParts): void {
  registerEnd(app, parts, {
    url: `${ofUser.url}/:session`,
    parameters: { ...ofUser.parameters, session: signInId },
    operationId: 'endUserSignIn',
    summary: 'End a session or a token family of a user',
    description: 'It ends at once; access tokens end within five minutes.',
    problems: ['user-not-found', 'sign-in-not-found'],
    end: async (request, stamp) => {
      const { session: id } = request.params as { session: string }
      return parts.db.write('endSignIn', { principalId: await requireUserId(request, parts), id, stamp })
    },
  })
  registerEnd(app, parts, {
    ...ofUser,
    operationId: 'signOutUser',
    summary: 'End all sessions and token families of a user',
    description:
      'They end at once; access tokens end within five minutes. Anyone who has the password can sign in again.',
    problems: ['user-not-found'],
    end: (request, stamp) => {
      const account = { kind: 'user', id: requireId(request, 'user-not-found') } as const
      return parts.db.write('signOutUser', { account, stamp })
    },
  })
}

function registerEndOwn(app: App, { db, clock }: AuthParts): void {
  app.route({
    method: 'DELETE',
    url: `${url}/:id`,
    config: {
      access: 'person',
      needsRecentSignIn: true,
      problems: ['sign-in-not-found'],
      parameters: { id: signInId },
    },
    schema: {
      operationId: 'endSignIn',
      summary: 'End a session or a token family',
      description:
        'It ends at once. Access tokens end within five minutes (PERMISSION_CACHE_TTL_SECONDS), including those of other families, which get new ones by a refresh.',
      tags,
      response: { 204: noContent },
    },
    handler: async (request, reply) => {
      const caller = callerOf(request)
      const { id } = request.params as { id: string }
      const stamp = stampOf(caller, clock(), null)
      await db.write('endSignIn', { principalId: caller.id, id, stamp })
      if (id === caller.session?.id) clearSession(reply)
      return reply.code(204).send(undefined)
    },
  })
}

function registerEndOthers(app: App, { db, clock }: AuthParts): void {
  app.route({
    method: 'DELETE',
    url,
    config: { access: 'person', needsRecentSignIn: true, responseHeaders: { 204: [renewedCookie] } },
    schema: {
      operationId: 'endOtherSignIns',
      summary: 'End all sessions and token families except this one',
      description:
        'They end at once. Access tokens end within five minutes (PERMISSION_CACHE_TTL_SECONDS), including the one of this request; its family continues, and a refresh gets a new one.',
      tags,
      response: { 204: noContent },
    },
    handler: async (request, reply) => {
      const caller = callerOf(request)
      const { signIn, cookie } = keptSignIn(request)
      const stamp = stampOf(caller, clock(), null)
      await db.write('endOtherSignIns', { principalId: caller.id, kept: signIn, stamp })
      return answerKept(reply, cookie)
    },
  })
}

function registerChangePassword(app: App, parts: AuthParts): void {
  app.route({
    method: 'POST',
    url: '/v1/auth/password',
    config: {
      access: 'person',
      problems: ['wrong-password', 'too-many-attempts'],
      responseHeaders: { 204: [renewedCookie] },
    },
    schema: {
      operationId: 'changePassword',
      summary: "Change the caller's password",
      description:
        'Ends all sessions and token families except this one. A wrong current password counts as a failed sign-in.',
      tags,
      body: ChangePasswordCommand,
      response: { 204: noContent },
    },
    handler: async (request, reply) => {
      const { currentPassword, newPassword } = request.body
      const checked = await confirmPassword(parts, request, currentPassword)
      const names = [checked.userName, checked.email, currentPassword]
      const newPasswordHash = await hashNewPassword(parts, newPassword, names)
      const now = parts.clock()
      const { signIn, cookie } = keptSignIn(request, now)
      const stamp = stampOf(callerOf(request), now, null)
      await parts.db.write('changePassword', { ...checked, newPasswordHash, kept: signIn, stamp })
      logSignIn(request, checked.principalId, 'password-change')
      return answerKept(reply, cookie)
    },
  })
}

/** The caller's own sign-in, which continues: a session gets a new id and the cookie for it. */
function keptSignIn(
  request: FastifyRequest,
  confirmedAt?: number,
): { signIn: KeptSignIn; cookie: string | undefined } {
  const { signIn, session } = callerOf(request)
  if (signIn === null) throw new Problem('authentication-required')
  const kept = (newId: string | null, own: SignIn) => ({
    id: own.id,
    newIdHash: newId === null ? null : sha256(newId),
    authenticatedAt: confirmedAt ?? own.authenticatedAt,
  })
  if (session === null) return { signIn: kept(null, signIn), cookie: undefined }
  const newId = newSecret()
  return { signIn: kept(newId, session), cookie: setCookie(sessionCookieName, newId) }
}

function answerKept(reply: FastifyReply, cookie: string | undefined): FastifyReply {
  if (cookie !== undefined) reply.header('set-cookie', cookie)
  return reply.code(204).send(undefined)
}

import type { FastifyReply, FastifyRequest } from 'fastify'
import { stampOf } from '../../audit/audit.ts'
import { formatInstant } from '../../clock.ts'
import { noContent } from '../../http/fields.ts'
import { describePage, linkHeader, pageLinks, pageRequest } from '../../http/paging.ts'
import { Problem } from '../../http/problems.ts'
import { type App, callerOf } from '../../http/route.ts'
import { newSecret, sha256 } from '../../ids.ts'
import type { SignIn } from '../../principal.ts'
import { findUserById } from '../accounts/users/store.ts'
import type { KeptSignIn } from '../credentials/credentials.ts'
import { hashNewPassword } from '../credentials/passwords/judge.ts'
import { clearSession, sessionCookieName, setCookie } from '../credentials/sessions/cookies.ts'
import { findSignIns, type StoredSignIn } from '../credentials/store.ts'
import { type AuthParts, confirmPassword, logSignIn } from '../login.ts'
import { ChangePasswordCommand, ListSignInsQuery, OwnAccount, PaginatedListOfSignIn } from './schemas.ts'

const tags = ['Own account']
const renewedCookie = {
  name: 'Set-Cookie',
  description: 'For a cookie caller: the session goes on with a new id only.',
  schema: { type: 'string' },
}

/** What people see and end of their own sign-ins, and how they change their password (section 17 of the contract). */
export function registerSignIns(app: App, parts: AuthParts): void {
  registerAccount(app, parts)
  registerList(app, parts)
  registerEnd(app, parts)
  registerEndOthers(app, parts)
  registerChangePassword(app, parts)
}

function registerAccount(app: App, { db }: AuthParts): void {
  app.route({
    method: 'GET',
    url: '/v1/auth/me/account',
    config: { access: 'person' },
    schema: {
      operationId: 'getOwnAccount',
      summary: "The caller's own account",
      description: 'With the email, and the time zone of audit stamps, where one is stored.',
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

function registerList(app: App, parts: AuthParts): void {
  app.route({
    method: 'GET',
    url: '/v1/auth/sessions',
    config: { access: 'person', responseHeaders: { 200: [linkHeader] } },
    schema: {
      operationId: 'listSignIns',
      summary: "The caller's sessions and token families",
      description: 'Those that still serve, the most recently used first.',
      tags,
      querystring: ListSignInsQuery,
      response: { 200: PaginatedListOfSignIn },
    },
    handler: (request, reply) =>
      pageOfSignIns(parts, request, reply, '/v1/auth/sessions', callerOf(request).id),
  })
}

/** The page that the request asks for, of a user's. */
export async function pageOfSignIns(
  { db, clock, config }: Pick<AuthParts, 'db' | 'clock' | 'config'>,
  request: FastifyRequest & { query: { pageNumber?: number | undefined; pageSize?: number | undefined } },
  reply: FastifyReply,
  path: string,
  principalId: number,
) {
  const page = pageRequest(request.query.pageNumber, request.query.pageSize)
  const sessionIdleTtlMilliseconds = config.sessionIdleTtlSeconds * 1000
  const whose = { principalId, nowMilliseconds: clock(), sessionIdleTtlMilliseconds }
  const { signIns, totalCount } = await findSignIns(db.read, whose, { ...page, limit: page.pageSize })
  const description = describePage(totalCount, page)
  reply.headers(pageLinks(path, request.raw.url, ListSignInsQuery, description))
  const own = callerOf(request).signIn?.id
  return { items: signIns.map((each) => toSignIn(each, own)), ...description }
}

/** As it is answered; `currentId` is that of the caller's own. */
function toSignIn({ createdAt, lastUsedAt, ...signIn }: StoredSignIn, currentId: string | undefined) {
  const [createdAtUtc, lastUsedAtUtc] = [formatInstant(createdAt), formatInstant(lastUsedAt)]
  return { ...signIn, createdAtUtc, lastUsedAtUtc, current: signIn.id === currentId }
}

function registerEnd(app: App, { db, clock }: AuthParts): void {
  app.route({
    method: 'DELETE',
    url: '/v1/auth/sessions/:id',
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
        'It ends at once. Access tokens end within five minutes (PERMISSION_CACHE_TTL_SECONDS), those of the other families too, which get new ones by a refresh.',
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

export const signInId = {
  description: 'Id of the session or token family, as the list has it.',
  schema: { type: 'string' },
  example: 'Zr3mQe0bT1u8y7w6v5s4rA',
}

function registerEndOthers(app: App, { db, clock }: AuthParts): void {
  app.route({
    method: 'DELETE',
    url: '/v1/auth/sessions',
    config: { access: 'person', needsRecentSignIn: true, responseHeaders: { 204: [renewedCookie] } },
    schema: {
      operationId: 'endOtherSignIns',
      summary: 'End all sessions and token families but this one',
      description:
        'At once; access tokens within five minutes (PERMISSION_CACHE_TTL_SECONDS), also the one that came with this request: its family goes on, and a refresh gives another.',
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
        'Ends all sessions and token families but this one, as ending all others does. A wrong current password counts as a failed sign-in.',
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

/** The caller's own sign-in as it goes on; of a session with a new id, and the cookie for it. */
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

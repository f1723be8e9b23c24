import type { FastifyReply, FastifyRequest } from 'fastify'
import { stampOf } from '../../caller/stamp.ts'
import { formatInstant } from '../../clock.ts'
import { noContent } from '../../http/fields.ts'
import type { PageRequest } from '../../http/paging.ts'
import { ending, list } from '../../http/resource.ts'
import { callerOf, header, type Routes, route } from '../../http/route.ts'
import { newSecret, sha256 } from '../../ids.ts'
import { Problem } from '../../problems/problems.ts'
import { hasCompanyAccount } from '../accounts/store.ts'
import { findUserById, type UserCredentials } from '../accounts/users/store.ts'
import type { KeptSignIn } from '../credentials/credentials.ts'
import { hashNewPassword } from '../credentials/passwords/judge.ts'
import { clearSession, sessionCookieName, setCookie } from '../credentials/sessions/cookies.ts'
import { findSignIns } from '../credentials/store.ts'
import { requireRecentSignIn } from '../guard.ts'
import { type AuthParts, confirmCaller, logSignIn } from '../login.ts'
import {
  idParameter,
  managing,
  presentedSignIn,
  requireId,
  requireUserId,
} from './administration/requests.ts'
import { ChangePasswordCommand, OwnAccount, PaginatedListOfSignIn } from './schemas.ts'

const signInId = {
  description: 'Id of the session or token family, as in the list.',
  schema: { type: 'string' },
  example: 'Zr3mQe0bT1u8y7w6v5s4rA',
}

const renewedCookie = header('Set-Cookie', 'For a cookie caller: from now on the session has this id only.')

const allThatWork = {
  description: 'All that still work, most recently used first.',
  page: PaginatedListOfSignIn,
}

/** The caller's own sign-ins and password. */
export const ownRoutes: Routes<AuthParts> = {
  getOwnAccount: route('GET /v1/auth/me/account', {
    summary: "The caller's own account",
    description: 'With the email, and the time zone of audit stamps if one is stored.',
    access: 'person',
    response: { 200: OwnAccount },
    handler: async ({ db }, request) => {
      const { id, userName, roles, timeZone } = callerOf(request)
      const { email = '', passwordHash = null } = (await findUserById(db.read, id)) ?? {}
      const hasPassword = passwordHash !== null
      const linked = await hasCompanyAccount(db.read, id)
      return { id, userName, email, roles: [...roles], timeZone, hasPassword, hasCompanyAccount: linked }
    },
  }),
  listSignIns: list('/v1/auth/sessions', {
    summary: "The caller's sessions and token families",
    ...allThatWork,
    access: 'person',
    find: (parts, page, request) => signInsOf(parts, callerOf(request).id, page, request),
  }),
  endSignIn: route('DELETE /v1/auth/sessions/:id', {
    summary: 'End a session or a token family',
    description:
      'It ends at once. Access tokens end within five minutes (PERMISSION_CACHE_TTL_SECONDS), including those of other families, which get new ones by a refresh.',
    access: 'person',
    needsRecentSignIn: true,
    problems: ['sign-in-not-found'],
    parameters: { id: signInId },
    handler: async ({ db, clock }, request, reply) => {
      const caller = callerOf(request)
      const { id } = request.params as { id: string }
      const stamp = stampOf(caller, clock(), null)
      await db.write('endSignIn', { principalId: caller.id, id, stamp })
      if (id === caller.session?.id) clearSession(reply)
    },
  }),
  endOtherSignIns: route('DELETE /v1/auth/sessions', {
    summary: 'End all sessions and token families except this one',
    description:
      'They end at once. Access tokens end within five minutes (PERMISSION_CACHE_TTL_SECONDS), including the one of this request; its family continues, and a refresh gets a new one.',
    access: 'person',
    needsRecentSignIn: true,
    responseHeaders: { 204: [renewedCookie] },
    response: { 204: noContent },
    handler: async ({ db, clock }, request, reply) => {
      const caller = callerOf(request)
      const { signIn, cookie } = keptSignIn(request)
      const stamp = stampOf(caller, clock(), null)
      await db.write('endOtherSignIns', { principalId: caller.id, kept: signIn, stamp })
      return answerKept(reply, cookie)
    },
  }),
  changePassword: route('POST /v1/auth/password', {
    summary: "Change the caller's password",
    description:
      'Ends all sessions and token families except this one. A wrong current password counts as a failed sign-in. An account without a password has none to send, and needs a recent sign-in.',
    access: 'person',
    problems: ['wrong-password', 'too-many-attempts', 'recent-sign-in-needed'],
    responseHeaders: { 204: [renewedCookie] },
    body: ChangePasswordCommand,
    response: { 204: noContent },
    handler: async (parts, request, reply) => {
      const { currentPassword, newPassword, ...others } = request.body
      const {
        userName,
        email,
        enabled: _,
        ...checked
      } = await beforeNewPassword(parts, request, currentPassword)
      const names = [userName, email, currentPassword ?? '']
      const newPasswordHash = await hashNewPassword(parts, newPassword, names)
      const now = parts.clock()
      const { signIn, cookie } = keptSignIn(request, currentPassword === null ? undefined : now)
      const stamp = stampOf(callerOf(request), now, null)
      await parts.change('changePassword', { ...others, ...checked, newPasswordHash, kept: signIn, stamp })
      logSignIn(request, checked.principalId, 'password-change')
      return answerKept(reply, cookie)
    },
  }),
  removePassword: route('DELETE /v1/auth/password', {
    summary: "Remove the caller's password",
    description:
      'From then on the account signs in by passkey alone. Needs a recent touch of a passkey. Ends all sessions and token families except this one.',
    access: 'person',
    needsRecentSignIn: true,
    problems: ['last-credential'],
    responseHeaders: { 204: [renewedCookie] },
    response: { 204: noContent },
    handler: async ({ change, clock }, request, reply) => {
      const { signIn, cookie } = keptSignIn(request)
      const stamp = stampOf(callerOf(request), clock(), null)
      await change('removePassword', { signIn: presentedSignIn(request), kept: signIn, stamp })
      return answerKept(reply, cookie)
    },
  }),
}

/** The caller, who has given the password that is to be replaced, or has none. */
async function beforeNewPassword(
  parts: AuthParts,
  request: FastifyRequest,
  password: string | null,
): Promise<UserCredentials> {
  if (password !== null) return confirmCaller(parts, request, { password }, async (user) => user)
  const user = await findUserById(parts.db.read, callerOf(request).id)
  if (user === undefined) throw new Problem('authentication-required')
  if (user.passwordHash === null) {
    requireRecentSignIn(callerOf(request), parts.clock())
    return user
  }
  const detail = 'currentPassword is required: this account has a password.'
  throw new Problem('validation-failed', {
    errors: [{ pointer: '#/currentPassword', code: 'required', detail }],
  })
}

/** For administrators: the sign-ins of any user. */
export const signInRoutes: Routes<AuthParts> = {
  listUserSignIns: list('/v1/users/:id/sessions', {
    summary: 'Sessions and token families of a user',
    ...allThatWork,
    access: managing,
    problems: ['user-not-found'],
    parameters: idParameter,
    find: async (parts, page, request) =>
      signInsOf(parts, await requireUserId(request, parts), page, request),
  }),
  endUserSignIn: ending('/v1/users/:id/sessions/:session', {
    summary: 'End a session or a token family of a user',
    description: 'It ends at once; access tokens end within five minutes.',
    access: managing,
    problems: ['user-not-found', 'sign-in-not-found'],
    parameters: { ...idParameter, session: signInId },
    end: async (parts, request, stamp) => {
      const { session: id } = request.params as { session: string }
      return parts.change('endSignIn', { principalId: await requireUserId(request, parts), id, stamp })
    },
  }),
  signOutUser: ending('/v1/users/:id/sessions', {
    summary: 'End all sessions and token families of a user',
    description:
      'They end at once; access tokens end within five minutes. Anyone who has the password can sign in again.',
    access: managing,
    problems: ['user-not-found'],
    parameters: idParameter,
    end: ({ change }, request, stamp) => {
      const account = { kind: 'user', id: requireId(request, 'user-not-found') } as const
      return change('signOutUser', { account, stamp })
    },
  }),
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

/** The caller's own sign-in, which continues: a session gets a new id and the cookie for it. */
function keptSignIn(
  request: FastifyRequest,
  confirmedAt?: number,
): { signIn: KeptSignIn; cookie: string | undefined } {
  const { signIn, session } = callerOf(request)
  if (signIn === null) throw new Problem('authentication-required')
  const newId = session && newSecret()
  const kept = {
    id: signIn.id,
    newIdHash: newId && sha256(newId),
    authenticatedAt: confirmedAt ?? signIn.authenticatedAt,
    passkeyId: confirmedAt === undefined ? (session?.passkeyId ?? null) : null,
    byCompany: confirmedAt === undefined && session?.byCompany === true,
  }
  return { signIn: kept, cookie: newId === null ? undefined : setCookie(sessionCookieName, newId) }
}

function answerKept(reply: FastifyReply, cookie: string | undefined): FastifyReply {
  if (cookie !== undefined) reply.header('set-cookie', cookie)
  return reply.code(204).send(undefined)
}

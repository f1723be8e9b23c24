import type { FastifyReply, FastifyRequest } from 'fastify'
import type { SessionState } from '../../caller/principal.ts'
import { noContent } from '../../http/fields.ts'
import { backgroundHeader, callerOf, header, type Routes, route, sessionExpiry } from '../../http/route.ts'
import type { Static } from '../../http/schema.ts'
import { newOpaqueId, newSecret, sha256 } from '../../ids.ts'
import { Problem } from '../../problems/problems.ts'
import { isBackground, presentedAntiforgeryCookie, presentedSessionIdHash } from '../authenticate.ts'
import {
  announceExpiry,
  antiforgeryCookieName,
  clearCookie,
  clearSession,
  retiredIdGraceMilliseconds,
  sessionCookieName,
  setCookie,
  setReadableCookie,
} from '../credentials/sessions/cookies.ts'
import type { CreateSessionInput, RefreshSessionInput } from '../credentials/sessions/store.ts'
import {
  type AuthParts,
  confirmCaller,
  counterAtSignIn,
  type Given,
  logSignIn,
  type ProvenUser,
  signIn,
  userAgentOf,
} from '../login.ts'
import { PasskeySignInCommand } from './passkeys/schemas.ts'
import {
  AuthenticatedUser,
  ConfirmSessionCommand,
  CsrfTokenResponse,
  CurrentUserPermissions,
  CurrentUserResponse,
  givenAgain,
  LoginSessionCommand,
} from './schemas.ts'

const readableCookie = 'an antiforgery token in `XSRF-TOKEN`, which scripts can read'
const setCookieHeader = header(
  'Set-Cookie',
  `The session cookie: HttpOnly, Secure, SameSite=Strict. Also ${readableCookie}.`,
)
const preferHeader = header('Prefer', '`return=minimal` asks for 204 without a body (RFC 7240).', {
  example: 'return=minimal',
})
const preferenceAppliedHeader = header(
  'Preference-Applied',
  '`return=minimal`: the answer has no body, as requested.',
  { example: 'return=minimal' },
)

/** Sign-in and refresh both set the cookie and answer with the user, or with no body. */
const cookieAnswer = {
  requestHeaders: [preferHeader],
  responseHeaders: {
    200: [setCookieHeader, ...sessionExpiry],
    204: [setCookieHeader, preferenceAppliedHeader, ...sessionExpiry],
  },
}
const userResponse = { 200: AuthenticatedUser, 204: noContent }

/** The cookie session of the browser app (section 4 of the contract). */
export const sessionRoutes: Routes<AuthParts> = {
  loginSession: route('POST /v1/auth/session', {
    summary: 'Sign in with a session cookie',
    description:
      'Makes a new session and ends the one that the request came with. An antiforgery token fetched before the sign-in stays valid, also one of the session that ends.',
    access: 'public',
    limit: 'exchange',
    sameSiteOnly: true,
    problems: ['invalid-credentials', 'too-many-attempts', 'cross-site-request'],
    ...cookieAnswer,
    body: LoginSessionCommand,
    response: userResponse,
    handler: (parts, request, reply) => beginSession(parts, request, reply, request.body),
  }),
  loginSessionByPasskey: route('POST /v1/auth/session/passkey', {
    summary: 'Sign in with a session cookie by passkey',
    description: 'Answers the options of `beginPasskeySignIn`. Returns what `loginSession` returns.',
    access: 'public',
    limit: 'exchange',
    sameSiteOnly: true,
    problems: [
      'invalid-credentials',
      'passkey-counter',
      'too-many-attempts',
      'cross-site-request',
      'passkeys-unavailable',
    ],
    problemStatus: counterAtSignIn,
    ...cookieAnswer,
    body: PasskeySignInCommand,
    response: userResponse,
    handler: (parts, request, reply) => beginSession(parts, request, reply, request.body),
  }),
  refreshSession: route('POST /v1/auth/session/refresh', {
    summary: 'Re-issue the session cookie',
    description:
      'Reads the roles again and issues a new session id. The previous id works for 30 more seconds, for parallel tabs. The absolute end does not change.',
    access: 'session',
    limit: 'sessionRefresh',
    ...cookieAnswer,
    response: userResponse,
    handler: async (parts, request, reply) => {
      const sessionId = newSecret()
      const refresh = refreshOf(request, sessionId, parts.clock())
      const refreshed = await parts.db.write('refreshSession', refresh)
      announceExpiry(reply, refreshed, parts.config)
      setSession(reply, parts, sessionId, sessionOf(request).antiforgeryBinding)
      const { id, userName } = callerOf(request)
      const { email, roles } = refreshed
      return answerUser(request, reply, { id, userName, email, roles })
    },
  }),
  confirmSession: route('POST /v1/auth/session/confirm', {
    summary: 'Give the password or a passkey again',
    description:
      'Takes either. For five minutes, the session may do everything that needs a recent sign-in. Issues a new session id, as a refresh does; only the new id counts as recent.',
    access: 'session',
    problems: ['wrong-password', 'passkey-counter', 'too-many-attempts', 'passkeys-unavailable'],
    responseHeaders: { 204: [setCookieHeader] },
    body: ConfirmSessionCommand,
    response: { 204: noContent },
    handler: async (parts, request, reply) => {
      const sessionId = newSecret()
      const refreshed = await confirmCaller(parts, request, givenAgain(request.body), (user) => {
        const now = parts.clock()
        const { passkeyId: _, byCompany: __, ...refresh } = refreshOf(request, sessionId, now)
        const { passwordHash, credentialsChangedAt, touch } = user
        const checked = { passwordHash, credentialsChangedAt, touch, authenticatedAt: now }
        return parts.db.write('confirmSession', { ...refresh, ...checked })
      })
      logSignIn(request, callerOf(request).id, 'confirmation')
      announceExpiry(reply, refreshed, parts.config)
      return reply.code(204).header('set-cookie', setCookie(sessionCookieName, sessionId)).send(undefined)
    },
  }),
  logoutSession: route('POST /v1/auth/session/logout', {
    summary: 'End the session',
    description: 'Ends every id of the session at once and clears the cookie.',
    access: 'session',
    clearsStaleCookie: true,
    responseHeaders: {
      204: [{ ...setCookieHeader, description: 'Clears the cookies.' }],
      401: [{ ...setCookieHeader, description: 'Clears cookies that no longer work.' }],
    },
    response: { 204: noContent },
    handler: async (parts, request, reply) => {
      await parts.db.write('endSession', { sessionId: sessionOf(request).id })
      return clearSession(reply).code(204).send(undefined)
    },
  }),
  getCurrentUser: route('GET /v1/auth/me', {
    summary: 'The current user',
    description:
      'The same for a session cookie and a bearer token. A service is a user named by its clientId.',
    access: 'authenticated',
    response: { 200: CurrentUserResponse },
    handler: async (_parts, request) => {
      const { id, userName, roles } = callerOf(request)
      return { id, userName, roles: [...roles] }
    },
  }),
  getCurrentUserPermissions: route('GET /v1/auth/me/permissions', {
    summary: 'What the current user may do',
    description:
      'The permissions that the roles of the credential hold now. A change of a role takes effect within five minutes. The same for a session cookie and a bearer token.',
    access: 'authenticated',
    response: { 200: CurrentUserPermissions },
    handler: async (_parts, request) => ({ permissions: [...callerOf(request).permissions].sort() }),
  }),
  getCsrfToken: route('GET /v1/auth/csrf', {
    summary: 'An antiforgery token',
    description:
      'Works before the sign-in: without a valid session, a cookie holds the binding of the token, and the sign-in takes it over. The token is also set as the cookie `XSRF-TOKEN`, which axios and Angular send as `X-XSRF-TOKEN` by themselves; the service reads the header only.',
    access: 'public',
    limit: 'own',
    problems: ['database-unavailable'],
    requestHeaders: [backgroundHeader],
    responseHeaders: {
      200: [
        { ...setCookieHeader, description: `The binding, if there was none. Also ${readableCookie}.` },
        ...sessionExpiry,
      ],
    },
    response: { 200: CsrfTokenResponse },
    handler: async (parts, request, reply) => {
      const token = parts.antiforgery.issue(await antiforgeryBinding(request, reply, parts))
      reply.header('set-cookie', setReadableCookie(token))
      return { token }
    },
  }),
}

async function beginSession(parts: AuthParts, request: FastifyRequest, reply: FastifyReply, given: Given) {
  const sessionId = newSecret()
  const user = await signIn(parts, request, 'session', given, async (checked, now) => {
    const session = newSession(parts, request, checked, sessionId, now)
    const { roles, binding } = await parts.db.write('createSession', session)
    announceExpiry(reply, { ...session, lastSeenAt: now }, parts.config)
    setSession(reply, parts, sessionId, binding)
    return { id: checked.principalId, userName: checked.userName, email: checked.email, roles }
  })
  if (presentedAntiforgeryCookie(request) !== undefined) {
    reply.header('set-cookie', clearCookie(antiforgeryCookieName))
  }
  return answerUser(request, reply, user)
}

/** Gives the browser the id of its session, and a token that its scripts can read. */
export function setSession(
  reply: FastifyReply,
  { antiforgery }: AuthParts,
  sessionId: string,
  binding: string,
): void {
  reply.header('set-cookie', setCookie(sessionCookieName, sessionId))
  reply.header('set-cookie', setReadableCookie(antiforgery.issue(binding)))
}

function newSession(
  { config }: AuthParts,
  request: FastifyRequest,
  { principalId, passwordHash, credentialsChangedAt, touch }: ProvenUser,
  sessionId: string,
  now: number,
): CreateSessionInput {
  const antiforgeryCookie = presentedAntiforgeryCookie(request)
  return {
    sessionId: newOpaqueId(),
    idHash: sha256(sessionId),
    principalId,
    passwordHash,
    credentialsChangedAt,
    touch,
    offeredBinding: antiforgeryCookie === undefined ? null : sha256(antiforgeryCookie),
    freshBinding: newSecret(),
    replacedIdHash: presentedSessionIdHash(request) ?? null,
    nowMilliseconds: now,
    absoluteExpiresAt: now + config.sessionAbsoluteTtlSeconds * 1000,
    sessionIdleTtlSeconds: config.sessionIdleTtlSeconds,
    userAgent: userAgentOf(request),
  }
}

function refreshOf(request: FastifyRequest, newId: string, now: number): RefreshSessionInput {
  const { id, presentedIdHash, authenticatedAt, passkeyId, byCompany } = sessionOf(request)
  return {
    sessionId: id,
    principalId: callerOf(request).id,
    presentedIdHash,
    newIdHash: sha256(newId),
    authenticatedAt,
    passkeyId,
    byCompany,
    nowMilliseconds: now,
    isUse: !isBackground(request),
    retireAt: now + retiredIdGraceMilliseconds,
  }
}

/**
 * The binding of the session, or else of the antiforgery cookie, which is created if it is missing or
 * malformed.
 */
async function antiforgeryBinding(
  request: FastifyRequest,
  reply: FastifyReply,
  { authenticator, limits, config }: AuthParts,
): Promise<string> {
  const credential = await authenticator.session(request)
  if (credential.outcome === 'valid' && credential.principal.session !== null) {
    limits.consume('read', String(credential.principal.id), reply)
    announceExpiry(reply, credential.principal.session, config)
    return credential.principal.session.antiforgeryBinding
  }
  limits.consume('anonymous', request.clientAddress, reply)
  const kept = presentedAntiforgeryCookie(request)
  if (kept !== undefined) return sha256(kept)
  const made = newSecret()
  reply.header('set-cookie', setCookie(antiforgeryCookieName, made))
  return sha256(made)
}

function sessionOf(request: FastifyRequest): SessionState {
  const { session } = callerOf(request)
  if (session === null) throw new Problem('authentication-required')
  return session
}

type UserAnswer = Static<typeof AuthenticatedUser>

/** 200 with the user, or 204 when the caller prefers no body. */
function answerUser(
  request: FastifyRequest,
  reply: FastifyReply,
  user: UserAnswer,
): UserAnswer | FastifyReply {
  if (!prefersMinimal(request.headers.prefer)) return user
  return reply.code(204).header('preference-applied', 'return=minimal').send()
}

function prefersMinimal(prefer: string | string[] | undefined): boolean {
  return [prefer ?? []]
    .flat()
    .flatMap((field) => field.split(','))
    .some((preference) => /^\s*return\s*=\s*"?minimal"?\s*(;|$)/i.test(preference))
}

import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Clock, clockDifferenceMilliseconds } from '../clock.ts'
import type { Config } from '../config.ts'
import { bearerChallenge } from '../http/errors.ts'
import { Problem } from '../http/problems.ts'
import type { LimitName, RequestLimits } from '../http/rate-limit.ts'
import { assertWellFormed } from '../http/request-context.ts'
import type { App } from '../http/route.ts'
import { type Access, isPermission } from '../permissions.ts'
import type { Principal, SignIn } from '../principal.ts'
import { type Authenticator, type Credential, carriesSessionCookie } from './authenticate.ts'
import type { Antiforgery } from './credentials/sessions/antiforgery.ts'
import { announceExpiry, clearCookie, sessionCookieName } from './credentials/sessions/cookies.ts'

export interface GuardParts {
  config: Config
  clock: Clock
  publicUrl: () => string
  authenticator: Authenticator
  antiforgery: Antiforgery
  limits: RequestLimits
}

/**
 * Admits a request to its handler, by the checks of section 6 of the contract in their order: address limit
 * 429, credential 401, caller limit 429, antiforgery 403, permission 403, recent sign-in 403. The service
 * does not start if a route declares no access.
 */
export function registerGuard(app: App, parts: GuardParts): void {
  app.addHook('onRoute', ({ config, method, url }) => {
    const route = `${String(method)} ${url}`
    if (config?.access === undefined) throw new Error(`${route} does not declare its access`)
    if (config.access === 'public' && config.limit === 'sessionRefresh')
      throw new Error(`${route} is public and cannot be limited by caller`)
    if (config.access === 'public' && config.needsRecentSignIn)
      throw new Error(`${route} is public and cannot ask for a recent sign-in`)
  })
  app.addHook('onRequest', (request, reply) => admit(request, reply, parts))
}

/** Throws the reason if the request may not pass. */
async function admit(request: FastifyRequest, reply: FastifyReply, parts: GuardParts): Promise<void> {
  try {
    assertWellFormed(request.raw)
  } catch (fault) {
    parts.limits.consume('anonymous', request.clientAddress, reply)
    throw fault
  }
  if (request.is404) return
  const { access, limit } = request.routeOptions.config
  if (access === undefined) throw new Error('a route without access')
  if (access === 'public') admitPublic(request, reply, parts, limit ?? 'anonymous')
  else admitCaller(request, reply, parts, access, await parts.authenticator.authenticate(request))
}

/** Whether a request that was admitted, and is still being answered, would be admitted now. */
export async function isStillAdmitted(
  request: FastifyRequest,
  authenticator: Authenticator,
): Promise<boolean> {
  const { access } = request.routeOptions.config
  const held = await authenticator.permissionsNow(request)
  return held !== undefined && (!isPermission(access) || held.has(access))
}

function admitPublic(
  request: FastifyRequest,
  reply: FastifyReply,
  { limits, config, publicUrl }: GuardParts,
  limit: string,
): void {
  if (limit === 'exempt' || limit === 'own') return
  limits.consume(limit as LimitName, request.clientAddress, reply)
  // A sign-in sets a cookie: a foreign page must not be able to sign its visitor in (login CSRF).
  if (request.routeOptions.config.sameSiteOnly) assertSameSite(request, config, publicUrl())
}

function admitCaller(
  request: FastifyRequest,
  reply: FastifyReply,
  parts: GuardParts,
  access: Exclude<Access, 'public'>,
  credential: Credential,
): void {
  const principal = acceptedPrincipal(credential, access)
  if (principal === undefined) {
    parts.limits.consume('anonymous', request.clientAddress, reply)
    if (request.routeOptions.config.clearsStaleCookie) clearStaleCookie(request, reply, parts)
    throw unauthenticated(credential)
  }
  request.principal = principal
  if (principal.session !== null) announceExpiry(reply, principal.session, parts.config)
  consumeCallerLimit(request, reply, parts.limits, principal)
  if (principal.via === 'session' && isUnsafe(request.method)) assertNotForged(request, parts, principal)
  if (access === 'person' && principal.kind !== 'user') throw new Problem('not-for-services')
  if (isPermission(access) && !principal.permissions.has(access)) {
    throw new Problem('permission-denied', {
      detail: `The permission ${access} is needed.`,
      members: { permission: access },
    })
  }
  if (request.routeOptions.config.needsRecentSignIn && !isRecent(principal.signIn, parts.clock())) {
    throw new Problem('recent-sign-in-needed')
  }
}

const recentSignInMilliseconds = 5 * 60_000

/** A service never signed in. A future time was written before the clock was set back. */
function isRecent(signIn: SignIn | null, now: number): boolean {
  if (signIn === null) return false
  const age = now - signIn.authenticatedAt
  return age < recentSignInMilliseconds && age >= -clockDifferenceMilliseconds
}

function acceptedPrincipal(credential: Credential, access: Access): Principal | undefined {
  if (credential.outcome !== 'valid') return undefined
  return access === 'session' && credential.principal.via !== 'session' ? undefined : credential.principal
}

/** RFC 6750 §3: an invalid bearer gets an error code, a missing credential does not. */
const invalidTokenChallenge = { 'www-authenticate': `${bearerChallenge}, error="invalid_token"` }

function unauthenticated(credential: Credential): Problem {
  const isBadToken = credential.outcome === 'invalid' && credential.via === 'bearer'
  return new Problem('authentication-required', isBadToken ? { headers: invalidTokenChallenge } : {})
}

function consumeCallerLimit(
  request: FastifyRequest,
  reply: FastifyReply,
  limits: RequestLimits,
  principal: Principal,
): void {
  const caller = String(principal.id)
  if (request.routeOptions.config.limit === 'sessionRefresh') {
    limits.consume('refreshAddress', request.clientAddress, reply)
    limits.consume('refresh', principal.session?.id ?? caller, reply)
  } else {
    limits.consume(isUnsafe(request.method) ? 'write' : 'read', caller, reply)
  }
}

function isUnsafe(method: string): boolean {
  return method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS'
}

/** For writes by cookie (OWASP CSRF Prevention): the browser says same site, the token fits the session. */
function assertNotForged(request: FastifyRequest, parts: GuardParts, principal: Principal): void {
  assertSameSite(request, parts.config, parts.publicUrl())
  const token = request.headers['x-xsrf-token']
  if (token === undefined || token === '') throw new Problem('csrf-token-missing')
  const binding = principal.session?.antiforgeryBinding ?? ''
  if (typeof token !== 'string' || !parts.antiforgery.isValid(binding, token)) {
    throw new Problem('csrf-token-invalid')
  }
}

function assertSameSite(request: FastifyRequest, config: Config, publicUrl: string): void {
  if (isCrossSite(request, config, publicUrl)) throw new Problem('cross-site-request')
}

/** Judged by Sec-Fetch-Site if the browser sends it, else by Origin; `null` is a foreign origin. */
function isCrossSite(request: FastifyRequest, config: Config, publicUrl: string): boolean {
  const site = request.headers['sec-fetch-site']
  if (site !== undefined) return site !== 'same-origin' && site !== 'none'
  const { origin, host } = request.headers
  if (origin === undefined || origin === publicUrl) return false
  // In development the machine has several names; the Host header has been checked to be one of them.
  return !(config.development && origin === `http://${host}`)
}

/** Clears a cookie that no longer works, unless a foreign page sent the request. */
function clearStaleCookie(request: FastifyRequest, reply: FastifyReply, parts: GuardParts): void {
  if (!carriesSessionCookie(request) || isCrossSite(request, parts.config, parts.publicUrl())) return
  reply.header('set-cookie', clearCookie(sessionCookieName))
}

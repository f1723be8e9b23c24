import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Access, isPermission, type Permission } from '../caller/permissions.ts'
import type { Principal } from '../caller/principal.ts'
import { authoritiesOf, neededOfDeputies, permissionDenied, unauthenticated } from '../caller/standing.ts'
import { type Clock, clockDifferenceMilliseconds } from '../clock.ts'
import type { Config } from '../config.ts'
import type { AppDatabase } from '../db/port.ts'
import type { LimitName, RequestLimits } from '../http/rate-limit.ts'
import { assertWellFormed } from '../http/request-context.ts'
import type { App } from '../http/route.ts'
import { Problem } from '../problems/problems.ts'
import type { Directory } from './accounts/directory.ts'
import { type Authenticator, type Credential, carriesSessionCookie } from './authenticate.ts'
import type { Antiforgery } from './credentials/sessions/antiforgery.ts'
import { announceExpiry, clearSession } from './credentials/sessions/cookies.ts'

export interface GuardParts {
  config: Config
  clock: Clock
  db: AppDatabase
  publicUrl: () => string
  authenticator: Authenticator
  directory: Directory
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
  // A write may know better than the guard (standing.ts): this instance must not admit the caller again.
  app.addHook('onError', (request, _reply, error, done) => {
    const { principal } = request
    const isUnknown = error instanceof Problem && error.code === 'authentication-required'
    if (principal !== null && isUnknown) parts.directory.forget(principal)
    done()
  })
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
  if (access === 'public') return admitPublic(request, reply, parts, limit ?? 'anonymous')
  const credential =
    access === 'bearer'
      ? await parts.authenticator.bearer(request)
      : await parts.authenticator.authenticate(request)
  const principal = admitCaller(request, reply, parts, access, credential)
  if (isPermission(access) && !principal.permissions.has(access)) {
    const { byDeputies } = request.routeOptions.config
    if (!byDeputies || !(await isDeputy(principal, access, parts))) throw permissionDenied(access)
  }
  if (request.routeOptions.config.needsRecentSignIn) requireRecentSignIn(principal, parts.clock())
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

/** Everything up to the permission, which may take a read of the database. */
function admitCaller(
  request: FastifyRequest,
  reply: FastifyReply,
  parts: GuardParts,
  access: Exclude<Access, 'public'>,
  credential: Credential,
): Principal {
  const principal = acceptedPrincipal(credential, access)
  if (principal === undefined) {
    parts.limits.consume('anonymous', request.clientAddress, reply)
    if (request.routeOptions.config.clearsStaleCookie) clearStaleCookie(request, reply, parts)
    throw unauthenticated(credential.outcome === 'invalid' && credential.via === 'bearer')
  }
  request.principal = principal
  if (principal.session !== null) announceExpiry(reply, principal.session, parts.config)
  consumeCallerLimit(request, reply, parts.limits, principal)
  if (principal.via === 'session' && isUnsafe(request.method)) assertNotForged(request, parts, principal)
  if (access === 'bearer') assertKnownOrigin(request, parts.config, parts.publicUrl())
  if (access === 'person' && principal.kind !== 'user') throw new Problem('not-for-services')
  return principal
}

/** Whether the caller stands in for someone who holds the permission. Reads the database each time. */
async function isDeputy(
  principal: Principal,
  permission: Permission,
  { db, clock }: GuardParts,
): Promise<boolean> {
  if (!principal.permissions.has(neededOfDeputies)) return false
  const caller = { byId: principal.id, nowMilliseconds: clock() }
  return (await authoritiesOf(db.read, caller, permission, false)).length > 0
}

/** For how long a sign-in counts as recent. */
export const recentSignInMilliseconds = 5 * 60_000

/**
 * A service never signed in. A future time was written before the clock was set back. Throws
 * `recent-sign-in-needed`.
 */
export function requireRecentSignIn({ signIn }: Principal, now: number): void {
  const age = now - (signIn?.authenticatedAt ?? 0)
  const isRecent = age < recentSignInMilliseconds && age >= -clockDifferenceMilliseconds
  if (signIn === null || !isRecent) throw new Problem('recent-sign-in-needed')
}

function acceptedPrincipal(credential: Credential, access: Access): Principal | undefined {
  if (credential.outcome !== 'valid') return undefined
  return access === 'session' && credential.principal.via !== 'session' ? undefined : credential.principal
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
    const isWrite = isUnsafe(request.method) && request.routeOptions.config.limit !== 'read'
    limits.consume(isWrite ? 'write' : 'read', caller, reply)
  }
}

function isUnsafe(method: string): boolean {
  return method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS'
}

/**
 * For writes by cookie: requires that the browser reports the same site, and that the token fits the session
 * (OWASP CSRF Prevention).
 */
function assertNotForged(request: FastifyRequest, parts: GuardParts, principal: Principal): void {
  assertSameSite(request, parts.config, parts.publicUrl())
  const token = request.headers['x-xsrf-token']
  if (token === undefined || token === '') throw new Problem('csrf-token-missing')
  const binding = principal.session?.antiforgeryBinding ?? ''
  if (typeof token !== 'string' || !parts.antiforgery.isValid(binding, token)) {
    throw new Problem('csrf-token-invalid')
  }
}

/** Throws `cross-site-request`. */
export function assertSameSite(request: FastifyRequest, config: Config, publicUrl: string): void {
  if (isCrossSite(request, config, publicUrl)) throw new Problem('cross-site-request')
}

/** Judges by Sec-Fetch-Site if the browser sends it, otherwise by Origin. `null` is a foreign origin. */
function isCrossSite(request: FastifyRequest, config: Config, publicUrl: string): boolean {
  const site = request.headers['sec-fetch-site']
  if (site !== undefined) return site !== 'same-origin' && site !== 'none'
  return hasForeignOrigin(request, config, publicUrl)
}

function hasForeignOrigin({ headers }: FastifyRequest, config: Config, publicUrl: string): boolean {
  const { origin, host } = headers
  if (origin === undefined || origin === publicUrl) return false
  // In development the machine has several names. The Host header has already been checked to be one of them.
  return !(config.development && origin === `http://${host}`)
}

/** A page that may call the service with a bearer is known (CORS_ORIGINS); all others are refused. */
function assertKnownOrigin(request: FastifyRequest, config: Config, publicUrl: string): void {
  const isListed = config.corsOrigins.some((origin) => origin === request.headers.origin)
  if (!isListed && hasForeignOrigin(request, config, publicUrl)) throw new Problem('cross-site-request')
}

/** Clears cookies that no longer work, unless a foreign page sent the request. */
function clearStaleCookie(request: FastifyRequest, reply: FastifyReply, parts: GuardParts): void {
  if (!carriesSessionCookie(request) || isCrossSite(request, parts.config, parts.publicUrl())) return
  clearSession(reply)
}

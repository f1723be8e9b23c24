import type { FastifyRequest } from 'fastify'
import type { Principal } from '../caller/principal.ts'
import type { Clock } from '../clock.ts'
import type { Config } from '../config.ts'
import type { AppDatabase } from '../db/port.ts'
import { decodeFormText } from '../http/form-text.ts'
import { fieldsOf } from '../http/request-context.ts'
import { secretPattern, sha256 } from '../ids.ts'
import type { Directory } from './accounts/directory.ts'
import type { PrincipalState } from './accounts/store.ts'
import {
  antiforgeryCookieName,
  attemptCookieName,
  cookieValues,
  sessionCookieName,
  touchIntervalMilliseconds,
} from './credentials/sessions/cookies.ts'
import { findSession, findStandingSession, isOver, isUsable } from './credentials/sessions/store.ts'
import type { AccessTokens, VerifiedToken } from './credentials/tokens/tokens.ts'

/**
 * The result of checking the credentials of a request. If a request has both kinds, the bearer decides: the
 * cookie is ignored, even if the bearer is invalid (section 4 of the contract).
 */
export type Credential =
  | { outcome: 'valid'; principal: Principal }
  | { outcome: 'none' }
  | { outcome: 'invalid'; via: 'session' | 'bearer' }

/** The only file that reads cookies and Authorization. */
export class Authenticator {
  readonly #config: Config
  readonly #db: AppDatabase
  readonly #clock: Clock
  readonly #tokens: AccessTokens
  readonly #directory: Directory

  constructor(config: Config, db: AppDatabase, clock: Clock, tokens: AccessTokens, directory: Directory) {
    this.#config = config
    this.#db = db
    this.#clock = clock
    this.#tokens = tokens
    this.#directory = directory
  }

  async authenticate(request: FastifyRequest): Promise<Credential> {
    const credential = await this.bearer(request)
    return credential.outcome === 'none' ? this.session(request) : credential
  }

  /** Reads Authorization only, for the routes that ignore cookies. */
  async bearer(request: FastifyRequest): Promise<Credential> {
    const fields = fieldsOf(request.raw, 'authorization')
    const authorization = fields.find(isBearer)
    if (authorization === undefined) return { outcome: 'none' }
    // Node silently keeps the first of several Authorization fields. A Bearer that comes with another field
    // is refused.
    return this.#bearer(fields.length > 1 ? '' : bearerToken(authorization))
  }

  /**
   * The permissions that the caller of an admitted request has now; undefined if its session or token has
   * ended. For long answers: this check does not count as use of the session, and the session's ids may have
   * changed in the meantime.
   */
  async permissionsNow(request: FastifyRequest): Promise<Principal['permissions'] | undefined> {
    const session = request.principal?.session
    if (!session) {
      const credential = await this.authenticate(request)
      return credential.outcome === 'valid' ? credential.principal.permissions : undefined
    }
    const standing = await findStandingSession(this.#db.read, session.id)
    if (standing === undefined || isOver(standing, this.#clock(), this.#config)) return undefined
    return this.#directory.permissionsOf(standing.roles)
  }

  /** Reads the session cookie only, for the routes that ignore Authorization. */
  async session(request: FastifyRequest): Promise<Credential> {
    const presented = presentedSessionId(request)
    if (presented === undefined) return { outcome: 'none' }
    const principal = await this.#findSessionPrincipal(request, presented)
    return principal === undefined ? { outcome: 'invalid', via: 'session' } : { outcome: 'valid', principal }
  }

  async #findSessionPrincipal(request: FastifyRequest, presented: string): Promise<Principal | undefined> {
    if (!secretPattern.test(presented)) return undefined
    const idHash = sha256(presented)
    const session = await findSession(this.#db.read, idHash)
    if (session === undefined) return undefined
    const now = this.#clock()
    const signIn = { id: session.sessionId, authenticatedAt: session.authenticatedAt }
    if (!isUsable(session, now, this.#config)) return undefined
    return {
      id: session.principalId,
      kind: 'user',
      userName: session.userName,
      fullName: session.fullName,
      roles: session.roles,
      permissions: await this.#directory.permissionsOf(session.roles),
      via: 'session',
      timeZone: session.timeZone,
      signIn,
      standing: { via: 'session', sessionId: session.sessionId },
      session: {
        ...signIn,
        passkeyId: session.passkeyId,
        byCompany: session.byCompany,
        presentedIdHash: idHash,
        antiforgeryBinding: session.antiforgeryBinding,
        lastSeenAt: this.#touch(request, session.sessionId, session.lastSeenAt, now),
        absoluteExpiresAt: session.absoluteExpiresAt,
      },
    }
  }

  /**
   * Postpones the idle end without delaying the request. Returns the time of the last use that is stored, or
   * is being stored.
   */
  #touch(request: FastifyRequest, sessionId: string, lastSeenAt: number, now: number): number {
    const interval = Math.min(touchIntervalMilliseconds, (this.#config.sessionIdleTtlSeconds * 1000) / 2)
    if (now - lastSeenAt < interval || isBackground(request)) return lastSeenAt
    this.#db.write('touchSession', { sessionId, nowMilliseconds: now }).catch((error: unknown) => {
      request.log.warn({ err: error }, 'touchSession')
    })
    return now
  }

  async #bearer(token: string): Promise<Credential> {
    const invalid = { outcome: 'invalid', via: 'bearer' } as const
    const verified = await this.#tokens.verify(token)
    if (verified === undefined) return invalid
    // Revocation is checked for every request, even if the signature is cached.
    const state = await this.#findAccount(verified.subject, (account) => grants(account, verified))
    if (state === undefined) return invalid
    const principal: Principal = {
      id: state.id,
      kind: state.kind,
      userName: state.name,
      fullName: state.fullName,
      roles: verified.roles,
      permissions: await this.#directory.permissionsOf(verified.roles, state.kind),
      via: 'bearer',
      timeZone: state.timeZone,
      signIn: verified.signIn,
      standing: { via: 'bearer', credentialsChangedAt: state.credentialsChangedAt },
      session: null,
    }
    return { outcome: 'valid', principal }
  }

  /**
   * The account, if it is accepted. Before a refusal it is read again, because a remembered account may be
   * out of date.
   */
  async #findAccount(
    subject: string,
    accepts: (state: PrincipalState | undefined) => boolean,
  ): Promise<PrincipalState | undefined> {
    const known = await this.#directory.principal(subject)
    if (accepts(known)) return known
    const current = await this.#directory.currentPrincipal(subject)
    return accepts(current) ? current : undefined
  }
}

function grants(state: PrincipalState | undefined, token: VerifiedToken): state is PrincipalState {
  return state?.enabled === true && token.credentialsChangedAt === state.credentialsChangedAt
}

/**
 * Whether software sent the request by itself, as its route or `Background: ?1` (RFC 8941) says. Such a
 * request does not count as use of a session.
 */
export function isBackground({ headers, routeOptions }: FastifyRequest): boolean {
  if (routeOptions.config.isBackground) return true
  return typeof headers.background === 'string' && /^ *\?1 *(?:;|$)/.test(headers.background)
}

/** True if the request carries a session cookie, valid or not; false if a Bearer takes precedence over it. */
export function carriesSessionCookie(request: FastifyRequest): boolean {
  if (fieldsOf(request.raw, 'authorization').some(isBearer)) return false
  return cookieValues(request.raw.headers.cookie, sessionCookieName).length > 0
}

/** The session id that a sign-in replaces; undefined if there is no well-formed one. */
export function presentedSessionIdHash(request: FastifyRequest): string | undefined {
  const presented = presentedSessionId(request)
  return presented !== undefined && secretPattern.test(presented) ? sha256(presented) : undefined
}

/** The value of a well-formed antiforgery cookie. */
export function presentedAntiforgeryCookie(request: FastifyRequest): string | undefined {
  const values = cookieValues(request.raw.headers.cookie, antiforgeryCookieName)
  const [value] = values
  return values.length === 1 && value !== undefined && secretPattern.test(value) ? value : undefined
}

/** The sealed attempt to sign in by company account. */
export function presentedAttempt(request: FastifyRequest): string | undefined {
  const values = cookieValues(request.raw.headers.cookie, attemptCookieName)
  return values.length === 1 ? values[0] : undefined
}

/** A browser never sends two cookies of this name by itself, so several count as none. */
function presentedSessionId(request: FastifyRequest): string | undefined {
  const values = cookieValues(request.raw.headers.cookie, sessionCookieName)
  return values.length > 1 ? '' : values[0]
}

/**
 * The client and its secret by HTTP Basic, each form-encoded (RFC 6749 §2.3.1). Both are empty if they cannot
 * be read, and no client has an empty id. Undefined without Basic.
 */
export function basicCredentials(
  request: FastifyRequest,
): { clientId: string; clientSecret: string } | undefined {
  const fields = fieldsOf(request.raw, 'authorization')
  const basic = fields.find((field) => /^basic(?: |$)/i.test(field))
  if (basic === undefined) return undefined
  const halves = /^([^:]*):(.*)$/s.exec(Buffer.from(basic.slice('basic'.length), 'base64').toString())
  const [clientId, clientSecret] = (halves ?? []).slice(1).map(decodeFormText)
  const isReadable = fields.length === 1 && typeof clientId === 'string' && typeof clientSecret === 'string'
  return isReadable ? { clientId, clientSecret } : { clientId: '', clientSecret: '' }
}

/** Schemes other than Bearer do not identify a caller. */
function isBearer(field: string): boolean {
  return /^bearer(?: |$)/i.test(field)
}

/** The text after the scheme, not yet verified. */
function bearerToken(field: string): string {
  return field.slice('bearer'.length).replace(/^ +/, '')
}

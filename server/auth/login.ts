import { timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { type Clock, secondOf } from '../clock.ts'
import type { Config } from '../config.ts'
import type { AppDatabase } from '../db/port.ts'
import { Problem } from '../http/problems.ts'
import type { RequestLimits } from '../http/rate-limit.ts'
import { callerOf } from '../http/route.ts'
import { sha256 } from '../ids.ts'
import { type ClientCredentials, findClient } from './accounts/clients/store.ts'
import { isAccountName } from './accounts/names.ts'
import { findUserByEmail, findUserById, type UserCredentials } from './accounts/users/store.ts'
import type { Authenticator } from './authenticate.ts'
import type { PasswordJudge } from './credentials/passwords/judge.ts'
import type { Passwords } from './credentials/passwords/passwords.ts'
import type { Antiforgery } from './credentials/sessions/antiforgery.ts'
import type { LoginThrottle } from './credentials/throttle/throttle.ts'
import type { RefreshTokens } from './credentials/tokens/refresh-tokens.ts'
import type { AccessTokens } from './credentials/tokens/tokens.ts'

/** What the routes of this slice work with. */
export interface AuthParts {
  config: Config
  db: AppDatabase
  clock: Clock
  publicUrl: () => string
  authenticator: Authenticator
  antiforgery: Antiforgery
  limits: RequestLimits
  passwords: Passwords
  judge: PasswordJudge
  throttle: LoginThrottle
  tokens: AccessTokens
  refreshTokens: RefreshTokens
}

/**
 * Signs in the user with this email and password. `issue` makes the credential, if the account has not
 * changed since the password was checked. Throws `invalid-credentials`, with the same text and after the same
 * work for every cause (ASVS 5.0
 * 6.3.8), or `too-many-attempts` during a wait. The log records both outcomes (ASVS 5.0 16.3.1). It names an
 * account by its id, never by the email, because people type passwords into that field.
 */
export async function signIn<T>(
  parts: AuthParts,
  request: FastifyRequest,
  flow: 'session' | 'token',
  { email, password }: { email: string; password: string },
  issue: (user: UserCredentials, nowMilliseconds: number) => Promise<T>,
): Promise<T> {
  const address = request.clientAddress
  let principalId: number | undefined
  try {
    const { found, user } = await tryPassword(parts, address, email, password)
    principalId = found?.principalId
    if (user === undefined) throw new Problem('invalid-credentials')
    const issued = await issue(user, parts.clock())
    logSignIn(request, user.principalId, flow)
    return issued
  } catch (error) {
    if (error instanceof Problem && error.code === 'invalid-credentials') {
      logEvent(request, 'login-failed', { principalId })
    }
    throw error
  }
}

/**
 * The caller, after giving the password again. A wrong one counts as a failed sign-in and waits like one. It
 * is 403 `wrong-password`, because the credential of the request is good, and a client would drop it after a
 * 401.
 */
export async function confirmPassword(
  parts: AuthParts,
  request: FastifyRequest,
  password: string,
): Promise<UserCredentials> {
  const { id: principalId } = callerOf(request)
  const account = await findUserById(parts.db.read, principalId)
  const address = request.clientAddress
  const { user } = await tryPassword(parts, address, account?.email ?? '', password)
  if (user?.principalId === principalId) return user
  logEvent(request, 'password-refused', { principalId })
  throw new Problem('wrong-password')
}

/** `found` is the account with the email; `user` is the same if it is enabled and this is its password. */
async function tryPassword(
  { db, passwords, throttle }: AuthParts,
  address: string,
  email: string,
  password: string,
): Promise<{ found: UserCredentials | undefined; user: UserCredentials | undefined }> {
  let found: UserCredentials | undefined
  const user = await throttle.attempt(email, address, async () => {
    found = await findUserByEmail(db.read, email)
    const matches = await passwords.verify(found?.passwordHash, password)
    return matches && found?.enabled ? found : undefined
  })
  return { found, user }
}

/** Logs which account got a credential, by which flow and from where. */
export function logSignIn(
  request: FastifyRequest,
  principalId: number,
  flow: 'session' | 'token' | 'client' | 'confirmation' | 'password-change',
): void {
  logEvent(request, 'signed-in', { principalId, flow })
}

/** Logs a security event, with the address that it came from (ASVS 5.0 16.3); never an email or a secret. */
export function logEvent(request: FastifyRequest, event: string, members: object = {}): void {
  request.log.info({ event, ...members, address: request.clientAddress }, event.replaceAll('-', ' '))
}

const userAgentLimit = 256

/** What the caller's software calls itself, so that its user recognises it: printable characters only. */
export function userAgentOf({ headers }: FastifyRequest): string | null {
  const said = (headers['user-agent'] ?? '').replaceAll(/[^\x21-\x7e\xa1-\xff]+/g, ' ').trim()
  return said.slice(0, userAgentLimit) || null
}

/** The client with this secret, if it may get a token. Throws `invalid-client`, the same for every cause. */
export async function checkClientSecret(
  { db }: AuthParts,
  request: FastifyRequest,
  { clientId, clientSecret }: { clientId: string; clientSecret: string },
  nowMilliseconds: number,
): Promise<ClientCredentials> {
  const client = isAccountName(clientId) ? await findClient(db.read, clientId) : undefined
  const presented = Buffer.from(sha256(clientSecret))
  const matches = (client?.secretHashes ?? [])
    .map((secretHash) => timingSafeEqual(presented, Buffer.from(secretHash)))
    .includes(true)
  if (client?.enabled && matches && !hasEnded(client, nowMilliseconds)) return client
  logEvent(request, 'client-refused', { principalId: client?.principalId })
  throw new Problem('invalid-client')
}

/** Compares whole seconds, as tokens do. */
function hasEnded({ endsAt }: ClientCredentials, now: number): boolean {
  return endsAt !== null && secondOf(endsAt) <= secondOf(now)
}

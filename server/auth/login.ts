import { timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Touch } from '../caller/touch.ts'
import { type Clock, secondOf } from '../clock.ts'
import type { Config } from '../config.ts'
import type { AppDatabase } from '../db/port.ts'
import type { Db } from '../db/tables.ts'
import type { RequestLimits } from '../http/rate-limit.ts'
import { callerOf } from '../http/route.ts'
import { sha256 } from '../ids.ts'
import { Problem } from '../problems/problems.ts'
import { type ClientCredentials, findClient } from './accounts/clients/store.ts'
import type { Directory } from './accounts/directory.ts'
import { isAccountName } from './accounts/names.ts'
import { findUserByEmail, findUserById, type UserCredentials } from './accounts/users/store.ts'
import type { Authenticator } from './authenticate.ts'
import type { Attempts } from './credentials/company/attempt.ts'
import type { CompanyProvider } from './credentials/company/provider.ts'
import {
  hasCountedBack,
  isHandleOf,
  type PasskeyAnswer,
  requireRelyingParty,
  verifyAssertion,
} from './credentials/passkeys/ceremonies.ts'
import type { Answerer, Challenges, Purpose } from './credentials/passkeys/challenges.ts'
import { findPasskey, type HeldPasskey, hasServed } from './credentials/passkeys/store.ts'
import type { PasswordJudge } from './credentials/passwords/judge.ts'
import type { Passwords } from './credentials/passwords/passwords.ts'
import type { Antiforgery } from './credentials/sessions/antiforgery.ts'
import type { LoginThrottle } from './credentials/throttle/throttle.ts'
import type { RefreshTokens } from './credentials/tokens/refresh-tokens.ts'
import type { AccessTokens } from './credentials/tokens/tokens.ts'

export interface AuthParts {
  config: Config
  db: AppDatabase
  change: Directory['change']
  clock: Clock
  publicUrl: () => string
  authenticator: Authenticator
  antiforgery: Antiforgery
  limits: RequestLimits
  passwords: Passwords
  judge: PasswordJudge
  throttle: LoginThrottle
  challenges: Challenges
  tokens: AccessTokens
  refreshTokens: RefreshTokens
  /** Undefined unless OIDC_ISSUER is set. */
  company: { provider: CompanyProvider; attempts: Attempts } | undefined
}

/** At a sign-in, nobody has a right that could be lacking. */
export const counterAtSignIn = { 'passkey-counter': 401 } as const

/** The credentials that a caller gives. */
export type Given = { email: string; password: string } | { credential: PasskeyAnswer }

/** The proof of someone whose account is known. */
export type GivenAgain = { password: string } | { credential: PasskeyAnswer }

/** A user who has just proven who they are. */
export interface ProvenUser extends UserCredentials {
  /** Null if the password was given. */
  touch: Touch | null
}

/** `found` is the account that was meant; `user` is the same if it is enabled and what was given is right. */
interface Attempt {
  found: UserCredentials | undefined
  user: ProvenUser | undefined
}

/**
 * Signs in the user with this email and password, or with this passkey. `issue` makes the credential, if the
 * account has not changed since the check. Throws `invalid-credentials`, with the same text and, for
 * passwords, after the same work for every cause (ASVS 5.0 6.3.8), or `too-many-attempts` during a wait. The
 * log records both outcomes (ASVS 5.0 16.3.1). It names an account by its id, never by the email, because
 * people type passwords into that field.
 */
export async function signIn<T>(
  parts: AuthParts,
  request: FastifyRequest,
  flow: 'session' | 'token',
  given: Given,
  issue: (user: ProvenUser, nowMilliseconds: number) => Promise<T>,
): Promise<T> {
  let principalId: number | undefined
  try {
    const { found, user } =
      'credential' in given
        ? await tryPasskey(parts, request, given.credential, 'sign-in', null)
        : await tryPassword(parts, request, given, (db) => findUserByEmail(db, given.email))
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
 * Checks that the caller knows the password, or has a passkey, and lets `use` make something of it. A failure
 * counts as a failed sign-in and causes the same waits. The answer is 403 `wrong-password`, because the
 * credential of the request is good, and a client would drop it after a 401.
 */
export function confirmCaller<T>(
  parts: AuthParts,
  request: FastifyRequest,
  given: GivenAgain,
  use: (user: ProvenUser) => Promise<T>,
): Promise<T> {
  const { id: principalId, signIn } = callerOf(request)
  const answerer = { principalId, signInId: signIn?.id ?? '' }
  return confirmAccount(parts, request, { principalId, purpose: 'confirmation', answerer }, given, use)
}

/**
 * The same for the account that a link belongs to. The person may not be signed in, so a passkey answers the
 * options of a sign-in.
 */
export function confirmHolder<T>(
  parts: AuthParts,
  request: FastifyRequest,
  { principalId }: { principalId: number },
  given: GivenAgain,
  use: (user: ProvenUser) => Promise<T>,
): Promise<T> {
  return confirmAccount(parts, request, { principalId, purpose: 'sign-in', answerer: null }, given, use)
}

async function confirmAccount<T>(
  parts: AuthParts,
  request: FastifyRequest,
  asked: { principalId: number; purpose: Purpose; answerer: Answerer },
  given: GivenAgain,
  use: (user: ProvenUser) => Promise<T>,
): Promise<T> {
  const { principalId, purpose, answerer } = asked
  const findAccount = (db: Db) => findUserById(db, principalId)
  try {
    const { email = '' } = (await findAccount(parts.db.read)) ?? {}
    const { user } =
      'credential' in given
        ? await tryPasskey(parts, request, given.credential, purpose, answerer)
        : await tryPassword(parts, request, { email, ...given }, findAccount)
    if (user?.principalId !== principalId) throw new Problem('invalid-credentials')
    return await use(user)
  } catch (error) {
    if (!(error instanceof Problem && error.code === 'invalid-credentials')) throw error
    logEvent(request, 'password-refused', { principalId })
    throw new Problem('wrong-password')
  }
}

/** `email` is for the waits; the account may just have been given another one. */
async function tryPassword(
  { db, passwords, throttle }: AuthParts,
  { clientAddress }: FastifyRequest,
  { email, password }: { email: string; password: string },
  find: (db: Db) => Promise<UserCredentials | undefined>,
): Promise<Attempt> {
  let found: UserCredentials | undefined
  const user = await throttle.attempt(email, clientAddress, async () => {
    found = await find(db.read)
    const matches = await passwords.verify(found?.passwordHash ?? undefined, password)
    return matches && found?.enabled ? found : undefined
  })
  return { found, user: user && { ...user, touch: null } }
}

/** The same for the answer of an authenticator. An unknown passkey counts as a separate account. */
async function tryPasskey(
  { db, clock, throttle, challenges, publicUrl }: AuthParts,
  request: FastifyRequest,
  answer: PasskeyAnswer,
  purpose: Purpose,
  answerer: Answerer,
): Promise<Attempt> {
  const party = requireRelyingParty(publicUrl())
  const found = await findPasskey(db.read, answer.id)
  const account = found?.email ?? `passkey ${answer.id}`
  const user = await throttle.attempt(account, request.clientAddress, async () => {
    if (!found?.enabled || !isHandleOf(answer.response.userHandle, found.principalId)) return undefined
    const read = (challenge: string) => challenges.read(challenge, purpose, answerer, clock())
    const assertion = await verifyAssertion(party, answer, found, read)
    if (assertion === undefined || (await hasServed(db.read, assertion.challenge))) return undefined
    checkCounter(request, found, assertion)
    return { ...found, touch: { passkeyId: found.id, ...assertion } }
  })
  return { found, user }
}

/**
 * A counter that did not rise is a signal and no proof (WebAuthn Level 3 §6.1.1): devices that share a synced
 * passkey count apart. It is logged. Of a passkey that is bound to its device, it throws `passkey-counter`.
 */
export function checkCounter(
  request: FastifyRequest,
  { principalId, isSynced, counter: before }: HeldPasskey,
  { counter }: { counter: number },
): void {
  if (!hasCountedBack(counter, before)) return
  logEvent(request, 'passkey-counter-went-back', { principalId, synced: isSynced })
  if (!isSynced) throw new Problem('passkey-counter')
}

/** Logs which account got a credential, by which flow and from where. */
export function logSignIn(
  request: FastifyRequest,
  principalId: number,
  flow: 'session' | 'token' | 'client' | 'confirmation' | 'password-change' | 'company',
): void {
  logEvent(request, 'signed-in', { principalId, flow })
}

/** Logs a security event, with the address that it came from (ASVS 5.0 16.3); never an email or a secret. */
export function logEvent(request: FastifyRequest, event: string, members: object = {}): void {
  request.log.info({ event, ...members, address: request.clientAddress }, event.replaceAll('-', ' '))
}

const userAgentLimit = 256

/**
 * The name that the caller's software gives itself, so that its user recognises it. Printable characters
 * only.
 */
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

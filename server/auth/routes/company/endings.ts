import type { FastifyReply, FastifyRequest } from 'fastify'
import { companyStamp, stampOf } from '../../../caller/stamp.ts'
import { claimRolesOf } from '../../../config.ts'
import { newOpaqueId, newSecret, sha256 } from '../../../ids.ts'
import type { ProblemCode } from '../../../problems/catalogue.ts'
import { Problem } from '../../../problems/problems.ts'
import { findUserById } from '../../accounts/users/store.ts'
import {
  type Attempt,
  attemptLifetimeSeconds,
  type CompanyPurpose,
} from '../../credentials/company/attempt.ts'
import type { CompanyIdentity } from '../../credentials/company/claims.ts'
import { CompanyFailure } from '../../credentials/company/failure.ts'
import {
  announceExpiry,
  antiforgeryCookieName,
  clearCookie,
  retiredIdGraceMilliseconds,
  sessionCookieName,
  setCookie,
} from '../../credentials/sessions/cookies.ts'
import { recentSignInMilliseconds } from '../../guard.ts'
import { type AuthParts, logEvent, logSignIn, userAgentOf } from '../../login.ts'
import { setSession } from '../sessions.ts'

interface Exchanged {
  parts: AuthParts
  request: FastifyRequest
  reply: FastifyReply
}

type End = (exchanged: Exchanged, attempt: Attempt, identity: CompanyIdentity) => Promise<void>

/** How an attempt ends, by its purpose. */
export const endings: Record<CompanyPurpose, End> = {
  'sign-in': enter,
  'one-time-link': enter,
  async link({ parts, request }, attempt, identity) {
    const asked = await askedIn(parts, attempt, identity)
    const recentSince = asked.stamp.nowMilliseconds - recentSignInMilliseconds
    const linked = await parts.change('linkCompany', { ...asked, recentSince })
    if ('refused' in linked) throw new Problem(linked.refused)
    logEvent(request, 'company-linked', { principalId: asked.asker.principalId })
  },
  async confirmation({ parts, request, reply }, attempt, identity) {
    const asked = await askedIn(parts, attempt, identity)
    const { nowMilliseconds: now } = asked.stamp
    if (identity.authenticatedAt <= now - recentSignInMilliseconds)
      throw new Problem('company-sign-in-not-recent')
    const sessionId = newSecret()
    const retireAt = now + retiredIdGraceMilliseconds
    const confirmed = await parts.db.write('confirmByCompany', {
      ...asked,
      newIdHash: sha256(sessionId),
      retireAt,
    })
    if ('refused' in confirmed) throw new Problem(confirmed.refused)
    logSignIn(request, asked.asker.principalId, 'confirmation')
    announceExpiry(reply, confirmed, parts.config)
    reply.header('set-cookie', setCookie(sessionCookieName, sessionId))
  },
}

async function enter({ parts, request, reply }: Exchanged, attempt: Attempt, identity: CompanyIdentity) {
  const { config } = parts
  const now = parts.clock()
  const sessionId = newSecret()
  const session = {
    sessionId: newOpaqueId(),
    idHash: sha256(sessionId),
    offeredBinding: attempt.offeredBinding,
    freshBinding: newSecret(),
    replacedIdHash: attempt.replacedIdHash,
    nowMilliseconds: now,
    absoluteExpiresAt: now + config.sessionAbsoluteTtlSeconds * 1000,
    sessionIdleTtlSeconds: config.sessionIdleTtlSeconds,
    userAgent: userAgentOf(request),
  }
  // Nothing that instances remember of accounts changes at most sign-ins.
  const isChange = attempt.link !== null || identity.roles !== null
  const entered = await (isChange ? parts.change : parts.db.write)('enterByCompany', {
    attempt: onceOf(attempt),
    identity,
    claimRoles: claimRolesOf(config),
    createsAccounts: config.oidcNewAccounts === 'create',
    link: attempt.link,
    session,
    stamp: companyStamp(now, identity.issuer),
  })
  if ('refused' in entered) throw new Problem(entered.refused)
  const { principalId, keptRoles: roles } = entered
  const { missingClaim: claim } = identity
  logSignIn(request, principalId, 'company')
  if (claim !== null) logEvent(request, 'company-claim-missing', { principalId, claim })
  if (roles.length > 0) logEvent(request, 'last-administrator-kept', { principalId, roles })
  announceExpiry(reply, { ...session, lastSeenAt: now }, config)
  setSession(reply, parts, sessionId, entered.binding)
  if (attempt.offeredBinding !== null) reply.header('set-cookie', clearCookie(antiforgeryCookieName))
}

async function askedIn(parts: AuthParts, attempt: Attempt, identity: CompanyIdentity) {
  const { asker } = attempt
  if (asker === null) throw new Problem('company-attempt-invalid')
  const { read } = parts.db
  const user = await findUserById(read, asker.principalId)
  if (user === undefined) throw new Problem('authentication-required')
  const stamp = stampOf({ id: asker.principalId, userName: user.userName }, parts.clock(), null)
  const { sessionIdleTtlSeconds } = parts.config
  return { attempt: onceOf(attempt), identity, asker, stamp, sessionIdleTtlSeconds }
}

/** Makes an attempt work once, wherever it comes back. */
const onceOf = ({ state, startedAt }: Attempt) => ({
  nonce: sha256(`attempt ${state}`),
  expiresAt: startedAt + attemptLifetimeSeconds * 1000,
})

/** The sign-in page sees the session, and goes on. */
export function goOn(reply: FastifyReply, { returnTo }: Pick<Attempt, 'returnTo'>): FastifyReply {
  return reply.code(303).header('location', pageFor(returnTo)).send(undefined)
}

/** The sign-in page says why the attempt failed. The log has the cause. */
export function goBack(
  request: FastifyRequest,
  reply: FastifyReply,
  attempt: Pick<Attempt, 'purpose' | 'returnTo'> | undefined,
  error: unknown,
): FastifyReply {
  if (!(error instanceof CompanyFailure || error instanceof Problem) || isOurs(error)) throw error
  const why = error instanceof CompanyFailure ? error.message : error.code
  logEvent(request, 'company-refused', { code: error.code, why, purpose: attempt?.purpose })
  return reply
    .code(303)
    .header('location', pageFor(attempt?.returnTo ?? '/', error.code))
    .send(undefined)
}

/** A failure of this service is answered as everywhere else. */
const isOurs = (error: { code: ProblemCode }) =>
  error.code === 'company-account-off' || error.code === 'database-unavailable'

function pageFor(returnTo: string, code?: ProblemCode): string {
  return `/sign-in?${new URLSearchParams({ to: returnTo, ...(code && { company: code }) })}`
}

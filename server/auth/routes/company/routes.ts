import type { FastifyReply, FastifyRequest } from 'fastify'
import { noContent } from '../../../http/fields.ts'
import { readStamp } from '../../../http/resource.ts'
import { callerOf, header, locationHeader, type Routes, route } from '../../../http/route.ts'
import { strandedHeader, tellStranded } from '../../../http/stranded.ts'
import { sha256 } from '../../../ids.ts'
import { Problem } from '../../../problems/problems.ts'
import { presentedAntiforgeryCookie, presentedAttempt, presentedSessionIdHash } from '../../authenticate.ts'
import { type Attempt, attemptLifetimeSeconds } from '../../credentials/company/attempt.ts'
import { CompanyFailure } from '../../credentials/company/failure.ts'
import { findLinkOf } from '../../credentials/company/store.ts'
import { clearAttempt, clearSession, setAttempt } from '../../credentials/sessions/cookies.ts'
import { assertSameSite } from '../../guard.ts'
import { type AuthParts, logEvent } from '../../login.ts'
import { requireHolder } from '../links.ts'
import { rpIdOf } from '../passkeys/routes.ts'
import { endings, goBack, goOn } from './endings.ts'
import { CompanyAddress, CompanyLogoutForm, ReturnQuery, UseLinkByCompanyCommand } from './schemas.ts'

const callbackPath = '/v1/auth/session/company/callback'

const attemptCookie = header(
  'Set-Cookie',
  'The attempt, sealed: HttpOnly, Secure, SameSite=Lax, for ten minutes.',
)
const gone = { 303: [locationHeader, attemptCookie] }

const notBegun = ['company-account-off', 'company-account-unreachable', 'company-answer-invalid'] as const

interface Asked {
  summary: string
  description: string
  needsRecentSignIn?: true
  /** Where the browser goes on to, unless the request says. */
  page: string
  /** For an account that is linked already, or not yet. */
  refusal: 'company-account-linked' | 'company-account-unknown'
}

/** What somebody who is signed in asks: to link a company account, or to confirm by it. */
const askingRoute = (
  address: `POST /${string}`,
  purpose: 'link' | 'confirmation',
  { page, refusal, ...asked }: Asked,
) =>
  route(address, {
    ...asked,
    access: 'session',
    problems: [...notBegun, refusal],
    responseHeaders: { 200: [attemptCookie] },
    querystring: ReturnQuery,
    response: { 200: CompanyAddress },
    handler: async (parts: AuthParts, request, reply) => {
      requireCompany(parts)
      const { id: principalId, session } = callerOf(request)
      if (session === null) throw new Problem('authentication-required')
      const isLinked = (await findLinkOf(parts.db.read, principalId)) !== undefined
      if (isLinked === (refusal === 'company-account-linked')) throw new Problem(refusal)
      const asker = { principalId, sessionId: session.id }
      const returnTo = request.query.returnTo ?? page
      return { url: await orProblem(() => begin(parts, reply, { purpose, returnTo, asker })) }
    },
  })

/** Sign-in by an account of the company (section 24 of the contract). */
export const companyRoutes: Routes<AuthParts> = {
  beginCompanySignIn: route('GET /v1/auth/session/company', {
    summary: 'Sign in by company account',
    description:
      'For a browser, which is sent to the provider. If that does not answer, or if a page of another site sends the browser here, it is sent to the sign-in page.',
    access: 'public',
    limit: 'exchange',
    problems: ['company-account-off', 'company-attempt-invalid'],
    responseHeaders: gone,
    querystring: ReturnQuery,
    response: { 303: noContent },
    handler: async (parts, request, reply) => {
      requireCompany(parts)
      requireDocument(request)
      const returnTo = request.query.returnTo ?? '/'
      const attempt = { purpose: 'sign-in', returnTo, ...replacedBy(request) } as const
      try {
        assertSameSite(request, parts.config, parts.publicUrl())
        return reply
          .code(303)
          .header('location', await begin(parts, reply, attempt))
          .send(undefined)
      } catch (error) {
        return goBack(request, reply, attempt, error)
      }
    },
  }),
  finishCompanySignIn: route(`GET ${callbackPath}`, {
    summary: 'Come back from the provider',
    description:
      'For a browser that the provider sends here. It is sent on to the web app, which says why if the attempt failed. Each attempt works once, in the browser that began it.',
    access: 'public',
    limit: 'exchange',
    problems: ['company-account-off', 'company-attempt-invalid'],
    responseHeaders: gone,
    response: { 303: noContent },
    handler: async (parts, request, reply) => {
      const { provider, attempts } = requireCompany(parts)
      requireDocument(request)
      const attempt = attempts.open(presentedAttempt(request) ?? '', parts.clock())
      reply.header('set-cookie', clearAttempt())
      try {
        if (attempt === undefined)
          throw new CompanyFailure('company-attempt-invalid', 'no attempt, or an old one')
        const [search = ''] = /\?.*/.exec(request.raw.url ?? '') ?? []
        const identity = await provider.finish(new URL(parts.publicUrl() + callbackPath + search), attempt)
        await endings[attempt.purpose]({ parts, request, reply }, attempt, identity)
        return goOn(reply, attempt)
      } catch (error) {
        return goBack(request, reply, attempt, error)
      }
    },
  }),
  beginCompanyLink: askingRoute('POST /v1/auth/company', 'link', {
    summary: "Link a company account to the caller's account",
    description: 'Answers where to send the browser. The account is linked when it comes back.',
    needsRecentSignIn: true,
    page: '/account',
    refusal: 'company-account-linked',
  }),
  unlinkCompany: route('DELETE /v1/auth/company', {
    summary: "Unlink the caller's company account",
    description: 'Ends the sessions that it began. The last credential of an account stays.',
    access: 'person',
    needsRecentSignIn: true,
    problems: ['last-credential'],
    responseHeaders: { 204: [strandedHeader] },
    handler: async (parts, request, reply) => {
      const { id: principalId, session } = callerOf(request)
      const stamp = readStamp(request, parts)
      const { ended } = await parts.change('unlinkCompany', { principalId, rpId: rpIdOf(parts), stamp })
      if (session && ended.includes(session.id)) clearSession(reply)
      await tellStranded(parts, request, reply)
    },
  }),
  beginCompanyConfirmation: askingRoute('POST /v1/auth/session/confirm/company', 'confirmation', {
    summary: 'Confirm by company account',
    description:
      'Answers where to send the browser. The provider asks for a credential; for five minutes after that, the session may do everything that needs a recent sign-in.',
    page: '/',
    refusal: 'company-account-unknown',
  }),
  useLinkByCompany: route('POST /v1/auth/links/use/company', {
    summary: 'Link a company account by a one-time link',
    description:
      'Answers where to send the browser. When it comes back, the link is used up, the company account is linked and signs in, and every other credential of the account has ended.',
    access: 'public',
    limit: 'exchange',
    sameSiteOnly: true,
    problems: [...notBegun, 'link-not-found', 'cross-site-request'],
    responseHeaders: { 200: [attemptCookie] },
    body: UseLinkByCompanyCommand,
    response: { 200: CompanyAddress },
    handler: async (parts, request, reply) => {
      requireCompany(parts)
      const tokenHash = sha256(request.body.token)
      const link = { tokenHash, purpose: 'password', nowMilliseconds: parts.clock() } as const
      const { principalId } = await requireHolder(parts, request, link)
      const wanted = { purpose: 'one-time-link', returnTo: '/', link: { principalId, tokenHash } } as const
      const attempt = { ...wanted, ...replacedBy(request) }
      return { url: await orProblem(() => begin(parts, reply, attempt)) }
    },
  }),
  endCompanySessions: route('POST /v1/auth/session/company/logout', {
    summary: 'End sessions that have ended at the provider',
    description:
      'For the provider (OpenID Connect Back-Channel Logout 1.0). With `sub` it ends every session that the company account began; with `sid` alone, that session.',
    access: 'public',
    problems: ['company-account-off', 'logout-token-invalid'],
    body: CompanyLogoutForm,
    response: { 200: noContent },
    handler: async (parts, request, reply) => {
      const { provider } = requireCompany(parts)
      const logout = await provider.readLogout(request.body.logout_token).catch((cause) => {
        logEvent(request, 'company-logout-refused', { why: String(cause) })
        throw new Problem('logout-token-invalid', { cause })
      })
      const attemptsEndAt = parts.clock() + attemptLifetimeSeconds * 1000
      const done = await parts.change('logoutByCompany', { ...logout, attemptsEndAt })
      if ('refused' in done) throw new Problem(done.refused)
      logEvent(request, 'company-logout', { ended: done.ended })
      return reply.code(200).send(undefined)
    },
  }),
}

function requireCompany({ company }: AuthParts): NonNullable<AuthParts['company']> {
  if (company === undefined) throw new Problem('company-account-off')
  return company
}

/** A frame of another page, or a script, may neither begin nor end an attempt. */
function requireDocument({ headers }: FastifyRequest): void {
  const destination = headers['sec-fetch-dest']
  if (destination !== undefined && destination !== 'document') throw new Problem('company-attempt-invalid')
}

/** The session and the antiforgery binding that a sign-in takes over. */
function replacedBy(request: FastifyRequest): Pick<Attempt, 'replacedIdHash' | 'offeredBinding'> {
  const cookie = presentedAntiforgeryCookie(request)
  return {
    replacedIdHash: presentedSessionIdHash(request) ?? null,
    offeredBinding: cookie === undefined ? null : sha256(cookie),
  }
}

type Wanted = Pick<Attempt, 'purpose' | 'returnTo'> & Partial<Attempt>

/** Seals the attempt into the cookie, and returns the address of the provider. */
async function begin(parts: AuthParts, reply: FastifyReply, wanted: Wanted): Promise<string> {
  const { provider, attempts } = requireCompany(parts)
  const { url, ...secrets } = await provider.begin(wanted.purpose, parts.publicUrl() + callbackPath)
  const none = { replacedIdHash: null, offeredBinding: null, asker: null, link: null }
  const attempt = { ...none, ...wanted, ...secrets, startedAt: parts.clock() }
  reply.header('set-cookie', setAttempt(attempts.seal(attempt), attemptLifetimeSeconds))
  return url
}

/** For requests of scripts, which get a problem. */
async function orProblem(work: () => Promise<string>): Promise<string> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof CompanyFailure ? new Problem(error.code, { cause: error }) : error
  }
}

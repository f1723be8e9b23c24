import type { FastifyReply, FastifyRequest } from 'fastify'
import { formatInstant, secondOf } from '../../clock.ts'
import { comesAsForm } from '../../http/body.ts'
import { noContent } from '../../http/fields.ts'
import { idempotencyKeyHeader, readIdempotencyKey } from '../../http/idempotency.ts'
import { type Routes, route } from '../../http/route.ts'
import { newOpaqueId, sha256 } from '../../ids.ts'
import { Problem } from '../../problems/problems.ts'
import type { ClientCredentials } from '../accounts/clients/store.ts'
import { rolesOf } from '../accounts/roles/store.ts'
import {
  isServingToken,
  type RefreshToken,
  type RotationRefusal,
  type TokenGrant,
} from '../credentials/tokens/store.ts'
import type { IssuedToken } from '../credentials/tokens/tokens.ts'
import {
  type AuthParts,
  checkClientSecret,
  counterAtSignIn,
  type Given,
  logEvent,
  logSignIn,
  signIn,
  userAgentOf,
} from '../login.ts'
import { type ClientSecret, clientOf, refreshTokenOf, refuseForm, sendStandardToken } from './oauth.ts'
import { PasskeySignInCommand } from './passkeys/schemas.ts'
import {
  ClientTokenCommand,
  OAuthFailure,
  OAuthToken,
  RefreshTokenCommand,
  RevocationForm,
  ServiceAccessToken,
  TokenLoginCommand,
  TokenPair,
} from './schemas.ts'

/** 22 characters of base64url hold 128 bits: nobody who has a used token can guess the key. */
const repetitionKeyLength = 22

const repetitionHeader = {
  ...idempotencyKeyHeader,
  description: `At least ${repetitionKeyLength} random characters; a shorter key is ignored. The same refresh token with the same key gets the same new refresh token, and a fresh access token, until the new refresh token is used.`,
}

/** The bearer pair of apps and the client credentials of services (section 4 of the contract). */
export const tokenRoutes: Routes<AuthParts> = {
  issueToken: route('POST /v1/auth/token', {
    summary: 'Sign in with a token pair',
    description: 'Answers with a short-lived access token and the first refresh token of a new family.',
    access: 'public',
    limit: 'exchange',
    problems: ['invalid-credentials', 'too-many-attempts'],
    body: TokenLoginCommand,
    response: { 200: TokenPair },
    handler: (parts, request) => issuePair(parts, request, request.body),
  }),
  issueTokenByPasskey: route('POST /v1/auth/token/passkey', {
    summary: 'Sign in with a token pair by passkey',
    description: 'Answers the options of `beginPasskeySignIn`. Returns what `issueToken` returns.',
    access: 'public',
    limit: 'exchange',
    problems: ['invalid-credentials', 'passkey-counter', 'too-many-attempts', 'passkeys-unavailable'],
    problemStatus: counterAtSignIn,
    body: PasskeySignInCommand,
    response: { 200: TokenPair },
    handler: (parts, request) => issuePair(parts, request, request.body),
  }),
  refreshToken: route('POST /v1/auth/token/refresh', {
    summary: 'Rotate a token pair',
    description:
      'Returns a new pair and invalidates the refresh token. Using a token again ends its family, so send one refresh at a time. With an `Idempotency-Key`, a refresh whose answer was lost can be sent again. A form gets the answer of OAuth (RFC 6749 §5.1): `access_token`, `token_type`, `expires_in` and `refresh_token`.',
    access: 'public',
    limit: 'refreshAddress',
    problems: ['invalid-refresh-token', 'invalid-idempotency-key', 'invalid-grant', 'unsupported-grant-type'],
    jsonFailure: { schema: OAuthFailure },
    formAnswer: OAuthToken,
    requestHeaders: [repetitionHeader],
    body: RefreshTokenCommand,
    response: { 200: TokenPair },
    errorHandler: refuseForm,
    handler: async (parts, request, reply) => {
      const key = repetitionKey(request)
      const token = await countedToken(parts, request, reply, refreshTokenOf(request.body))
      if (token === undefined) throw new Problem('invalid-refresh-token')
      const next = parts.refreshTokens.successor(token, key)
      const now = parts.clock()
      const grant = await parts.db.write('rotateRefreshToken', {
        familyId: token.familyId,
        generation: token.generation,
        hash: token.hash,
        newTokenHash: sha256(next),
        nowMilliseconds: now,
        tokenExpiresAt: now + parts.config.refreshTokenIdleTtlSeconds * 1000,
      })
      if ('refused' in grant) throw refusedRotation(parts, request, reply, grant)
      logEvent(request, 'token-refreshed', { principalId: grant.principalId, familyId: token.familyId })
      const pair = await signPair(parts, grant, token.familyId, next, now)
      if (!comesAsForm(request)) return pair
      return sendStandardToken(request, reply, { ...pair, ttlSeconds: parts.config.accessTokenTtlSeconds })
    },
  }),
  issueServiceToken: route('POST /v1/auth/clients/token', {
    summary: 'Access token of a service',
    description:
      'There is no refresh token: fetch a new access token when it has expired. A form, with Basic or with the credentials inside, gets the answer of OAuth (RFC 6749 §5.1): `access_token`, `token_type` and `expires_in`.',
    access: 'public',
    limit: 'exchange',
    problems: ['invalid-client', 'unsupported-grant-type'],
    jsonFailure: { schema: OAuthFailure },
    formAnswer: OAuthToken,
    body: ClientTokenCommand,
    response: { 200: ServiceAccessToken },
    errorHandler: refuseForm,
    handler: async (parts, request, reply) => {
      const { token, expiresAt, ttlSeconds } = await issueServiceToken(parts, request, clientOf(request))
      if (!comesAsForm(request)) return { accessToken: token, expiresAt: formatInstant(expiresAt) }
      return sendStandardToken(request, reply, { accessToken: token, ttlSeconds })
    },
  }),
  /**
   * Ends the family of a refresh token (RFC 7009). The apps that have families have no secret, so any caller
   * that has a token of the family may end it. Access tokens expire by themselves.
   */
  revokeToken: route('POST /v1/auth/revoke', {
    summary: 'End the tokens of a sign-in',
    description:
      'As in RFC 7009: any refresh token of a family ends the whole family. An unknown token, one that has ended and an access token get the same answer; access tokens expire by themselves.',
    access: 'public',
    limit: 'refreshAddress',
    jsonFailure: { schema: OAuthFailure },
    body: RevocationForm,
    response: { 200: noContent },
    errorHandler: refuseForm,
    handler: async (parts, request, reply) => {
      const token = await countedToken(parts, request, reply, request.body.token)
      const ended = token && (await parts.db.write('endFamily', { familyId: token.familyId }))
      if (ended) logEvent(request, 'tokens-revoked', ended)
      return reply.code(200).send(undefined)
    },
  }),
}

function issuePair(parts: AuthParts, request: FastifyRequest, given: Given) {
  const { config, db, refreshTokens } = parts
  return signIn(parts, request, 'token', given, async (user, now) => {
    const familyId = newOpaqueId()
    const refreshToken = refreshTokens.first(familyId)
    const { roles } = await db.write('createRefreshFamily', {
      familyId,
      tokenHash: sha256(refreshToken),
      principalId: user.principalId,
      passwordHash: user.passwordHash,
      credentialsChangedAt: user.credentialsChangedAt,
      touch: user.touch,
      nowMilliseconds: now,
      tokenExpiresAt: now + config.refreshTokenIdleTtlSeconds * 1000,
      familyExpiresAt: now + config.refreshTokenFamilyTtlSeconds * 1000,
      userAgent: userAgentOf(request),
    })
    return signPair(parts, { ...user, roles, authenticatedAt: now }, familyId, refreshToken, now)
  })
}

function repetitionKey(request: FastifyRequest): string | null {
  const key = readIdempotencyKey(request)
  return key !== null && key.length >= repetitionKeyLength ? key : null
}

/**
 * The token, if this service issued it: its requests are then counted by family. Otherwise undefined: they
 * are counted by address.
 */
async function countedToken(
  { db, limits, refreshTokens }: AuthParts,
  request: FastifyRequest,
  reply: FastifyReply,
  text: string,
): Promise<RefreshToken | undefined> {
  const token = refreshTokens.read(text)
  // A token still works after the key of its tag is gone, but its reuse is no longer noticed.
  const isOurs = token !== undefined && (token.isGenuine || (await isServingToken(db.read, token)))
  if (isOurs) limits.consume('refresh', token.familyId, reply)
  else limits.consume('anonymous', request.clientAddress, reply)
  return isOurs ? token : undefined
}

/** Reuse of a refresh token is a sign of theft (RFC 9700 §4.14.2): logged, but not shown in the answer. */
function refusedRotation(
  { limits }: AuthParts,
  request: FastifyRequest,
  reply: FastifyReply,
  { refused, reused }: RotationRefusal,
): Problem {
  const address = request.clientAddress
  if (reused !== null) {
    request.log.warn(
      { event: 'refresh-token-reused', ...reused, address },
      'a used refresh token came back; its family has been ended',
    )
  }
  limits.consume('anonymous', address, reply)
  return new Problem(refused)
}

async function issueServiceToken(
  parts: AuthParts,
  request: FastifyRequest,
  credentials: ClientSecret,
): Promise<IssuedToken & { ttlSeconds: number }> {
  const now = parts.clock()
  const client = await checkClientSecret(parts, request, credentials, now)
  const roles = await rolesOf(parts.db.read, client.principalId)
  logSignIn(request, client.principalId, 'client')
  noteUse(parts, request, client, now)
  const { clientId, credentialsChangedAt, endsAt } = client
  // A token expires no later than its client, which has at least a second left (`checkClientSecret`).
  const leftSeconds = secondOf(endsAt ?? Number.POSITIVE_INFINITY) - secondOf(now)
  const ttlSeconds = Math.min(parts.config.serviceTokenTtlSeconds, leftSeconds)
  const issued = await parts.tokens.issue(
    { subject: clientId, userName: clientId, roles, signIn: null, credentialsChangedAt },
    ttlSeconds,
    now,
  )
  return { ...issued, ttlSeconds }
}

const useIntervalMilliseconds = 60_000

/** Written at most once a minute, and without delaying the request. */
function noteUse(
  { db }: AuthParts,
  request: FastifyRequest,
  { principalId, lastUsedAt }: ClientCredentials,
  nowMilliseconds: number,
): void {
  if (lastUsedAt !== null && nowMilliseconds - lastUsedAt < useIntervalMilliseconds) return
  db.write('noteClientUse', { principalId, nowMilliseconds }).catch((error: unknown) => {
    request.log.warn({ err: error }, 'noteClientUse')
  })
}

/** Signs only what a durable write has returned. */
async function signPair(
  { tokens, config }: AuthParts,
  grant: TokenGrant,
  familyId: string,
  refreshToken: string,
  now: number,
) {
  const { token, expiresAt } = await tokens.issue(
    {
      subject: String(grant.principalId),
      userName: grant.userName,
      roles: grant.roles,
      signIn: { id: familyId, authenticatedAt: grant.authenticatedAt },
      credentialsChangedAt: grant.credentialsChangedAt,
    },
    config.accessTokenTtlSeconds,
    now,
  )
  return { accessToken: token, accessTokenExpiresAt: formatInstant(expiresAt), refreshToken }
}

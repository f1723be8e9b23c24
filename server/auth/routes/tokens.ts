import type { FastifyReply, FastifyRequest } from 'fastify'
import { formatInstant, secondOf } from '../../clock.ts'
import { comesAsForm } from '../../http/body.ts'
import { noContent } from '../../http/fields.ts'
import { idempotencyKeyHeader, readIdempotencyKey } from '../../http/idempotency.ts'
import { Problem } from '../../http/problems.ts'
import type { App } from '../../http/route.ts'
import { newOpaqueId, sha256 } from '../../ids.ts'
import type { ClientCredentials } from '../accounts/clients/store.ts'
import { rolesOf } from '../accounts/roles/store.ts'
import {
  isServingToken,
  type RefreshToken,
  type RotationRefusal,
  type TokenGrant,
} from '../credentials/tokens/store.ts'
import type { IssuedToken } from '../credentials/tokens/tokens.ts'
import { type AuthParts, checkClientSecret, logEvent, logSignIn, signIn, userAgentOf } from '../login.ts'
import { type ClientSecret, clientOf, refuseForm, sendStandardToken } from './oauth.ts'
import {
  ClientTokenCommand,
  OAuthFailure,
  RefreshTokenCommand,
  RevocationForm,
  ServiceAccessToken,
  TokenLoginCommand,
  TokenPair,
} from './schemas.ts'

const tags = ['Authentication']

/** The bearer pair of apps and the client credentials of services (section 4 of the contract). */
export function registerTokens(app: App, parts: AuthParts): void {
  registerTokenLogin(app, parts)
  registerTokenRefresh(app, parts)
  registerClientToken(app, parts)
  registerRevocation(app, parts)
}

function registerTokenLogin(app: App, parts: AuthParts): void {
  app.route({
    method: 'POST',
    url: '/v1/auth/token',
    config: {
      access: 'public',
      limit: 'exchange',
      problems: ['invalid-credentials', 'too-many-attempts'],
    },
    schema: {
      operationId: 'issueToken',
      summary: 'Sign in with a token pair',
      description: 'Answers with a short-lived access token and the first refresh token of a new family.',
      tags,
      body: TokenLoginCommand,
      response: { 200: TokenPair },
    },
    handler: (request) =>
      signIn(parts, request, 'token', request.body, async (user, now) => {
        const familyId = newOpaqueId()
        const refreshToken = parts.refreshTokens.first(familyId)
        const { roles } = await parts.db.write('createRefreshFamily', {
          familyId,
          tokenHash: sha256(refreshToken),
          principalId: user.principalId,
          passwordHash: user.passwordHash,
          credentialsChangedAt: user.credentialsChangedAt,
          nowMilliseconds: now,
          tokenExpiresAt: now + parts.config.refreshTokenIdleTtlSeconds * 1000,
          familyExpiresAt: now + parts.config.refreshTokenFamilyTtlSeconds * 1000,
          userAgent: userAgentOf(request),
        })
        return signPair(parts, { ...user, roles, authenticatedAt: now }, familyId, refreshToken, now)
      }),
  })
}

function registerTokenRefresh(app: App, parts: AuthParts): void {
  app.route({
    method: 'POST',
    url: '/v1/auth/token/refresh',
    config: {
      access: 'public',
      limit: 'refreshAddress',
      problems: ['invalid-refresh-token', 'invalid-idempotency-key'],
      requestHeaders: [repetitionHeader],
    },
    schema: {
      operationId: 'refreshToken',
      summary: 'Rotate a token pair',
      description:
        'Returns a new pair and invalidates the refresh token. Using a token again ends its family, so send one refresh at a time. With an `Idempotency-Key`, a refresh whose answer was lost can be sent again.',
      tags,
      body: RefreshTokenCommand,
      response: { 200: TokenPair },
    },
    handler: async (request, reply) => {
      const key = repetitionKey(request)
      const token = await countedToken(parts, request, reply, request.body.refreshToken)
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
      return signPair(parts, grant, token.familyId, next, now)
    },
  })
}

/** 22 characters of base64url hold 128 bits: nobody who has a used token can guess the key. */
const repetitionKeyLength = 22

const repetitionHeader = {
  ...idempotencyKeyHeader,
  description: `At least ${repetitionKeyLength} random characters; a shorter key is ignored. The same refresh token with the same key gets the same new refresh token, and a fresh access token, until the new refresh token is used.`,
}

function repetitionKey(request: FastifyRequest): string | null {
  const key = readIdempotencyKey(request)
  return key !== null && key.length >= repetitionKeyLength ? key : null
}

/** The token if it is ours, which counts by its family; otherwise undefined, which counts by address. */
async function countedToken(
  { db, limits, refreshTokens }: AuthParts,
  request: FastifyRequest,
  reply: FastifyReply,
  text: string,
): Promise<RefreshToken | undefined> {
  const token = refreshTokens.read(text)
  // A token outlives the key of its tag; only its reuse is no longer noticed then.
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

function registerClientToken(app: App, parts: AuthParts): void {
  app.route({
    method: 'POST',
    url: '/v1/auth/clients/token',
    config: {
      access: 'public',
      limit: 'exchange',
      problems: ['invalid-client', 'unsupported-grant-type', 'invalid-scope'],
      formFailure: OAuthFailure,
    },
    schema: {
      operationId: 'issueServiceToken',
      summary: 'Access token of a service',
      description:
        'There is no refresh token: fetch a new access token when it has expired. A form, with Basic or with the credentials inside, gets the answer of OAuth (RFC 6749 §5.1): `access_token`, `token_type` and `expires_in`.',
      tags,
      body: ClientTokenCommand,
      response: { 200: ServiceAccessToken },
    },
    errorHandler: refuseForm,
    handler: async (request, reply) => {
      const { token, expiresAt, ttlSeconds } = await issueServiceToken(parts, request, clientOf(request))
      if (!comesAsForm(request)) return { accessToken: token, expiresAt: formatInstant(expiresAt) }
      return sendStandardToken(reply, token, ttlSeconds)
    },
  })
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

/**
 * Ends the family of a refresh token (RFC 7009). The apps that have families have no secret, so any caller
 * that has a token of the family may end it. Access tokens expire by themselves.
 */
function registerRevocation(app: App, parts: AuthParts): void {
  app.route({
    method: 'POST',
    url: '/v1/auth/revoke',
    config: {
      access: 'public',
      limit: 'refreshAddress',
      problems: ['unsupported-token-type'],
      formFailure: OAuthFailure,
    },
    schema: {
      operationId: 'revokeToken',
      summary: 'End the tokens of a sign-in',
      description:
        'As in RFC 7009: any refresh token of a family ends the whole family. An unknown token, or one that has ended, gets the same answer. Access tokens cannot be revoked: they expire by themselves.',
      tags,
      body: RevocationForm,
      response: { 200: noContent },
    },
    errorHandler: refuseForm,
    handler: async (request, reply) => {
      const { token: text } = request.body
      const token = await countedToken(parts, request, reply, text)
      if (token === undefined && (await parts.tokens.verify(text)) !== undefined) {
        throw new Problem('unsupported-token-type')
      }
      const ended = token && (await parts.db.write('endFamily', { familyId: token.familyId }))
      if (ended) logEvent(request, 'tokens-revoked', ended)
      return reply.code(200).send(undefined)
    },
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

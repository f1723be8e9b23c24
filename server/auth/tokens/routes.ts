import type { FastifyReply, FastifyRequest } from 'fastify'
import { formatInstant } from '../../clock.ts'
import { idempotencyKeyHeader, readIdempotencyKey } from '../../http/idempotency.ts'
import { Problem } from '../../http/problems.ts'
import type { App } from '../../http/route.ts'
import { newOpaqueId, sha256 } from '../../ids.ts'
import { type AuthParts, checkClientSecret, logSignIn, signIn } from '../login.ts'
import { rolesOf } from '../roles/store.ts'
import {
  ClientTokenCommand,
  RefreshTokenCommand,
  ServiceAccessToken,
  TokenLoginCommand,
  TokenPair,
} from '../schemas.ts'
import { isServingToken, type RefreshToken, type RotationRefusal, type TokenGrant } from './store.ts'

const tags = ['Authentication']

/** The bearer pair of apps and the client credentials of services (section 4 of the contract). */
export function registerTokenRoutes(app: App, parts: AuthParts): void {
  registerTokenLogin(app, parts)
  registerTokenRefresh(app, parts)
  registerClientToken(app, parts)
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
      description: 'A short-lived access token and a refresh token that begins a new family.',
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
        'Returns a new pair and invalidates the refresh token. A token that was used before ends its family: send one refresh at a time. With an `Idempotency-Key` a refresh whose answer was lost may be sent again.',
      tags,
      body: RefreshTokenCommand,
      response: { 200: TokenPair },
    },
    handler: async (request, reply) => {
      const key = repetitionKey(request)
      const token = await countRefresh(parts, request, reply, request.body.refreshToken)
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
      logRefresh(request, grant.principalId, token.familyId)
      return signPair(parts, grant, token.familyId, next, now)
    },
  })
}

/** As many characters of base64url hold 128 bits: who has a used token must not be able to guess the key. */
const repetitionKeyLength = 22

const repetitionHeader = {
  ...idempotencyKeyHeader,
  description: `At least ${repetitionKeyLength} characters, made at random; shorter counts as none. The same refresh token with the same key gets the same new refresh token, and a fresh access token, until the new one is used.`,
}

function repetitionKey(request: FastifyRequest): string | null {
  const key = readIdempotencyKey(request)
  return key !== null && key.length >= repetitionKeyLength ? key : null
}

/** Counts by family, or by address what belongs to none and is refused. */
async function countRefresh(
  { db, limits, refreshTokens }: AuthParts,
  request: FastifyRequest,
  reply: FastifyReply,
  text: string,
): Promise<RefreshToken> {
  const token = refreshTokens.read(text)
  // A token outlives the key of its tag: only its reuse is then no longer noticed.
  if (token === undefined || !(token.isGenuine || (await isServingToken(db.read, token)))) {
    limits.consume('anonymous', request.clientAddress, reply)
    throw new Problem('invalid-refresh-token')
  }
  limits.consume('refresh', token.familyId, reply)
  return token
}

/** Says whose tokens were renewed, in which family and from where (ASVS 5.0 16.3.1). */
function logRefresh(request: FastifyRequest, principalId: number, familyId: string): void {
  const address = request.clientAddress
  request.log.info({ event: 'token-refreshed', principalId, familyId, address }, 'token refreshed')
}

/** Reuse of a refresh token is a sign of theft (RFC 9700 §4.14.2): logged as a security event, told to nobody. */
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
    config: { access: 'public', limit: 'exchange', problems: ['invalid-client'] },
    schema: {
      operationId: 'issueServiceToken',
      summary: 'Access token of a service',
      description: 'No refresh token: fetch a new access token when it has expired.',
      tags,
      body: ClientTokenCommand,
      response: { 200: ServiceAccessToken },
    },
    handler: async (request) => {
      const now = parts.clock()
      const client = await checkClientSecret(parts, request, request.body)
      const roles = await rolesOf(parts.db.read, client.principalId)
      logSignIn(request, client.principalId, 'client')
      const { clientId, credentialsChangedAt } = client
      const { token, expiresAt } = await parts.tokens.issue(
        { subject: clientId, userName: clientId, roles, signIn: null, credentialsChangedAt },
        parts.config.serviceTokenTtlSeconds,
        now,
      )
      return { accessToken: token, expiresAt: formatInstant(expiresAt) }
    },
  })
}

/** Signs after the write that allowed it has become durable, from what that write returned. */
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

import type { FastifyReply, FastifyRequest } from 'fastify'
import { formatInstant } from '../../clock.ts'
import { Problem } from '../../http/problems.ts'
import type { App } from '../../http/route.ts'
import { newOpaqueId, newSecret, secretPattern, sha256 } from '../../ids.ts'
import { type AuthParts, checkClientSecret, logSignIn, signIn } from '../login.ts'
import { rolesOf } from '../roles/store.ts'
import {
  ClientTokenCommand,
  RefreshTokenCommand,
  ServiceAccessToken,
  TokenLoginCommand,
  TokenPair,
} from '../schemas.ts'
import { findFamilyId, type RotationRefusal, type TokenGrant } from './store.ts'

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
      problems: ['invalid-credentials', 'too-many-attempts', 'overloaded'],
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
        const refreshToken = newSecret()
        const { roles } = await parts.db.write('createRefreshFamily', {
          familyId: newOpaqueId(),
          tokenHash: sha256(refreshToken),
          principalId: user.principalId,
          passwordHash: user.passwordHash,
          credentialsChangedAt: user.credentialsChangedAt,
          nowMilliseconds: now,
          tokenExpiresAt: now + parts.config.refreshTokenIdleTtlSeconds * 1000,
          familyExpiresAt: now + parts.config.refreshTokenFamilyTtlSeconds * 1000,
        })
        return signPair(parts, { ...user, roles }, refreshToken, now)
      }),
  })
}

function registerTokenRefresh(app: App, parts: AuthParts): void {
  app.route({
    method: 'POST',
    url: '/v1/auth/token/refresh',
    config: { access: 'public', limit: 'refreshAddress', problems: ['invalid-refresh-token'] },
    schema: {
      operationId: 'refreshToken',
      summary: 'Rotate a token pair',
      description:
        'Returns a new pair and invalidates the refresh token. A token that was used before ends its family: send one refresh at a time.',
      tags,
      body: RefreshTokenCommand,
      response: { 200: TokenPair },
    },
    handler: async (request, reply) => {
      const { config, db, clock } = parts
      const { refreshToken } = request.body
      const familyId = await countRefresh(parts, request, reply, refreshToken)
      const next = newSecret()
      const now = clock()
      const grant = await db.write('rotateRefreshToken', {
        tokenHash: sha256(refreshToken),
        newTokenHash: sha256(next),
        nowMilliseconds: now,
        tokenExpiresAt: now + config.refreshTokenIdleTtlSeconds * 1000,
      })
      if ('refused' in grant) throw refusedRotation(parts, request, reply, grant)
      logRefresh(request, grant.principalId, familyId)
      return signPair(parts, grant, next, now)
    },
  })
}

/** Counts by family, or by address what belongs to none and is refused. Returns the family. */
async function countRefresh(
  { db, limits }: AuthParts,
  request: FastifyRequest,
  reply: FastifyReply,
  refreshToken: string,
): Promise<string> {
  const familyId = secretPattern.test(refreshToken)
    ? await findFamilyId(db.read, sha256(refreshToken))
    : undefined
  if (familyId === undefined) {
    limits.consume('anonymous', request.clientAddress, reply)
    throw new Problem('invalid-refresh-token')
  }
  limits.consume('refresh', familyId, reply)
  return familyId
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
      'a used refresh token came back; its family has been revoked',
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
        { subject: clientId, kind: 'client', userName: clientId, roles, credentialsChangedAt },
        parts.config.serviceTokenTtlSeconds,
        now,
      )
      return { accessToken: token, expiresAt: formatInstant(expiresAt) }
    },
  })
}

/** Signs after the write that allowed it has become durable, from what that write returned. */
async function signPair({ tokens, config }: AuthParts, grant: TokenGrant, refreshToken: string, now: number) {
  const { token, expiresAt } = await tokens.issue(
    {
      subject: String(grant.principalId),
      kind: 'user',
      userName: grant.userName,
      roles: grant.roles,
      credentialsChangedAt: grant.credentialsChangedAt,
    },
    config.accessTokenTtlSeconds,
    now,
  )
  return { accessToken: token, accessTokenExpiresAt: formatInstant(expiresAt), refreshToken }
}

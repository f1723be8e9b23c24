import type { FastifyRequest } from 'fastify'
import { formatInstant } from '../../clock.ts'
import { Problem } from '../../http/problems.ts'
import type { App } from '../../http/route.ts'
import { newOpaqueId, newSecret, secretPattern, sha256 } from '../../ids.ts'
import { rolesOf } from '../accounts/store.ts'
import { type AuthParts, checkClientSecret, checkPassword, logSignIn, refusedLogin } from '../login.ts'
import {
  ClientTokenCommand,
  RefreshTokenCommand,
  ServiceAccessToken,
  TokenLoginCommand,
  TokenPair,
} from '../schemas.ts'
import { findFamilyId, type Rotation, type TokenGrant } from './store.ts'

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
    handler: async (request) => {
      const user = await checkPassword(parts, request, request.body)
      const { config, db, clock } = parts
      const now = clock()
      const refreshToken = newSecret()
      const grant = await db.write('createRefreshFamily', {
        familyId: newOpaqueId(),
        tokenHash: sha256(refreshToken),
        principalId: user.principalId,
        passwordHash: user.passwordHash,
        credentialsChangedAt: user.credentialsChangedAt,
        nowMilliseconds: now,
        tokenExpiresAt: now + config.refreshTokenIdleTtlSeconds * 1000,
        familyExpiresAt: now + config.refreshTokenFamilyTtlSeconds * 1000,
      })
      if (grant === undefined) throw refusedLogin(request, user.principalId)
      logSignIn(request, user.principalId, 'token')
      return signPair(parts, grant, refreshToken, now)
    },
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
      const { config, db, clock, limits } = parts
      const { refreshToken } = request.body
      const tokenHash = sha256(refreshToken)
      const familyId = secretPattern.test(refreshToken) ? await findFamilyId(db.read, tokenHash) : undefined
      if (familyId === undefined) {
        limits.consume('anonymous', request.clientAddress, reply)
        throw new Problem('invalid-refresh-token')
      }
      limits.consume('refresh', familyId, reply)
      const next = newSecret()
      const now = clock()
      const rotation = await db.write('rotateRefreshToken', {
        tokenHash,
        newTokenHash: sha256(next),
        nowMilliseconds: now,
        tokenExpiresAt: now + config.refreshTokenIdleTtlSeconds * 1000,
      })
      if (rotation.outcome !== 'rotated') {
        limits.consume('anonymous', request.clientAddress, reply)
        throw refusedRotation(request, rotation)
      }
      logRefresh(request, rotation.grant.principalId, familyId)
      return signPair(parts, rotation.grant, next, now)
    },
  })
}

/** Says whose tokens were renewed, in which family and from where (ASVS 5.0 16.3.1). */
function logRefresh(request: FastifyRequest, principalId: number, familyId: string): void {
  request.log.info(
    { event: 'token-refreshed', principalId, familyId, address: request.clientAddress },
    'token refreshed',
  )
}

/** Reuse of a refresh token is a sign of theft (RFC 9700 §4.14.2): logged as a security event, told to nobody. */
function refusedRotation(
  request: FastifyRequest,
  rotation: Exclude<Rotation, { outcome: 'rotated' }>,
): Problem {
  if (rotation.outcome === 'reused') {
    const { familyId, principalId } = rotation
    request.log.warn(
      { event: 'refresh-token-reused', familyId, principalId, address: request.clientAddress },
      'a used refresh token came back; its family has been revoked',
    )
  }
  return new Problem('invalid-refresh-token')
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
      const { token, expiresAt } = await parts.tokens.issue(
        {
          subject: client.clientId,
          kind: 'client',
          userName: client.clientId,
          roles,
          credentialsChangedAt: client.credentialsChangedAt,
        },
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

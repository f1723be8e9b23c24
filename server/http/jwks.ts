import { createHash } from 'node:crypto'
import { named, noContent } from './fields.ts'
import { matchesNone } from './preconditions.ts'
import type { App } from './route.ts'
import { type Static, Type } from './schema.ts'
import { cacheForAll } from './shared-caches.ts'

const text = (description: string) => Type.String({ description })

const JsonWebKey = named(
  'JsonWebKey',
  Type.Object({
    kty: text('Always RSA.'),
    use: text('Always sig.'),
    alg: text('RS256 or PS256.'),
    kid: text('RFC 7638 thumbprint.'),
    n: text('Modulus.'),
    e: text('Exponent.'),
  }),
)

const JsonWebKeySet = named(
  'JsonWebKeySet',
  Type.Object(
    { keys: Type.Array(JsonWebKey) },
    {
      examples: [
        { keys: [{ kty: 'RSA', use: 'sig', alg: 'RS256', kid: 'thumbprint', n: 'modulus', e: 'AQAB' }] },
      ],
    },
  ),
)

/** The public keys (RFC 7517) by which anybody, this service included, verifies the access tokens. */
export function registerJwks(app: App, jwks: Static<typeof JsonWebKeySet>, development: boolean): void {
  const etag = `"${createHash('sha256').update(JSON.stringify(jwks)).digest('base64url')}"`
  const directives = `max-age=${development ? 30 : 3600}`
  app.route({
    method: 'GET',
    url: '/.well-known/jwks.json',
    config: {
      access: 'public',
      isForAll: true,
      responseHeaders: {
        200: [{ name: 'ETag', description: 'Hash of the set.', schema: { type: 'string' } }],
      },
    },
    schema: {
      operationId: 'getJwks',
      summary: 'Public keys of the access tokens',
      description: 'A JSON Web Key Set (RFC 7517). Ask again when a token names a key that is not in it.',
      tags: ['Operations'],
      response: { 200: JsonWebKeySet, 304: noContent },
    },
    handler: async (request, reply) => {
      cacheForAll(reply, directives)
      reply
        .header('etag', etag)
        .header('access-control-allow-origin', '*')
        .header('cross-origin-resource-policy', 'cross-origin')
      if (!matchesNone(request.headers['if-none-match'], etag)) return reply.code(304).send(undefined)
      return jwks
    },
  })
}

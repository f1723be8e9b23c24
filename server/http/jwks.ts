import { answerOf } from './answers.ts'
import { named, noContent } from './fields.ts'
import { type Routes, route } from './route.ts'
import { type Static, Type } from './schema.ts'
import { answerForAll, forAll } from './shared-caches.ts'

const text = (description: string) => Type.String({ description })

const JsonWebKey = answerOf('JsonWebKey', undefined, {
  kty: text('Always RSA.'),
  use: text('Always sig.'),
  alg: text('RS256 or PS256.'),
  kid: text('RFC 7638 thumbprint.'),
  n: text('Modulus.'),
  e: text('Exponent.'),
})

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

interface KeyParts {
  jwks: Static<typeof JsonWebKeySet>
  development: boolean
}

/** The public keys (RFC 7517) that verify the access tokens, here and elsewhere. */
export const keyRoutes: Routes<KeyParts> = {
  getJwks: route('GET /.well-known/jwks.json', {
    summary: 'Public keys of the access tokens',
    description: 'A JSON Web Key Set (RFC 7517). Ask again when a token names a key that is not in it.',
    access: 'public',
    ...forAll,
    response: { 200: JsonWebKeySet, 304: noContent },
    handler: async ({ jwks, development }, request, reply) => answerForAll(request, reply, jwks, development),
  }),
}

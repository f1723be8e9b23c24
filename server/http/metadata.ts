import type { FastifyReply, FastifyRequest } from 'fastify'
import { answerOf, text } from './answers.ts'
import { noContent } from './fields.ts'
import { type Routes, route } from './route.ts'
import { type Static, Type } from './schema.ts'
import { answerForAll, forAll } from './shared-caches.ts'

const address = (description: string, path: string) =>
  text(description, `https://orders.example.com${path}`, { format: 'uri' })
const names = (description: string, values: string[]) =>
  Type.Array(Type.String(), { description, examples: [values] })

const AuthorizationServerMetadata = answerOf(
  'AuthorizationServerMetadata',
  'Metadata of this service for OAuth software (RFC 8414).',
  {
    issuer: address('`iss` and `aud` of every token.', ''),
    jwks_uri: address('The keys that verify the tokens.', '/.well-known/jwks.json'),
    token_endpoint: address('Where services get tokens.', '/v1/auth/clients/token'),
    token_endpoint_auth_methods_supported: names('How services authenticate.', [
      'client_secret_basic',
      'client_secret_post',
    ]),
    grant_types_supported: names('Grants of the token endpoint.', ['client_credentials']),
    revocation_endpoint: address('Where refresh tokens are revoked.', '/v1/auth/revoke'),
    revocation_endpoint_auth_methods_supported: names(
      'Having a token is enough to revoke it; other credentials are accepted and ignored.',
      ['none', 'client_secret_basic', 'client_secret_post'],
    ),
    response_types_supported: names('None: there is no authorization endpoint.', []),
    subject_types_supported: names('`sub` is the same for every client.', ['public']),
    id_token_signing_alg_values_supported: names(
      'Algorithm of all tokens. There are no ID tokens, but validators look here.',
      ['RS256'],
    ),
  },
)

export interface Issuer {
  /**
   * The public address, never that of a request: RFC 8414 §3.3 requires `iss` to be the address that was
   * asked.
   */
  publicUrl: () => string
  algorithm: string
  development: boolean
}

const metadata = {
  access: 'public',
  ...forAll,
  response: { 200: AuthorizationServerMetadata, 304: noContent },
  handler: async (issuer: Issuer, request: FastifyRequest, reply: FastifyReply) =>
    answerForAll(request, reply, metadataOf(issuer), issuer.development),
} as const

export const metadataRoutes: Routes<Issuer> = {
  getAuthorizationServerMetadata: route('GET /.well-known/oauth-authorization-server', {
    summary: 'Metadata for OAuth software',
    description: 'RFC 8414. Validators and clients find all other addresses from the issuer’s.',
    ...metadata,
  }),
  getOpenIdConfiguration: route('GET /.well-known/openid-configuration', {
    summary: 'The same metadata, where OpenID software looks for it',
    description: 'For validators that know only this address. There is no sign-in by OpenID Connect.',
    ...metadata,
  }),
}

/** Leaves out required members that would be untrue, such as OpenID's `authorization_endpoint`. */
function metadataOf({ publicUrl, algorithm }: Issuer): Static<typeof AuthorizationServerMetadata> {
  const issuer = publicUrl()
  return {
    issuer,
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    token_endpoint: `${issuer}/v1/auth/clients/token`,
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    grant_types_supported: ['client_credentials'],
    revocation_endpoint: `${issuer}/v1/auth/revoke`,
    revocation_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
    response_types_supported: [],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [algorithm],
  }
}

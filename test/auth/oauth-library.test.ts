// engine: SQLite
import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import * as oauth from 'oauth4webapi'
import { loadSigningKeys } from '../../server/auth/credentials/tokens/keys.ts'
import { newClient, newUser, type TestClient, tokenPair } from '../support/accounts.ts'
import { testService } from '../support/service.ts'

/** Development has no TLS, which is the only thing that the library must be configured for. */
const onLoopback = { [oauth.allowInsecureRequests]: true }

/** The client that a library makes from the issuer's address alone. */
describe('an OAuth library', () => {
  const service = testService({ development: true, env: { PUBLIC_URL: '' } })
  let issuer: URL
  let client: TestClient
  before(async () => {
    issuer = new URL(service.baseUrl.replace('127.0.0.1', 'localhost'))
    client = await newClient(service)
  })

  async function discover(algorithm: 'oidc' | 'oauth2'): Promise<oauth.AuthorizationServer> {
    const answer = await oauth.discoveryRequest(issuer, { algorithm, ...onLoopback })
    return oauth.processDiscoveryResponse(issuer, answer)
  }

  async function obtain(
    server: oauth.AuthorizationServer,
    authentication: oauth.ClientAuth,
    parameters: Record<string, string> = {},
  ): Promise<oauth.TokenEndpointResponse> {
    const { clientId: client_id } = client
    const answer = await oauth.clientCredentialsGrantRequest(
      server,
      { client_id },
      authentication,
      parameters,
      onLoopback,
    )
    return oauth.processClientCredentialsResponse(server, { client_id }, answer)
  }

  for (const algorithm of ['oidc', 'oauth2'] as const) {
    for (const authentication of [oauth.ClientSecretBasic, oauth.ClientSecretPost]) {
      it(`gets and verifies a service's token (${algorithm}, ${authentication.name})`, async () => {
        const server = await discover(algorithm)
        const { access_token, expires_in } = await obtain(server, authentication(client.clientSecret))
        assert.equal(expires_in, 3_600)
        const headers = { authorization: `Bearer ${access_token}` }
        const request = new Request(new URL('/v1/auth/me', issuer), { headers })
        const claims = await oauth.validateJwtAccessToken(server, request, issuer.origin, onLoopback)
        assert.deepEqual([claims.iss, claims.client_id], [issuer.origin, client.clientId])
        const { userName } = (await (await fetch(request)).json()) as { userName: string }
        assert.equal(userName, client.clientId)
      })
    }
  }

  it('is asked to fetch the keys again after half a minute if they are made per run', async () => {
    for (const name of ['jwks.json', 'oauth-authorization-server', 'openid-configuration']) {
      const { headers } = await service.client().get(`/.well-known/${name}`)
      assert.equal(headers.get('cache-control'), 'public, max-age=30', name)
    }
    const runs = await Promise.all([loadSigningKeys([], 'RS256'), loadSigningKeys([], 'RS256')])
    assert.notEqual(runs[0].kid, runs[1].kid)
  })

  it('understands why it is refused', async () => {
    const server = await discover('oauth2')
    const { clientSecret } = client
    await assert.rejects(obtain(server, oauth.ClientSecretBasic('wrong')), ({ cause }: Error) => {
      const [challenge] = cause as oauth.WWWAuthenticateChallenge[]
      return challenge?.scheme === 'basic'
    })
    await assert.rejects(
      obtain(server, oauth.ClientSecretBasic(clientSecret), { scope: 'orders' }),
      (error: oauth.ResponseBodyError) => error.error === 'invalid_scope' && error.status === 400,
    )
  })

  it('revokes the tokens of an app', async () => {
    const server = await discover('oauth2')
    const { refreshToken } = await tokenPair(service, await newUser(service))
    const app = { client_id: 'countersign' }
    const revoke = async (token: string) =>
      oauth.processRevocationResponse(
        await oauth.revocationRequest(server, app, oauth.None(), token, onLoopback),
      )
    await revoke(refreshToken)
    const answer = await service.client().post('/v1/auth/token/refresh', { refreshToken })
    assert.equal(answer.body.code, 'invalid-refresh-token')
    const { access_token } = await obtain(server, oauth.ClientSecretPost(client.clientSecret))
    await assert.rejects(revoke(access_token), { error: 'unsupported_token_type' })
  })
})

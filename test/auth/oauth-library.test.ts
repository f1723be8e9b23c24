import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import * as oauth from 'oauth4webapi'
import { loadSigningKeys } from '../../server/auth/credentials/tokens/keys.ts'
import { newClient, newUser, type TestClient, tokenPair } from '../support/accounts.ts'
import { testService } from '../support/service.ts'

/** Development has no TLS, which is the only thing that the library must be configured for. */
const onLoopback = { [oauth.allowInsecureRequests]: true }

/** A client that a library configures from the issuer's address alone. */
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

  it('fetches the keys again after half a minute if each start makes new ones', async () => {
    for (const name of ['jwks.json', 'oauth-authorization-server', 'openid-configuration']) {
      const { headers } = await service.client().get(`/.well-known/${name}`)
      assert.equal(headers.get('cache-control'), 'public, max-age=30', name)
    }
    const runs = await Promise.all([loadSigningKeys([], 'RS256'), loadSigningKeys([], 'RS256')])
    assert.notEqual(runs[0].kid, runs[1].kid)
  })

  it('can read why it was refused', async () => {
    const server = await discover('oauth2')
    await assert.rejects(obtain(server, oauth.ClientSecretBasic('wrong')), ({ cause }: Error) => {
      const [challenge] = cause as oauth.WWWAuthenticateChallenge[]
      return challenge?.scheme === 'basic'
    })
    const other = oauth.genericTokenEndpointRequest
    const answer = await other(server, { client_id: 'x' }, oauth.None(), 'password', {}, onLoopback)
    await assert.rejects(
      oauth.processGenericTokenEndpointResponse(server, { client_id: 'x' }, answer),
      (error: oauth.ResponseBodyError) => error.error === 'unsupported_grant_type' && error.status === 400,
    )
  })

  it('gets a token although it asks for a scope, and learns that it got none', async () => {
    const server = await discover('oauth2')
    const { access_token, scope } = await obtain(server, oauth.ClientSecretBasic(client.clientSecret), {
      scope: 'orders offline_access',
    })
    assert.equal(scope, '')
    const caller = service.client().withBearer(access_token)
    assert.equal((await caller.get('/v1/auth/me')).body.userName, client.clientId)
    assert.equal((await obtain(server, oauth.ClientSecretBasic(client.clientSecret))).scope, undefined)
  })

  it('refreshes the tokens of a native app, once each', async () => {
    const server = { ...(await discover('oauth2')), token_endpoint: `${issuer.origin}/v1/auth/token/refresh` }
    const user = await newUser(service)
    const app = { client_id: 'countersign' }
    const refresh = async (token: string, more = {}) => {
      const request = oauth.refreshTokenGrantRequest
      const answer = await request(server, app, oauth.None(), token, { ...onLoopback, ...more })
      return oauth.processRefreshTokenResponse(server, app, answer)
    }
    const { refreshToken } = await tokenPair(service, user)
    const first = await refresh(refreshToken)
    assert.deepEqual([first.token_type, first.expires_in, first.scope], ['bearer', 900, undefined])
    const second = await refresh(first.refresh_token ?? '', { additionalParameters: { scope: 'orders' } })
    assert.equal(second.scope, '')
    const caller = service.client().withBearer(second.access_token)
    assert.equal((await caller.get('/v1/auth/me')).body.userName, user.userName)
    const isGrantRefused = ({ error, status }: oauth.ResponseBodyError) => {
      return error === 'invalid_grant' && status === 400
    }
    await assert.rejects(refresh(first.refresh_token ?? ''), isGrantRefused)
    await assert.rejects(refresh(second.refresh_token ?? ''), isGrantRefused)
    await assert.rejects(refresh('no token at all'), isGrantRefused)
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
    await revoke(access_token)
    const methods = server.revocation_endpoint_auth_methods_supported
    assert.deepEqual(methods, ['none', 'client_secret_basic', 'client_secret_post'])
    for (const method of [oauth.ClientSecretBasic, oauth.ClientSecretPost]) {
      const asService = method(client.clientSecret)
      const answer = await oauth.revocationRequest(
        server,
        { client_id: client.clientId },
        asService,
        access_token,
        onLoopback,
      )
      await oauth.processRevocationResponse(answer)
    }
  })
})

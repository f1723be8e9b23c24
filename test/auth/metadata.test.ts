import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { decodeJwt } from 'jose'
import { publicUrl, startService, testService } from '../support/service.ts'

const paths = ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration']

describe('getAuthorizationServerMetadata and getOpenIdConfiguration', () => {
  const service = testService()

  it('agree with each other, and with the service', async () => {
    for (const path of paths) {
      const { status, headers, body } = await service.client().get(path)
      assert.equal(status, 200)
      assert.equal(headers.get('content-type'), 'application/json; charset=utf-8')
      assert.deepEqual(body, {
        issuer: publicUrl,
        jwks_uri: `${publicUrl}/.well-known/jwks.json`,
        token_endpoint: `${publicUrl}/v1/auth/clients/token`,
        token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
        grant_types_supported: ['client_credentials'],
        revocation_endpoint: `${publicUrl}/v1/auth/revoke`,
        revocation_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
        response_types_supported: [],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
      })
    }
  })

  it('name the issuer and the algorithm of the tokens, whatever Host the request names', async (t) => {
    const other = await startService({ inside: true, env: { SIGNING_ALGORITHM: 'PS256' }, until: t })
    const headers = { host: 'evil.example', 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'http' }
    for (const path of paths) {
      const { text, body } = await other.client().get(path, headers)
      assert.ok(!text.includes('evil'))
      assert.deepEqual(body.id_token_signing_alg_values_supported, ['PS256'])
      const { iss, aud } = decodeJwt(((await other.bearer('admin')).headers.authorization ?? '').slice(7))
      assert.deepEqual([iss, aud], [body.issuer, body.issuer])
    }
  })

  it('can be cached for an hour, revalidated, and read by scripts of all origins', async () => {
    for (const path of paths) {
      const { headers } = await service.client().get(path)
      const names = ['cache-control', 'access-control-allow-origin', 'cross-origin-resource-policy']
      assert.deepEqual(
        names.map((name) => headers.get(name)),
        ['public, max-age=3600', '*', 'cross-origin'],
      )
      const again = await service.client().get(path, { 'if-none-match': headers.get('etag') ?? '' })
      assert.deepEqual([again.status, again.text], [304, ''])
    }
  })
})

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { startService, testService } from '../support/service.ts'

const listed = 'https://app.example.net'
const preflight = {
  'access-control-request-method': 'POST',
  'access-control-request-headers': 'authorization',
}
const corsHeaders = (headers: Headers) =>
  [...headers.keys()].filter((name) => name.startsWith('access-control-')).sort()

describe('cross-origin requests', () => {
  const closed = testService()
  const service = testService({ env: { CORS_ORIGINS: `${listed}, http://localhost:5173` } })

  it('with a bearer are allowed for a listed origin: preflight and answer name that origin and no other', async () => {
    for (const origin of [listed, 'http://localhost:5173']) {
      const asked = await service.client().send('OPTIONS', '/v1/orders', undefined, { origin, ...preflight })
      assert.equal(asked.status, 204)
      assert.equal(asked.headers.get('access-control-allow-origin'), origin)
      assert.match(asked.headers.get('access-control-allow-methods') ?? '', /POST/)
      assert.match(asked.headers.get('access-control-allow-methods') ?? '', /PATCH/)
      const allowed = (asked.headers.get('access-control-allow-headers') ?? '').toLowerCase().split(', ')
      const needed = [
        ...'authorization content-type if-match if-none-match idempotency-key'.split(' '),
        ...'time-zone last-event-id prefer background'.split(' '),
      ]
      const strays = needed.filter((name) => !allowed.includes(name))
      assert.deepEqual(strays, [])
      const admin = await service.bearer('admin')
      const answer = await admin.post('/v1/orders', { customer: 'Acme', total: 1 }, { origin })
      assert.equal(answer.status, 201)
      assert.equal(answer.headers.get('access-control-allow-origin'), origin)
      const exposed = answer.headers.get('access-control-expose-headers')?.split(', ') ?? []
      for (const name of ['Content-Disposition', 'ETag', 'Preference-Applied', 'WWW-Authenticate']) {
        assert.ok(exposed.includes(name), name)
      }
    }
  })

  it('from a listed origin can read refusals too', async () => {
    const answer = await service.client().get('/v1/orders', { origin: listed })
    assert.equal(answer.status, 401)
    assert.equal(answer.headers.get('access-control-allow-origin'), listed)
  })

  it('never carry cookies', async () => {
    const session = await service.session('admin')
    for (const answer of [
      await session.get('/v1/orders', { origin: listed }),
      await session.send('OPTIONS', '/v1/orders', undefined, { origin: listed, ...preflight }),
    ]) {
      assert.equal(answer.headers.get('access-control-allow-credentials'), null)
    }
    const write = await session.post('/v1/orders', { customer: 'Acme', total: 1 }, { origin: listed })
    assert.equal(write.status, 403)
    assert.equal(write.body.code, 'cross-site-request')
  })

  it('from any other origin are not allowed', async () => {
    const others = [
      'https://evil.example',
      'null',
      `${listed}.evil.example`,
      'http://app.example.net',
      listed.toUpperCase(),
    ]
    for (const origin of others) {
      const asked = await service.client().send('OPTIONS', '/v1/orders', undefined, { origin, ...preflight })
      const answer = await service.client().get('/v1/orders', { origin })
      assert.deepEqual([...corsHeaders(asked.headers), ...corsHeaders(answer.headers)], [], origin)
    }
  })

  it('get answers that vary by Origin, with and without one', async () => {
    for (const headers of [{}, { origin: listed }, { origin: 'https://evil.example' }]) {
      const answer = await service.client().get('/v1/orders', headers)
      const vary = (answer.headers.get('vary') ?? '').split(', ').sort()
      assert.deepEqual(vary, ['Accept', 'Authorization', 'Cookie', 'Origin'])
    }
  })

  it('count toward the limits: a preflight counts as a request without a credential', async () => {
    const limited = await startService({
      inside: true,
      env: { CORS_ORIGINS: listed, RATE_LIMIT_FACTOR: '1', RATE_LIMIT_ANONYMOUS: '2' },
    })
    const statuses: number[] = []
    for (const _ of [1, 2, 3]) {
      const headers = { origin: listed, ...preflight }
      statuses.push((await limited.client().send('OPTIONS', '/v1/orders', undefined, headers)).status)
    }
    await limited.close()
    assert.deepEqual(statuses, [204, 204, 429])
  })

  it('are not allowed if no origin is listed, except for the public keys', async () => {
    const asked = await closed
      .client()
      .send('OPTIONS', '/v1/orders', undefined, { origin: listed, ...preflight })
    const answer = await closed.client().get('/v1/orders', { origin: listed })
    const keys = await closed.client().get('/.well-known/jwks.json', { origin: listed })
    assert.deepEqual([...corsHeaders(asked.headers), ...corsHeaders(answer.headers)], [])
    assert.equal(keys.headers.get('access-control-allow-origin'), '*')
    const open = await service.client().get('/.well-known/jwks.json', { origin: listed })
    assert.equal(open.headers.get('access-control-allow-origin'), '*')
  })
})

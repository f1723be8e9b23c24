import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { newUser, type TestUser } from '../support/accounts.ts'
import type { Client } from '../support/client.ts'
import { type Route, tableOfRoutes } from '../support/routes.ts'
import { testService } from '../support/service.ts'

describe('every limited route', () => {
  const service = testService({
    env: {
      RATE_LIMIT_FACTOR: '1',
      RATE_LIMIT_ANONYMOUS: '2',
      RATE_LIMIT_EXCHANGE: '2',
      RATE_LIMIT_REFRESH: '2',
      RATE_LIMIT_REFRESH_ADDRESS: '2',
      RATE_LIMIT_READ: '2',
      RATE_LIMIT_WRITE: '2',
      TRUSTED_PROXIES: '127.0.0.1',
    },
  })
  let routes: Route[]
  before(async () => {
    routes = await tableOfRoutes()
  })

  let addresses = 0
  const newAddress = () => {
    addresses += 1
    return { 'x-forwarded-for': `10.1.${addresses >> 8}.${addresses & 255}` }
  }

  /** Sends it three times: the first two are counted, the third is refused. */
  async function assertLimited(
    route: Route,
    caller: Client,
    body: unknown,
    policy = '[A-Za-z]+',
  ): Promise<void> {
    const label = `${route.method} ${route.url}`
    for (const left of [1, 0]) {
      const answer = await caller.send(route.method, route.path, body)
      assert.notEqual(answer.status, 429, label)
      assert.match(answer.headers.get('ratelimit-policy') ?? '', new RegExp(`^"${policy}";q=2;w=60$`), label)
      assert.match(answer.headers.get('ratelimit') ?? '', new RegExp(`^"[A-Za-z]+";r=${left};t=\\d+$`), label)
    }
    const refused = await caller.send(route.method, route.path, body)
    assert.equal(refused.status, 429, label)
    const code = route.method === 'HEAD' ? undefined : 'rate-limited'
    assert.equal(refused.body?.code, code, label)
    assert.match(refused.headers.get('ratelimit') ?? '', /^"[A-Za-z]+";r=0;t=\d+$/, label)
    const wait = Number(refused.headers.get('retry-after'))
    assert.ok(wait >= 1 && wait <= 60, `${label}: ${wait}`)
  }

  it('answers 429 with Retry-After to a caller without a credential, by address', async () => {
    // Answers that every cache may keep state no limits. test/http/rate-limit.test.ts tests those.
    const limited = routes.filter(({ limit, isForAll }) => limit !== 'exempt' && !isForAll)
    for (const route of limited) {
      const caller = service.client()
      Object.assign(caller.headers, newAddress())
      await assertLimited(route, caller, route.hasBody ? {} : undefined)
    }
  })

  it('answers 429 with Retry-After to a caller with a credential, whatever the address', async () => {
    for (const route of routes.filter(({ access }) => access !== 'public')) {
      const caller = await callerOf(route, await newUser(service, { roles: ['Admin'] }))
      const byPolicy = {
        caller: route.method === 'GET' || route.method === 'HEAD' ? 'read' : 'write',
        sessionRefresh: 'refresh',
      }
      const policy = byPolicy[(route.limit ?? 'caller') as keyof typeof byPolicy]
      await assertLimited(route, caller, route.hasBody ? {} : undefined, policy)
    }
  })

  /** Uses the cookie if the route takes nothing else. The missing antiforgery token is refused later. */
  async function callerOf(route: Route, { credentials }: TestUser): Promise<Client> {
    const caller = service.client()
    const path = route.access === 'session' ? '/v1/auth/session' : '/v1/auth/token'
    const { body } = await caller.post(path, credentials, newAddress())
    if (body.accessToken !== undefined) caller.withBearer(body.accessToken)
    Object.assign(caller.headers, newAddress())
    return caller
  }

  it('does not limit the probes', async () => {
    const probes = routes.filter(({ limit }) => limit === 'exempt')
    assert.deepEqual(new Set(probes.map(({ url }) => url)), new Set(['/health', '/health/ready']))
    for (const { method, path } of probes) {
      for (let count = 0; count < 10; count += 1) {
        const { status, headers } = await service.client().send(method, path)
        assert.equal(status, 200)
        assert.equal(headers.get('ratelimit'), null)
      }
    }
  })
})

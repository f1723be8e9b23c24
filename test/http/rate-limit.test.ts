import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { FastifyReply } from 'fastify'
import { readConfig } from '../../server/config.ts'
import { limitKey, RequestLimits } from '../../server/http/rate-limit.ts'
import { Problem } from '../../server/problems/problems.ts'
import { newUser, signIn, tokenPair, unknownEmail } from '../support/accounts.ts'
import type { Answer, Client } from '../support/client.ts'
import { startService, testService } from '../support/service.ts'

const smallLimits = {
  RATE_LIMIT_FACTOR: '1',
  RATE_LIMIT_ANONYMOUS: '3',
  RATE_LIMIT_STATIC: '4',
  RATE_LIMIT_EXCHANGE: '5',
  RATE_LIMIT_REFRESH: '2',
  RATE_LIMIT_REFRESH_ADDRESS: '6',
  RATE_LIMIT_READ: '4',
  RATE_LIMIT_WRITE: '2',
}
const nobody = { email: unknownEmail(), password: 'wrong' }

describe('the request limits', () => {
  /** Most tests have a factor of 0. */
  const unlimited = testService()
  const service = testService({ env: { ...smallLimits, TRUSTED_PROXIES: '127.0.0.1' } })

  let addresses = 0
  const newAddress = () => `10.9.${++addresses}.1`

  function from(address: string, caller: Client = service.client()): Client {
    caller.headers['x-forwarded-for'] = address
    return caller
  }

  /** The statuses of the answers. Checks that each 429 is complete. */
  function statusesOf(policy: string, quota: number, answers: Answer[]): number[] {
    for (const { headers } of answers) {
      assert.equal(headers.get('ratelimit-policy'), `"${policy}";q=${quota};w=60`)
      assert.match(headers.get('ratelimit') ?? '', new RegExp(`^"${policy}";r=\\d+;t=\\d+$`))
    }
    return answers.map(({ status }) => status)
  }

  /** Sends one after the other. */
  async function inTurn(sends: (() => Promise<Answer>)[]): Promise<Answer[]> {
    const answers: Answer[] = []
    for (const send of sends) answers.push(await send())
    return answers
  }

  const repeat = (times: number, send: () => Promise<Answer>) =>
    inTurn(Array.from({ length: times }, () => send))

  it('count requests for answers that every cache may keep, without stating the limit in them', async () => {
    const caller = from(newAddress())
    const answers = await repeat(4, () => caller.get('/.well-known/jwks.json'))
    const told = answers.map(({ status, headers }) => `${status} ${headers.has('ratelimit')}`)
    assert.deepEqual(told, ['200 false', '200 false', '200 false', '429 true'])
  })

  it('count every request without a valid credential by address, whether unknown, refused or public', async () => {
    const kinds: ((caller: Client) => Promise<Answer>)[] = [
      (caller) => caller.get('/v1/none'),
      (caller) => caller.get('/v1/orders'),
      (caller) => caller.get('/v1/orders', { authorization: 'Bearer x' }),
      (caller) => caller.send('DELETE', '/v1/orders'),
      (caller) => caller.send('OPTIONS', '/v1/orders'),
      (caller) => caller.get('/v1/auth/csrf'),
      (caller) => caller.get('/v1/auth/me', { cookie: `__Host-Http-session=${'N'.repeat(43)}` }),
      (caller) => caller.get('/v1/orders', { 'x-long': 'a'.repeat(17_000) }),
      (caller) => caller.get(`/v1/${'a'.repeat(9_000)}`),
      (caller) => caller.post('/orders'),
    ]
    for (const [index, kind] of kinds.entries()) {
      const caller = from(newAddress())
      const answers = await repeat(4, () => kind(caller))
      const statuses = statusesOf('anonymous', 3, answers)
      assert.deepEqual(
        statuses.map((status) => status === 429),
        [false, false, false, true],
        String(kind),
      )
      const other = await (kinds[(index + 1) % kinds.length] ?? kind)(caller)
      assert.equal(other.status, 429, String(kind))
    }
  })

  it('count a made-up refresh token as a request without a valid credential', async () => {
    const caller = from(newAddress())
    const answers = await repeat(4, () => caller.post('/v1/auth/token/refresh', { refreshToken: 'x' }))
    assert.deepEqual(statusesOf('anonymous', 3, answers), [401, 401, 401, 429])
  })

  it('count the files of the web app by address, apart from the rest', async () => {
    const address = newAddress()
    const page = statusesOf('static', 4, await repeat(5, () => from(address).get('/orders/7')))
    assert.deepEqual(page, [200, 200, 200, 200, 429])
    assert.equal((await from(address).get('/v1/none')).status, 404)
    assert.equal((await from(newAddress()).get('/orders/7')).status, 200)
  })

  it('count credential exchanges of all kinds together by address, including successful ones', async () => {
    const { credentials } = await newUser(service)
    const caller = from(newAddress())
    const answers = await inTurn([
      () => caller.post('/v1/auth/session', credentials),
      () => caller.post('/v1/auth/token', credentials),
      () => caller.post('/v1/auth/clients/token', { clientId: 'x', clientSecret: 'x' }),
      () => caller.post('/v1/auth/links/use', { token: 'x', newPassword: 'seven grey herons by the weir' }),
      () => caller.post('/v1/auth/session', {}),
      () => caller.post('/v1/auth/token', credentials),
    ])
    assert.deepEqual(statusesOf('exchange', 5, answers), [200, 200, 401, 404, 400, 429])
  })

  it('count refreshes by token family, and by address', async () => {
    const caller = from(newAddress())
    const families = await Promise.all([1, 2, 3, 4].map(async () => tokenPairFrom(newAddress())))
    async function refresh(family: { refreshToken: string }): Promise<Answer> {
      const answer = await caller.post('/v1/auth/token/refresh', family)
      family.refreshToken = answer.body.refreshToken ?? family.refreshToken
      return answer
    }
    const statuses: number[] = []
    for (const family of families.slice(0, 2)) {
      for (const _ of [1, 2, 3]) statuses.push((await refresh(family)).status)
    }
    assert.deepEqual(statuses, [200, 200, 429, 200, 200, 429])
    const [, , third] = families
    const byAddress = await caller.post('/v1/auth/token/refresh', third)
    assert.equal(byAddress.status, 429)
    assert.match(byAddress.headers.get('ratelimit-policy') ?? '', /^"refreshAddress";q=6/)
  })

  async function tokenPairFrom(address: string): Promise<{ refreshToken: string }> {
    const { credentials } = await newUser(service)
    return (await from(address).post('/v1/auth/token', credentials)).body
  }

  it('count refreshes of a session by session, whatever the address', async () => {
    const { credentials } = await newUser(service)
    const browser = from(newAddress())
    await browser.post('/v1/auth/session', credentials)
    await browser.fetchAntiforgeryToken()
    const answers = await repeat(3, () => from(newAddress(), browser).post('/v1/auth/session/refresh'))
    assert.deepEqual(statusesOf('refresh', 2, answers), [200, 200, 429])
  })

  it('count reads and writes of a caller separately, but cookie and bearer together', async () => {
    const { credentials } = await newUser(service)
    const browser = from(newAddress())
    await browser.post('/v1/auth/session', credentials)
    const { body } = await from(newAddress()).post('/v1/auth/token', credentials)
    const bearer = service.client().withBearer(body.accessToken)
    const anywhere = (caller: Client) => from(newAddress(), caller)
    const reads = await inTurn([
      () => anywhere(browser).get('/v1/auth/me'),
      () => anywhere(bearer).get('/v1/orders'),
      () => anywhere(browser).send('HEAD', '/v1/orders'),
      () => anywhere(bearer).get('/v1/orders/none'),
      () => anywhere(bearer).get('/v1/auth/me'),
    ])
    assert.deepEqual(statusesOf('read', 4, reads), [200, 200, 200, 404, 429])
    assert.equal((await anywhere(browser).get('/v1/orders')).status, 429)
    const writes = await inTurn([
      () => anywhere(browser).post('/v1/orders', {}),
      () => anywhere(bearer).post('/v1/orders', { customer: 'Acme', total: 1 }),
      () => anywhere(bearer).post('/v1/orders', { customer: 'Acme', total: 1 }),
    ])
    assert.deepEqual(statusesOf('write', 2, writes), [403, 201, 429])
  })

  it('count addresses of one IPv6 /64 as one, and an IPv4 address in any spelling', async () => {
    const exhaust = (address: string) => repeat(3, () => from(address).get('/v1/none'))
    await exhaust('2001:db8:1:2::1')
    assert.equal((await from('2001:db8:1:2:ffff:ffff:ffff:ffff').get('/v1/none')).status, 429)
    assert.equal((await from('2001:0DB8:0001:0002::7').get('/v1/none')).status, 429)
    assert.equal((await from('2001:db8:1:3::1').get('/v1/none')).status, 404)
    await exhaust('203.0.113.9')
    assert.equal((await from('::ffff:203.0.113.9').get('/v1/none')).status, 429)
    assert.equal((await from('203.0.113.10').get('/v1/none')).status, 404)
  })

  it('delay answers to a caller that keeps sending, and to no one else', async () => {
    const stubborn = from(newAddress())
    await Promise.all(Array.from({ length: 103 }, () => stubborn.get('/v1/none')))
    const order: string[] = []
    const late = stubborn.get('/v1/none').then(({ status }) => order.push(`${status} late`))
    for (let turn = 0; turn < 2; turn += 1) {
      const { status } = await from(newAddress()).get('/v1/none')
      order.push(`${status}`)
    }
    await late
    assert.deepEqual(order, ['404', '404', '429 late'])
  })

  it('trust the nearest hop that is not a configured proxy, not what a client added before it', async () => {
    const address = newAddress()
    const answers = [1, 2, 3, 4].map((n) => from(`192.0.2.${n}, ${address}`).get('/v1/none'))
    const statuses = (await Promise.all(answers)).map(({ status }) => status)
    assert.deepEqual(statuses.sort(), [404, 404, 404, 429])
  })

  it('use the peer’s address if no proxy is configured, whatever X-Forwarded-For says', async (t) => {
    const direct = await startService({ inside: true, env: smallLimits, until: t })
    const answers = [1, 2, 3, 4].map((n) =>
      direct.client().get('/v1/none', { 'x-forwarded-for': `10.0.0.${n}`, forwarded: `for=10.0.0.${n}` }),
    )
    const statuses = (await Promise.all(answers)).map(({ status }) => status)
    assert.deepEqual(statuses.sort(), [404, 404, 404, 429])
  })

  it('are those of section 8 by default, and ten times as high in development', async (t) => {
    const production = await startService({ inside: true, env: { RATE_LIMIT_FACTOR: '' } })
    const development = await startService({
      inside: true,
      development: true,
      env: { RATE_LIMIT_FACTOR: '' },
    })
    for (const [instance, factor] of [
      [production, 1],
      [development, 10],
    ] as const) {
      t.after(() => instance.close())
      const user = await newUser(instance)
      const browser = await signIn(instance, user)
      const { refreshToken } = await tokenPair(instance, user)
      const anybody = instance.client()
      const policies = await Promise.all([
        anybody.get('/v1/none'),
        anybody.get('/'),
        anybody.post('/v1/auth/clients/token', {}),
        anybody.post('/v1/auth/token/refresh', { refreshToken }),
        anybody.post('/v1/auth/token/refresh', {}),
        browser.get('/v1/auth/me'),
        browser.post('/v1/orders', {}),
      ])
      const expected = {
        anonymous: 300,
        static: 3000,
        exchange: 60,
        refresh: 60,
        refreshAddress: 600,
        read: 1200,
        write: 1200,
      }
      assert.deepEqual(
        policies.map(({ headers }) => headers.get('ratelimit-policy')),
        Object.entries(expected).map(([name, quota]) => `"${name}";q=${quota * factor};w=60`),
      )
    }
  })

  it('are off with a factor of 0, while the waits after failed sign-ins stay', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => unlimited.client().get('/v1/none')))
    const signIns = await repeat(6, () => unlimited.client().post('/v1/auth/token', nobody))
    const statuses = signIns.map(({ status }) => status)
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([404]))
    assert.equal(answers[0]?.headers.get('ratelimit'), null)
    assert.deepEqual(statuses, [401, 401, 401, 401, 401, 429])
  })
})

it('limitKey is the address for IPv4, the /64 network for IPv6, in one spelling', () => {
  const keys = {
    '203.0.113.9': '203.0.113.9',
    '::ffff:203.0.113.9': '203.0.113.9',
    '::FFFF:203.0.113.9': '203.0.113.9',
    '::ffff:cbff:fe81': '203.255.254.129',
    '2001:db8:1:2:3:4:5:6': '2001:db8:1:2::/64',
    '2001:0db8:0001:0002::': '2001:db8:1:2::/64',
    '2001:db8::1': '2001:db8:0:0::/64',
    '::1': '0:0:0:0::/64',
    '::': '0:0:0:0::/64',
    'fe80::1%eth0': 'fe80:0:0:0::/64',
    '64:ff9b::203.0.113.9': '64:ff9b:0:0::/64',
  }
  for (const [address, key] of Object.entries(keys)) assert.equal(limitKey(address), key, address)
})

describe('a window of a limit', () => {
  const limitsAt = (now: { milliseconds: number }) =>
    new RequestLimits(
      { ...readConfig({}, { development: true }).rateLimits, factor: 1, read: 2 },
      () => now.milliseconds,
    )
  /** The rest of the limit after the request, or the seconds to wait. */
  function consume(limits: RequestLimits, key: string): string {
    const headers = new Map<string, string>()
    const reply = { header: (name: string, value: string) => headers.set(name, value) }
    try {
      limits.consume('read', key, reply as unknown as FastifyReply)
    } catch (error) {
      assert.ok(error instanceof Problem)
      return `${error.code} ${headers.get('ratelimit')} ${error.headers['retry-after']}`
    }
    return `${headers.get('ratelimit')}`
  }

  it('begins with the first request of a key and ends a minute later; then a new one begins', () => {
    const now = { milliseconds: 5_000_000.25 }
    const limits = limitsAt(now)
    assert.equal(consume(limits, 'a'), '"read";r=1;t=60')
    now.milliseconds += 20_000
    assert.equal(consume(limits, 'b'), '"read";r=1;t=60')
    assert.equal(consume(limits, 'a'), '"read";r=0;t=40')
    now.milliseconds += 39_999.5
    assert.equal(consume(limits, 'a'), 'rate-limited "read";r=0;t=1 1')
    now.milliseconds += 0.5
    assert.equal(consume(limits, 'a'), '"read";r=1;t=60')
    assert.equal(consume(limits, 'b'), '"read";r=0;t=20')
  })

  it('lasts a whole minute for each key, however many begin and end meanwhile', () => {
    const now = { milliseconds: 0 }
    const limits = limitsAt(now)
    for (let second = 0; second < 200; second += 1) {
      assert.equal(consume(limits, `${second}`), '"read";r=1;t=60')
      if (second >= 59) assert.equal(consume(limits, `${second - 59}`), '"read";r=0;t=1')
      now.milliseconds += 1_000
    }
  })

  it('is kept for at least the last hundred thousand keys, and not for many more', () => {
    const limits = limitsAt({ milliseconds: 0 })
    const key = (number: number) => consume(limits, `key ${number}`)
    for (let number = 0; number < 250_000; number += 1) key(number)
    assert.equal(key(150_000), '"read";r=0;t=60')
    assert.equal(key(249_999), '"read";r=0;t=60')
    assert.equal(key(49_999), '"read";r=1;t=60')
  })

  it('does not stay in memory long once it is over', () => {
    const now = { milliseconds: 0 }
    const limits = limitsAt(now)
    const before = heapAfterCollection()
    for (let minute = 0; minute < 12; minute += 1) {
      for (let key = 0; key < 15_000; key += 1) consume(limits, `minute ${minute}, key ${key}`)
      now.milliseconds += 60_000
    }
    assert.ok(heapAfterCollection() - before < 6e6)
    assert.equal(consume(limits, 'one more'), '"read";r=1;t=60')
  })

  function heapAfterCollection(): number {
    setFlagsFromString('--expose-gc')
    runInNewContext('gc')()
    return process.memoryUsage().heapUsed
  }
})

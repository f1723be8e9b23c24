import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { newClient, newUser } from '../support/accounts.ts'
import { exchange, request } from '../support/raw.ts'
import { setUp, startService, testService } from '../support/service.ts'
import { until } from '../support/stream.ts'

const address = '127.0.0.1'

describe('security events in the log', () => {
  const service = testService()
  const user = setUp(() => newUser(service))

  let requests = 0
  const ofEveryLine = ['requestId', 'time', 'milliseconds', 'pid', 'hostname']
  /** The log lines of one request, without the members that every line has. */
  async function linesOf(send: (headers: Record<string, string>) => Promise<unknown>) {
    requests += 1
    const requestId = `security-event-${requests}`
    await send({ 'x-request-id': requestId })
    return (await service.log())
      .filter((line) => line.requestId === requestId)
      .map((line): Record<string, unknown> => {
        const own = Object.entries(line).filter(([name]) => !ofEveryLine.includes(name))
        return Object.fromEntries(own)
      })
  }

  async function eventOf(send: (headers: Record<string, string>) => Promise<unknown>) {
    const events = (await linesOf(send)).filter(({ event }) => event !== undefined)
    assert.equal(events.length, 1)
    return events[0]
  }

  it('record a sign-in: who, by which flow, from where', async () => {
    const event = { level: 30, event: 'signed-in', principalId: user.id, address, msg: 'signed in' }
    for (const [path, flow] of [
      ['/v1/auth/session', 'session'],
      ['/v1/auth/token', 'token'],
    ] as const) {
      const logged = await eventOf((headers) => service.client().post(path, user.credentials, headers))
      assert.deepEqual(logged, { ...event, flow })
    }
    const client = await newClient(service)
    const logged = await eventOf((headers) =>
      service.client().post('/v1/auth/clients/token', client.credentials, headers),
    )
    assert.deepEqual(logged, { ...event, principalId: client.id, flow: 'client' })
  })

  it('record a refresh: whose tokens, which family, from where', async () => {
    const signedIn = await service.client().post('/v1/auth/token', user.credentials)
    const { refreshToken } = signedIn.body
    const event = {
      level: 30,
      event: 'token-refreshed',
      principalId: user.id,
      address,
      msg: 'token refreshed',
    }
    let next = refreshToken
    const first = await eventOf(async (headers) => {
      const answer = await service.client().post('/v1/auth/token/refresh', { refreshToken }, headers)
      next = answer.body.refreshToken
    })
    const familyId = first?.familyId
    assert.match(String(familyId), /^[\w-]{20,}$/)
    assert.deepEqual(first, { ...event, familyId })
    const again = (headers: Record<string, string>) =>
      service.client().post('/v1/auth/token/refresh', { refreshToken: next }, headers)
    assert.deepEqual(await eventOf(again), { ...event, familyId })
    assert.deepEqual(await eventOf(again), {
      level: 40,
      event: 'refresh-token-reused',
      familyId,
      principalId: user.id,
      address,
      msg: 'a used refresh token came back; its family has been ended',
    })
  })

  it('record a failed sign-in: the account if there is one, from where, and nothing that was typed', async () => {
    const password = 'typed-password'
    const event = { level: 30, event: 'login-failed', address, msg: 'login failed' }
    for (const path of ['/v1/auth/session', '/v1/auth/token']) {
      const known = { email: user.email, password }
      assert.deepEqual(await eventOf((headers) => service.client().post(path, known, headers)), {
        ...event,
        principalId: user.id,
      })
      const unknown = { email: 'typed-password@example.com', password }
      assert.deepEqual(await eventOf((headers) => service.client().post(path, unknown, headers)), event)
    }
    assert.ok(!JSON.stringify(await service.log()).includes(password))
  })

  it('record a refused client: the service if there is one, from where, and nothing that was sent', async () => {
    const client = await newClient(service)
    const event = { level: 30, event: 'client-refused', address, msg: 'client refused' }
    const exchange = (clientId: string) =>
      eventOf((headers) =>
        service.client().post('/v1/auth/clients/token', { clientId, clientSecret: 'sent-secret' }, headers),
      )
    assert.deepEqual(await exchange(client.clientId), { ...event, principalId: client.id })
    assert.deepEqual(await exchange('sent-secret'), event)
    assert.ok(!JSON.stringify(await service.log()).includes('sent-secret'))
  })

  it('record a refused request: who, which problem, from where, on its one line', async () => {
    const viewer = await service.bearer('viewer')
    const admin = await service.session('admin')
    const order = '/v1/orders/019a9d2e-5b7c-7f3a-9c41-6d2f8e0b1a57'
    const refusals = [
      [viewer, 'PATCH', `${order}/approve`, {}, 'permission-denied'],
      [admin, 'PATCH', `${order}/approve`, { 'x-xsrf-token': 'forged' }, 'csrf-token-invalid'],
      [admin, 'PATCH', `${order}/approve`, { 'sec-fetch-site': 'cross-site' }, 'cross-site-request'],
      [service.client().withBearer('forged'), 'GET', '/v1/orders', {}, 'authentication-required'],
      [viewer, 'GET', '/v1/orders?pageSize=none', {}, 'validation-failed'],
      [viewer, 'GET', '/v1/none', {}, 'route-not-found'],
    ] as const
    for (const [caller, method, path, headers, problem] of refusals) {
      const lines = await linesOf((own) => caller.send(method, path, undefined, { ...own, ...headers }))
      assert.equal(lines.length, 1)
      assert.equal(lines[0]?.problem, problem)
      assert.equal(lines[0]?.address, address)
    }
    const [line] = await linesOf((own) => viewer.patch(`${order}/approve`, undefined, own))
    assert.equal(line?.caller, 'viewer')
  })

  it('record neither problem nor address for a request that succeeds', async () => {
    const viewer = await service.bearer('viewer')
    const [line] = await linesOf((headers) => viewer.get('/v1/orders', headers))
    assert.deepEqual(Object.keys(line ?? {}), 'level method path route status caller via msg'.split(' '))
  })

  it('record bytes that are not a request: why and from where, none of the bytes, and at most a hundred lines a minute', async () => {
    const service = await startService({ inside: true })
    const unreadable = async () => (await service.log()).filter((line) => line.event === 'request-unreadable')
    const line = (values: object) => ({ level: 30, event: 'request-unreadable', address, ...values })
    const about = (logged: Record<string, unknown> | undefined) => {
      const { time, pid, hostname, msg, ...rest } = logged ?? {}
      return rest
    }
    const bytes = 'NONSENSE of-a-stranger\r\n\r\n'
    const answer = await exchange(service.baseUrl, bytes)
    const long = `X-Long: ${'a-stranger '.repeat(4_000)}`
    const second = await exchange(service.baseUrl, request('GET', '/health', [long]))
    assert.equal(second.status, 431)
    const [first, other] = [answer, second].map(({ headers }) => headers.get('x-request-id'))
    assert.deepEqual((await unreadable()).map(about), [
      line({ requestId: first, problem: 'bad-request', reason: 'HPE_INVALID_METHOD' }),
      line({ requestId: other, problem: 'headers-too-large', reason: 'HPE_HEADER_OVERFLOW' }),
    ])

    await exchange(service.baseUrl, request('GET', '/health', ['Expect: a-stranger']))
    await until(async () => (await unreadable()).at(-1)?.problem === 'expectation-failed')
    for (let sent = 0; sent < 150; sent += 1) await exchange(service.baseUrl, bytes)
    await service.close()
    const sums = (await service.log()).filter(({ event }) => event === 'requests-limited')
    assert.equal((await unreadable()).length, 100)
    assert.deepEqual(
      sums.map(({ leftOut }) => leftOut),
      [53],
    )
    assert.doesNotMatch(JSON.stringify(await service.log()), /NONSENSE|stranger/)
  })
})

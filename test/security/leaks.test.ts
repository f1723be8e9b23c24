import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import {
  newClient,
  newUser,
  serviceToken,
  setEnabled,
  signIn,
  tokenPair,
  unknownEmail,
} from '../support/accounts.ts'
import { assertDiscreet, noteAnswer } from '../support/discretion.ts'
import { exchange, request } from '../support/raw.ts'
import { changingRoutes } from '../support/routes.ts'
import { type InsideService, passwordOf, startService, testService } from '../support/service.ts'

describe('the watch that every test keeps for leaks', () => {
  const password = 'lanterns over the quiet weir'

  /** The service has handled one of each. */
  let secrets: Record<string, string>
  let service: InsideService
  before(async () => {
    service = await startService({ inside: true })
    const user = await newUser(service, { password })
    const client = await newClient(service)
    const { accessToken, refreshToken } = await tokenPair(service, user)
    const browser = await signIn(service, user)
    const stranger = service.client()
    await stranger.get('/v1/auth/csrf')
    const wrong = { ...user.credentials, password: 'a guess that is nearly right' }
    await stranger.post('/v1/auth/token', wrong)
    secrets = {
      'a password': password,
      'a wrong password': wrong.password,
      'a password of the demo accounts': passwordOf('admin').password,
      'an access token': accessToken,
      'an access token of a service': await serviceToken(service, client),
      'a refresh token': refreshToken,
      'a client secret': client.clientSecret,
      'a session cookie': browser.cookies.get('__Host-Http-session') ?? '',
      'an antiforgery cookie': stranger.cookies.get('__Host-Http-csrf') ?? '',
      'an antiforgery token': browser.headers['x-xsrf-token'] ?? '',
      'the antiforgery key': service.antiforgeryKey.toString('base64'),
      'half of a refresh token': refreshToken.slice(0, 22),
    }
  })

  it('covers the lines of the service itself: closing it fails if one holds a secret', async () => {
    service.app.log.info({ cookie: secrets['a session cookie'] }, 'a seeded leak')
    await assert.rejects(service.close(), /the log holds a secret.*a seeded leak/)
  })

  it('covers each secret in any line of the log, whole or cut, as text or as a member', () => {
    for (const [what, secret] of Object.entries(secrets)) {
      for (const line of [{ msg: `it was ${secret}.` }, { deep: [{ member: secret }] }]) {
        assert.throws(() => assertDiscreet(JSON.stringify(line)), /the log holds a secret/, what)
      }
    }
  })

  it('covers an answer that reveals internals', () => {
    const details = [
      'Error: no\n    at handler (file)',
      'in /srv/app/node_modules/x',
      'at main.ts:12',
      'SQLITE_BUSY: database is locked',
      'syntax error at or near "x"',
      'select id from users where x',
      '$argon2id$v=19$m=19456',
      `cannot open ${process.cwd()}/x`,
      'PostgreSQL 18.1 says no',
      'powered by fastify/5.12.8',
    ]
    for (const detail of details) {
      noteAnswer(500, {}, JSON.stringify({ detail }))
      assert.throws(() => assertDiscreet(''), /an answer 500 shows/, detail)
    }
    for (const name of ['server', 'x-powered-by']) {
      noteAnswer(200, { [name]: 'x' }, '')
      assert.throws(() => assertDiscreet(''), /an answer 200 shows/, name)
    }
  })

  it('allows words that only resemble secrets', () => {
    noteAnswer(404, { 'x-request-id': 'x' }, JSON.stringify({ detail: 'Select an order from the list.' }))
    assertDiscreet(JSON.stringify({ path: '/v1/orders', requestId: 'A'.repeat(15), caller: 'viewer' }))
  })
})

it('a fault of the service shows in the log and not to the caller, whatever was thrown and wherever', async (t) => {
  const thrown = Object.assign(new Error(`SQLITE_ERROR: no such table in ${process.cwd()}`), {
    code: 'SQLITE_ERROR',
    statusCode: 500,
    detail: 'select password_hash from users',
  })
  const service = await changingRoutes(
    (route) => {
      if (!route.url.startsWith('/v1/')) return
      route.handler = () => {
        throw thrown
      }
    },
    () => startService(),
  )
  t.after(() => service.close())
  const viewer = await service.client().get('/v1/auth/csrf')
  const token = await service.client().post('/v1/auth/token', { email: 'a@b', password: 'x' })
  for (const answer of [viewer, token]) {
    assert.equal(answer.status, 500)
    assert.equal(answer.body.code, 'internal-error')
    assert.deepEqual(
      Object.keys(answer.body).sort(),
      'code detail instance requestId status title type'.split(' '),
    )
    assert.equal(/SQLITE|table|password_hash/.test(answer.text), false)
  }
  assert.match(JSON.stringify(await service.log()), /no such table/)
})

describe('refusals of credentials', () => {
  const service = testService()

  /** The answer as sent, without the parts that differ in any two answers. */
  async function answerTo(method: string, path: string, line: string, body = ''): Promise<string> {
    const bytes = request(method, path, [line, 'X-Request-Id: the-same-for-all'], body)
    const { status, headers, text } = await exchange(service.baseUrl, bytes)
    headers.delete('date')
    return [status, ...[...headers].map((field) => field.join(': ')), text].join('\n')
  }
  function refused(path: string, body: object): Promise<string> {
    return answerTo('POST', path, 'Content-Type: application/json', JSON.stringify(body))
  }

  for (const path of ['/v1/auth/session', '/v1/auth/token']) {
    it(`are identical for every cause: POST ${path}`, async () => {
      const user = await newUser(service)
      const gone = await newUser(service)
      await setEnabled(service, gone, false)
      const client = await newClient(service)
      const password = 'not the password of anybody'
      const answers = await Promise.all([
        refused(path, { email: unknownEmail(), password }),
        refused(path, { email: user.email, password }),
        refused(path, { email: gone.email, password }),
        refused(path, gone.credentials),
        refused(path, { email: `${client.clientId}@`.concat('x'), password: client.clientSecret }),
      ])
      assert.match(answers[0] ?? '', /^401\n[\s\S]*"code":"invalid-credentials"/)
      assert.deepEqual(new Set(answers), new Set([answers[0]]))
    })
  }

  it('are identical for every cause: POST /v1/auth/clients/token', async () => {
    const path = '/v1/auth/clients/token'
    const client = await newClient(service)
    const disabled = await newClient(service)
    await setEnabled(service, disabled, false)
    const user = await newUser(service)
    const clientSecret = 'K'.repeat(43)
    const answers = [
      await refused(path, { clientId: 'nobody', clientSecret }),
      await refused(path, { clientId: client.clientId, clientSecret }),
      await refused(path, { clientId: String(client.id), clientSecret: client.clientSecret }),
      await refused(path, { clientId: '-;--', clientSecret: client.clientSecret }),
      await refused(path, { clientId: user.userName, clientSecret: user.password }),
      await refused(path, disabled.credentials),
      await refused(path, { clientId: client.clientId.toUpperCase(), clientSecret: client.clientSecret }),
    ]
    assert.match(answers[0] ?? '', /^401\n[\s\S]*"code":"invalid-client"/)
    assert.deepEqual(new Set(answers), new Set([answers[0]]))
  })

  it('are identical for every cause: POST /v1/auth/token/refresh', async () => {
    const path = '/v1/auth/token/refresh'
    const off = await newUser(service)
    const { refreshToken: revoked } = await tokenPair(service, off)
    await setEnabled(service, off, false)
    const { refreshToken: usedUp } = await tokenPair(service, await newUser(service))
    assert.match(await refused(path, { refreshToken: usedUp }), /^200\n/)
    const { refreshToken: expired } = await tokenPair(service, await newUser(service))
    const answers = [
      await refused(path, { refreshToken: usedUp }),
      await refused(path, { refreshToken: 'L'.repeat(112) }),
      await refused(path, { refreshToken: revoked }),
      await refused(path, { refreshToken: 'x' }),
    ]
    service.advance(14 * 24 * 3_600_000)
    answers.push(await refused(path, { refreshToken: expired }))
    assert.match(answers[0] ?? '', /^401\n[\s\S]*"code":"invalid-refresh-token"/)
    assert.deepEqual(new Set(answers), new Set([answers[0]]))
  })

  it('of bearers and cookies are identical for every cause', async () => {
    const { accessToken } = await tokenPair(service, await newUser(service))
    const ask = (line: string) => answerTo('GET', '/v1/auth/me', line)
    const bearer = (token: string) => ask(`Authorization: Bearer ${token}`)
    const bearers = [await bearer('x'), await bearer(`${accessToken}A`), await bearer('')]
    service.advance(16 * 60_000)
    bearers.push(await bearer(accessToken))
    assert.deepEqual(new Set(bearers), new Set([bearers[0]]))
    const ended = await signIn(service, await newUser(service))
    const id = ended.cookies.get('__Host-Http-session')
    await ended.post('/v1/auth/session/logout')
    const cookies = [
      `__Host-Http-session=${id}`,
      `__Host-Http-session=${'M'.repeat(43)}`,
      '__Host-Http-session=x',
      'a=b',
    ]
    const answers = await Promise.all(cookies.map((cookie) => ask(`Cookie: ${cookie}`)))
    assert.match(answers[0] ?? '', /^401\n/)
    assert.deepEqual(new Set(answers), new Set([answers[0]]))
  })
})

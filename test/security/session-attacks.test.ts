import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { newUser, signIn, type TestUser } from '../support/accounts.ts'
import { type Client, csrfCookie, sessionCookie, sessionOf } from '../support/client.ts'
import { assertProblem } from '../support/problem.ts'
import { exchange, request } from '../support/raw.ts'
import { setUp, testService } from '../support/service.ts'

const order = { customer: 'Acme', total: 1 }

describe('attacks on sessions', () => {
  const service = testService()
  const victim = setUp(() => newUser(service, { roles: ['Admin'] }))
  const attacker = setUp(() => newUser(service, { roles: ['Admin'] }))

  const holding = (id: string) => service.client().withSession(id)
  const who = async (browser: Client) => (await browser.get('/v1/auth/me')).body.userName
  const login = (browser: Client, user: TestUser) => browser.post('/v1/auth/session', user.credentials)

  describe('fixation', () => {
    it('the login does not take over an id that the attacker invented', async () => {
      const planted = 'F'.repeat(43)
      const browser = holding(planted)
      assert.equal((await login(browser, victim)).status, 200)
      assert.notEqual(sessionOf(browser), planted)
      assert.equal(await who(browser), victim.userName)
      assert.equal((await holding(planted).get('/v1/auth/me')).status, 401)
    })

    it('the id of a session of the attacker ends with the login, and never becomes the victim’s', async () => {
      const own = await signIn(service, attacker)
      const planted = sessionOf(own)
      const browser = holding(planted)
      assert.equal((await login(browser, victim)).status, 200)
      assert.notEqual(sessionOf(browser), planted)
      assert.equal(await who(browser), victim.userName)
      assert.equal((await holding(planted).get('/v1/auth/me')).status, 401)
      assert.equal((await own.post('/v1/auth/session/refresh')).status, 401)
    })

    it('an id that a refresh has replaced ends with a login that came with it, and so does its sibling', async () => {
      const own = await signIn(service, attacker)
      const planted = sessionOf(own)
      assert.equal((await own.post('/v1/auth/session/refresh')).status, 200)
      const browser = holding(planted)
      await login(browser, victim)
      const statuses = await Promise.all(
        [planted, sessionOf(own)].map(async (id) => (await holding(id).get('/v1/auth/me')).status),
      )
      assert.deepEqual(statuses, [401, 401])
      assert.equal(await who(browser), victim.userName)
    })

    it('a planted antiforgery cookie, whose token the attacker has, opens nothing from another site', async () => {
      const own = service.client()
      const { token } = (await own.get('/v1/auth/csrf')).body
      const browser = service.client()
      browser.cookies.set(csrfCookie, own.cookies.get(csrfCookie) ?? '')
      await login(browser, victim)
      for (const site of ['same-site', 'cross-site']) {
        const headers = { 'x-xsrf-token': token, 'sec-fetch-site': site }
        assertProblem(await browser.post('/v1/orders', order, headers), 403, 'cross-site-request')
      }
      const foreign = { 'x-xsrf-token': token, origin: 'https://sibling.example.com' }
      assertProblem(await browser.post('/v1/orders', order, foreign), 403, 'cross-site-request')
      // The attacker's browser still has the same cookie, which belongs to no session.
      assert.equal((await own.post('/v1/orders', order, { 'x-xsrf-token': token })).status, 401)
    })
  })

  describe('injected cookies', () => {
    const ask = (method: string, path: string, lines: string[], body = '') =>
      exchange(service.baseUrl, request(method, path, [...lines, 'Content-Type: application/json'], body))

    it('two session cookies count as none, even if one is good, in one line or two', async () => {
      const good = sessionOf(await signIn(service, victim))
      const other = sessionOf(await signIn(service, attacker))
      const one = `${sessionCookie}=${good}`
      assert.equal((await ask('GET', '/v1/auth/me', [`Cookie: ${one}`])).status, 200)
      for (const tossed of [other, good, 'x', '']) {
        const two = `${sessionCookie}=${tossed}`
        const ways = [
          [`Cookie: ${one}; ${two}`],
          [`Cookie: ${two}; ${one}`],
          [`Cookie: ${one}`, `Cookie: ${two}`],
        ]
        for (const lines of [...ways, [`Cookie: ${two}`, `Cookie: ${one}`], [`Cookie: ${one};${two}`]]) {
          assert.equal((await ask('GET', '/v1/auth/me', lines)).status, 401, lines.join())
        }
      }
    })

    it('a refresh or logout with two of them ends nothing and creates nothing', async () => {
      const browser = await signIn(service, victim)
      const cookie = `Cookie: ${sessionCookie}=${sessionOf(browser)}; ${sessionCookie}=${'H'.repeat(43)}`
      const token = `X-XSRF-TOKEN: ${browser.headers['x-xsrf-token']}`
      for (const path of ['/v1/auth/session/refresh', '/v1/auth/session/logout']) {
        const answer = await ask('POST', path, [cookie, token])
        assert.equal(answer.status, 401)
        assert.equal((answer.headers.get('set-cookie') ?? '').includes(`${sessionCookie}=H`), false)
      }
      assert.equal(await who(browser), victim.userName)
    })

    it('two antiforgery cookies count as none: the call sets a new one, and a login takes over neither', async () => {
      const own = service.client()
      const { token } = (await own.get('/v1/auth/csrf')).body
      const tossed = `${csrfCookie}=${own.cookies.get(csrfCookie)}`
      const cookie = `Cookie: ${tossed}; ${csrfCookie}=${'J'.repeat(43)}`
      const fresh = await ask('GET', '/v1/auth/csrf', [cookie])
      assert.match(fresh.headers.get('set-cookie') ?? '', new RegExp(`^${csrfCookie}=[\\w-]{43};`))
      const signedIn = await ask('POST', '/v1/auth/session', [cookie], JSON.stringify(victim.credentials))
      assert.equal(signedIn.status, 200)
      const id = /__Host-Http-session=([\w-]{43});/.exec(signedIn.headers.get('set-cookie') ?? '')?.[1] ?? ''
      const browser = holding(id)
      assert.equal(await who(browser), victim.userName)
      const forged = await browser.post('/v1/orders', order, { 'x-xsrf-token': token })
      assertProblem(forged, 403, 'csrf-token-invalid')
    })

    it('a name that is almost right is another cookie', async () => {
      const id = sessionOf(await signIn(service, victim))
      const names = [
        ...'session Http-session __Secure-session __Host-session __Http-session'.split(' '),
        ...'__host-http-session __HOST-HTTP-SESSION __Host-Http-Session "__Host-Http-session"'.split(' '),
        ...'__Host-Http-session%20 %5F_Host-Http-session __Host-Http-session[]'.split(' '),
        ...['__Host-Http-session ', '$Version=1,__Host-Http-session', 'x=__Host-Http-session'],
      ]
      for (const name of names) {
        const answer = await ask('GET', '/v1/auth/me', [`Cookie: ${name}=${id}`])
        assert.equal(answer.status, 401, name)
      }
      for (const value of [`"${id}"`, `${id}=`, `${id},x`, ` ${id}`, `%${id.slice(1)}`, `${id}\t x`]) {
        const answer = await ask('GET', '/v1/auth/me', [`Cookie: ${sessionCookie}=${value}`])
        assert.equal(answer.status, 401, value)
      }
    })

    it('many other cookies do not end the session', async () => {
      const id = sessionOf(await signIn(service, victim))
      const others = Array.from({ length: 700 }, (_, index) => `toss${index}=${index}`).join('; ')
      const answer = await ask('GET', '/v1/auth/me', [`Cookie: ${others}; ${sessionCookie}=${id}`])
      assert.equal(answer.status, 200)
    })
  })

  describe('replay', () => {
    /** Every kind of request that a session makes, as sent. */
    async function recorded(browser: Client): Promise<[name: string, bytes: string][]> {
      const { id } = (await browser.post('/v1/orders', order)).body
      const lines = [
        `Cookie: ${sessionCookie}=${sessionOf(browser)}`,
        `X-XSRF-TOKEN: ${browser.headers['x-xsrf-token']}`,
        'Content-Type: application/json',
        'Idempotency-Key: recorded',
      ]
      const body = JSON.stringify(order)
      return [
        ['GET /v1/auth/me', request('GET', '/v1/auth/me', lines)],
        ['GET /v1/orders', request('GET', '/v1/orders', lines)],
        ['GET one', request('GET', `/v1/orders/${id}`, lines)],
        ['POST /v1/orders', request('POST', '/v1/orders', lines, body)],
        ['approve', request('PATCH', `/v1/orders/${id}/approve`, lines)],
        ['refresh', request('POST', '/v1/auth/session/refresh', lines)],
        ['logout', request('POST', '/v1/auth/session/logout', lines)],
      ]
    }
    async function replay(requests: [name: string, bytes: string][]): Promise<[string, number][]> {
      const answers: [string, number][] = []
      for (const [name, bytes] of requests)
        answers.push([name, (await exchange(service.baseUrl, bytes)).status])
      return answers
    }

    const ends: [what: string, end: (browser: Client) => Promise<unknown>][] = [
      ['a logout', (browser) => browser.post('/v1/auth/session/logout')],
      ['a new login in the same browser', (browser) => login(browser, victim)],
      [
        'a logout and a new login',
        async (browser) => {
          await browser.post('/v1/auth/session/logout')
          await login(browser, victim)
        },
      ],
      [
        'a refresh, half a minute ago',
        async (browser) => {
          await browser.post('/v1/auth/session/refresh')
          service.advance(30_000)
        },
      ],
      ['eight hours', async () => service.advance(8 * 3_600_000)],
    ]
    for (const [what, end] of ends) {
      it(`after ${what} every recorded request is refused with 401, even one whose answer is stored under its key`, async () => {
        const browser = await signIn(service, victim)
        const requests = await recorded(browser)
        const create = requests.filter(([name]) => name === 'POST /v1/orders')
        assert.deepEqual(await replay(create), [['POST /v1/orders', 201]])
        assert.deepEqual(
          await replay(requests.slice(0, 3)),
          requests.slice(0, 3).map(([name]) => [name, 200]),
        )
        await end(browser)
        assert.deepEqual(
          await replay(requests),
          requests.map(([name]) => [name, 401]),
        )
      })
    }
  })

  describe('login CSRF', () => {
    const json = JSON.stringify({ email: 'EMAIL', password: 'PASSWORD' })
    const forms: [type: string, body: string][] = [
      ['text/plain', json],
      ['application/x-www-form-urlencoded', 'email=EMAIL&password=PASSWORD'],
      ['application/x-www-form-urlencoded', json],
      [
        'multipart/form-data; boundary=x',
        '--x\r\nContent-Disposition: form-data; name="email"\r\n\r\nEMAIL\r\n--x--',
      ],
      ['text/plain; charset=application/json', json],
      ['text/plain, application/json', json],
    ]
    for (const [type, text] of forms) {
      it(`a form from an old browser that sends no origin signs no one in: ${type}`, async () => {
        const { email, password } = attacker.credentials
        const body = text.replace('EMAIL', email).replace('PASSWORD', password)
        const lines = [`Content-Type: ${type}`]
        const answer = await exchange(service.baseUrl, request('POST', '/v1/auth/session', lines, body))
        assert.equal(answer.status, 415)
        assert.equal(answer.headers.get('set-cookie'), null)
      })
    }
  })
})

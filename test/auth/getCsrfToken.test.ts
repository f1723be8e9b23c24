import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { newUser, signIn } from '../support/accounts.ts'
import {
  type Answer,
  assertCookieSet,
  type Client,
  csrfCookie,
  hiddenCookies,
  readableCookie,
  sessionCookie,
} from '../support/client.ts'
import { setUp, startService, testService } from '../support/service.ts'

const path = '/v1/auth/csrf'

describe('getCsrfToken', () => {
  const service = testService()
  const user = setUp(() => newUser(service), beforeEach)

  const create = (caller: Client, token: string) =>
    caller.post('/v1/orders', { customer: 'Acme', total: 1 }, { 'x-xsrf-token': token })
  const login = (browser: Client) => browser.post('/v1/auth/session', user.credentials)

  describe('succeeds', () => {
    it('gives a token and a random cookie before login: HttpOnly, Secure, Strict, without Domain or Max-Age', async () => {
      const answer = await service.client().get(path)
      assert.equal(answer.status, 200)
      assert.deepEqual(Object.keys(answer.body), ['token'])
      assertCookieSet(answer, csrfCookie)
      const other = await service.client().get(path)
      assert.notDeepEqual(hiddenCookies(other), hiddenCookies(answer))
    })

    it('keeps a well-formed cookie before login', async () => {
      const browser = service.client()
      const first = await browser.get(path)
      const again = await browser.get(path)
      assert.deepEqual(hiddenCookies(again), [])
      assert.notEqual(again.body.token, first.body.token)
    })

    it('uses a nonce and HMAC-SHA256, so that neither the binding nor the key can be read from the token', async () => {
      const browser = service.client()
      const { body } = await browser.get(path)
      assert.match(body.token, /^[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}$/)
      assert.ok(!body.token.includes(browser.cookies.get(csrfCookie) ?? ''))
    })

    it('sets no cookie for a valid session, and gives tokens that all work, whatever antiforgery cookie is sent', async () => {
      const browser = service.client()
      await login(browser)
      const answers = [await browser.get(path), await browser.get(path)]
      const tokens = answers.map((answer: Answer) => answer.body.token)
      const strays = answers.flatMap(hiddenCookies)
      assert.deepEqual(strays, [])
      assert.equal(new Set(tokens).size, 2)
      for (const token of tokens) assert.equal((await create(browser, token)).status, 201)
      browser.cookies.set(csrfCookie, 'B'.repeat(43))
      const answer = await browser.get(path)
      assert.deepEqual(hiddenCookies(answer), [])
      assert.equal((await create(browser, answer.body.token)).status, 201)
    })

    it('also sets the token as a cookie that scripts can read, before login and after', async () => {
      const browser = service.client()
      const before = await browser.get(path)
      await login(browser)
      for (const answer of [before, await browser.get(path)]) {
        const line = `${readableCookie}=${answer.body.token}; Path=/; Secure; SameSite=Strict`
        assert.ok(answer.setCookies.includes(line), answer.setCookies.join())
      }
    })

    it('shows a cookie caller when its session ends', async () => {
      const browser = await signIn(service, user)
      const { headers } = await browser.get(path)
      assert.ok(headers.has('session-idle-expires') && headers.has('session-expires'))
      const anonymous = (await service.client().get(path)).headers
      assert.ok(!anonymous.has('session-idle-expires') && !anonymous.has('session-expires'))
    })

    it('gives tokens that work on every instance', async (t) => {
      const other = await startService({ instanceOf: service, until: t })
      const browser = service.client()
      const { body } = await browser.get(path)
      await login(browser)
      const elsewhere = other.client()
      elsewhere.cookies.set(sessionCookie, browser.cookies.get(sessionCookie) ?? '')
      assert.equal((await create(elsewhere, body.token)).status, 201)
    })
  })

  describe('rejects input', () => {
    for (const value of ['', 'short', `${'A'.repeat(42)}!`, 'A'.repeat(44)]) {
      it(`replaces the malformed cookie ${JSON.stringify(value)}`, async () => {
        const browser = service.client()
        browser.cookies.set(csrfCookie, value)
        assert.equal(hiddenCookies(await browser.get(path)).length, 1)
        assert.match(browser.cookies.get(csrfCookie) ?? '', /^[A-Za-z0-9_-]{43}$/)
        assert.notEqual(browser.cookies.get(csrfCookie), value)
      })
    }
  })

  describe('requires access', () => {
    it('needs no credential: Authorization is ignored, valid or not', async () => {
      const bearer = await service.bearer('viewer')
      assert.equal(hiddenCookies(await bearer.get(path)).length, 1)
      assert.equal((await service.client().withBearer('nonsense').get(path)).status, 200)
    })

    it('uses the session even if a bad bearer token comes with it', async () => {
      const browser = await signIn(service, user)
      const answer = await browser.get(path, { authorization: 'Bearer nonsense' })
      assert.deepEqual(hiddenCookies(answer), [])
      assert.equal((await create(browser, answer.body.token)).status, 201)
    })
  })

  it('treats an expired session as none: it sets a cookie, whose binding the login takes over', async () => {
    const browser = await signIn(service, user)
    service.advance(30 * 60_000)
    const answer = await browser.get(path)
    assert.equal(hiddenCookies(answer).length, 1)
    assert.ok(!answer.headers.has('session-expires'))
    await login(browser)
    assert.equal((await create(browser, answer.body.token)).status, 201)
  })

  it('stores nothing: tokens are stateless', async () => {
    const counts = async () => {
      const sessions = await service.db.read.selectFrom('sessions').selectAll().execute()
      const ids = await service.db.read.selectFrom('session_ids').selectAll().execute()
      return [sessions, ids]
    }
    const before = await counts()
    for (let turn = 0; turn < 20; turn += 1) await service.client().get(path)
    assert.deepEqual(await counts(), before)
  })
})

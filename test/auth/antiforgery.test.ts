import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { Antiforgery } from '../../server/auth/credentials/sessions/antiforgery.ts'
import { machineStamp } from '../../server/caller/stamp.ts'
import { newUser, signIn } from '../support/accounts.ts'
import { type Client, csrfCookie, readableCookie, sessionCookie } from '../support/client.ts'
import { assertProblem } from '../support/problem.ts'
import { publicUrl, setUp, startService, testService } from '../support/service.ts'
import { removeExpired } from '../support/upkeep.ts'

const order = { customer: 'Acme', total: 1 }

/** A browser and the tokens that could be meant for it. */
interface Scene {
  browser: Client
  tokens: Record<string, string>
}

/** States of cookie and token beyond those of test/security/antiforgery-matrix.test.ts. */
const cookieStates = ['valid', 'retired, in its 30 seconds', 'retired', 'idle', 'unknown', 'malformed']
const tokenStates = [
  'of this session',
  'of the antiforgery cookie before login',
  'of the right form',
  'of another browser before login',
  'of another key',
]
const serving = new Set(cookieStates.slice(0, 2))
const good = new Set(tokenStates.slice(0, 2))

describe('antiforgery', () => {
  const service = testService()
  const user = setUp(() => newUser(service, { roles: ['Admin'] }))

  const login = (browser: Client) => browser.post('/v1/auth/session', user.credentials)
  const tokenOf = async (browser: Client): Promise<string> => (await browser.get('/v1/auth/csrf')).body.token
  const create = (browser: Client, token: string) =>
    browser.post('/v1/orders', order, { 'x-xsrf-token': token })

  async function prepare(): Promise<Scene> {
    const browser = service.client()
    const beforeLogin = await tokenOf(browser)
    const otherBrowser = service.client()
    const elsewhere = await tokenOf(otherBrowser)
    await login(browser)
    await login(otherBrowser)
    const otherKey = new Antiforgery(Buffer.alloc(32, 7)).issue(await bindingOf(browser))
    const tokens = {
      'of this session': await tokenOf(browser),
      'of the antiforgery cookie before login': beforeLogin,
      'of the right form': `${'A'.repeat(22)}.${'A'.repeat(43)}`,
      'of another browser before login': elsewhere,
      'of another key': otherKey,
    }
    return { browser, tokens }
  }

  async function bindingOf(browser: Client): Promise<string> {
    const id = browser.cookies.get(sessionCookie) ?? ''
    const digest = await crypto.subtle.digest('SHA-256', Buffer.from(id))
    const row = await service.db.read
      .selectFrom('sessions')
      .innerJoin('session_ids', 'session_ids.session_id', 'sessions.id')
      .select('antiforgery_binding')
      .where('id_hash', '=', Buffer.from(digest).toString('base64url'))
      .executeTakeFirstOrThrow()
    return row.antiforgery_binding
  }

  /** Puts the browser's session cookie into this state. */
  const bring: Record<string, (scene: Scene) => Promise<unknown>> = {
    valid: async () => undefined,
    'retired, in its 30 seconds': (scene) => retire(scene, 29_000),
    retired: (scene) => retire(scene, 30_000),
    idle: async () => service.advance(30 * 60_000),
    unknown: async ({ browser }) => browser.cookies.set(sessionCookie, 'A'.repeat(43)),
    malformed: async ({ browser }) => browser.cookies.set(sessionCookie, 'x'),
  }

  async function retire({ browser, tokens }: Scene, milliseconds: number): Promise<void> {
    const id = browser.cookies.get(sessionCookie) ?? ''
    const headers = { 'x-xsrf-token': tokens['of this session'] ?? '' }
    await browser.post('/v1/auth/session/refresh', undefined, headers)
    browser.cookies.set(sessionCookie, id)
    service.advance(milliseconds)
  }

  describe('the matrix of session cookie and token', () => {
    for (const cookie of cookieStates) {
      const expected = tokenStates.map((token) => [token, expectedAnswer(cookie, token)])
      it(`cookie ${cookie}: ${describeRow(cookie)}`, async () => {
        const scene = await prepare()
        await bring[cookie]?.(scene)
        const answers: [string, string][] = []
        for (const token of tokenStates) {
          const answer = await create(scene.browser, scene.tokens[token] ?? '')
          answers.push([token, `${answer.status} ${answer.body.code ?? 'created'}`])
        }
        assert.deepEqual(answers, expected)
      })
    }
  })

  describe('every unsafe request of a cookie caller', () => {
    it('needs the token before the permission is checked', async () => {
      const viewer = await newUser(service, { roles: ['Viewer'] })
      const browser = service.client()
      await browser.post('/v1/auth/session', viewer.credentials)
      assertProblem(await browser.post('/v1/orders', order), 403, 'csrf-token-missing')
      assertProblem(await create(browser, await tokenOf(browser)), 403, 'permission-denied')
    })

    it('is refused if any character of the token differs, or it is cut, extended or sent twice', async () => {
      const browser = service.client()
      await login(browser)
      const token = await tokenOf(browser)
      const position = fc.integer({ min: 0, max: token.length - 1 })
      const character = fc.constantFrom(
        ...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.',
      )
      const change = fc.tuple(position, character).filter(([at, other]) => token[at] !== other)
      const changes = [...fc.sample(change, 40), ...lastCharacters(token)]
      const answers = await Promise.all(
        changes.map(([at, other]) => create(browser, `${token.slice(0, at)}${other}${token.slice(at + 1)}`)),
      )
      for (const answer of answers) assertProblem(answer, 403, 'csrf-token-invalid')
      const [nonce, mac] = token.split('.')
      const wrong = [token.slice(0, -1), `${token}A`, `${token}=`, `${token}, ${token}`, `${mac}.${nonce}`]
      for (const one of wrong) assertProblem(await create(browser, one), 403, 'csrf-token-invalid')
    })
  })

  describe('the binding of a token fetched before login', () => {
    it('is moved into the session by the login, which clears the cookie', async () => {
      const browser = service.client()
      const token = await tokenOf(browser)
      const { setCookies } = await login(browser)
      assert.deepEqual(
        setCookies.filter((line) => line.startsWith(csrfCookie)),
        [`${csrfCookie}=; Max-Age=0; Path=/; Secure; HttpOnly; SameSite=Strict`],
      )
      assert.equal((await create(browser, token)).status, 201)
    })

    it('lasts through refreshes until the logout, which clears both cookies', async () => {
      const browser = service.client()
      const token = await tokenOf(browser)
      await login(browser)
      const headers = { 'x-xsrf-token': token }
      for (let turn = 0; turn < 3; turn += 1) {
        assert.equal((await browser.post('/v1/auth/session/refresh', undefined, headers)).status, 200)
      }
      const { status, setCookies } = await browser.post('/v1/auth/session/logout', undefined, headers)
      assert.equal(status, 204)
      const names = setCookies.map((line) => line.split('=')[0]).sort()
      assert.deepEqual(names, [readableCookie, csrfCookie, sessionCookie].sort())
      await login(browser)
      assertProblem(await create(browser, token), 403, 'csrf-token-invalid')
    })

    it('is not taken over while another session holds it', async () => {
      const first = service.client()
      const token = await tokenOf(first)
      const second = service.client()
      second.cookies.set(csrfCookie, first.cookies.get(csrfCookie) ?? '')
      await login(first)
      assert.equal((await login(second)).status, 200)
      assert.equal((await create(first, token)).status, 201)
      assertProblem(await create(second, token), 403, 'csrf-token-invalid')
      assert.equal((await create(second, await tokenOf(second))).status, 201)
    })

    it('is not taken over twice by simultaneous logins', async () => {
      const origin = service.client()
      const token = await tokenOf(origin)
      const browsers = Array.from({ length: 8 }, () => service.client())
      for (const browser of browsers) browser.cookies.set(csrfCookie, origin.cookies.get(csrfCookie) ?? '')
      const logins = await Promise.all(browsers.map(login))
      assert.deepEqual(new Set(logins.map((answer) => answer.status)), new Set([200]))
      const answers = await Promise.all(browsers.map((browser) => create(browser, token)))
      assert.equal(answers.filter((answer) => answer.status === 201).length, 1)
      assert.equal(answers.filter((answer) => answer.body.code === 'csrf-token-invalid').length, 7)
    })

    for (const value of [undefined, 'x', 'A'.repeat(44)]) {
      it(`is made by the session itself if the cookie is ${value}, and differs for each session`, async () => {
        const browsers = [service.client(), service.client()] as const
        for (const { cookies } of browsers)
          for (const one of [value].flatMap((v) => v ?? [])) cookies.set(csrfCookie, one)
        for (const browser of browsers) await login(browser)
        const token = await tokenOf(browsers[0])
        assert.equal((await create(browsers[0], token)).status, 201)
        assertProblem(await create(browsers[1], token), 403, 'csrf-token-invalid')
      })
    }

    it('is not stored: the database does not reveal the cookie', async () => {
      const browser = service.client()
      await tokenOf(browser)
      const cookie = browser.cookies.get(csrfCookie) ?? ''
      await login(browser)
      assert.notEqual(await bindingOf(browser), cookie)
    })
  })

  describe('a token of a page', () => {
    const idle = 30 * 60_000
    const endOf = (id: number) => ({
      account: { kind: 'user' as const, id },
      stamp: machineStamp(service.now()),
    })

    it('serves after a sign-in that replaces the session, and after one more', async () => {
      const browser = await signIn(service, user)
      const token = await tokenOf(browser)
      const replaced = browser.copy()
      await login(browser)
      await login(browser)
      assert.equal((await create(browser, token)).status, 201)
      assert.equal((await create(replaced, token)).status, 401)
    })

    it('serves the next person to sign in, whose session it then belongs to', async () => {
      const other = await newUser(service, { roles: ['Admin'] })
      const browser = await signIn(service, user)
      const token = await tokenOf(browser)
      await browser.post('/v1/auth/session', other.credentials)
      const { body } = await browser.post('/v1/orders', order, { 'x-xsrf-token': token })
      const { createdBy } = (await browser.get(`/v1/orders/${body.id}`)).body
      assert.equal(createdBy, other.userName)
    })

    for (const hours of [0, 23]) {
      it(`serves after a sign-in that replaces a session that ended ${hours} h ago`, async () => {
        const browser = await signIn(service, user)
        const token = await tokenOf(browser)
        service.advance(idle + hours * 3_600_000)
        await removeExpired(service, 200)
        assert.equal((await create(browser, token)).status, 401)
        await login(browser)
        assert.equal((await create(browser, token)).status, 201)
      })
    }

    it('is that of the valid session before that of the antiforgery cookie', async () => {
      const { cookies } = service.client()
      const browser = await signIn(service, user)
      const stray = service.client()
      const ofStray = await tokenOf(stray)
      const token = await tokenOf(browser)
      assert.equal(cookies.size, 0)
      browser.cookies.set(csrfCookie, stray.cookies.get(csrfCookie) ?? '')
      await login(browser)
      assert.equal((await create(browser, token)).status, 201)
      assertProblem(await create(browser, ofStray), 403, 'csrf-token-invalid')
    })

    it('is that of the antiforgery cookie before that of the expired session', async () => {
      const browser = await signIn(service, user)
      const old = await tokenOf(browser)
      service.advance(idle)
      const token = await tokenOf(browser)
      await login(browser)
      assert.equal((await create(browser, token)).status, 201)
      assertProblem(await create(browser, old), 403, 'csrf-token-invalid')
    })

    it('ends with a session that was ended on purpose', async () => {
      const ends = [
        (browser: Client) => browser.post('/v1/auth/session/logout'),
        () => service.db.write('signOutUser', endOf(user.id)),
      ]
      for (const end of ends) {
        const browser = await signIn(service, user)
        const token = await tokenOf(browser)
        const thief = browser.copy()
        await end(browser)
        await login(thief)
        assertProblem(await create(thief, token), 403, 'csrf-token-invalid')
      }
    })

    it('is not served to two sessions by simultaneous sign-ins that replace one', async () => {
      const browser = await signIn(service, user)
      const token = await tokenOf(browser)
      const tabs = Array.from({ length: 8 }, () => browser.copy())
      assert.deepEqual(
        new Set((await Promise.all(tabs.map(login))).map(({ status }) => status)),
        new Set([200]),
      )
      const answers = await Promise.all(tabs.map((tab) => create(tab, token)))
      assert.equal(answers.filter(({ status }) => status === 201).length, 1)
      assert.equal(answers.filter(({ body }) => body.code === 'csrf-token-invalid').length, 7)
    })
  })

  describe('the readable cookie', () => {
    it('holds a token that works after each sign-in and refresh, and goes with the session', async () => {
      const browser = service.client()
      const asAxios = () => ({ 'x-xsrf-token': browser.cookies.get(readableCookie) ?? '' })
      const send = (path: string, body?: unknown) => browser.post(path, body, asAxios())
      await login(browser)
      assert.equal((await send('/v1/orders', order)).status, 201)
      await login(browser)
      assert.equal((await send('/v1/auth/session/refresh')).status, 200)
      assert.equal((await send('/v1/orders', order)).status, 201)
      assert.equal((await send('/v1/auth/session/logout')).status, 204)
      assert.equal(browser.cookies.has(readableCookie), false)
    })

    it('decides nothing: neither in place of the header, nor against it', async () => {
      const browser = await signIn(service, user)
      const token = await tokenOf(browser)
      delete browser.headers['x-xsrf-token']
      assert.equal(browser.cookies.get(readableCookie), token)
      assertProblem(await browser.post('/v1/orders', order), 403, 'csrf-token-missing')
      const ofOther = await tokenOf(await signIn(service, user))
      for (const tossed of ['', 'x', ofOther, `${ofOther}; ${readableCookie}=${token}`]) {
        browser.cookies.set(readableCookie, tossed)
        assert.equal((await create(browser, token)).status, 201)
        assertProblem(await create(browser, ofOther), 403, 'csrf-token-invalid')
        assert.equal((await browser.get('/v1/auth/csrf')).status, 200)
      }
    })
  })

  describe('the second check, on unsafe cookie requests', () => {
    /** Foreign requests beyond those of test/security/antiforgery-matrix.test.ts. */
    const foreign: Record<string, string>[] = [
      { 'sec-fetch-site': '' },
      { 'sec-fetch-site': 'same-origin, cross-site' },
      { origin: '' },
      { origin: `${publicUrl}.evil.example` },
      { origin: `${publicUrl}:8443` },
      { origin: publicUrl.replace('https', 'http') },
      { 'sec-fetch-site': 'cross-site', origin: publicUrl },
    ]
    for (const headers of foreign) {
      it(`refuses ${JSON.stringify(headers)}, even with a valid token`, async () => {
        const browser = await signIn(service, user)
        assertProblem(await browser.post('/v1/orders', order, headers), 403, 'cross-site-request')
      })
    }

    it('accepts only the address that the browser used as origin, in development', async (t) => {
      const development = await startService({ development: true, env: { PUBLIC_URL: '' }, until: t })
      const browser = await development.session('admin')
      const { host } = new URL(development.baseUrl)
      const own = await browser.post('/v1/orders', order, { origin: `http://${host}` })
      assert.equal(own.status, 201)
      const other = await browser.post('/v1/orders', order, { origin: 'http://127.0.0.1:1' })
      assertProblem(other, 403, 'cross-site-request')
    })
  })
})

function expectedAnswer(cookie: string, token: string): string {
  const answer = good.has(token) ? '201 created' : '403 csrf-token-invalid'
  return serving.has(cookie) ? answer : '401 authentication-required'
}

function describeRow(cookie: string): string {
  return serving.has(cookie) ? 'a token of the session is needed' : 'always 401, no token is asked for'
}

/** Every other last character: some differ only in bits that base64url discards. */
function lastCharacters(token: string): [at: number, other: string][] {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const others = [...alphabet].filter((character) => character !== token.at(-1))
  return others.map((character) => [token.length - 1, character])
}

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { before, describe, it } from 'node:test'
import { liveCredentials, newUser, signIn, storedCredentials, type TestUser } from '../support/accounts.ts'
import { assertInvalid, assertProblem } from '../support/problem.ts'
import { publicUrl, type Service, testService } from '../support/service.ts'

const path = '/v1/auth/session'
const sessionCookie = '__Host-Http-session'
const minute = 60_000

describe('loginSession', () => {
  const service = testService()
  let user: TestUser
  before(async () => {
    user = await newUser(service, { roles: ['Viewer', 'Operator'] })
  })

  const login = (headers: Record<string, string> = {}) =>
    service.client().post(path, user.credentials, headers)

  describe('succeeds', () => {
    it('with exactly the fields of AuthenticatedUser', async () => {
      const answer = await login()
      assert.equal(answer.status, 200)
      const { id, userName, email } = user
      assert.deepEqual(answer.body, { id, userName, email, roles: ['Operator', 'Viewer'] })
    })

    it('with one cookie of 256 bits: HttpOnly, Secure, Strict, Path=/, no Domain, no Max-Age', async () => {
      const { setCookies } = await login()
      assert.equal(setCookies.length, 1)
      const [pair = '', ...attributes] = (setCookies[0] ?? '').split('; ')
      assert.match(pair, /^__Host-Http-session=[A-Za-z0-9_-]{43}$/)
      assert.deepEqual(attributes.sort(), ['HttpOnly', 'Path=/', 'SameSite=Strict', 'Secure'])
    })

    for (const prefer of ['return=minimal', 'respond-async, return=minimal', 'Return="minimal"; foo=1']) {
      it(`with 204 and the cookie for Prefer: ${prefer}`, async () => {
        const browser = service.client()
        const answer = await browser.post(path, user.credentials, { prefer })
        assert.equal(answer.status, 204)
        assert.equal(answer.text, '')
        assert.equal(answer.headers.get('preference-applied'), 'return=minimal')
        assert.equal((await browser.get('/v1/auth/me')).status, 200)
      })
    }

    it('with 200 for other preferences', async () => {
      const answer = await login({ prefer: 'return=representation, xreturn=minimal' })
      assert.equal(answer.status, 200)
      assert.equal(answer.headers.get('preference-applied'), null)
    })

    it('and says when the session ends: 30 minutes idle, 8 hours absolute', async () => {
      const earliest = service.now()
      const { headers } = await login()
      const latest = service.now()
      const begins = [
        Date.parse(headers.get('session-idle-expires') ?? '') - 30 * minute,
        Date.parse(headers.get('session-expires') ?? '') - 480 * minute,
      ]
      assert.ok(
        begins.every((begin) => begin >= earliest && begin <= latest),
        `${begins}`,
      )
      assert.match(headers.get('session-expires') ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    })

    it('for the email, ignoring case', async () => {
      const answer = await service
        .client()
        .post(path, { ...user.credentials, email: user.email.toUpperCase() })
      assert.equal(answer.status, 200)
      assert.equal(answer.body.email, user.email)
    })

    it('ignoring unknown members', async () => {
      const answer = await service.client().post(path, { ...user.credentials, roles: ['Admin'], id: 1 })
      assert.deepEqual(answer.body.roles, ['Operator', 'Viewer'])
    })

    it('with a new id each time, ending the session of the request with all its ids', async () => {
      const browser = await signIn(service, user)
      const first = browser.cookies.get(sessionCookie) ?? ''
      await browser.post('/v1/auth/session/refresh')
      const second = browser.cookies.get(sessionCookie) ?? ''
      await browser.post(path, user.credentials)
      const third = browser.cookies.get(sessionCookie) ?? ''
      assert.equal(new Set([first, second, third]).size, 3)
      const statuses = await Promise.all([first, second, third].map((id) => statusWith(service, id)))
      assert.deepEqual(statuses, [401, 401, 200])
    })

    it('without touching the sessions of other browsers', async () => {
      const elsewhere = await signIn(service, user)
      await login()
      assert.equal((await elsewhere.get('/v1/auth/me')).status, 200)
    })

    it('storing SHA-256 of the id only, and the session as one row', async () => {
      const owner = await newUser(service, { roles: ['Operator', 'Viewer'] })
      const browser = service.client()
      const earliest = service.now()
      await browser.post(path, owner.credentials, { 'user-agent': 'browser/1.0' })
      const id = browser.cookies.get(sessionCookie) ?? ''
      const stored = await storedCredentials(service)
      assert.ok(!stored.includes(id))
      assert.ok(stored.includes(createHash('sha256').update(id).digest('base64url')))
      const rows = await service.db.read
        .selectFrom('sessions')
        .selectAll()
        .where('principal_id', '=', owner.id)
        .execute()
      assert.equal(rows.length, 1)
      assert.equal(rows[0]?.roles, '["Operator","Viewer"]')
      assert.equal(rows[0]?.user_agent, 'browser/1.0')
      assert.ok((rows[0]?.created_at ?? 0) >= earliest)
      assert.equal(rows[0]?.last_seen_at, rows[0]?.created_at)
      assert.equal(rows[0]?.absolute_expires_at, (rows[0]?.created_at ?? 0) + 480 * minute)
    })
  })

  describe('rejects input', () => {
    // test/contract/schemas.test.ts covers all others.
    const bodies: [what: string, body: unknown, pointers: string[]][] = [
      ['no field', {}, ['#/email', '#/password']],
      ['an array', ['someone@example.com', 'whatever it may be'], ['#']],
    ]
    for (const [what, body, pointers] of bodies) {
      it(`${what}: 400 naming ${pointers.join(' and ')}`, async () => {
        const answer = await service.client().post(path, body)
        assertInvalid(answer, pointers)
      })
    }

    it('but accepts the longest email and password, which are simply wrong', async () => {
      const longest = { email: `${'a'.repeat(242)}@example.com`, password: '🔑'.repeat(256) }
      assertProblem(await service.client().post(path, longest), 401, 'invalid-credentials')
    })

    it('but takes the password unchanged: no trimming, no normalisation', async () => {
      const spaced = await newUser(service, { password: ' éclair  at the seaside ' })
      const attempt = (password: string) => service.client().post(path, { email: spaced.email, password })
      assert.equal((await attempt(spaced.password)).status, 200)
      assertProblem(await attempt(spaced.password.trim()), 401, 'invalid-credentials')
      assertProblem(await attempt(spaced.password.normalize('NFD')), 401, 'invalid-credentials')
    })
  })

  describe('requires access', () => {
    const foreign: Record<string, string>[] = [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
    ]
    for (const headers of foreign) {
      it(`of this site: ${JSON.stringify(headers)} is 403 and signs nobody in`, async () => {
        const visitor = await newUser(service)
        const answer = await service.client().post(path, visitor.credentials, headers)
        assertProblem(answer, 403, 'cross-site-request')
        assert.deepEqual(answer.setCookies, [])
        assert.deepEqual(await liveCredentials(service, visitor), { sessions: 0, families: 0 })
      })
    }

    const own: Record<string, string>[] = [
      { 'sec-fetch-site': 'same-origin' },
      { 'sec-fetch-site': 'none' },
      { origin: publicUrl },
    ]
    for (const headers of own) {
      it(`of this site: ${JSON.stringify(headers)} is let through`, async () => {
        assert.equal((await login(headers)).status, 200)
      })
    }
  })

  describe('leaves no trace on failure', () => {
    it('makes no session, and keeps the session of the request and its cookies', async () => {
      const owner = await newUser(service)
      const browser = await signIn(service, owner)
      const before = new Map(browser.cookies)
      const answer = await browser.post(path, { email: owner.email, password: 'not the password at all' })
      assertProblem(answer, 401, 'invalid-credentials')
      assert.deepEqual(answer.setCookies, [])
      assert.deepEqual(browser.cookies, before)
      assert.equal((await browser.get('/v1/auth/me')).status, 200)
      assert.deepEqual(await liveCredentials(service, owner), { sessions: 1, families: 0 })
    })

    it('keeps the antiforgery cookie for the next try', async () => {
      const browser = service.client()
      await browser.fetchAntiforgeryToken()
      await browser.post(path, { email: user.email, password: 'not the password at all' })
      assert.deepEqual([...browser.cookies.keys()], ['__Host-Http-csrf'])
    })
  })
})

async function statusWith(service: Service, sessionId: string): Promise<number> {
  const answer = await service.client().get('/v1/auth/me', { cookie: `${sessionCookie}=${sessionId}` })
  return answer.status
}

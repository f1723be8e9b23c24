import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, it } from 'node:test'
import { liveCredentials, newUser, signIn, storedCredentials } from '../support/accounts.ts'
import { assertCookieSet, sessionCookie } from '../support/client.ts'
import { assertInvalid, assertProblem } from '../support/problem.ts'
import { publicUrl, setUp, testService } from '../support/service.ts'

const path = '/v1/auth/session'
const minute = 60_000

describe('loginSession', () => {
  const service = testService()
  const user = setUp(() => newUser(service, { roles: ['Viewer', 'Operator'] }))

  const login = (headers: Record<string, string> = {}) =>
    service.client().post(path, user.credentials, headers)

  describe('succeeds', () => {
    it('answers exactly the fields of AuthenticatedUser', async () => {
      const answer = await login()
      assert.equal(answer.status, 200)
      const { id, userName, email } = user
      assert.deepEqual(answer.body, { id, userName, email, roles: ['Operator', 'Viewer'] })
    })

    it('sets one cookie of 256 bits: HttpOnly, Secure, Strict, Path=/, no Domain, no Max-Age', async () => {
      assertCookieSet(await login(), sessionCookie)
    })

    for (const prefer of ['return=minimal', 'respond-async, return=minimal', 'Return="minimal"; foo=1']) {
      it(`answers 204 with the cookie for Prefer: ${prefer}`, async () => {
        const browser = service.client()
        const answer = await browser.post(path, user.credentials, { prefer })
        assert.equal(answer.status, 204)
        assert.equal(answer.text, '')
        assert.equal(answer.headers.get('preference-applied'), 'return=minimal')
        assert.equal((await browser.get('/v1/auth/me')).status, 200)
      })
    }

    it('answers 200 for other preferences', async () => {
      const answer = await login({ prefer: 'return=representation, xreturn=minimal' })
      assert.equal(answer.status, 200)
      assert.equal(answer.headers.get('preference-applied'), null)
    })

    it('says when the session ends: 30 minutes idle, 8 hours absolute', async () => {
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

    it('accepts the email, ignoring case', async () => {
      const answer = await service
        .client()
        .post(path, { ...user.credentials, email: user.email.toUpperCase() })
      assert.equal(answer.status, 200)
      assert.equal(answer.body.email, user.email)
    })

    it('ignores unknown members', async () => {
      const answer = await service.client().post(path, { ...user.credentials, roles: ['Admin'], id: 1 })
      assert.deepEqual(answer.body.roles, ['Operator', 'Viewer'])
    })

    it('issues a new id each time, and ends the session of the request with all its ids', async () => {
      const browser = await signIn(service, user)
      const first = browser.cookies.get(sessionCookie) ?? ''
      await browser.post('/v1/auth/session/refresh')
      const second = browser.cookies.get(sessionCookie) ?? ''
      await browser.post(path, user.credentials)
      const third = browser.cookies.get(sessionCookie) ?? ''
      assert.equal(new Set([first, second, third]).size, 3)
      const ids = [first, second, third]
      const answers = await Promise.all(ids.map((id) => service.client().withSession(id).get('/v1/auth/me')))
      const statuses = answers.map(({ status }) => status)
      assert.deepEqual(statuses, [401, 401, 200])
    })

    it('does not touch the sessions of other browsers', async () => {
      const elsewhere = await signIn(service, user)
      await login()
      assert.equal((await elsewhere.get('/v1/auth/me')).status, 200)
    })

    it('stores only SHA-256 of the id, and the session as one row', async () => {
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
    // test/contract/schemas.test.ts covers all other bodies.
    const bodies: [what: string, body: unknown, pointers: string[]][] = [
      ['no field', {}, ['#/email', '#/password']],
      ['an array', ['someone@example.com', 'whatever it may be'], ['#']],
    ]
    for (const [what, body, pointers] of bodies) {
      it(`answers 400 to ${what}, naming ${pointers.join(' and ')}`, async () => {
        const answer = await service.client().post(path, body)
        assertInvalid(answer, pointers)
      })
    }

    it('accepts the longest email and password, which are simply wrong', async () => {
      const longest = { email: `${'a'.repeat(242)}@example.com`, password: '🔑'.repeat(256) }
      assertProblem(await service.client().post(path, longest), 401, 'invalid-credentials')
    })

    it('takes the password as it is, in NFC: no trimming, and any keyboard', async () => {
      const spaced = await newUser(service, { password: ' éclair  at the seaside ' })
      const attempt = (password: string) => service.client().post(path, { email: spaced.email, password })
      assert.equal((await attempt(spaced.password)).status, 200)
      const pasted = { email: `${spaced.email} `, password: spaced.password }
      assert.equal((await service.client().post(path, pasted)).status, 200)
      assertProblem(await attempt(spaced.password.trim()), 401, 'invalid-credentials')
      assert.equal((await attempt(spaced.password.normalize('NFD'))).status, 200)
      assertProblem(
        await attempt(spaced.password.normalize('NFKD').replaceAll('\u0301', '')),
        401,
        'invalid-credentials',
      )
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
      it(`answers 403 to ${JSON.stringify(headers)}, and signs nobody in`, async () => {
        const visitor = await newUser(service)
        const answer = await service.client().post(path, visitor.credentials, headers)
        assertProblem(answer, 403, 'cross-site-request')
        assert.deepEqual(answer.setCookies, [])
        assert.deepEqual(await liveCredentials(service, visitor), { sessions: 0, families: 0 })
      })
    }

    it('lets the forms of this site through', async () => {
      for (const own of [
        { 'sec-fetch-site': 'same-origin' },
        { 'sec-fetch-site': 'none' },
        { origin: publicUrl },
      ]) {
        assert.equal((await login(own)).status, 200)
      }
    })
  })

  describe('leaves no trace on failure', () => {
    it('creates no session, and keeps the session of the request and its cookies', async () => {
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
      assert.deepEqual([...browser.cookies.keys()], ['__Host-Http-csrf', 'XSRF-TOKEN'])
    })
  })
})

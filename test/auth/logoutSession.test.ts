import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { liveCredentials, newUser, signIn } from '../support/accounts.ts'
import { sessionOf } from '../support/client.ts'
import { assertProblem } from '../support/problem.ts'
import { setUp, testService } from '../support/service.ts'

const path = '/v1/auth/session/logout'
const cleared = [
  'XSRF-TOKEN=; Max-Age=0; Path=/; Secure; SameSite=Strict',
  '__Host-Http-csrf=; Max-Age=0; Path=/; Secure; HttpOnly; SameSite=Strict',
  '__Host-Http-session=; Max-Age=0; Path=/; Secure; HttpOnly; SameSite=Strict',
]

describe('logoutSession', () => {
  const service = testService()
  const user = setUp(() => newUser(service), beforeEach)
  const browser = setUp(() => signIn(service, user), beforeEach)

  const browserWith = (id: string) => service.client().withSession(id)
  const isSignedIn = async (id: string) => (await browserWith(id).get('/v1/auth/me')).status === 200

  describe('succeeds', () => {
    it('answers 204 without a body, and clears all cookies', async () => {
      const answer = await browser.post(path)
      assert.equal(answer.status, 204)
      assert.equal(answer.text, '')
      assert.deepEqual(answer.setCookies.sort(), cleared)
      assert.equal(browser.cookies.size, 0)
    })

    it('ends all ids of the session at once: retired, sibling and current ones', async () => {
      const first = sessionOf(browser)
      await browser.post('/v1/auth/session/refresh')
      const sibling = browserWith(first)
      await sibling.post('/v1/auth/session/refresh', undefined, browser.headers)
      const ids = [first, sessionOf(browser), sessionOf(sibling)]
      assert.deepEqual(await Promise.all(ids.map(isSignedIn)), [true, true, true])
      await browser.post(path)
      assert.deepEqual(await Promise.all(ids.map(isSignedIn)), [false, false, false])
      assert.deepEqual(await liveCredentials(service, user), { sessions: 0, families: 0 })
    })

    it('leaves none of its ids in the database', async () => {
      await browser.post('/v1/auth/session/refresh')
      await browser.post(path)
      const sessions = service.db.read.selectFrom('sessions').select('id')
      const left = await service.db.read
        .selectFrom('session_ids')
        .selectAll()
        .where('session_id', 'not in', sessions)
        .execute()
      assert.deepEqual(left, [])
    })

    it('does not touch other sessions or token families of the user', async () => {
      const elsewhere = await signIn(service, user)
      await service.client().post('/v1/auth/token', user.credentials)
      await browser.post(path)
      assert.equal((await elsewhere.get('/v1/auth/me')).status, 200)
      assert.deepEqual(await liveCredentials(service, user), { sessions: 1, families: 1 })
    })
  })

  describe('requires access', () => {
    it('answers 401 without a cookie, and clears none', async () => {
      const answer = await service.client().post(path)
      assertProblem(answer, 401, 'authentication-required')
      assert.deepEqual(answer.setCookies, [])
    })

    it('answers 401 to a cookie that no longer works, and clears it', async () => {
      await browser.post(path)
      for (const id of ['A'.repeat(43), 'short', '']) {
        const answer = await browserWith(id).post(path)
        assertProblem(answer, 401, 'authentication-required')
        assert.deepEqual(answer.setCookies.sort(), cleared)
      }
    })

    it('answers 401 to the cookie of an expired session, and clears it', async () => {
      service.advance(30 * 60_000)
      const answer = await browser.post(path)
      assertProblem(answer, 401, 'authentication-required')
      assert.deepEqual(answer.setCookies.sort(), cleared)
    })

    // test/security/antiforgery-matrix.test.ts covers all others.
    it('lets no form of another site sign a user out, or clear a cookie', async () => {
      const headers = { 'sec-fetch-site': 'cross-site' }
      const refused = await browser.post(path, undefined, headers)
      assertProblem(refused, 403, 'cross-site-request')
      assert.deepEqual(refused.setCookies, [])
      assert.equal(await isSignedIn(sessionOf(browser)), true)
      const stale = await browserWith('A'.repeat(43)).post(path, undefined, headers)
      assertProblem(stale, 401, 'authentication-required')
      assert.deepEqual(stale.setCookies, [])
    })
  })
})

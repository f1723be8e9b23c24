import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { liveCredentials, newUser, signIn, type TestUser } from '../support/accounts.ts'
import type { Client } from '../support/client.ts'
import { assertProblem } from '../support/problem.ts'
import { testService } from '../support/service.ts'

const path = '/v1/auth/session/logout'
const sessionCookie = '__Host-Http-session'
const cleared = '__Host-Http-session=; Max-Age=0; Path=/; Secure; HttpOnly; SameSite=Strict'

describe('logoutSession', () => {
  const service = testService()
  let user: TestUser
  let browser: Client
  beforeEach(async () => {
    user = await newUser(service)
    browser = await signIn(service, user)
  })

  const idOf = (client: Client) => client.cookies.get(sessionCookie) ?? ''
  function browserWith(id: string): Client {
    const other = service.client()
    other.cookies.set(sessionCookie, id)
    return other
  }
  const isSignedIn = async (id: string) => (await browserWith(id).get('/v1/auth/me')).status === 200

  describe('succeeds', () => {
    it('with 204, no body, and both cookies cleared', async () => {
      const answer = await browser.post(path)
      assert.equal(answer.status, 204)
      assert.equal(answer.text, '')
      assert.deepEqual(answer.setCookies.sort(), [cleared.replace('session', 'csrf'), cleared])
      assert.equal(browser.cookies.size, 0)
    })

    it('ending all ids of the session at once: retired, sibling and current ones', async () => {
      const first = idOf(browser)
      await browser.post('/v1/auth/session/refresh')
      const sibling = browserWith(first)
      await sibling.post('/v1/auth/session/refresh', undefined, browser.headers)
      const ids = [first, idOf(browser), idOf(sibling)]
      assert.deepEqual(await Promise.all(ids.map(isSignedIn)), [true, true, true])
      await browser.post(path)
      assert.deepEqual(await Promise.all(ids.map(isSignedIn)), [false, false, false])
      assert.deepEqual(await liveCredentials(service, user), { sessions: 0, families: 0 })
    })

    it('leaving none of its ids in the database', async () => {
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

    it('without touching other sessions and the token families of the user', async () => {
      const elsewhere = await signIn(service, user)
      await service.client().post('/v1/auth/token', user.credentials)
      await browser.post(path)
      assert.equal((await elsewhere.get('/v1/auth/me')).status, 200)
      assert.deepEqual(await liveCredentials(service, user), { sessions: 1, families: 1 })
    })
  })

  describe('requires access', () => {
    it('by a session: without a cookie it is 401, and no cookie is cleared', async () => {
      const answer = await service.client().post(path)
      assertProblem(answer, 401, 'authentication-required')
      assert.deepEqual(answer.setCookies, [])
    })

    it('by a session: a cookie that no longer works is 401 and is cleared', async () => {
      await browser.post(path)
      for (const id of ['A'.repeat(43), 'short', '']) {
        const answer = await browserWith(id).post(path)
        assertProblem(answer, 401, 'authentication-required')
        assert.deepEqual(answer.setCookies, [cleared])
      }
    })

    it('by a session: an expired one is 401 and its cookie is cleared', async () => {
      service.advance(30 * 60_000)
      const answer = await browser.post(path)
      assertProblem(answer, 401, 'authentication-required')
      assert.deepEqual(answer.setCookies, [cleared])
    })

    const foreign: Record<string, string>[] = [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
    ]
    for (const headers of foreign) {
      it(`and no foreign form signs a user out: ${JSON.stringify(headers)}`, async () => {
        const id = idOf(browser)
        const refused = await browser.post(path, undefined, headers)
        assertProblem(refused, 403, 'cross-site-request')
        assert.deepEqual(refused.setCookies, [])
        assert.equal(await isSignedIn(id), true)
        const stale = await browserWith('A'.repeat(43)).post(path, undefined, headers)
        assertProblem(stale, 401, 'authentication-required')
        assert.deepEqual(stale.setCookies, [])
      })
    }
  })
})

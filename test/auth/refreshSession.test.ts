// engine: both
import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { grantRoles, newUser, signIn } from '../support/accounts.ts'
import { assertCookieSet, sessionCookie, sessionOf } from '../support/client.ts'
import { assertProblem } from '../support/problem.ts'
import { setUp, testService } from '../support/service.ts'

const path = '/v1/auth/session/refresh'
const minute = 60_000

describe('refreshSession', () => {
  const service = testService()
  const user = setUp(() => newUser(service), beforeEach)
  const browser = setUp(() => signIn(service, user), beforeEach)

  /** A tab that still sends an earlier id of the same session. */
  const tabWith = (id: string) => browser.withSession(id)
  const statusOf = async (id: string) => (await tabWith(id).get('/v1/auth/me')).status

  async function idCount(): Promise<number> {
    const rows = await service.db.read
      .selectFrom('session_ids')
      .innerJoin('sessions', 'sessions.id', 'session_ids.session_id')
      .select('id_hash')
      .where('principal_id', '=', user.id)
      .execute()
    return rows.length
  }

  describe('succeeds', () => {
    it('gives a new id in the same kind of cookie, and the user', async () => {
      const before = sessionOf(browser)
      const answer = await browser.post(path)
      assert.equal(answer.status, 200)
      const { id, userName, email } = user
      assert.deepEqual(answer.body, { id, userName, email, roles: ['Operator'] })
      assertCookieSet(answer, sessionCookie)
      assert.notEqual(sessionOf(browser), before)
      assert.equal((await browser.get('/v1/auth/me')).status, 200)
    })

    it('answers 204 with the cookie for Prefer: return=minimal', async () => {
      const before = sessionOf(browser)
      const answer = await browser.post(path, undefined, { prefer: 'return=minimal' })
      assert.equal(answer.status, 204)
      assert.equal(answer.text, '')
      assert.equal(answer.headers.get('preference-applied'), 'return=minimal')
      assert.notEqual(sessionOf(browser), before)
    })

    it('uses the current roles, which until then were those of the login', async () => {
      await grantRoles(service, user, ['Admin'])
      assert.deepEqual((await browser.get('/v1/auth/me')).body.roles, ['Operator'])
      assert.deepEqual((await browser.post(path)).body.roles, ['Admin', 'Operator'])
      assert.deepEqual((await browser.get('/v1/auth/me')).body.roles, ['Admin', 'Operator'])
    })

    it('keeps the presented id working for exactly 30 more seconds', async () => {
      const old = sessionOf(browser)
      await browser.post(path)
      service.advance(29_000)
      assert.equal(await statusOf(old), 200)
      service.advance(1_000)
      assert.equal(await statusOf(old), 401)
      assert.equal(await statusOf(sessionOf(browser)), 200)
    })

    it('gives a new id for a retired one, without extending its 30 seconds', async () => {
      const old = sessionOf(browser)
      await browser.post(path)
      service.advance(20_000)
      const tab = tabWith(old)
      assert.equal((await tab.post(path)).status, 200)
      assert.equal(new Set([old, sessionOf(browser), sessionOf(tab)]).size, 3)
      service.advance(10_000)
      const statuses = await Promise.all([old, sessionOf(browser), sessionOf(tab)].map(statusOf))
      assert.deepEqual(statuses, [401, 200, 200])
    })

    it('allows at most eight ids: a ninth ends the oldest at once', async () => {
      const first = sessionOf(browser)
      const siblings: string[] = []
      for (let made = 2; made <= 8; made += 1) {
        const tab = tabWith(first)
        assert.equal((await tab.post(path)).status, 200)
        siblings.push(sessionOf(tab))
      }
      assert.deepEqual(await Promise.all([first, ...siblings].map(statusOf)), Array(8).fill(200))
      const tab = tabWith(siblings[6] ?? '')
      assert.equal((await tab.post(path)).status, 200)
      assert.deepEqual(await Promise.all([first, ...siblings, sessionOf(tab)].map(statusOf)), [
        401,
        ...Array(8).fill(200),
      ])
      assertProblem(await tabWith(first).post(path), 401, 'authentication-required')
    })

    it('works any number of times: ids that no longer work are removed first', async () => {
      const sibling = tabWith(sessionOf(browser))
      await sibling.post(path)
      await browser.post(path)
      for (let made = 0; made < 20; made += 1) {
        service.advance(31_000)
        assert.equal((await browser.post(path)).status, 200)
      }
      assert.equal(await statusOf(sessionOf(sibling)), 200)
      assert.equal(await idCount(), 3)
    })

    it('postpones the idle end, even within a minute of the last use', async () => {
      service.advance(30_000)
      const earliest = service.now()
      const { headers } = await browser.post(path)
      const idleEnd = Date.parse(headers.get('session-idle-expires') ?? '')
      assert.ok(idleEnd >= earliest + 30 * minute, `${idleEnd - earliest}`)
      service.advance(29 * minute + 50_000)
      assert.equal((await browser.get('/v1/auth/me')).status, 200)
    })

    it('never extends the absolute end', async () => {
      const end = (await browser.get('/v1/auth/me')).headers.get('session-expires')
      for (let turn = 0; turn < 19; turn += 1) {
        service.advance(25 * minute)
        const answer = await browser.post(path)
        assert.equal(answer.headers.get('session-expires'), end)
      }
      assert.equal((await browser.get('/v1/auth/me')).headers.get('session-idle-expires'), end)
      service.advance(5 * minute)
      assertProblem(await browser.post(path), 401, 'authentication-required')
    })
  })

  it('ignores a JSON body', async () => {
    assert.deepEqual((await browser.post(path, { roles: ['Admin'] })).body.roles, ['Operator'])
  })

  it('creates no id if it is refused, and does not retire the presented one', async () => {
    const refused = await browser.post(path, undefined, { 'sec-fetch-site': 'cross-site' })
    assertProblem(refused, 403, 'cross-site-request')
    assert.deepEqual(refused.setCookies, [])
    assert.equal(await idCount(), 1)
    service.advance(31_000)
    assert.equal((await browser.get('/v1/auth/me')).status, 200)
  })
})

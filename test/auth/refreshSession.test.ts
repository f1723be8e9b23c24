import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { grantRoles, newUser, signIn, type TestUser } from '../support/accounts.ts'
import type { Client } from '../support/client.ts'
import { assertProblem } from '../support/problem.ts'
import { testService } from '../support/service.ts'

const path = '/v1/auth/session/refresh'
const sessionCookie = '__Host-Http-session'
const minute = 60_000

describe('refreshSession', () => {
  const service = testService()
  let user: TestUser
  let browser: Client
  beforeEach(async () => {
    user = await newUser(service)
    browser = await signIn(service, user)
  })

  const idOf = (client: Client) => client.cookies.get(sessionCookie) ?? ''
  /** A tab that still sends an earlier id of the same session. */
  function tabWith(id: string): Client {
    const tab = browser.copy()
    tab.cookies.set(sessionCookie, id)
    return tab
  }
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
    it('with a new id in the same kind of cookie, and the user', async () => {
      const before = idOf(browser)
      const answer = await browser.post(path)
      assert.equal(answer.status, 200)
      const { id, userName, email } = user
      assert.deepEqual(answer.body, { id, userName, email, roles: ['Operator'] })
      assert.equal(answer.setCookies.length, 1)
      const [pair = '', ...attributes] = (answer.setCookies[0] ?? '').split('; ')
      assert.match(pair, /^__Host-Http-session=[A-Za-z0-9_-]{43}$/)
      assert.deepEqual(attributes.sort(), ['HttpOnly', 'Path=/', 'SameSite=Strict', 'Secure'])
      assert.notEqual(idOf(browser), before)
      assert.equal((await browser.get('/v1/auth/me')).status, 200)
    })

    it('with 204 and the cookie for Prefer: return=minimal', async () => {
      const before = idOf(browser)
      const answer = await browser.post(path, undefined, { prefer: 'return=minimal' })
      assert.equal(answer.status, 204)
      assert.equal(answer.text, '')
      assert.equal(answer.headers.get('preference-applied'), 'return=minimal')
      assert.notEqual(idOf(browser), before)
    })

    it('with the current roles, which until then were those of the login', async () => {
      await grantRoles(service, user, ['Admin'])
      assert.deepEqual((await browser.get('/v1/auth/me')).body.roles, ['Operator'])
      assert.deepEqual((await browser.post(path)).body.roles, ['Admin', 'Operator'])
      assert.deepEqual((await browser.get('/v1/auth/me')).body.roles, ['Admin', 'Operator'])
    })

    it('leaving the presented id for exactly 30 more seconds', async () => {
      const old = idOf(browser)
      await browser.post(path)
      service.advance(29_000)
      assert.equal(await statusOf(old), 200)
      service.advance(1_000)
      assert.equal(await statusOf(old), 401)
      assert.equal(await statusOf(idOf(browser)), 200)
    })

    it('with another id for one in its last 30 seconds, without prolonging these', async () => {
      const old = idOf(browser)
      await browser.post(path)
      service.advance(20_000)
      const tab = tabWith(old)
      assert.equal((await tab.post(path)).status, 200)
      assert.equal(new Set([old, idOf(browser), idOf(tab)]).size, 3)
      service.advance(10_000)
      const statuses = await Promise.all([old, idOf(browser), idOf(tab)].map(statusOf))
      assert.deepEqual(statuses, [401, 200, 200])
    })

    it('with at most eight ids: a ninth retires the oldest at once', async () => {
      const first = idOf(browser)
      const siblings: string[] = []
      for (let made = 2; made <= 8; made += 1) {
        const tab = tabWith(first)
        assert.equal((await tab.post(path)).status, 200)
        siblings.push(idOf(tab))
      }
      assert.deepEqual(await Promise.all([first, ...siblings].map(statusOf)), Array(8).fill(200))
      const tab = tabWith(siblings[6] ?? '')
      assert.equal((await tab.post(path)).status, 200)
      assert.deepEqual(await Promise.all([first, ...siblings, idOf(tab)].map(statusOf)), [
        401,
        ...Array(8).fill(200),
      ])
      assertProblem(await tabWith(first).post(path), 401, 'authentication-required')
    })

    it('any number of times: ids that no longer work make room first', async () => {
      const sibling = tabWith(idOf(browser))
      await sibling.post(path)
      await browser.post(path)
      for (let made = 0; made < 20; made += 1) {
        service.advance(31_000)
        assert.equal((await browser.post(path)).status, 200)
      }
      assert.equal(await statusOf(idOf(sibling)), 200)
      assert.equal(await idCount(), 3)
    })

    it('postponing the idle end, even within a minute of the last use', async () => {
      service.advance(30_000)
      const earliest = service.now()
      const { headers } = await browser.post(path)
      const idleEnd = Date.parse(headers.get('session-idle-expires') ?? '')
      assert.ok(idleEnd >= earliest + 30 * minute, `${idleEnd - earliest}`)
      service.advance(29 * minute + 50_000)
      assert.equal((await browser.get('/v1/auth/me')).status, 200)
    })

    it('never extending the absolute end', async () => {
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

  describe('rejects input', () => {
    it('but ignores a JSON body', async () => {
      assert.deepEqual((await browser.post(path, { roles: ['Admin'] })).body.roles, ['Operator'])
    })
  })

  describe('leaves no trace on failure', () => {
    it('a refused refresh makes no id and does not retire the presented one', async () => {
      const refused = await browser.post(path, undefined, { 'sec-fetch-site': 'cross-site' })
      assertProblem(refused, 403, 'cross-site-request')
      assert.deepEqual(refused.setCookies, [])
      assert.equal(await idCount(), 1)
      service.advance(31_000)
      assert.equal((await browser.get('/v1/auth/me')).status, 200)
    })
  })
})

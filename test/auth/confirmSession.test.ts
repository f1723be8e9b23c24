import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { newUser, setEnabled, signIn } from '../support/accounts.ts'
import { assertCookieSet, sessionCookie, sessionOf } from '../support/client.ts'
import { assertProblem } from '../support/problem.ts'
import { setUp, testService } from '../support/service.ts'

const path = '/v1/auth/session/confirm'
const minute = 60_000
const wrong = 'not the password of anybody'

describe('confirmSession', () => {
  const service = testService()
  const user = setUp(() => newUser(service), beforeEach)
  const browser = setUp(() => signIn(service, user), beforeEach)

  const confirm = (password = user.password, from = browser) => from.post(path, { password })

  describe('succeeds', () => {
    it('answers 204 with a new id in the same kind of cookie (ASVS 5.0 7.2.4)', async () => {
      const before = sessionOf(browser)
      const answer = await confirm()
      assert.equal(answer.status, 204)
      assert.equal(answer.text, '')
      assertCookieSet(answer, sessionCookie)
      assert.notEqual(sessionOf(browser), before)
      assert.equal((await browser.get('/v1/auth/me')).status, 200)
    })

    it('keeps the replaced id working for 30 seconds, for other tabs', async () => {
      const tab = browser.copy()
      await confirm()
      service.advance(29_000)
      assert.equal((await tab.get('/v1/auth/me')).status, 200)
      service.advance(1_000)
      assertProblem(await tab.get('/v1/auth/me'), 401, 'authentication-required')
    })

    it('counts as a use of the session, whose absolute end stays', async () => {
      const ends = (await browser.get('/v1/auth/me')).headers.get('session-expires')
      service.advance(20 * minute)
      const { headers } = await confirm()
      assert.equal(headers.get('session-expires'), ends)
      const idle = new Date(service.now() + 30 * minute).toISOString()
      assert.equal(headers.get('session-idle-expires'), idle)
    })

    it('keeps the antiforgery token', async () => {
      await confirm()
      assert.equal((await browser.post('/v1/orders', { customer: 'Acme', total: 1 })).status, 201)
    })
  })

  describe('rejects', () => {
    it('answers 403 to a wrong password, not 401, because the session is good and stays', async () => {
      const before = sessionOf(browser)
      const answer = await confirm(wrong)
      assertProblem(answer, 403, 'wrong-password')
      assert.deepEqual(answer.setCookies, [])
      assert.equal(sessionOf(browser), before)
      assert.equal((await browser.get('/v1/auth/me')).status, 200)
    })

    it('refuses the password of another user', async () => {
      const other = await newUser(service, { password: 'another harbour in the evening' })
      assertProblem(await confirm(other.password), 403, 'wrong-password')
    })

    it('refuses a body without a password, or with an impossible one', async () => {
      for (const body of [{}, { password: '' }, { password: 'x'.repeat(257) }, { password: 1 }]) {
        assertProblem(await browser.post(path, body), 400, 'validation-failed')
      }
    })
  })

  describe('waits like a sign-in', () => {
    it('after five wrong passwords, even for a right sixth one, until the wait is over', async () => {
      for (let turn = 0; turn < 5; turn += 1) assertProblem(await confirm(wrong), 403, 'wrong-password')
      const answer = await confirm()
      assertProblem(answer, 429, 'too-many-attempts')
      assert.equal(answer.headers.get('retry-after'), '1')
      service.advance(1_000)
      assert.equal((await confirm()).status, 204)
    })

    it('shares the count of failed sign-ins: neither avoids the waits of the other', async () => {
      const guess = () => service.client().post('/v1/auth/token', { ...user.credentials, password: wrong })
      for (let turn = 0; turn < 3; turn += 1) assertProblem(await guess(), 401, 'invalid-credentials')
      for (let turn = 0; turn < 2; turn += 1) assertProblem(await confirm(wrong), 403, 'wrong-password')
      assertProblem(await guess(), 429, 'too-many-attempts')
      assertProblem(await confirm(), 429, 'too-many-attempts')
    })

    it('tries only five of 50 wrong passwords sent at once', async () => {
      const answers = await Promise.all(Array.from({ length: 50 }, () => confirm(wrong)))
      const refused = answers.filter(({ status }) => status === 403)
      assert.equal(refused.length, 5)
      assert.equal(answers.filter(({ status }) => status === 429).length, 45)
    })
  })

  it('creates no id if the user is disabled first', async () => {
    const [answer] = await Promise.all([confirm(), setEnabled(service, user, false)])
    assert.ok([204, 401, 403].includes(answer.status), answer.text)
    assertProblem(await browser.get('/v1/auth/me'), 401, 'authentication-required')
  })
})

import assert from 'node:assert/strict'
import { before, beforeEach, describe, it } from 'node:test'
import {
  everyCredentialOf,
  liveCredentials,
  newLink,
  newUser,
  refresh,
  signIn,
  storedCredentials,
  type TestUser,
  tokenPair,
} from '../support/accounts.ts'
import { accountEvents } from '../support/administration.ts'
import type { Answer, Client } from '../support/client.ts'
import { assertInvalid, assertProblem } from '../support/problem.ts'
import { testService } from '../support/service.ts'

const path = '/v1/auth/password'
const newPassword = 'seven grey herons by the weir'
const wrong = 'not the password of anybody'
const minute = 60_000

describe('changePassword', () => {
  const service = testService()
  let user: TestUser
  let browser: Client
  const newcomer = async () => {
    user = await newUser(service)
    browser = await signIn(service, user)
  }

  const change = (from = browser, passwords: object = {}) =>
    from.post(path, { currentPassword: user.password, newPassword, ...passwords })
  const signInWith = (password: string) =>
    service.client().post('/v1/auth/token', { email: user.email, password })

  /** One change for all tests: judging a new password takes a third of a second. */
  describe('succeeds', () => {
    let others: Awaited<ReturnType<typeof everyCredentialOf>>
    let thief: Client
    let token: string
    let answer: Answer
    let left: { sessions: number; families: number }
    let logged: Record<string, unknown>[]
    before(async () => {
      await newcomer()
      others = await everyCredentialOf(service, user)
      thief = browser.copy()
      token = await newLink(service, user)
      service.advance(10 * minute)
      const wasLogged = (await service.log()).length
      answer = await change()
      left = await liveCredentials(service, user)
      logged = (await service.log()).slice(wasLogged)
    })

    it('leaves one event and one line in the log, neither with a password', async () => {
      const data = { name: user.userName }
      const event = { kind: 'password-changed', byId: user.id, data }
      assert.deepEqual((await accountEvents(service, user.id)).at(-1), event)
      assert.ok(logged.some(({ event, flow }) => event === 'signed-in' && flow === 'password-change'))
    })

    it('answers 204: the new password signs in, the old one no longer does', async () => {
      assert.equal(answer.status, 204)
      assert.equal(answer.text, '')
      assert.equal((await signInWith(newPassword)).status, 200)
      assertProblem(await signInWith(user.password), 401, 'invalid-credentials')
      assert.ok(!(await storedCredentials(service)).includes(newPassword))
    })

    it('ends all other sign-ins, while this session continues with a new id only (ASVS 5.0 7.4.3, 7.2.4)', async () => {
      assert.deepEqual(left, { sessions: 1, families: 0 })
      for (const caller of [others.browser, thief]) {
        assertProblem(await caller.get('/v1/auth/me'), 401, 'authentication-required')
      }
      assert.equal((await browser.get('/v1/auth/me')).status, 200)
      assert.equal((await browser.post('/v1/orders', { customer: 'Acme', total: 1 })).status, 201)
    })

    it('counts as a recent sign-in', async () => {
      assert.equal((await browser.send('DELETE', '/v1/auth/sessions')).status, 204)
    })

    it('voids an unused one-time link', async () => {
      const used = await service
        .client()
        .post('/v1/auth/links/use', { token, newPassword: 'another harbour in the evening' })
      assertProblem(used, 404, 'link-not-found')
    })
  })

  describe('with an access token', () => {
    beforeEach(newcomer)

    it('keeps its family, which gets new access tokens', async () => {
      const pair = await tokenPair(service, user)
      assert.equal((await change(service.client().withBearer(pair.accessToken))).status, 204)
      assert.deepEqual(await liveCredentials(service, user), { sessions: 0, families: 1 })
      const { status, body } = await service.client().post('/v1/auth/token/refresh', pair)
      assert.equal(status, 200)
      const app = service.client().withBearer(body.accessToken)
      assert.equal((await app.get('/v1/auth/me')).status, 200)
    })
  })

  describe('rejects', () => {
    beforeEach(newcomer)

    it('answers 403 to a wrong current password (ASVS 5.0 6.2.3), and changes nothing', async () => {
      assertProblem(await change(browser, { currentPassword: wrong }), 403, 'wrong-password')
      assert.equal((await signInWith(user.password)).status, 200)
    })

    it('refuses a new password that breaks the rules, and says which', async () => {
      for (const [password, said] of [
        ['x'.repeat(14), /15 to 256 characters/],
        [`${user.password}!`, /common/],
      ] as const) {
        const answer = await change(browser, { newPassword: password })
        assertProblem(answer, 400, 'validation-failed')
        assert.equal(answer.body.errors[0].pointer, '#/newPassword')
        assert.match(answer.body.errors[0].detail, said)
      }
      assert.equal((await signInWith(user.password)).status, 200)
    })

    it('refuses a body without either password', async () => {
      const answer = await browser.post(path, {})
      assertInvalid(answer, ['#/newPassword'])
      const without = await browser.post(path, { newPassword: 'eleven slow barges at noon' })
      assertInvalid(without, ['#/currentPassword'])
    })

    it('delays guesses at the current password like failed sign-ins', async () => {
      const guess = () => change(browser, { currentPassword: wrong })
      for (let turn = 0; turn < 5; turn += 1) assertProblem(await guess(), 403, 'wrong-password')
      const waiting = await change()
      assertProblem(waiting, 429, 'too-many-attempts')
      assert.equal(waiting.headers.get('retry-after'), '1')
      assertProblem(await signInWith(user.password), 429, 'too-many-attempts')
    })
  })

  describe('conflicts', () => {
    beforeEach(newcomer)

    it('accepts one of two changes from different sessions, and its password counts', async () => {
      const other = await signIn(service, user)
      const passwords = [newPassword, 'another harbour in the evening']
      const answers = await Promise.all([
        change(browser, { newPassword: passwords[0] }),
        change(other, { newPassword: passwords[1] }),
      ])
      const statuses = answers.map(({ status }) => status)
      assert.equal(statuses.filter((status) => status === 204).length, 1)
      assert.ok(
        statuses.every((status) => [204, 401, 403].includes(status)),
        String(statuses),
      )
      assert.equal((await signInWith(passwords[statuses.indexOf(204)] ?? '')).status, 200)
      assert.equal((await liveCredentials(service, user)).sessions, 1)
    })

    it('leaves no other session or family, even if refreshes are in progress', async () => {
      const other = await signIn(service, user)
      const theirs = await tokenPair(service, user)
      const [changed, refreshed, rotated] = await Promise.all([
        change(),
        other.post('/v1/auth/session/refresh'),
        refresh(service, theirs.refreshToken),
      ])
      assert.equal(changed.status, 204)
      assert.ok([200, 401].includes(refreshed.status) && [200, 401].includes(rotated.status))
      assert.deepEqual(await liveCredentials(service, user), { sessions: 1, families: 0 })
      assertProblem(await other.get('/v1/auth/me'), 401, 'authentication-required')
      assert.equal((await browser.get('/v1/auth/me')).status, 200)
    })

    it('keeps the newest token of the continuing family working after a simultaneous refresh', async () => {
      const pair = await tokenPair(service, user)
      const [changed, rotated] = await Promise.all([
        change(service.client().withBearer(pair.accessToken)),
        service.client().post('/v1/auth/token/refresh', pair),
      ])
      assert.equal(changed.status, 204)
      const newest = rotated.status === 200 ? rotated.body : pair
      assert.equal((await service.client().post('/v1/auth/token/refresh', newest)).status, 200)
    })
  })
})

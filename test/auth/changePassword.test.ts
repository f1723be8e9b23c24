import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import {
  eventsOf,
  everyCredentialOf,
  liveCredentials,
  newLink,
  newUser,
  signIn,
  storedCredentials,
  type TestUser,
  tokenPair,
} from '../support/accounts.ts'
import type { Client } from '../support/client.ts'
import { assertInvalid, assertProblem } from '../support/problem.ts'
import { sharedService } from '../support/shared-service.ts'

const path = '/v1/auth/password'
const newPassword = 'seven grey herons by the weir'
const wrong = 'not the password of anybody'
const minute = 60_000

describe('changePassword', () => {
  const service = sharedService()
  let user: TestUser
  let browser: Client
  beforeEach(async () => {
    user = await newUser(service)
    browser = await signIn(service, user)
  })

  const change = (from = browser, passwords: object = {}) =>
    from.post(path, { currentPassword: user.password, newPassword, ...passwords })
  const signInWith = (password: string) =>
    service.client().post('/v1/auth/token', { email: user.email, password })

  it('keeps nobody else waiting, however many somebody has judged', async () => {
    const weak = { newPassword: 'p@$$'.repeat(16) }
    const other = await signIn(service, await newUser(service))
    const answers: number[] = []
    const many = Array.from({ length: 20 }, async () => answers.push((await change(browser, weak)).status))
    await Promise.race(many)
    while (!answers.includes(503)) await Promise.race([setTimeout(5), Promise.all(many)])
    assert.equal((await change(other)).status, 204)
    assert.ok(answers.length < 20)
    await Promise.all(many)
    assert.ok(answers.every((status) => status === 400 || status === 503))
  })

  describe('succeeds', () => {
    it('with 204: the new password signs in, the old one no longer', async () => {
      const answer = await change()
      assert.equal(answer.status, 204)
      assert.equal(answer.text, '')
      assert.equal((await signInWith(newPassword)).status, 200)
      assertProblem(await signInWith(user.password), 401, 'invalid-credentials')
      assert.ok(!(await storedCredentials(service)).includes(newPassword))
    })

    it('ending all others, while this session goes on with a new id alone (ASVS 5.0 7.4.3, 7.2.4)', async () => {
      const others = await everyCredentialOf(service, user)
      const thief = browser.copy()
      assert.equal((await change()).status, 204)
      assert.deepEqual(await liveCredentials(service, user), { sessions: 1, families: 0 })
      for (const caller of [others.browser, thief]) {
        assertProblem(await caller.get('/v1/auth/me'), 401, 'authentication-required')
      }
      assert.equal((await browser.get('/v1/auth/me')).status, 200)
      assert.equal((await browser.post('/v1/orders', { customer: 'Acme', total: 1 })).status, 201)
    })

    it('as a recent sign-in', async () => {
      service.advance(10 * minute)
      await change()
      assert.equal((await browser.send('DELETE', '/v1/auth/sessions')).status, 204)
    })

    it('by tokens: their family goes on, with other access tokens', async () => {
      const pair = await tokenPair(service, user)
      assert.equal((await change(service.client().withBearer(pair.accessToken))).status, 204)
      assert.deepEqual(await liveCredentials(service, user), { sessions: 0, families: 1 })
      const { status, body } = await service.client().post('/v1/auth/token/refresh', pair)
      assert.equal(status, 200)
      const app = service.client().withBearer(body.accessToken)
      assert.equal((await app.get('/v1/auth/me')).status, 200)
    })

    it('and voids a one-time link that is about', async () => {
      const link = await newLink(service, user)
      await change()
      const answer = await service.client().post(link.path, { newPassword: 'another harbour in the evening' })
      assertProblem(answer, 404, 'link-not-found')
    })

    it('leaving one event, and a line of the log, neither with a password', async () => {
      const wasLogged = (await service.log()).length
      await change()
      const { kind, by_id, data } = (await eventsOf(service, user)).at(-1) ?? {}
      const expected = {
        kind: 'password-changed',
        by_id: user.id,
        data: JSON.stringify({ name: user.userName }),
      }
      assert.deepEqual({ kind, by_id, data }, expected)
      const lines = (await service.log()).slice(wasLogged)
      assert.ok(lines.some(({ event, flow }) => event === 'signed-in' && flow === 'password-change'))
    })
  })

  describe('rejects', () => {
    it('a wrong current password (ASVS 5.0 6.2.3): 403, and nothing changes', async () => {
      assertProblem(await change(browser, { currentPassword: wrong }), 403, 'wrong-password')
      assert.equal((await signInWith(user.password)).status, 200)
    })

    it('a new password that breaks the rules, and says which', async () => {
      for (const [password, said] of [
        ['x'.repeat(14), /15 to 256 characters/],
        ['password password password', /common/],
        [`${user.password}!`, /common/],
        [user.password, /common/],
      ] as const) {
        const answer = await change(browser, { newPassword: password })
        assertProblem(answer, 400, 'validation-failed')
        assert.equal(answer.body.errors[0].pointer, '#/newPassword')
        assert.match(answer.body.errors[0].detail, said)
      }
      assert.equal((await signInWith(user.password)).status, 200)
    })

    it('a body without either', async () => {
      const answer = await browser.post(path, {})
      assertInvalid(answer, ['#/currentPassword', '#/newPassword'])
    })

    it('guesses at the current password, by the waits of sign-ins', async () => {
      const guess = () => change(browser, { currentPassword: wrong })
      for (let turn = 0; turn < 5; turn += 1) assertProblem(await guess(), 403, 'wrong-password')
      const waiting = await change()
      assertProblem(waiting, 429, 'too-many-attempts')
      assert.equal(waiting.headers.get('retry-after'), '1')
      assertProblem(await signInWith(user.password), 429, 'too-many-attempts')
    })
  })

  describe('conflicts', () => {
    it('with another change from another session: one is 204, and its password holds', async () => {
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

    it('with refreshes under way: no other session or family survives, whoever came first', async () => {
      for (let turn = 0; turn < 5; turn += 1) {
        user = await newUser(service)
        browser = await signIn(service, user)
        const other = await signIn(service, user)
        const theirs = await tokenPair(service, user)
        const [changed, refreshed, rotated] = await Promise.all([
          change(),
          other.post('/v1/auth/session/refresh'),
          service.client().post('/v1/auth/token/refresh', theirs),
        ])
        assert.equal(changed.status, 204)
        assert.ok([200, 401].includes(refreshed.status) && [200, 401].includes(rotated.status))
        assert.deepEqual(await liveCredentials(service, user), { sessions: 1, families: 0 })
        assertProblem(await other.get('/v1/auth/me'), 401, 'authentication-required')
        assert.equal((await browser.get('/v1/auth/me')).status, 200)
      }
    })

    it('with a refresh of the very family that goes on: its newest token serves on', async () => {
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

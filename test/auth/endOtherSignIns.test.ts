import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import {
  eventsOf,
  everyCredentialOf,
  liveCredentials,
  newUser,
  refresh,
  signIn,
  type TestUser,
  tokenPair,
} from '../support/accounts.ts'
import type { Client } from '../support/client.ts'
import { assertProblem } from '../support/problem.ts'
import { testService } from '../support/service.ts'

const path = '/v1/auth/sessions'
const minute = 60_000

describe('endOtherSignIns', () => {
  const service = testService()
  let user: TestUser
  let browser: Client
  beforeEach(async () => {
    user = await newUser(service)
    browser = await signIn(service, user)
  })

  const endOthers = (from = browser) => from.send('DELETE', path)

  describe('succeeds', () => {
    it('with 204: this session continues, all others and all tokens end', async () => {
      const others = await everyCredentialOf(service, user)
      assert.equal((await endOthers()).status, 204)
      assert.deepEqual(await liveCredentials(service, user), { sessions: 1, families: 0 })
      assertProblem(await others.browser.get('/v1/auth/me'), 401, 'authentication-required')
      assertProblem(await refresh(service, others.refreshToken), 401, 'invalid-refresh-token')
      service.advance(5 * minute)
      assertProblem(await others.bearer.get('/v1/auth/me'), 401, 'authentication-required')
      assert.equal((await browser.get('/v1/auth/me')).status, 200)
    })

    it('and leaves the session a new id only: a copied one no longer works, in any order', async () => {
      const [thief, sibling] = [browser.copy(), browser.copy()]
      await sibling.post('/v1/auth/session/refresh')
      const answer = await endOthers()
      assert.match(
        answer.setCookies.join(),
        /^__Host-Http-session=[A-Za-z0-9_-]{43}; Path=\/; Secure; HttpOnly/,
      )
      for (const each of [thief, sibling]) {
        assertProblem(await each.get('/v1/auth/me'), 401, 'authentication-required')
        assertProblem(await each.post('/v1/auth/session/refresh'), 401, 'authentication-required')
      }
      assert.equal((await browser.post('/v1/orders', { customer: 'Acme', total: 1 })).status, 201)
    })

    it('by tokens: their family continues', async () => {
      const pair = await tokenPair(service, user)
      assert.equal((await endOthers(service.client().withBearer(pair.accessToken))).status, 204)
      assert.deepEqual(await liveCredentials(service, user), { sessions: 0, families: 1 })
      const { status, body } = await service.client().post('/v1/auth/token/refresh', pair)
      assert.equal(status, 200)
      const app = service.client().withBearer(body.accessToken)
      assert.equal((await app.get('/v1/auth/me')).status, 200)
    })

    it('and leaves one event', async () => {
      await endOthers()
      const { kind, by_id } = (await eventsOf(service, user)).at(-1) ?? {}
      assert.deepEqual({ kind, by_id }, { kind: 'others-signed-out', by_id: user.id })
    })

    it('without making the sign-in more recent than it was', async () => {
      service.advance(4 * minute)
      assert.equal((await endOthers()).status, 204)
      service.advance(minute)
      assertProblem(await endOthers(), 403, 'recent-sign-in-needed')
    })
  })

  describe('conflicts', () => {
    it('with the same from another session: one continues, the other ends', async () => {
      const other = await signIn(service, user)
      const answers = await Promise.all([endOthers(), endOthers(other)])
      assert.deepEqual(answers.map(({ status }) => status).sort(), [204, 401])
      assert.deepEqual(await liveCredentials(service, user), { sessions: 1, families: 0 })
    })

    it('with a sign-in: what it makes works, or nothing is made', async () => {
      const [, signedIn] = await Promise.all([
        endOthers(),
        service.client().post('/v1/auth/token', user.credentials),
      ])
      assert.ok([200, 401].includes(signedIn.status))
      assert.deepEqual((await liveCredentials(service, user)).sessions, 1)
    })
  })
})

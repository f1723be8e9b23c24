import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import {
  everyCredentialOf,
  liveCredentials,
  newUser,
  refresh,
  signIn,
  tokenPair,
} from '../support/accounts.ts'
import { accountEvents } from '../support/administration.ts'
import { assertProblem } from '../support/problem.ts'
import { setUp, testService } from '../support/service.ts'

const path = '/v1/auth/sessions'
const minute = 60_000

describe('endOtherSignIns', () => {
  const service = testService()
  const user = setUp(() => newUser(service), beforeEach)
  const browser = setUp(() => signIn(service, user), beforeEach)

  const endOthers = (from = browser) => from.send('DELETE', path)

  describe('succeeds', () => {
    it('answers 204: this session continues, all others and all tokens end', async () => {
      const others = await everyCredentialOf(service, user)
      assert.equal((await endOthers()).status, 204)
      assert.deepEqual(await liveCredentials(service, user), { sessions: 1, families: 0 })
      assertProblem(await others.browser.get('/v1/auth/me'), 401, 'authentication-required')
      assertProblem(await refresh(service, others.refreshToken), 401, 'invalid-refresh-token')
      service.advance(5 * minute)
      assertProblem(await others.bearer.get('/v1/auth/me'), 401, 'authentication-required')
      assert.equal((await browser.get('/v1/auth/me')).status, 200)
    })

    it('leaves the session only a new id: a copy of an old id no longer works, in any order', async () => {
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

    it('continues the family of the caller’s token', async () => {
      const pair = await tokenPair(service, user)
      assert.equal((await endOthers(service.client().withBearer(pair.accessToken))).status, 204)
      assert.deepEqual(await liveCredentials(service, user), { sessions: 0, families: 1 })
      const { status, body } = await service.client().post('/v1/auth/token/refresh', pair)
      assert.equal(status, 200)
      const app = service.client().withBearer(body.accessToken)
      assert.equal((await app.get('/v1/auth/me')).status, 200)
    })

    it('leaves one event, and none if there is nothing left to end', async () => {
      const other = await everyCredentialOf(service, user)
      for (let time = 1; time <= 3; time += 1) assert.equal((await endOthers()).status, 204)
      const events = await accountEvents(service, user.id)
      const ended = events.filter(({ kind }) => kind === 'others-signed-out')
      assert.deepEqual(ended, [{ kind: 'others-signed-out', byId: user.id, data: { name: user.userName } }])
      await signIn(service, user)
      assert.equal((await endOthers()).status, 204)
      assert.equal((await accountEvents(service, user.id)).at(-1)?.kind, 'others-signed-out')
      assertProblem(await other.browser.get('/v1/auth/me'), 401, 'authentication-required')
    })

    it('does not make the sign-in more recent than it was', async () => {
      service.advance(4 * minute)
      assert.equal((await endOthers()).status, 204)
      service.advance(minute)
      assertProblem(await endOthers(), 403, 'recent-sign-in-needed')
    })
  })

  describe('conflicts', () => {
    it('leaves one of two sessions that each end the other', async () => {
      const other = await signIn(service, user)
      const answers = await Promise.all([endOthers(), endOthers(other)])
      assert.deepEqual(answers.map(({ status }) => status).sort(), [204, 401])
      assert.deepEqual(await liveCredentials(service, user), { sessions: 1, families: 0 })
    })

    it('leaves a simultaneous sign-in complete, or lets it create nothing', async () => {
      const [, signedIn] = await Promise.all([
        endOthers(),
        service.client().post('/v1/auth/token', user.credentials),
      ])
      assert.ok([200, 401].includes(signedIn.status))
      assert.deepEqual((await liveCredentials(service, user)).sessions, 1)
    })
  })
})

import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import {
  bearerOf,
  eventsOf,
  everyCredentialOf,
  liveCredentials,
  newUser,
  signIn,
  type TestUser,
  tokenPair,
} from '../support/accounts.ts'
import type { Client } from '../support/client.ts'
import { assertProblem } from '../support/problem.ts'
import { startService, testService } from '../support/service.ts'

const path = '/v1/auth/sessions'
const minute = 60_000

describe('endSignIn', () => {
  const service = testService()
  let user: TestUser
  let browser: Client
  beforeEach(async () => {
    user = await newUser(service)
    browser = await signIn(service, user)
  })

  const end = (id: string, from = browser) => from.send('DELETE', `${path}/${id}`)
  async function idOf(wanted: { kind: string; current?: boolean }, from = browser): Promise<string> {
    const { items } = (await from.get(path)).body
    const found = items.find(
      (item: { kind: string; current: boolean }) =>
        item.kind === wanted.kind && item.current === (wanted.current ?? false),
    )
    return found.id
  }

  describe('succeeds', () => {
    it('with 204: the session stops working at once, with all its ids, on every instance', async (t) => {
      const other = await signIn(service, user)
      const sibling = other.copy()
      await other.post('/v1/auth/session/refresh')
      const instance = await startService({ instanceOf: service, until: t })
      const elsewhere = instance.client()
      for (const [name, value] of other.cookies) elsewhere.cookies.set(name, value)
      assert.equal((await elsewhere.get('/v1/auth/me')).status, 200)
      assert.equal((await end(await idOf({ kind: 'session' }))).status, 204)
      for (const caller of [other, sibling, elsewhere]) {
        assertProblem(await caller.get('/v1/auth/me'), 401, 'authentication-required')
      }
      assert.equal((await browser.get('/v1/auth/me')).status, 200)
    })

    it('for tokens: no refresh at once, and access tokens end within five minutes; other families refresh', async () => {
      const lost = await tokenPair(service, user)
      const id = await idOf({ kind: 'tokens' })
      const kept = await tokenPair(service, user)
      const access = service.client().withBearer(lost.accessToken)
      assert.equal((await access.get('/v1/auth/me')).status, 200)
      assert.equal((await end(id)).status, 204)
      const refreshed = await service.client().post('/v1/auth/token/refresh', lost)
      assertProblem(refreshed, 401, 'invalid-refresh-token')
      service.advance(5 * minute)
      assertProblem(await access.get('/v1/auth/me'), 401, 'authentication-required')
      const { status, body } = await service.client().post('/v1/auth/token/refresh', kept)
      assert.equal(status, 200)
      const fresh = service.client().withBearer(body.accessToken)
      assert.equal((await fresh.get('/v1/auth/me')).status, 200)
    })

    it('for the current session as a sign-out does, with its cookies', async () => {
      const answer = await end(await idOf({ kind: 'session', current: true }))
      assert.equal(answer.status, 204)
      assert.equal(answer.headers.get('session-expires'), null)
      assert.equal(browser.cookies.size, 0)
    })

    it('by tokens as well, while their sign-in is recent', async () => {
      const app = await bearerOf(service, user)
      assert.equal((await end(await idOf({ kind: 'session' }, app), app)).status, 204)
      assertProblem(await browser.get('/v1/auth/me'), 401, 'authentication-required')
    })

    it('leaving an event that names neither', async () => {
      await tokenPair(service, user)
      await end(await idOf({ kind: 'tokens' }))
      const { kind, by_id, data } = (await eventsOf(service, user)).at(-1) ?? {}
      const expected = {
        kind: 'sign-in-ended',
        by_id: user.id,
        data: JSON.stringify({ name: user.userName }),
      }
      assert.deepEqual({ kind, by_id, data }, expected)
    })
  })

  describe('rejects', () => {
    it('what is not there: unknown, already ended, or of another user', async () => {
      await tokenPair(service, user)
      const id = await idOf({ kind: 'tokens' })
      assert.equal((await end(id)).status, 204)
      const stranger = await signIn(service, await newUser(service))
      const theirs = await idOf({ kind: 'session', current: true }, stranger)
      for (const wrong of [id, theirs, 'x', '%00', '%ff', 'U'.repeat(22)]) {
        assertProblem(await end(wrong), 404, 'sign-in-not-found')
      }
      assert.equal((await stranger.get('/v1/auth/me')).status, 200)
    })
  })

  describe('conflicts', () => {
    it('with use of it: each request is answered or 401, and afterwards all are 401', async () => {
      const { browser: used, refreshToken } = await everyCredentialOf(service, user)
      const ids = (await browser.get(path)).body.items.filter(({ current }: { current: boolean }) => !current)
      const order = { customer: 'Acme', total: 1 }
      const [, ...answers] = await Promise.all([
        Promise.all(ids.map(({ id }: { id: string }) => end(id))),
        ...Array.from({ length: 10 }, () => used.post('/v1/orders', order)),
        ...Array.from({ length: 3 }, () => used.post('/v1/auth/session/refresh')),
        service.client().post('/v1/auth/token/refresh', { refreshToken }),
      ])
      assert.deepEqual(
        answers.filter(({ status }) => ![200, 201, 401].includes(status)),
        [],
      )
      assert.deepEqual(await liveCredentials(service, user), { sessions: 1, families: 0 })
      assertProblem(await used.get('/v1/auth/me'), 401, 'authentication-required')
    })

    it('with itself: ten at once give one 204 and nine 404', async () => {
      await tokenPair(service, user)
      const id = await idOf({ kind: 'tokens' })
      const answers = await Promise.all(Array.from({ length: 10 }, () => end(id)))
      const statuses = answers.map(({ status }) => status).sort()
      assert.deepEqual(statuses, [204, ...Array.from({ length: 9 }, () => 404)])
    })
  })
})

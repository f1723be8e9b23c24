import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import {
  bearerOf,
  everyCredentialOf,
  liveCredentials,
  newUser,
  signIn,
  tokenPair,
} from '../support/accounts.ts'
import { accountEvents } from '../support/administration.ts'
import { assertProblem } from '../support/problem.ts'
import { setUp, startService, testService } from '../support/service.ts'

const path = '/v1/auth/sessions'
const minute = 60_000

describe('endSignIn', () => {
  const service = testService()
  const user = setUp(() => newUser(service), beforeEach)
  const browser = setUp(() => signIn(service, user), beforeEach)

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
    it('answers 204: the session stops working at once, with all its ids, on every instance', async (t) => {
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

    it('stops refreshes of a token family at once and its access tokens within five minutes; other families still refresh', async () => {
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

    it('ends the current session like a sign-out, with its cookies', async () => {
      const answer = await end(await idOf({ kind: 'session', current: true }))
      assert.equal(answer.status, 204)
      assert.equal(answer.headers.get('session-expires'), null)
      assert.equal(browser.cookies.size, 0)
    })

    it('works with an access token as well, while its sign-in is recent', async () => {
      const app = await bearerOf(service, user)
      assert.equal((await end(await idOf({ kind: 'session' }, app), app)).status, 204)
      assertProblem(await browser.get('/v1/auth/me'), 401, 'authentication-required')
    })

    it('leaves an event that names neither the session nor the family', async () => {
      await tokenPair(service, user)
      await end(await idOf({ kind: 'tokens' }))
      const data = { name: user.userName }
      const event = { kind: 'sign-in-ended', byId: user.id, data }
      assert.deepEqual((await accountEvents(service, user.id)).at(-1), event)
    })
  })

  it('answers 404 for an unknown sign-in, an ended one, and one of another user', async () => {
    await tokenPair(service, user)
    const id = await idOf({ kind: 'tokens' })
    assert.equal((await end(id)).status, 204)
    const stranger = await signIn(service, await newUser(service))
    const theirs = await idOf({ kind: 'session', current: true }, stranger)
    await signIn(service, user)
    const withOthers = await idOf({ kind: 'session' })
    assert.equal((await browser.send('DELETE', path)).status, 204)
    for (const wrong of [id, withOthers, theirs, 'x', '%00', '%ff', 'U'.repeat(22)]) {
      assertProblem(await end(wrong), 404, 'sign-in-not-found')
    }
    assert.equal((await stranger.get('/v1/auth/me')).status, 200)
  })

  describe('conflicts', () => {
    it('answers a simultaneous request of that sign-in or refuses it with 401, and refuses all later ones', async () => {
      const { browser: used, refreshToken } = await everyCredentialOf(service, user)
      const ids = (await browser.get(path)).body.items.filter(({ current }: { current: boolean }) => !current)
      const order = { customer: 'Acme', total: 1 }
      const [, ...answers] = await Promise.all([
        Promise.all(ids.map(({ id }: { id: string }) => end(id))),
        ...Array.from({ length: 10 }, () => used.post('/v1/orders', order)),
        ...Array.from({ length: 3 }, () => used.post('/v1/auth/session/refresh')),
        service.client().post('/v1/auth/token/refresh', { refreshToken }),
      ])
      const strays = answers.filter(({ status }) => ![200, 201, 401].includes(status))
      assert.deepEqual(strays, [])
      assert.deepEqual(await liveCredentials(service, user), { sessions: 1, families: 0 })
      assertProblem(await used.get('/v1/auth/me'), 401, 'authentication-required')
    })

    it('answers one of ten simultaneous requests with 204 and nine with 404', async () => {
      await tokenPair(service, user)
      const id = await idOf({ kind: 'tokens' })
      const answers = await Promise.all(Array.from({ length: 10 }, () => end(id)))
      const statuses = answers.map(({ status }) => status).sort()
      assert.deepEqual(statuses, [204, ...Array.from({ length: 9 }, () => 404)])
    })
  })
})

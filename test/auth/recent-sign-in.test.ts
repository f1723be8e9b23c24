import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { decodeJwt } from 'jose'
import { buildApp } from '../../server/app.ts'
import { makeLog } from '../../server/log.ts'
import { newClient, newUser, serviceToken, signIn, tokenPair } from '../support/accounts.ts'
import type { Client } from '../support/client.ts'
import { assertProblem } from '../support/problem.ts'
import { changingRoutes } from '../support/routes.ts'
import { type InsideService, setUp, startService } from '../support/service.ts'

const minute = 60_000
/** Any guarded route will do: this one is changed to need a recent sign-in. */
const guarded = '/v1/orders/summary'

describe('a route that needs a recent sign-in', () => {
  let service: InsideService
  const user = setUp(() => newUser(service), beforeEach)
  before(async () => {
    service = await changingRoutes(
      (route) => {
        if (route.url === guarded) route.config = { ...route.config, needsRecentSignIn: true }
      },
      () => startService({ inside: true }),
    )
  })
  after(() => service.close())

  const isLetIn = async (caller: Client) => (await caller.get(guarded)).status === 200
  const assertTooOld = async (caller: Client) =>
    assertProblem(await caller.get(guarded), 403, 'recent-sign-in-needed')
  const confirm = (browser: Client) => browser.post('/v1/auth/session/confirm', { password: user.password })
  const bearerOf = (token: string) => service.client().withBearer(token)

  describe('by cookie', () => {
    it('admits a session for five minutes after the sign-in, to the millisecond', async () => {
      const browser = await signIn(service, user)
      service.advance(5 * minute - 1)
      assert.ok(await isLetIn(browser))
      service.advance(1)
      await assertTooOld(browser)
    })

    it('admits it for five more minutes once the password is given again', async () => {
      const browser = await signIn(service, user)
      service.advance(10 * minute)
      await assertTooOld(browser)
      assert.equal((await confirm(browser)).status, 204)
      service.advance(5 * minute - 1)
      assert.ok(await isLetIn(browser))
      service.advance(1)
      await assertTooOld(browser)
    })

    it('does not admit it after a wrong password, or after a refresh', async () => {
      const browser = await signIn(service, user)
      service.advance(5 * minute)
      await browser.post('/v1/auth/session/confirm', { password: 'not the password of anybody' })
      await assertTooOld(browser)
      assert.equal((await browser.post('/v1/auth/session/refresh')).status, 200)
      await assertTooOld(browser)
    })

    it('admits it after a refresh for as long as before', async () => {
      const browser = await signIn(service, user)
      service.advance(4 * minute)
      await browser.post('/v1/auth/session/refresh')
      assert.ok(await isLetIn(browser))
      service.advance(minute)
      await assertTooOld(browser)
    })

    it('admits the new id only: a copy of the old id gains nothing', async () => {
      const browser = await signIn(service, user)
      service.advance(5 * minute)
      const thief = browser.copy()
      assert.equal((await confirm(browser)).status, 204)
      await assertTooOld(thief)
      assert.equal((await thief.post('/v1/auth/session/refresh')).status, 200)
      await assertTooOld(thief)
      assert.ok(await isLetIn(browser))
    })

    it('refuses it if the sign-in is further in the future than clocks may differ', async () => {
      const browser = await signIn(service, user)
      service.advance(-minute)
      assert.ok(await isLetIn(browser))
      service.advance(-1)
      await assertTooOld(browser)
      service.advance(minute + 1)
    })
  })

  describe('by bearer', () => {
    it('admits tokens of a sign-in in the last five minutes, however often they were rotated', async () => {
      const pair = await tokenPair(service, user)
      service.advance(4 * minute)
      const { body } = await service.client().post('/v1/auth/token/refresh', pair)
      assert.ok(await isLetIn(bearerOf(body.accessToken)))
      // The claim is in whole seconds.
      service.advance(minute)
      await assertTooOld(bearerOf(body.accessToken))
      const { body: later } = await service.client().post('/v1/auth/token/refresh', body)
      await assertTooOld(bearerOf(later.accessToken))
    })

    it('uses the claim auth_time, which rotations keep, as they keep sid', async () => {
      const pair = await tokenPair(service, user)
      const first = decodeJwt(pair.accessToken)
      assert.equal(first.auth_time, Math.floor(service.now() / 1000))
      service.advance(2 * minute)
      const { body } = await service.client().post('/v1/auth/token/refresh', pair)
      const { auth_time, sid } = decodeJwt(body.accessToken)
      assert.deepEqual({ auth_time, sid }, { auth_time: first.auth_time, sid: first.sid })
      assert.match(String(sid), /^[A-Za-z0-9_-]{22}$/)
    })

    it('never admits a service, which has no sign-in', async () => {
      const token = await serviceToken(service, await newClient(service))
      const { auth_time, sid } = decodeJwt(token)
      assert.deepEqual({ auth_time, sid }, { auth_time: undefined, sid: undefined })
      await assertTooOld(bearerOf(token))
      assert.equal((await bearerOf(token).get('/v1/orders')).status, 200)
    })
  })

  it('checks the permission first', async () => {
    const nobody = await newUser(service, { roles: [] })
    const browser = await signIn(service, nobody)
    service.advance(5 * minute)
    assertProblem(await browser.get(guarded), 403, 'permission-denied')
  })

  it('cannot be public: the service does not start', async () => {
    const starting = changingRoutes(
      (route) => {
        if (route.url === '/health') route.config = { ...route.config, needsRecentSignIn: true }
      },
      () => buildApp({ ...service, clock: service.now, log: makeLog({ level: 'silent' }, process.stdout) }),
    )
    await assert.rejects(starting, /GET \/health is public and cannot ask for a recent sign-in/)
  })
})

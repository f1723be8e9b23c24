import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { decodeJwt } from 'jose'
import { machineStamp } from '../../server/audit/audit.ts'
import { idsLimit } from '../../server/auth/credentials/sessions/store.ts'
import {
  grantRoles,
  liveCredentials,
  newClient,
  newUser,
  refresh,
  setEnabled,
  signIn,
  type TestClient,
  type TestUser,
  tokenPair,
} from '../support/accounts.ts'
import type { Answer } from '../support/client.ts'
import { interruptedInstance } from '../support/interrupted.ts'
import { assertOneOf, assertProblem } from '../support/problem.ts'
import { startService, testService } from '../support/service.ts'

const sessionCookie = '__Host-Http-session'

describe('races of authentication', () => {
  const service = testService()
  let user: TestUser
  beforeEach(async () => {
    user = await newUser(service, { roles: ['Operator', 'Viewer'] })
  })

  const together = <T>(count: number, work: (index: number) => Promise<T>) =>
    Promise.all(Array.from({ length: count }, (_, index) => work(index)))
  const count = (answers: Answer[], status: number) =>
    answers.filter((answer) => answer.status === status).length
  const disable = (account: TestUser | TestClient) => setEnabled(service, account, false)

  describe('50 simultaneous uses of one refresh token', () => {
    it('over two instances: exactly one gets 200, the others 401, and the family ends', async (t) => {
      const { refreshToken } = await tokenPair(service, user)
      const instance = await startService({ instanceOf: service, until: t })
      const answers = await together(50, (index) =>
        refresh(index % 2 === 0 ? service : instance, refreshToken),
      )
      assertOneOf(answers, 200, 401, 'invalid-refresh-token')
      const winner = answers.find((answer) => answer.status === 200)
      assertProblem(await refresh(service, winner?.body.refreshToken), 401, 'invalid-refresh-token')
      assert.deepEqual(await liveCredentials(service, user), { sessions: 0, families: 0 })
    })

    it('do not disturb other families, whose refreshes all succeed', async () => {
      const pairs = await together(10, () => tokenPair(service, user))
      const reused = await tokenPair(service, user)
      const [mine] = await Promise.all([
        Promise.all(pairs.map((pair) => refresh(service, pair.refreshToken))),
        together(10, () => refresh(service, reused.refreshToken)),
      ])
      assert.equal(count(mine, 200), 10)
      assert.deepEqual(await liveCredentials(service, user), { sessions: 0, families: 10 })
    })
  })

  describe('parallel refreshes of one session', () => {
    it('all succeed, each with a different id, and all ids work', async () => {
      const browser = await signIn(service, user)
      const tabs = await together(idsLimit - 1, async () => browser.copy())
      const answers = await Promise.all(tabs.map((tab) => tab.post('/v1/auth/session/refresh')))
      assert.equal(count(answers, 200), tabs.length)
      assert.equal(new Set(tabs.map((tab) => tab.cookies.get(sessionCookie))).size, tabs.length)
      const mine = await Promise.all([...tabs, browser].map((tab) => tab.get('/v1/auth/me')))
      assert.equal(count(mine, 200), idsLimit)
      assert.deepEqual(await liveCredentials(service, user), { sessions: 1, families: 0 })
    })

    it('that are too many leave it with eight ids', async () => {
      const browser = await signIn(service, user)
      const tabs = await together(30, async () => browser.copy())
      const answers = await Promise.all(tabs.map((tab) => tab.post('/v1/auth/session/refresh')))
      assert.equal(count(answers, 200), idsLimit)
      assert.equal(count(answers, 401), 30 - idsLimit)
      const ids = await service.db.read
        .selectFrom('session_ids')
        .innerJoin('sessions', 'sessions.id', 'session_ids.session_id')
        .select('id_hash')
        .where('principal_id', '=', user.id)
        .execute()
      assert.equal(ids.length, idsLimit)
    })

    it('leave the presented id for 30 seconds from the first refresh', async () => {
      const browser = await signIn(service, user)
      const tabs = await together(5, async () => browser.copy())
      await Promise.all(tabs.map((tab) => tab.post('/v1/auth/session/refresh')))
      service.advance(15_000)
      assert.equal((await browser.copy().post('/v1/auth/session/refresh')).status, 200)
      service.advance(15_000)
      assertProblem(await browser.get('/v1/auth/me'), 401, 'authentication-required')
      const mine = await Promise.all(tabs.map((tab) => tab.get('/v1/auth/me')))
      assert.equal(count(mine, 200), 5)
    })

    it('disturb no request that is under way with the old id', async () => {
      const browser = await signIn(service, user)
      const tabs = await together(5, async () => browser.copy())
      const order = { customer: 'Acme', total: 1 }
      const [writes] = await Promise.all([
        together(20, () => browser.post('/v1/orders', order)),
        Promise.all(tabs.map((tab) => tab.post('/v1/auth/session/refresh'))),
      ])
      assert.equal(count(writes, 201), 20)
    })
  })

  it('the latest use of a session counts, in whatever order the uses are written', async () => {
    await signIn(service, user)
    const session = service.db.read
      .selectFrom('sessions')
      .select(['id', 'last_seen_at'])
      .where('principal_id', '=', user.id)
    const { id: sessionId } = await session.executeTakeFirstOrThrow()
    const latest = service.now() + 120_000
    for (const nowMilliseconds of [latest, latest - 60_000]) {
      await service.db.write('touchSession', { sessionId, nowMilliseconds })
    }
    assert.equal((await session.executeTakeFirstOrThrow()).last_seen_at, latest)
  })

  describe('a refresh that nobody asked for', () => {
    const instance = interruptedInstance(service)

    it('does not undo a use of the session that came meanwhile', async () => {
      const browser = await signIn(service, user)
      const tab = instance.client()
      for (const [name, value] of browser.cookies) tab.cookies.set(name, value)
      const sessions = service.db.read.selectFrom('sessions').select('id').where('principal_id', '=', user.id)
      const { id: sessionId } = await sessions.executeTakeFirstOrThrow()
      service.advance(25 * 60_000)
      instance.interrupt('refreshSession', async (refreshed) => {
        await service.db.write('touchSession', { sessionId, nowMilliseconds: service.now() })
        return refreshed()
      })
      const headers = { ...browser.headers, background: '?1' }
      assert.equal((await tab.post('/v1/auth/session/refresh', undefined, headers)).status, 200)
      service.advance(10 * 60_000)
      assert.equal((await tab.get('/v1/auth/me')).status, 200)
    })
  })

  describe('logout', () => {
    const instance = interruptedInstance(service)

    it('against requests: each is answered or 401, and afterwards all are 401', async () => {
      const browser = await signIn(service, user)
      const tabs = await together(20, async () => browser.copy())
      const order = { customer: 'Acme', total: 1 }
      const [goodbye, ...answers] = await Promise.all([
        browser.copy().post('/v1/auth/session/logout'),
        ...tabs.slice(0, 10).map((tab) => tab.get('/v1/auth/me')),
        ...tabs.slice(10).map((tab) => tab.post('/v1/orders', order)),
      ])
      assert.equal(goodbye.status, 204)
      assert.equal(count(answers, 200) + count(answers, 201) + count(answers, 401), 20)
      const later = await Promise.all(tabs.map((tab) => tab.get('/v1/auth/me')))
      assert.equal(count(later, 401), 20)
    })

    it('against refreshes: no id survives, in either order', async () => {
      for (let turn = 0; turn < 10; turn += 1) {
        const browser = await signIn(service, user)
        const tabs = await together(4, async () => browser.copy())
        const [goodbye, ...answers] = await Promise.all([
          setTimeout(turn % 3).then(() => browser.copy().post('/v1/auth/session/logout')),
          ...tabs.map((tab) => tab.post('/v1/auth/session/refresh')),
        ])
        assert.equal(goodbye.status, 204)
        assert.equal(count(answers, 200) + count(answers, 401), 4)
        const later = await Promise.all([browser, ...tabs].map((tab) => tab.get('/v1/auth/me')))
        assert.equal(count(later, 401), 5)
      }
      assert.deepEqual(await liveCredentials(service, user), { sessions: 0, families: 0 })
    })

    it('by an id that refreshes push out meanwhile still ends the session', async () => {
      const browser = await signIn(service, user)
      const goodbye = instance.client()
      for (const [name, value] of browser.cookies) goodbye.cookies.set(name, value)
      const tabs = await together(idsLimit, async () => browser.copy())
      instance.interrupt('endSession', async (ended) => {
        for (const tab of tabs) assert.equal((await tab.post('/v1/auth/session/refresh')).status, 200)
        return ended()
      })
      const { status } = await goodbye.post('/v1/auth/session/logout', undefined, browser.headers)
      assert.equal(status, 204)
      assert.deepEqual(await liveCredentials(service, user), { sessions: 0, families: 0 })
    })

    it('twenty times at once: each is 204 or 401, at least one 204', async () => {
      const browser = await signIn(service, user)
      const answers = await together(20, () => browser.copy().post('/v1/auth/session/logout'))
      assert.ok(count(answers, 204) >= 1)
      assert.equal(count(answers, 204) + count(answers, 401), 20)
    })
  })

  describe('a login that comes with a session', () => {
    it('many at once: each browser keeps one session, and the one that they came with ends', async () => {
      const browser = await signIn(service, user)
      const tabs = await together(8, async () => browser.copy())
      const answers = await Promise.all(tabs.map((tab) => tab.post('/v1/auth/session', user.credentials)))
      assert.equal(count(answers, 200), 8)
      assertProblem(await browser.get('/v1/auth/me'), 401, 'authentication-required')
      assert.deepEqual(await liveCredentials(service, user), { sessions: 8, families: 0 })
    })
  })

  describe('disabling', () => {
    it('against logins: no session and no family is left, in any order, and every answer is whole', async () => {
      for (let turn = 0; turn < 12; turn += 1) {
        const someone = await newUser(service)
        const [session, token] = await Promise.all([
          service.client().post('/v1/auth/session', someone.credentials),
          service.client().post('/v1/auth/token', someone.credentials),
          setTimeout(turn * 3).then(() => disable(someone)),
        ])
        assert.deepEqual(await liveCredentials(service, someone), { sessions: 0, families: 0 })
        const allowed = new Set([200, 401])
        assert.ok(allowed.has(session.status) && allowed.has(token.status))
      }
    })

    it('against refreshes: no token of the family works afterwards', async () => {
      for (let turn = 0; turn < 10; turn += 1) {
        const someone = await newUser(service)
        const { refreshToken } = await tokenPair(service, someone)
        const [answer] = await Promise.all([refresh(service, refreshToken), disable(someone)])
        assert.deepEqual(await liveCredentials(service, someone), { sessions: 0, families: 0 })
        const next = answer.body.refreshToken ?? refreshToken
        assertProblem(await refresh(service, next), 401, 'invalid-refresh-token')
        const caller = service.client().withBearer(answer.body.accessToken ?? 'none')
        assertProblem(await caller.get('/v1/auth/me'), 401, 'authentication-required')
      }
    })

    it('against the exchange of a service: no token from it works', async () => {
      for (let turn = 0; turn < 10; turn += 1) {
        const client = await newClient(service)
        const [answer] = await Promise.all([
          service.client().post('/v1/auth/clients/token', client.credentials),
          disable(client),
        ])
        const caller = service.client().withBearer(answer.body.accessToken ?? 'none')
        assertProblem(await caller.get('/v1/auth/me'), 401, 'authentication-required')
      }
    })
  })

  describe('the access token of a refresh', () => {
    const instance = interruptedInstance(service)
    function refreshAround(around: Parameters<typeof instance.interrupt>[1], refreshToken: string) {
      instance.interrupt('rotateRefreshToken', around)
      return refresh(instance, refreshToken)
    }

    it('has the roles that the rotation found, even those granted a moment before', async () => {
      const { refreshToken } = await tokenPair(service, user)
      const around = async (rotate: () => Promise<unknown>) => {
        await grantRoles(service, user, ['Admin'])
        return rotate()
      }
      const { body } = await refreshAround(around, refreshToken)
      assert.deepEqual(decodeJwt(body.accessToken).roles, ['Admin', 'Operator', 'Viewer'])
    })

    it('does not have roles granted a moment later: it is signed from what the rotation returned', async () => {
      const { refreshToken } = await tokenPair(service, user)
      const around = async (rotate: () => Promise<unknown>) => {
        const rotated = await rotate()
        await grantRoles(service, user, ['Admin'])
        return rotated
      }
      const { body } = await refreshAround(around, refreshToken)
      assert.deepEqual(decodeJwt(body.accessToken).roles, ['Operator', 'Viewer'])
    })

    it('does not work if a role was removed between rotation and signature', async () => {
      const { refreshToken } = await tokenPair(service, user)
      const around = async (rotate: () => Promise<unknown>) => {
        const rotated = await rotate()
        const change = { account: user.account, roles: ['Viewer'], stamp: machineStamp(service.now()) }
        await service.db.write('revokeRoles', change)
        return rotated
      }
      const { body } = await refreshAround(around, refreshToken)
      const caller = service.client().withBearer(body.accessToken)
      assertProblem(await caller.get('/v1/auth/me'), 401, 'authentication-required')
    })

    it('is not issued if the rotation was not written', async () => {
      const { refreshToken } = await tokenPair(service, user)
      const around = () => Promise.reject(new Error('the disk is gone'))
      const answer = await refreshAround(around, refreshToken)
      assertProblem(answer, 500, 'internal-error')
      assert.ok(!answer.text.includes('disk'))
      assert.equal((await refresh(service, refreshToken)).status, 200)
    })
  })
})

// engine: both
import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { decodeJwt } from 'jose'
import { idsLimit } from '../../server/auth/credentials/sessions/ids/store.ts'
import { sha256 } from '../../server/ids.ts'
import {
  grantRoles,
  liveCredentials,
  newUser,
  refresh,
  revokeRoles,
  signIn,
  stampBy,
  tokenPair,
} from '../support/accounts.ts'
import { type Answer, sessionCookie } from '../support/client.ts'
import { interruptedInstance } from '../support/interrupted.ts'
import { assertOneOf, assertProblem } from '../support/problem.ts'
import { setUp, startService, testService } from '../support/service.ts'

describe('races of authentication', () => {
  const service = testService()
  const user = setUp(() => newUser(service, { roles: ['Operator', 'Viewer'] }), beforeEach)

  const together = <T>(count: number, work: (index: number) => Promise<T>) =>
    Promise.all(Array.from({ length: count }, (_, index) => work(index)))
  const count = (answers: Answer[], status: number) =>
    answers.filter((answer) => answer.status === status).length

  describe('50 simultaneous uses of one refresh token', () => {
    it('give exactly one 200 over two instances and 401 to the others, and end the family', async (t) => {
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

    it('leave the session with eight ids if there are too many', async () => {
      const [browser, other] = [await signIn(service, user), await signIn(service, user)]
      const tabs = await together(idsLimit + 4, async () => browser.copy())
      const answers = await Promise.all(tabs.map((tab) => tab.post('/v1/auth/session/refresh')))
      const refused = answers.filter(({ status }) => status !== 200)
      for (const answer of refused) assertProblem(answer, 401, 'authentication-required')
      assert.equal(refused.length, 4)
      const ids = await service.db.read
        .selectFrom('session_ids')
        .innerJoin('sessions', 'sessions.id', 'session_ids.session_id')
        .select('id_hash')
        .where('principal_id', '=', user.id)
        .execute()
      // Another session keeps its only one.
      assert.equal(ids.length, idsLimit + 1)
      assert.equal((await other.get('/v1/auth/me')).status, 200)
    })

    it('do not disturb requests in progress with the old id', async () => {
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

  it('the latest use of a session counts, in whatever order its uses are stored', async () => {
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

  describe('a refresh that no person asked for', () => {
    const instance = interruptedInstance(service)

    it('does not undo a use of the session that came in between', async () => {
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

    it('during requests lets each be answered or refused with 401, and refuses all later ones', async () => {
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

    it('during refreshes leaves no id, in either order', async () => {
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

    it('with an id that refreshes have pushed out still ends the session', async () => {
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

    it('twenty times at once answers each with 204 or 401, and at least one with 204', async () => {
      const browser = await signIn(service, user)
      const answers = await together(20, () => browser.copy().post('/v1/auth/session/logout'))
      assert.ok(count(answers, 204) >= 1)
      assert.equal(count(answers, 204) + count(answers, 401), 20)
    })
  })

  it('many logins at once from one session leave each browser one session, and end the original one', async () => {
    const browser = await signIn(service, user)
    const tabs = await together(8, async () => browser.copy())
    const answers = await Promise.all(tabs.map((tab) => tab.post('/v1/auth/session', user.credentials)))
    assert.equal(count(answers, 200), 8)
    assertProblem(await browser.get('/v1/auth/me'), 401, 'authentication-required')
    assert.deepEqual(await liveCredentials(service, user), { sessions: 8, families: 0 })
  })

  it('twenty requests for a new email at once are mailed three times', async () => {
    const { email } = user
    const stamp = await stampBy(service, user)
    await together(20, (index) => {
      const tokenHash = sha256(`${index} of ${email}`)
      return service.db.write('requestEmail', {
        email: `${index}-${email}`,
        tokenHash,
        signInId: null,
        stamp,
      })
    })
    const waiting = service.db.read.selectFrom('mails').where('recipient', '=', email).select('kind')
    assert.equal((await waiting.execute()).length, 3)
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

    it('lacks roles granted a moment later, because it is signed from what the rotation returned', async () => {
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
        await revokeRoles(service, user, ['Viewer'])
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

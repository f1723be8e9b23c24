import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { bearerOf, newClient, newUser, serviceToken, signIn, storedCredentials } from '../support/accounts.ts'
import { assertProblem } from '../support/problem.ts'
import { setUp, testService } from '../support/service.ts'

const path = '/v1/auth/me'
const minute = 60_000

describe('getCurrentUser', () => {
  const service = testService()
  const user = setUp(() => newUser(service, { roles: ['Viewer', 'Admin'] }), beforeEach)
  const browser = setUp(() => signIn(service, user), beforeEach)

  async function lastSeenAt(): Promise<number> {
    const row = await service.db.read
      .selectFrom('sessions')
      .select('last_seen_at')
      .where('principal_id', '=', user.id)
      .executeTakeFirstOrThrow()
    return row.last_seen_at
  }

  /** The last use is written while the answer is sent, not before. */
  async function seenAfter(moment: number): Promise<void> {
    const deadline = performance.now() + 20_000
    while ((await lastSeenAt()) <= moment) {
      assert.ok(performance.now() < deadline, 'the last use was not written')
      await setImmediate()
    }
  }

  describe('succeeds', () => {
    it('answers exactly the fields of CurrentUserResponse, the same for cookie and bearer', async () => {
      const { id, userName } = user
      for (const caller of [browser, await bearerOf(service, user)]) {
        const answer = await caller.get(path)
        assert.equal(answer.status, 200)
        assert.deepEqual(answer.body, { id, userName, roles: ['Admin', 'Viewer'] })
      }
    })

    it('answers a service like a user whose userName is its clientId', async () => {
      const client = await newClient(service, ['Operator'])
      const answer = await service
        .client()
        .withBearer(await serviceToken(service, client))
        .get(path)
      assert.deepEqual(answer.body, { id: client.id, userName: client.clientId, roles: ['Operator'] })
    })

    it('shows when the session ends to a cookie caller, and not to a bearer caller', async () => {
      const mine = (await browser.get(path)).headers
      assert.ok(mine.has('session-idle-expires') && mine.has('session-expires'))
      const theirs = (await (await bearerOf(service, user)).get(path)).headers
      assert.ok(!theirs.has('session-idle-expires') && !theirs.has('session-expires'))
    })

    it('postpones the idle end: the session lives for 30 minutes from its last use', async () => {
      const begin = await lastSeenAt()
      service.advance(29 * minute)
      const earliest = service.now()
      const { headers } = await browser.get(path)
      const idleEnd = Date.parse(headers.get('session-idle-expires') ?? '')
      assert.ok(idleEnd >= earliest + 30 * minute && idleEnd <= service.now() + 30 * minute)
      await seenAfter(begin)
      service.advance(29 * minute + 55_000)
      assert.equal((await browser.get(path)).status, 200)
    })

    it('writes the last use at most once a minute', async () => {
      const begin = await lastSeenAt()
      service.advance(50_000)
      await browser.get(path)
      const { headers } = await browser.get(path)
      assert.equal(Date.parse(headers.get('session-idle-expires') ?? ''), begin + 30 * minute)
      assert.equal(await lastSeenAt(), begin)
      service.advance(10_000)
      await browser.get(path)
      await seenAfter(begin)
      assert.ok((await lastSeenAt()) >= begin + minute)
    })

    it('does not count a background request as use: Background: ?1 leaves the idle end unchanged', async () => {
      const begin = await lastSeenAt()
      for (const background of ['?1', ' ?1 ', '?1;by="prefetch"']) {
        service.advance(9 * minute)
        for (const one of [path, '/v1/auth/csrf', '/v1/orders']) {
          const { status, headers } = await browser.get(one, { background })
          assert.equal(status, 200)
          assert.equal(Date.parse(headers.get('session-idle-expires') ?? ''), begin + 30 * minute)
        }
      }
      const refreshed = await browser.post('/v1/auth/session/refresh', undefined, { background: '?1' })
      assert.equal(Date.parse(refreshed.headers.get('session-idle-expires') ?? ''), begin + 30 * minute)
      await service.db.write('endSession', { sessionId: 'none, but written after whatever came before' })
      assert.equal(await lastSeenAt(), begin)
      service.advance(3 * minute)
      assertProblem(await browser.get(path), 401, 'authentication-required')
    })

    for (const background of ['?0', '1', 'true', '?1, ?1', '?11', '']) {
      it(`postpones the idle end for Background: ${background}`, async () => {
        const begin = await lastSeenAt()
        service.advance(2 * minute)
        const { headers } = await browser.get(path, { background })
        assert.equal(Date.parse(headers.get('session-idle-expires') ?? ''), begin + 32 * minute)
      })
    }

    it('writes nothing more within that minute', async () => {
      const bearer = await bearerOf(service, user)
      const before = await storedCredentials(service)
      await browser.get(path)
      await bearer.get(path)
      await service.db.write('endSession', { sessionId: 'none, but written after whatever came before' })
      assert.equal(await storedCredentials(service), before)
    })
  })

  describe('requires access', () => {
    it('answers 401 after 30 minutes without use', async () => {
      service.advance(30 * minute)
      assertProblem(await browser.get(path), 401, 'authentication-required')
    })

    it('answers 401 8 hours after the login, even if the session is used', async () => {
      for (let turn = 0; turn < 19; turn += 1) {
        const begin = await lastSeenAt()
        service.advance(25 * minute)
        assert.equal((await browser.get(path)).status, 200)
        await seenAfter(begin)
      }
      service.advance(5 * minute)
      assertProblem(await browser.get(path), 401, 'authentication-required')
    })
  })

  describe('conflicts', () => {
    it('lets the bearer decide between cookie and bearer', async () => {
      const other = await newUser(service)
      const answer = await browser.get(path, (await bearerOf(service, other)).headers)
      assert.equal(answer.body.userName, other.userName)
      assert.ok(!answer.headers.has('session-expires'))
    })

    for (const authorization of ['Bearer nonsense', 'Bearer', 'Bearer ', 'bearer a.b.c', 'BEARER x y']) {
      it(`answers 401 to ${JSON.stringify(authorization)} with a valid cookie, without falling back to it`, async () => {
        const answer = await browser.get(path, { authorization })
        assertProblem(answer, 401, 'authentication-required')
        assert.match(answer.headers.get('www-authenticate') ?? '', /error="invalid_token"$/)
      })
    }

    for (const authorization of ['Basic dXNlcjpwYXNz', 'Bearerx abc', 'DPoP abc', '']) {
      it(`ignores ${JSON.stringify(authorization)} next to a valid cookie, because it is not a Bearer`, async () => {
        assert.equal((await browser.get(path, { authorization })).body.userName, user.userName)
      })
    }
  })

  it('does not count a refused bearer with a session cookie as a use of the session', async () => {
    const begin = await lastSeenAt()
    service.advance(5 * minute)
    await browser.get(path, { authorization: 'Bearer nonsense' })
    await service.db.write('endSession', { sessionId: 'none, but written after whatever came before' })
    assert.equal(await lastSeenAt(), begin)
  })
})

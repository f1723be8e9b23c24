// engine: both
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { findUserByEmail } from '../../server/auth/accounts/users/store.ts'
import { sessionsLimit } from '../../server/auth/credentials/sessions/store.ts'
import { familiesLimit } from '../../server/auth/credentials/tokens/store.ts'
import { liveCredentials, newUser, refresh, signIn, type TestUser, tokenPair } from '../support/accounts.ts'
import { assertProblem } from '../support/problem.ts'
import { testService } from '../support/service.ts'

describe('sign-ins of one user', () => {
  const service = testService()

  /** The row that a sign-in writes, without the work of checking a password. */
  async function credentialsOf({ credentials }: TestUser) {
    const user = await findUserByEmail(service.db.read, credentials.email)
    const { principalId, passwordHash, credentialsChangedAt } = user ?? assert.fail('no such user')
    return { principalId, passwordHash, credentialsChangedAt }
  }

  it('end the least recently used session beyond a hundred', async () => {
    const [user, other] = [await newUser(service), await newUser(service)]
    const another = await signIn(service, other)
    const used = await signIn(service, user)
    service.advance(1_000)
    const unused = await signIn(service, user)
    service.advance(120_000)
    await used.get('/v1/auth/me')
    const credentials = await credentialsOf(user)
    const nowMilliseconds = service.now()
    for (let count = 2; count <= sessionsLimit; count += 1) {
      await service.db.write('createSession', {
        ...credentials,
        touch: null,
        sessionId: `session ${count}`,
        idHash: `id ${count}`,
        offeredBinding: null,
        freshBinding: `binding ${count}`,
        replacedIdHash: null,
        sessionIdleTtlSeconds: 1800,
        nowMilliseconds,
        absoluteExpiresAt: nowMilliseconds + 1_000_000,
        userAgent: null,
      })
    }
    assert.equal((await liveCredentials(service, user)).sessions, sessionsLimit)
    assert.equal((await unused.get('/v1/auth/me')).status, 401)
    assert.equal((await used.get('/v1/auth/me')).status, 200)
    assert.equal((await another.get('/v1/auth/me')).status, 200)
  })

  it('end the oldest family of refresh tokens beyond a hundred', async () => {
    const user = await newUser(service)
    const other = await tokenPair(service, await newUser(service))
    const oldest = await tokenPair(service, user)
    service.advance(1_000)
    const kept = await tokenPair(service, user)
    service.advance(1_000)
    const credentials = await credentialsOf(user)
    const nowMilliseconds = service.now()
    for (let count = 2; count <= familiesLimit; count += 1) {
      await service.db.write('createRefreshFamily', {
        ...credentials,
        touch: null,
        familyId: `family ${count}`,
        tokenHash: `token ${count}`,
        nowMilliseconds,
        tokenExpiresAt: nowMilliseconds + 1_000_000,
        familyExpiresAt: nowMilliseconds + 1_000_000,
        userAgent: null,
      })
    }
    assert.equal((await liveCredentials(service, user)).families, familiesLimit)
    assertProblem(await refresh(service, oldest.refreshToken), 401, 'invalid-refresh-token')
    for (const { refreshToken } of [kept, other])
      assert.equal((await refresh(service, refreshToken)).status, 200)
  })
})

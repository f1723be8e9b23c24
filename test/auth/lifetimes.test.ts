import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { decodeJwt } from 'jose'
import { newUser, refresh, tokenPair } from '../support/accounts.ts'
import { assertProblem } from '../support/problem.ts'
import { testService } from '../support/service.ts'

describe('configured lifetimes', () => {
  const service = testService({
    env: {
      SESSION_IDLE_TTL_SECONDS: '10',
      SESSION_ABSOLUTE_TTL_SECONDS: '15',
      ACCESS_TOKEN_TTL_SECONDS: '60',
      SERVICE_TOKEN_TTL_SECONDS: '120',
      REFRESH_TOKEN_IDLE_TTL_SECONDS: '60',
      REFRESH_TOKEN_FAMILY_TTL_SECONDS: '100',
    },
  })

  it('apply to sessions', async () => {
    const idle = await service.session('viewer')
    service.advance(10_000)
    assertProblem(await idle.get('/v1/auth/me'), 401, 'authentication-required')
    const used = await service.session('viewer')
    service.advance(9_000)
    assert.equal((await used.get('/v1/auth/me')).status, 200)
    service.advance(6_000)
    assertProblem(await used.get('/v1/auth/me'), 401, 'authentication-required')
  })

  for (const [account, seconds] of [
    ['viewer', 60],
    ['demo-service', 120],
  ] as const) {
    it(`apply to access tokens: ${account}`, async () => {
      const { headers } = await service.bearer(account)
      const { exp = 0, iat = 0 } = decodeJwt((headers.authorization ?? '').slice(7))
      assert.equal(exp - iat, seconds)
    })
  }

  it('apply to refresh tokens and their families', async () => {
    const user = await newUser(service)
    const unused = await tokenPair(service, user)
    const first = await tokenPair(service, user)
    service.advance(50_000)
    const second = await refresh(service, first.refreshToken)
    assert.equal(second.status, 200)
    service.advance(10_000)
    assertProblem(await refresh(service, unused.refreshToken), 401, 'invalid-refresh-token')
    service.advance(40_000)
    assertProblem(await refresh(service, second.body.refreshToken), 401, 'invalid-refresh-token')
  })
})

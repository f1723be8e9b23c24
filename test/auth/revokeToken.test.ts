import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { liveCredentials, newClient, newUser, revoke, serviceToken, tokenPair } from '../support/accounts.ts'
import type { Answer } from '../support/client.ts'
import { assertProblem } from '../support/problem.ts'
import { startService, testService } from '../support/service.ts'

const path = '/v1/auth/revoke'

describe('revokeToken', () => {
  const service = testService()

  const refresh = (refreshToken: string) => service.client().post('/v1/auth/token/refresh', { refreshToken })

  function assertDone(answer: Answer): void {
    assert.deepEqual([answer.status, answer.text], [200, ''])
    assert.equal(answer.headers.get('cache-control'), 'no-store')
  }

  function assertRefusal({ status, headers, body, text }: Answer, error: string, code: string): void {
    assert.deepEqual([status, body?.error, body?.code], [400, error, code], text)
    assert.equal(headers.get('content-type'), 'application/json')
  }

  describe('succeeds', () => {
    it('stops the newest refresh token, while other families continue', async () => {
      const user = await newUser(service)
      const [pair, other] = [await tokenPair(service, user), await tokenPair(service, user)]
      assertDone(await revoke(service, pair.refreshToken))
      assertProblem(await refresh(pair.refreshToken), 401, 'invalid-refresh-token')
      assert.equal((await refresh(other.refreshToken)).status, 200)
      assert.equal((await liveCredentials(service, user)).families, 1)
    })

    it('ends the family of a used token too, because its successor may have been lost', async () => {
      const user = await newUser(service)
      const { refreshToken } = await tokenPair(service, user)
      const { body } = await refresh(refreshToken)
      assertDone(await revoke(service, refreshToken))
      assertProblem(await refresh(body.refreshToken), 401, 'invalid-refresh-token')
    })

    it('works whatever the hint says, and for any caller', async () => {
      const user = await newUser(service)
      const client = await newClient(service)
      const authorization = `Basic ${btoa(`${client.clientId}:${client.clientSecret}`)}`
      for (const hint of ['refresh_token', 'access_token', 'pat', '']) {
        const { refreshToken: token } = await tokenPair(service, user)
        const form = { token, token_type_hint: hint, client_id: 'countersign' }
        assertDone(await service.client().postForm(path, form, { authorization }))
      }
      assert.equal((await liveCredentials(service, user)).families, 0)
    })

    it('accepts a text that is no token of this service, no longer one, or only looks like one', async () => {
      const { refreshToken } = await tokenPair(service, await newUser(service))
      const forged = `${refreshToken.slice(0, -1)}${refreshToken.endsWith('A') ? 'B' : 'A'}`
      const { accessToken } = await tokenPair(service, await newUser(service))
      const unsigned = `${accessToken.slice(0, accessToken.lastIndexOf('.'))}.AAAA`
      for (const token of ['x', 'P'.repeat(112), '\u0000', 'ü', forged, unsigned]) {
        assertDone(await revoke(service, token))
      }
      assert.equal((await refresh(refreshToken)).status, 200)
      for (const _ of [1, 2]) assertDone(await revoke(service, refreshToken))
    })

    it('accepts an access token, which works until it expires', async () => {
      const user = await newUser(service)
      const { accessToken } = await tokenPair(service, user)
      const ofService = await serviceToken(service, await newClient(service))
      for (const token of [accessToken, ofService]) {
        assertDone(await revoke(service, token))
        assert.equal((await service.client().withBearer(token).get('/v1/auth/me')).status, 200)
      }
    })

    it('ends a family once for many simultaneous requests, and a simultaneous refresh has no lasting effect', async () => {
      const user = await newUser(service)
      const { refreshToken } = await tokenPair(service, user)
      const key = { 'idempotency-key': 'a-key-of-22-characters-or-more' }
      const [first] = await Promise.all([
        revoke(service, refreshToken),
        service.client().post('/v1/auth/token/refresh', { refreshToken }, key),
        ...Array.from({ length: 8 }, () => revoke(service, refreshToken)),
      ])
      assertDone(first)
      assert.equal((await liveCredentials(service, user)).families, 0)
      const told = (await service.log()).filter(({ event, principalId }) => {
        return event === 'tokens-revoked' && principalId === user.id
      })
      assert.equal(told.length, 1)
    })
  })

  describe('rejects input', () => {
    it('refuses a missing token, an empty one, two, and one that is not text', async () => {
      const forms = ['', 'token=', 'token=a&token=b', 'token=%ff', `token=${'x'.repeat(8_193)}`]
      for (const form of forms) {
        const answer = await service.client().postForm(path, form)
        assertRefusal(answer, 'invalid_request', 'validation-failed')
        assert.equal(answer.body.errors[0].pointer, '#/token')
      }
    })

    it('refuses JSON, and a body without a type', async () => {
      const json = await service.client().post(path, { token: 'x' })
      assertProblem(json, 415, 'unsupported-media-type')
      assertProblem(await service.client().post(path), 415, 'unsupported-media-type')
    })
  })

  it('counts this service’s tokens by family, and anything else by address', async (t) => {
    const env = { RATE_LIMIT_FACTOR: '1', RATE_LIMIT_REFRESH: '2', RATE_LIMIT_ANONYMOUS: '2' }
    const limited = await startService({ inside: true, env, until: t })
    const { refreshToken } = await tokenPair(limited, await newUser(limited))
    const statusesOf = async (token: string) => {
      const answers = []
      for (const _ of [1, 2, 3]) answers.push((await revoke(limited, token)).status)
      return answers
    }
    assert.deepEqual(await statusesOf(refreshToken), [200, 200, 429])
    assert.deepEqual(await statusesOf('P'.repeat(112)), [200, 200, 429])
  })
})

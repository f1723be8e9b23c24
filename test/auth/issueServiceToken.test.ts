import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { beforeEach, describe, it } from 'node:test'
import { decodeJwt } from 'jose'
import { newSecret } from '../../server/ids.ts'
import { grantRoles, newClient, serviceToken, storedCredentials } from '../support/accounts.ts'
import { assertProblem } from '../support/problem.ts'
import { setUp, testService } from '../support/service.ts'

const path = '/v1/auth/clients/token'

describe('issueServiceToken', () => {
  const service = testService()
  const client = setUp(() => newClient(service), beforeEach)

  const exchange = (credentials: unknown) => service.client().post(path, credentials)

  describe('succeeds', () => {
    it('answers exactly the fields of ServiceAccessToken: no refresh token, no cookie', async () => {
      const answer = await exchange(client.credentials)
      assert.equal(answer.status, 200)
      assert.deepEqual(Object.keys(answer.body).sort(), ['accessToken', 'expiresAt'])
      assert.deepEqual(answer.setCookies, [])
      assert.equal(answer.headers.get('cache-control'), 'no-store')
    })

    it('lasts 60 minutes, and expiresAt equals exp', async () => {
      const earliest = Math.floor(service.now() / 1000) * 1000
      const { body } = await exchange(client.credentials)
      const end = Date.parse(body.expiresAt)
      assert.ok(end >= earliest + 3_600_000 && end <= service.now() + 3_600_000)
      assert.equal(decodeJwt(body.accessToken).exp, end / 1000)
    })

    it('issues a token that works: orders name the clientId as their creator', async () => {
      const caller = service.client().withBearer(await serviceToken(service, client))
      const { body } = await caller.post('/v1/orders', { customer: 'Acme', total: 1 })
      assert.equal((await caller.get(`/v1/orders/${body.id}`)).body.createdBy, client.clientId)
      const approval = await caller.patch(`/v1/orders/${body.id}/approve`)
      assertProblem(approval, 403, 'permission-denied')
    })

    it('uses the current roles', async () => {
      await grantRoles(service, client, ['Admin'])
      assert.deepEqual(decodeJwt(await serviceToken(service, client)).roles, ['Admin', 'Operator'])
    })

    it('stores only SHA-256 of secrets', async () => {
      const stored = await storedCredentials(service)
      assert.ok(!stored.includes(client.clientSecret))
      assert.ok(stored.includes(createHash('sha256').update(client.clientSecret).digest('base64url')))
    })
  })

  it('accepts the right secret after many wrong ones: 256-bit secrets need no waits', async () => {
    const wrong = { clientId: client.clientId, clientSecret: newSecret() }
    const answers = await Promise.all(Array.from({ length: 20 }, () => exchange(wrong)))
    for (const answer of answers) assertProblem(answer, 401, 'invalid-client')
    assert.equal((await exchange(client.credentials)).status, 200)
  })

  it('writes nothing on failure, and logs no secret', async () => {
    const before = await storedCredentials(service)
    const clientSecret = newSecret()
    await exchange({ clientId: client.clientId, clientSecret })
    await exchange(client.credentials)
    assert.equal(await storedCredentials(service), before)
    const log = JSON.stringify(await service.log())
    assert.ok(log.includes('client-refused'))
    assert.ok(!log.includes(clientSecret) && !log.includes(client.clientSecret))
  })
})

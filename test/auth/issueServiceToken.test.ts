import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { beforeEach, describe, it } from 'node:test'
import { decodeJwt } from 'jose'
import { machineStamp } from '../../server/audit/stamp.ts'
import { newSecret, sha256 } from '../../server/ids.ts'
import {
  grantRoles,
  newClient,
  newUser,
  serviceToken,
  setEnabled,
  storedCredentials,
  type TestClient,
} from '../support/accounts.ts'
import { assertInvalid, assertProblem, visibleParts } from '../support/problem.ts'
import { sharedService } from '../support/shared-service.ts'

const path = '/v1/auth/clients/token'

describe('issueServiceToken', () => {
  const service = sharedService()
  let client: TestClient
  beforeEach(async () => {
    client = await newClient(service)
  })

  const exchange = (credentials: unknown) => service.client().post(path, credentials)

  async function addSecret(dropOld: boolean): Promise<{ clientId: string; clientSecret: string }> {
    const { clientId } = client
    const clientSecret = newSecret()
    const secretHash = sha256(clientSecret)
    const rotation = { clientId, secretHash, dropOld, stamp: machineStamp(service.now()) }
    await service.db.write('rotateClientSecret', rotation)
    return { clientId, clientSecret }
  }

  describe('succeeds', () => {
    it('with exactly the fields of ServiceAccessToken: no refresh token, no cookie', async () => {
      const answer = await exchange(client.credentials)
      assert.equal(answer.status, 200)
      assert.deepEqual(Object.keys(answer.body).sort(), ['accessToken', 'expiresAt'])
      assert.deepEqual(answer.setCookies, [])
      assert.equal(answer.headers.get('cache-control'), 'no-store')
    })

    it('for 60 minutes, and expiresAt equals exp', async () => {
      const earliest = Math.floor(service.now() / 1000) * 1000
      const { body } = await exchange(client.credentials)
      const end = Date.parse(body.expiresAt)
      assert.ok(end >= earliest + 3_600_000 && end <= service.now() + 3_600_000)
      assert.equal(decodeJwt(body.accessToken).exp, end / 1000)
    })

    it('with a token whose sub and client_id are the clientId', async () => {
      const claims = decodeJwt(await serviceToken(service, client))
      const { sub, client_id, preferred_username, roles } = claims
      const { clientId } = client
      assert.deepEqual(
        { sub, client_id, preferred_username, roles },
        { sub: clientId, client_id: clientId, preferred_username: clientId, roles: ['Operator'] },
      )
    })

    it('with a token that acts: orders name the clientId as their creator', async () => {
      const caller = service.client().withBearer(await serviceToken(service, client))
      const { body } = await caller.post('/v1/orders', { customer: 'Acme', total: 1 })
      assert.equal((await caller.get(`/v1/orders/${body.id}`)).body.createdBy, client.clientId)
      const approval = await caller.patch(`/v1/orders/${body.id}/approve`)
      assertProblem(approval, 403, 'permission-denied')
    })

    it('with the roles of now', async () => {
      await grantRoles(service, client, ['Admin'])
      assert.deepEqual(decodeJwt(await serviceToken(service, client)).roles, ['Admin', 'Operator'])
    })

    it('with either of two secrets during a rotation, and the old one no longer after it', async () => {
      const next = await addSecret(false)
      assert.equal((await exchange(client.credentials)).status, 200)
      assert.equal((await exchange(next)).status, 200)
      const { clientId } = client
      await service.db.write('dropOldClientSecrets', { clientId, stamp: machineStamp(service.now()) })
      assertProblem(await exchange(client.credentials), 401, 'invalid-client')
      assert.equal((await exchange(next)).status, 200)
    })

    it('with the two newest of three secrets', async () => {
      const second = await addSecret(false)
      const third = await addSecret(false)
      const statuses = await Promise.all([client.credentials, second, third].map(exchange))
      assert.deepEqual(
        statuses.map((answer) => answer.status),
        [401, 200, 200],
      )
    })

    it('storing SHA-256 of secrets only', async () => {
      const stored = await storedCredentials(service)
      assert.ok(!stored.includes(client.clientSecret))
      assert.ok(stored.includes(createHash('sha256').update(client.clientSecret).digest('base64url')))
    })
  })

  describe('rejects input', () => {
    const bodies: [what: string, body: unknown, pointers: string[]][] = [
      ['no field', {}, ['#/clientId', '#/clientSecret']],
      ['wrong types', { clientId: 1, clientSecret: {} }, ['#/clientId', '#/clientSecret']],
      ['empty fields', { clientId: '', clientSecret: '' }, ['#/clientId', '#/clientSecret']],
      ['a clientId of 65 characters', { clientId: 'x'.repeat(65), clientSecret: 'x' }, ['#/clientId']],
      ['a secret of 257 characters', { clientId: 'x', clientSecret: 'x'.repeat(257) }, ['#/clientSecret']],
      ['no object', [], ['#']],
    ]
    for (const [what, body, pointers] of bodies) {
      it(`${what}: 400 naming ${pointers.join(' and ')}`, async () => {
        const answer = await exchange(JSON.stringify(body))
        assertInvalid(answer, pointers)
      })
    }
  })

  describe('conflicts', () => {
    it('an unknown client, a wrong secret, a disabled client and a user look the same', async () => {
      const user = await newUser(service)
      const disabled = await newClient(service)
      await setEnabled(service, disabled, false)
      const answers = await Promise.all(
        [
          { clientId: 'nobody', clientSecret: client.clientSecret },
          { clientId: client.clientId, clientSecret: newSecret() },
          disabled.credentials,
          { clientId: user.userName, clientSecret: user.password },
          { clientId: String(client.id), clientSecret: client.clientSecret },
          { clientId: '-;--', clientSecret: client.clientSecret },
        ].map(exchange),
      )
      for (const answer of answers) {
        assertProblem(answer, 401, 'invalid-client')
        assert.deepEqual(visibleParts(answer), visibleParts(answers[0] ?? answer))
      }
      assert.equal(answers[0]?.headers.get('www-authenticate'), 'Bearer realm="countersign"')
    })

    it('a client cannot sign in as a user', async () => {
      const body = { email: `${client.clientId}@example.com`, password: client.clientSecret }
      assertProblem(await service.client().post('/v1/auth/token', body), 401, 'invalid-credentials')
    })

    it('the waits after failed logins are not for 256-bit secrets: the right one works after many wrong', async () => {
      const wrong = { clientId: client.clientId, clientSecret: newSecret() }
      const answers = await Promise.all(Array.from({ length: 20 }, () => exchange(wrong)))
      for (const answer of answers) assertProblem(answer, 401, 'invalid-client')
      assert.equal((await exchange(client.credentials)).status, 200)
    })
  })

  describe('leaves no trace on failure', () => {
    it('writes nothing, and logs no secret', async () => {
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
})

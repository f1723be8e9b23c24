import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { accountEvents, idOf } from '../../support/administration.ts'
import type { Client } from '../../support/client.ts'
import { assertProblem } from '../../support/problem.ts'
import { testService } from '../../support/service.ts'
import { until } from '../../support/stream.ts'

describe('service clients', () => {
  const service = testService()
  let admin: Client
  let count = 0
  let id: number
  let clientId: string
  let clientSecret: string
  beforeEach(async () => {
    admin = await service.bearer('admin')
    count += 1
    clientId = `Client${count}`
    const added = await admin.post('/v1/clients', { clientId, roles: ['Viewer'] })
    id = idOf(added)
    clientSecret = added.body.clientSecret
  })

  const path = () => `/v1/clients/${id}`
  const read = async () => (await admin.get(path())).body
  const exchange = (secret = clientSecret) =>
    service.client().post('/v1/auth/clients/token', { clientId, clientSecret: secret })
  const at = (milliseconds: number) => new Date(service.now() + milliseconds).toISOString()

  describe('addClient', () => {
    it('answers 201 with the secret, which is stored and shown nowhere else', async () => {
      assert.deepEqual(await read(), {
        id,
        clientId,
        name: null,
        roles: ['Viewer'],
        enabled: true,
        secrets: 1,
        endsAtUtc: null,
        lastUsedAtUtc: null,
        createdAtUtc: at(0),
      })
      assert.equal((await exchange()).status, 200)
      const told = [(await admin.get('/v1/clients')).text, JSON.stringify(await service.log())]
      assert.ok(told.every((text) => !text.includes(clientSecret)))
      assert.deepEqual(await accountEvents(service, id), [
        { kind: 'client-added', byId: 1, data: { name: clientId, roles: ['Viewer'] } },
      ])
    })

    it('refuses a name that a client or a user has, and an unknown role', async () => {
      for (const taken of [clientId.toLowerCase(), 'ADMIN']) {
        assertProblem(await admin.post('/v1/clients', { clientId: taken, roles: [] }), 409, 'name-taken')
      }
      const boss = await admin.post('/v1/clients', { clientId: 'x', roles: ['Boss'] })
      assertProblem(boss, 422, 'unknown-role')
    })

    it('says what is wrong with each member', async () => {
      const wrong = { clientId: '7', name: ' ', roles: [1], endsAtUtc: '2027-02-31T00:00:00Z' }
      const answer = await admin.post('/v1/clients', wrong)
      assertProblem(answer, 400, 'validation-failed')
      const named = answer.body.errors.map(({ pointer, code }: Record<string, string>) => [pointer, code])
      assert.deepEqual(Object.fromEntries(named), {
        '#/clientId': 'format',
        '#/name': 'length',
        '#/roles': 'format',
        '#/endsAtUtc': 'format',
      })
    })
  })

  describe('changeClient', () => {
    it('changes what is sent, and leaves one event that names the changes', async () => {
      const endsAtUtc = at(3_600_000)
      const answer = await admin.patch(path(), {
        name: ' Nightly ',
        endsAtUtc,
        roles: ['Operator'],
        enabled: false,
      })
      assert.deepEqual([answer.status, answer.headers.get('etag')], [204, '"2"'])
      const changed = { name: 'Nightly', endsAtUtc, roles: ['Operator'], enabled: false }
      assert.partialDeepStrictEqual(await read(), changed)
      assert.deepEqual((await accountEvents(service, id)).at(-1), {
        kind: 'client-changed',
        byId: 1,
        data: {
          name: clientId,
          displayName: 'Nightly',
          endsAt: endsAtUtc,
          granted: ['Operator'],
          revoked: ['Viewer'],
          enabled: false,
        },
      })
      assert.equal((await admin.patch(path(), changed)).headers.get('etag'), '"2"')
      assert.equal((await admin.patch(path(), { name: null, endsAtUtc: null })).status, 204)
      assert.partialDeepStrictEqual(await read(), { name: null, endsAtUtc: null })
    })

    it('checks If-Match, and is 404 for a user', async () => {
      assertProblem(await admin.patch(path(), {}, { 'if-match': '"9"' }), 412, 'precondition-failed')
      for (const unknown of [1, 999_999, 'x']) {
        assertProblem(await admin.patch(`/v1/clients/${unknown}`, {}), 404, 'client-not-found')
      }
    })

    it('gives a disabled client no token, and ends its current ones', async () => {
      const { accessToken } = (await exchange()).body
      const serving = service.client().withBearer(accessToken)
      assert.equal((await serving.get('/v1/auth/me')).status, 200)
      await admin.patch(path(), { enabled: false })
      assertProblem(await exchange(), 401, 'invalid-client')
      service.advance(301_000)
      assert.equal((await serving.get('/v1/auth/me')).status, 401)
    })

    it('ends the tokens that would outlive an earlier end', async () => {
      const { accessToken } = (await exchange()).body
      const serving = service.client().withBearer(accessToken)
      assert.equal((await serving.get('/v1/auth/me')).status, 200)
      await admin.patch(path(), { endsAtUtc: at(600_000) })
      const { accessToken: later } = (await exchange()).body
      service.advance(301_000)
      assert.equal((await serving.get('/v1/auth/me')).status, 401)
      assert.equal((await service.client().withBearer(later).get('/v1/auth/me')).status, 200)
    })

    it('gives no token from the second of the end on, and no token that expires later', async () => {
      service.advance(1_000 - (service.now() % 1_000))
      const end = at(600_000)
      for (const endsAtUtc of [end, at(600_999)]) {
        await admin.patch(path(), { endsAtUtc })
        assert.equal((await exchange()).body.expiresAt, end)
      }
      service.advance(599_999)
      const last = await exchange()
      assert.equal(last.body.expiresAt, end)
      assert.equal((await service.client().withBearer(last.body.accessToken).get('/v1/auth/me')).status, 200)
      service.advance(1)
      assertProblem(await exchange(), 401, 'invalid-client')
    })
  })

  it('show when they were last used, written at most once a minute, without a new version', async () => {
    const usedAt = at(0)
    await exchange()
    await until(async () => (await read()).lastUsedAtUtc === usedAt)
    assert.equal((await admin.get(path())).headers.get('etag'), '"1"')
  })

  describe('rotateClientSecret and dropOldClientSecrets', () => {
    const rotate = async (body?: object): Promise<string> => {
      const answer = await admin.post(`${path()}/secrets`, body)
      assert.equal(answer.status, 201)
      assert.equal(answer.headers.get('cache-control'), 'no-store')
      return answer.body.clientSecret
    }
    const statusesOf = async (secrets: string[]) => {
      const answers = await Promise.all(secrets.map((secret) => exchange(secret)))
      return answers.map(({ status }) => status)
    }

    it('allow two at a time, until the old one is dropped', async () => {
      const second = await rotate()
      assert.deepEqual(await statusesOf([clientSecret, second]), [200, 200])
      assert.equal((await read()).secrets, 2)
      const third = await rotate()
      assert.deepEqual(await statusesOf([clientSecret, second, third]), [401, 200, 200])
      assert.equal((await admin.send('DELETE', `${path()}/secrets`)).status, 204)
      assert.deepEqual(await statusesOf([second, third]), [401, 200])
      const fourth = await rotate({ dropOld: true })
      assert.deepEqual(await statusesOf([third, fourth]), [401, 200])
    })

    it('are 404 for an id of no client', async () => {
      for (const unknown of [1, 999_999, 'x']) {
        assertProblem(await admin.post(`/v1/clients/${unknown}/secrets`), 404, 'client-not-found')
        assertProblem(await admin.send('DELETE', `/v1/clients/${unknown}/secrets`), 404, 'client-not-found')
      }
    })

    it('ten at once leave two working secrets, both from the answers', async () => {
      const secrets = await Promise.all(Array.from({ length: 10 }, () => rotate()))
      const statuses = await statusesOf(secrets)
      assert.equal(statuses.filter((status) => status === 200).length, 2)
      assert.equal((await read()).secrets, 2)
    })
  })

  it('never hold permissions for people, whatever their role gets later', async () => {
    const role = `Grown${count}`
    await admin.post('/v1/roles', { name: role, permissions: ['Orders.Read'] })
    await admin.patch(path(), { roles: [role] })
    const grown = ['Orders.Read', 'Orders.Approve', 'Accounts.Manage', 'Policy.Manage']
    assert.equal((await admin.send('PUT', `/v1/roles/${role}`, { permissions: grown })).status, 204)
    service.advance(301_000)
    const serving = service.client().withBearer((await exchange()).body.accessToken)
    const { permissions } = (await serving.get('/v1/auth/me/permissions')).body
    assert.deepEqual(permissions, ['Orders.Approve', 'Orders.Read'])
    for (const url of ['/v1/users', '/v1/clients', '/v1/roles', path()]) {
      assertProblem(await serving.get(url), 403, 'permission-denied')
    }
  })
})

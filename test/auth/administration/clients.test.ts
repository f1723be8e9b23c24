import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { newClient, newUser, setEnabled, type TestUser } from '../../support/accounts.ts'
import { accountEvents, idOf } from '../../support/administration.ts'
import { assertFaults, assertProblem } from '../../support/problem.ts'
import { setUp, testService } from '../../support/service.ts'
import { until } from '../../support/stream.ts'

describe('service clients', () => {
  const service = testService()
  const admin = setUp(() => service.bearer('admin'), beforeEach)
  let count = 0
  let id: number
  let clientId: string
  let clientSecret: string
  beforeEach(async () => {
    count += 1
    clientId = `Client${count}`
    const added = await admin.post('/v1/clients', { clientId, roles: ['Viewer'] })
    id = idOf(added)
    clientSecret = added.body.clientSecret
    assert.equal(added.headers.get('cache-control'), 'no-store')
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
        displayName: null,
        roles: ['Viewer'],
        enabled: true,
        secrets: 1,
        endsAtUtc: null,
        lastUsedAtUtc: null,
        ownerId: null,
        owner: null,
        createdAtUtc: at(0),
      })
      assert.equal((await exchange()).status, 200)
      const told = [(await admin.get('/v1/clients')).text, JSON.stringify(await service.log())]
      assert.ok(told.every((text) => !text.includes(clientSecret)))
      assert.deepEqual(await accountEvents(service, id), [
        { kind: 'client-added', byId: 1, data: { name: clientId, roles: ['Viewer'] } },
      ])
    })

    it('refuses the name of another client or user, and an unknown role', async () => {
      for (const taken of [clientId.toLowerCase(), 'ADMIN']) {
        assertProblem(await admin.post('/v1/clients', { clientId: taken, roles: [] }), 409, 'name-taken')
      }
      const boss = await admin.post('/v1/clients', { clientId: 'x', roles: ['Boss'] })
      assertProblem(boss, 422, 'unknown-role')
    })

    it('says what is wrong with each member', async () => {
      const wrong = {
        ...{ clientId: '7', displayName: ' ', roles: [1], endsAtUtc: '2027-02-31T00:00:00Z' },
        ownerId: 0,
      }
      assertFaults(await admin.post('/v1/clients', wrong), {
        '#/clientId': 'format',
        '#/displayName': 'length',
        '#/roles': 'format',
        '#/endsAtUtc': 'format',
        '#/ownerId': 'minimum',
      })
    })
  })

  describe('changeClient', () => {
    it('changes the members that are sent, and leaves one event that names the changes', async () => {
      const endsAtUtc = at(3_600_000)
      const answer = await admin.patch(path(), {
        displayName: ' Nightly ',
        endsAtUtc,
        roles: ['Operator'],
        enabled: false,
      })
      assert.deepEqual([answer.status, answer.headers.get('etag')], [204, '"2"'])
      const changed = { displayName: 'Nightly', endsAtUtc, roles: ['Operator'], enabled: false }
      assert.partialDeepStrictEqual(await read(), changed)
      assert.deepEqual((await accountEvents(service, id)).at(-1), {
        kind: 'client-changed',
        byId: 1,
        data: {
          name: clientId,
          displayName: 'Nightly',
          endsAtUtc,
          granted: ['Operator'],
          revoked: ['Viewer'],
          enabled: false,
        },
      })
      assert.equal((await admin.patch(path(), changed)).headers.get('etag'), '"2"')
      assert.equal((await admin.patch(path(), { displayName: null, endsAtUtc: null })).status, 204)
      assert.partialDeepStrictEqual(await read(), { displayName: null, endsAtUtc: null })
    })

    it('checks If-Match, and answers 404 for a user', async () => {
      const changes = { enabled: true }
      assertProblem(await admin.patch(path(), changes, { 'if-match': '"9"' }), 412, 'precondition-failed')
      for (const unknown of [1, 999_999, 'x']) {
        assertProblem(await admin.patch(`/v1/clients/${unknown}`, changes), 404, 'client-not-found')
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

    it('ends tokens that would outlive an end that was moved forward, and none when it is moved back', async () => {
      const { accessToken } = (await exchange()).body
      const serving = service.client().withBearer(accessToken)
      assert.equal((await serving.get('/v1/auth/me')).status, 200)
      await admin.patch(path(), { endsAtUtc: at(600_000) })
      const { accessToken: later } = (await exchange()).body
      await admin.patch(path(), { endsAtUtc: at(900_000) })
      service.advance(301_000)
      assert.equal((await serving.get('/v1/auth/me')).status, 401)
      assert.equal((await service.client().withBearer(later).get('/v1/auth/me')).status, 200)
    })

    it('issues no token once the end is reached, and none that expires after it', async () => {
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

  describe('have an owner or none', () => {
    let owner: TestUser
    beforeEach(async () => {
      owner = await newUser(service)
    })
    const owned = async () => {
      const { ownerId, owner: name } = await read()
      const { items } = (await admin.get(`/v1/clients?filter=${clientId}`)).body
      assert.deepEqual([items[0].ownerId, items[0].owner], [ownerId, name])
      return [ownerId, name]
    }

    it('from the beginning, which the event of the new client says', async () => {
      const { id: ownerId, userName } = owner
      const one = { clientId: `Owned${count}`, roles: [], ownerId: String(ownerId) }
      const added = idOf(await admin.post('/v1/clients', one))
      const { body } = await admin.get(`/v1/clients/${added}`)
      assert.deepEqual([body.ownerId, body.owner], [ownerId, userName])
      const data = { name: one.clientId, roles: [], owner: userName, ownerId }
      assert.deepEqual(await accountEvents(service, added), [{ kind: 'client-added', byId: 1, data }])
      const nobodys = { clientId: `Nobodys${count}`, roles: [], ownerId: null }
      assert.equal((await admin.post('/v1/clients', nobodys)).status, 201)
    })

    it('set, kept and taken away later, with an event for each change', async () => {
      const { id: ownerId, userName } = owner
      assert.equal((await admin.patch(path(), { ownerId })).status, 204)
      assert.deepEqual(await owned(), [ownerId, userName])
      assert.equal((await admin.patch(path(), { displayName: 'Nightly' })).status, 204)
      assert.equal((await admin.patch(path(), { ownerId })).headers.get('etag'), '"3"')
      assert.deepEqual(await owned(), [ownerId, userName])
      assert.equal((await admin.patch(path(), { ownerId: null })).status, 204)
      assert.deepEqual(await owned(), [null, null])
      const changes = (await accountEvents(service, id)).slice(1).map(({ data }) => data)
      assert.deepEqual(changes, [
        { name: clientId, owner: userName, ownerId },
        { name: clientId, displayName: 'Nightly' },
        { name: clientId, owner: null, ownerId: null },
      ])
    })

    it('keep an owner who is disabled later, but cannot be given a disabled one', async () => {
      const { id: ownerId } = owner
      assert.equal((await admin.patch(path(), { ownerId })).status, 204)
      await setEnabled(service, owner, false)
      assert.equal((await admin.patch(path(), { ownerId, displayName: 'Kept' })).status, 204)
      assert.deepEqual((await owned())[0], ownerId)
      const stored = JSON.stringify(await read())
      const other = await newClient(service)
      const disabled = await newUser(service)
      await setEnabled(service, disabled, false)
      for (const wrong of [disabled.id, other.id, id, 2_147_483_647]) {
        assertProblem(await admin.patch(path(), { ownerId: wrong, displayName: 'Lost' }), 422, 'not-an-owner')
        const one = { clientId: `Lost${count}`, roles: [], ownerId: wrong }
        assertProblem(await admin.post('/v1/clients', one), 422, 'not-an-owner')
      }
      assert.equal(JSON.stringify(await read()), stored)
    })
  })

  it('show their last use, which is stored at most once a minute and does not change the version', async () => {
    const usedAt = at(0)
    await exchange()
    await until(async () => (await read()).lastUsedAtUtc === usedAt)
    await service.db.write('noteClientUse', { principalId: id, nowMilliseconds: service.now() - 1 })
    assert.equal((await read()).lastUsedAtUtc, usedAt)
    assert.equal((await admin.get(path())).headers.get('etag'), '"1"')
  })

  it('are answered in full whatever tag the caller has, because a use does not change it', async () => {
    const { headers } = await admin.get(path())
    const again = await admin.get(path(), { 'if-none-match': headers.get('etag') ?? '' })
    assert.equal(again.status, 200)
    assert.equal(again.headers.get('cache-control'), 'no-store')
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

    it('allow two secrets at a time, until the old one is dropped', async () => {
      const second = await rotate()
      assert.deepEqual(await statusesOf([clientSecret, second]), [200, 200])
      assert.equal((await read()).secrets, 2)
      const third = await rotate()
      assert.deepEqual(await statusesOf([clientSecret, second, third]), [401, 200, 200])
      assert.equal((await admin.send('DELETE', `${path()}/secrets`)).status, 204)
      assert.deepEqual(await statusesOf([second, third]), [401, 200])
      const fourth = await rotate({ dropOld: true })
      assert.deepEqual(await statusesOf([third, fourth]), [401, 200])
      const [, ...events] = await accountEvents(service, id)
      assert.deepEqual(
        events.map(({ kind, data }) => [kind, data.dropped]),
        [
          ['secret-rotated', 0],
          ['secret-rotated', 1],
          ['secrets-dropped', 1],
          ['secret-rotated', 1],
        ],
      )
    })

    it('answer 404 for an id that is not a client’s', async () => {
      for (const unknown of [1, 999_999, 'x']) {
        assertProblem(await admin.post(`/v1/clients/${unknown}/secrets`), 404, 'client-not-found')
        assertProblem(await admin.send('DELETE', `/v1/clients/${unknown}/secrets`), 404, 'client-not-found')
      }
    })

    it('leave two working secrets after ten simultaneous rotations, both from their answers', async () => {
      const secrets = await Promise.all(Array.from({ length: 10 }, () => rotate()))
      const statuses = await statusesOf(secrets)
      assert.equal(statuses.filter((status) => status === 200).length, 2)
      assert.equal((await read()).secrets, 2)
    })
  })

  it('never hold permissions that are for people, even if their role gets them later', async () => {
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

import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { permissions } from '../../../server/caller/permissions.ts'
import { machineStamp } from '../../../server/caller/stamp.ts'
import { newUser } from '../../support/accounts.ts'
import { storedEvents } from '../../support/kept-log.ts'
import { assertOneOf, assertProblem } from '../../support/problem.ts'
import { setUp, testService } from '../../support/service.ts'

describe('roles', () => {
  const service = testService()
  const admin = setUp(() => service.bearer('admin'))
  let count = 0
  let name: string
  beforeEach(async () => {
    count += 1
    name = `Role${count}`
    assert.equal((await admin.post('/v1/roles', { name, permissions: ['Orders.Read'] })).status, 201)
  })

  const put = (held: unknown, headers: Record<string, string> = {}, role = name) =>
    admin.send('PUT', `/v1/roles/${role}`, { permissions: held }, headers)
  const read = async () => (await admin.get(`/v1/roles/${name}`)).body
  const eventsOf = async (role: string) => {
    const events = await storedEvents(service.db.read)
    return events
      .filter(({ subject_id }) => subject_id === role)
      .map(({ kind, by_id, data }) => [kind, by_id, JSON.parse(data)])
  }

  it('are listed in pages with their permissions and the number of their accounts', async () => {
    await newUser(service, { roles: [name] })
    const { body } = await admin.get('/v1/roles?pageSize=100')
    assert.partialDeepStrictEqual(
      body.items.find((role: { name: string }) => role.name === name),
      { name, permissions: ['Orders.Read'], accounts: 1 },
    )
    assert.equal(body.totalCount, body.items.length)
    const all = await admin.get('/v1/permissions?pageSize=100')
    const names = all.body.items.map((permission: { name: string }) => permission.name)
    assert.deepEqual(names, [...permissions])
    const ofPeople = all.body.items.filter(({ services }: { services: boolean }) => !services)
    assert.deepEqual(
      ofPeople.map((permission: { name: string }) => permission.name),
      ['Policy.Manage', 'Accounts.Manage', 'Webhooks.Manage'],
    )
    const second = await admin.get('/v1/permissions?pageSize=3&pageNumber=2')
    assert.deepEqual(second.body.items, all.body.items.slice(3, 6))
  })

  it('are sorted in the answer that adds them', async () => {
    const held = ['Orders.Read', 'Log.Read']
    const { body } = await admin.post('/v1/roles', { name: `Sorted${count}`, permissions: held })
    assert.deepEqual(body.permissions, ['Log.Read', 'Orders.Read'])
  })

  it('are replaced as a whole, with one event that names the changes', async () => {
    const answer = await put(['Log.Read', 'Orders.Note'])
    assert.deepEqual([answer.status, answer.text, answer.headers.get('etag')], [204, '', '"2"'])
    assert.deepEqual((await read()).permissions, ['Log.Read', 'Orders.Note'])
    assert.equal((await put(['Orders.Note', 'Log.Read'])).headers.get('etag'), '"2"')
    assert.deepEqual(await eventsOf(name), [
      ['role-added', 1, { permissions: ['Orders.Read'] }],
      ['permissions-set', 1, { allowed: ['Log.Read', 'Orders.Note'], denied: ['Orders.Read'] }],
    ])
  })

  it('check If-Match, and count changes made by the command line', async () => {
    const change = { role: name, permissions: ['Orders.Note' as const], stamp: machineStamp(service.now()) }
    await service.db.write('allowPermissions', change)
    const late = await put([], { 'if-match': '"1"' })
    assertProblem(late, 412, 'precondition-failed')
    assert.equal(late.headers.get('etag'), '"2"')
    assert.equal((await put([], { 'if-match': '"2"' })).status, 204)
  })

  it('accept exactly one of 20 simultaneous changes of one version', async () => {
    const sets = [['Orders.Note'], ['Log.Read'], []]
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => put(sets[index % 3], { 'if-match': '"1"' })),
    )
    assertOneOf(answers, 204, 412, 'precondition-failed')
  })

  it('refuse an unknown permission, one given twice, and a name that differs from another only in case', async () => {
    for (const wrong of [['Orders.Delete'], ['Log.Read', 'Log.Read'], 'Log.Read', [null], null]) {
      assertProblem(await put(wrong), 400, 'validation-failed')
    }
    const again = { name: name.toUpperCase(), permissions: [] }
    assertProblem(await admin.post('/v1/roles', again), 409, 'name-taken')
    for (const bad of ['7', '', 'a b', '../Admin', 'x'.repeat(65)]) {
      assertProblem(await admin.post('/v1/roles', { name: bad, permissions: [] }), 400, 'validation-failed')
    }
  })

  it('are removed only while no account has them', async () => {
    await newUser(service, { roles: [name] })
    const held = await admin.send('DELETE', `/v1/roles/${name}`)
    assertProblem(held, 409, 'role-held')
    assert.equal(held.body.accounts, 1)
    await admin.post('/v1/roles', { name: `Free${count}`, permissions: [] })
    assert.equal((await admin.send('DELETE', `/v1/roles/Free${count}`)).status, 204)
    assertProblem(await admin.send('DELETE', `/v1/roles/Free${count}`), 404, 'role-not-found')
    assertProblem(await admin.get(`/v1/roles/${name.toLowerCase()}`), 404, 'role-not-found')
  })

  it('are either granted or removed if both happen at once', async () => {
    for (let round = 0; round < 10; round += 1) {
      const role = `Passing${count}-${round}`
      await admin.post('/v1/roles', { name: role, permissions: [] })
      const user = await newUser(service, { roles: [] })
      const [given, removed] = await Promise.all([
        admin.patch(`/v1/users/${user.id}`, { roles: [role] }),
        admin.send('DELETE', `/v1/roles/${role}`),
      ])
      const outcome = [given.body?.code ?? given.status, removed.body?.code ?? removed.status]
      assert.ok(['204,role-held', 'unknown-role,204'].includes(String(outcome)), String(outcome))
    }
  })
})

// engine: both
import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { permissions } from '../../../server/caller/permissions.ts'
import { machineStamp } from '../../../server/caller/stamp.ts'
import { newUser, type TestUser } from '../../support/accounts.ts'
import {
  accountEvents,
  countAdministrators,
  leaveAdministrators,
  newAdministrator,
} from '../../support/administration.ts'
import type { Answer, Client } from '../../support/client.ts'
import { assertProblem } from '../../support/problem.ts'
import { testService } from '../../support/service.ts'

describe('the last account that can manage accounts', () => {
  const service = testService({ inside: true })
  let one: { user: TestUser; caller: Client }
  beforeEach(async () => {
    one = await newAdministrator(service)
    await leaveAdministrators(service, [one.user])
  })

  const stamp = () => machineStamp(service.now())
  const patch = (caller: Client, { id }: TestUser, changes: object) =>
    caller.patch(`/v1/users/${id}`, changes)
  const refused = async (answer: Answer) => {
    assertProblem(answer, 409, 'last-administrator')
    assert.equal(await countAdministrators(service), 1)
  }

  it('keeps that permission, whether a change affects this account alone or others too', async () => {
    const { user, caller } = one
    await refused(await patch(caller, user, { enabled: false }))
    await refused(await patch(caller, user, { roles: [] }))
    await refused(await patch(caller, user, { roles: ['Operator', 'Viewer'], timeZone: 'Asia/Tokyo' }))
    await refused(await caller.send('PUT', '/v1/roles/Admin', { permissions: ['Orders.Read'] }))
    assert.deepEqual((await caller.get('/v1/roles/Admin')).body.permissions, [...permissions].sort())
    const kinds = (await accountEvents(service, user.id)).map(({ kind }) => kind)
    assert.deepEqual(kinds, ['user-added'])
    assert.equal((await patch(caller, user, { roles: ['Admin', 'Viewer'] })).status, 204)
  })

  it('keeps that permission through every change by the command line, too', async () => {
    const { account } = one.user
    const denied = ['Accounts.Manage' as const]
    const ways = [
      () => service.db.write('setAccountEnabled', { account, enabled: false, stamp: stamp() }),
      () => service.db.write('revokeRoles', { account, roles: ['Admin'], stamp: stamp() }),
      () => service.db.write('denyPermissions', { role: 'Admin', permissions: denied, stamp: stamp() }),
    ]
    for (const way of ways) {
      await assert.rejects(way(), { code: 'last-administrator' })
      assert.equal(await countAdministrators(service), 1)
    }
    const removed = service.db.write('removeRole', { role: 'Admin', stamp: stamp() })
    await assert.rejects(removed, { code: 'role-held' })
  })

  it('counts as the last one even if others are disabled, have no password, or are services', async () => {
    const { caller, user } = one
    const invited = {
      userName: `Invited${user.id}`,
      email: `${user.id}-invited@example.com`,
      roles: ['Admin'],
    }
    assert.equal((await caller.post('/v1/users', invited)).status, 201)
    const disabled = await newUser(service, { roles: ['Admin'] })
    assert.equal((await patch(caller, disabled, { enabled: false })).status, 204)
    const machine = { clientId: `Machine${user.id}`, secretHash: 'x', roles: ['Admin'], stamp: stamp() }
    assert.ok('id' in (await service.db.write('addClient', machine)))
    await refused(await patch(caller, user, { enabled: false }))
  })

  it('can lose that permission once another account has it', async () => {
    const other = await newAdministrator(service)
    assert.equal((await patch(other.caller, one.user, { enabled: false })).status, 204)
    await refused(await patch(other.caller, other.user, { roles: [] }))
  })

  const ways = [{ enabled: false }, { roles: [] }, { roles: ['Viewer'] }]

  it('remains when two accounts take the permission from each other at once, in any way', async () => {
    for (const [index, way] of [...ways, ...ways, ...ways].entries()) {
      const [left, right] = [await newAdministrator(service), await newAdministrator(service)]
      await leaveAdministrators(service, [left.user, right.user])
      const answers = await Promise.all([
        patch(left.caller, right.user, way),
        patch(right.caller, left.user, ways[index % 2] ?? {}),
      ])
      const statuses = answers.map(({ status }) => status)
      assert.deepEqual(statuses.filter((status) => status === 204).length, 1)
      // The guard refuses a request that comes after the other has taken the permission.
      assert.ok(
        statuses.some((status) => [401, 403, 409].includes(status)),
        String(statuses),
      )
      assert.equal(await countAdministrators(service), 1)
    }
  })

  it('remains even if both requests were admitted before either ran', async () => {
    const nothing = { userName: null, email: null, timeZone: null, roles: null, enabled: null }
    for (const way of [...ways, ...ways, ...ways]) {
      const [left, right] = [
        await newUser(service, { roles: ['Admin'] }),
        await newUser(service, { roles: ['Admin'] }),
      ]
      await leaveAdministrators(service, [left, right])
      const outcomes = await Promise.allSettled(
        [left, right].map(({ id }) => {
          const changes = { ...nothing, ...way }
          return service.db.write('changeUser', { id, acceptedVersions: null, changes, stamp: stamp() })
        }),
      )
      const refusals = outcomes.flatMap((outcome) =>
        outcome.status === 'rejected' ? [outcome.reason.code] : [],
      )
      assert.deepEqual(refusals, ['last-administrator'])
      assert.equal(await countAdministrators(service), 1)
    }
  })

  it('remains when ten accounts give the permission up at once, by the command line and by HTTP', async () => {
    const people = [one]
    while (people.length < 10) people.push(await newAdministrator(service))
    const outcomes = await Promise.all(
      people.map(async ({ user, caller }, index) => {
        if (index % 2 === 0) return (await patch(caller, user, { roles: [] })).status
        const given = { account: user.account, roles: ['Admin'], stamp: stamp() }
        const write = service.db.write('revokeRoles', given)
        return write.then(
          () => 204,
          (error) => (error.code === 'last-administrator' ? 409 : 500),
        )
      }),
    )
    assert.deepEqual(outcomes.toSorted(), [...Array(9).fill(204), 409])
    assert.equal(await countAdministrators(service), 1)
  })

  it('keeps that permission if its role loses it while another account loses the role', async () => {
    for (let round = 0; round < 6; round += 1) {
      const role = `Keepers${round}`
      const other = await newUser(service, { roles: [] })
      const permissions = ['Accounts.Manage' as const]
      await service.db.write('addRole', { role, permissions, stamp: stamp() })
      await service.db.write('grantRoles', { account: other.account, roles: [role], stamp: stamp() })
      await Promise.allSettled([
        service.db.write('denyPermissions', { role, permissions, stamp: stamp() }),
        service.db.write('revokeRoles', { account: one.user.account, roles: ['Admin'], stamp: stamp() }),
      ])
      assert.equal(await countAdministrators(service), 1)
      one = await newAdministrator(service)
      await leaveAdministrators(service, [one.user])
      await service.db.write('denyPermissions', { role, permissions, stamp: stamp() })
    }
  })
})

import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { machineStamp } from '../../../server/audit/audit.ts'
import { bearerOf, newClient, newUser, type TestUser, tokenPair } from '../../support/accounts.ts'
import { accountEvents, newAdministrator } from '../../support/administration.ts'
import type { Client } from '../../support/client.ts'
import { assertProblem } from '../../support/problem.ts'
import { testService } from '../../support/service.ts'

/**
 * A token is remembered as good for five minutes, and a request may be admitted long before its body arrives.
 */
describe('a user who can no longer manage accounts', () => {
  const service = testService()
  let former: { user: TestUser; caller: Client }
  let other: TestUser
  beforeEach(async () => {
    former = await newAdministrator(service)
    other = await newUser(service, { roles: ['Admin'] })
    assert.equal((await former.caller.get('/v1/users')).status, 200)
  })

  const stamp = () => machineStamp(service.now())
  const disable = () =>
    service.db.write('setAccountEnabled', { account: former.user.account, enabled: false, stamp: stamp() })

  it('changes nothing with a token that worked a moment ago', async () => {
    const { caller, user } = former
    const client = await newClient(service)
    await service.db.write('addRole', { role: `Spare${user.id}`, permissions: [], stamp: stamp() })
    const { accessToken } = await tokenPair(service, other)
    const [session] = (await service.client().withBearer(accessToken).get('/v1/auth/sessions')).body.items
    await disable()
    const mine = { userName: `Mine${user.id}`, email: `mine${user.id}@example.com`, roles: ['Admin'] }
    const answers = [
      await caller.patch(`/v1/users/${user.id}`, { enabled: true }),
      await caller.post('/v1/users', mine),
      await caller.post(`/v1/users/${other.id}/links`),
      await caller.send('DELETE', `/v1/users/${other.id}/sessions/${session.id}`),
      await caller.send('DELETE', `/v1/users/${other.id}/sessions`),
      await caller.post('/v1/clients', { clientId: `Mine${user.id}`, roles: ['Admin'] }),
      await caller.patch(`/v1/clients/${client.id}`, { roles: ['Admin'] }),
      await caller.post(`/v1/clients/${client.id}/secrets`),
      await caller.send('DELETE', `/v1/clients/${client.id}/secrets`),
      await caller.post('/v1/roles', { name: `Mine${user.id}`, permissions: ['Accounts.Manage'] }),
      await caller.send('PUT', `/v1/roles/Spare${user.id}`, { permissions: ['Accounts.Manage'] }),
      await caller.send('DELETE', `/v1/roles/Spare${user.id}`),
    ]
    for (const answer of answers) assertProblem(answer, 403, 'permission-denied')
    assert.deepEqual((await accountEvents(service, other.id)).length, 1)
  })

  it('regains neither a lost role nor its lost permission', async () => {
    const { caller, user } = former
    const role = `Keepers${user.id}`
    const permissions = ['Accounts.Manage' as const]
    await service.db.write('addRole', { role, permissions, stamp: stamp() })
    const keeper = await newUser(service, { roles: [role] })
    const keeping = await bearerOf(service, keeper)
    assert.equal((await keeping.get('/v1/users')).status, 200)
    await service.db.write('denyPermissions', { role, permissions, stamp: stamp() })
    assertProblem(await keeping.send('PUT', `/v1/roles/${role}`, { permissions }), 403, 'permission-denied')
    await service.db.write('revokeRoles', { account: user.account, roles: ['Admin'], stamp: stamp() })
    assertProblem(await caller.patch(`/v1/users/${user.id}`, { roles: ['Admin'] }), 403, 'permission-denied')
  })
})

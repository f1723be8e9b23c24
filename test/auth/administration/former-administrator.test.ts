import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { machineStamp } from '../../../server/caller/stamp.ts'
import { bearerOf, newClient, newUser, type TestUser, tokenPair } from '../../support/accounts.ts'
import { accountEvents, newAdministrator } from '../../support/administration.ts'
import { newPasskey } from '../../support/passkeys.ts'
import { assertProblem } from '../../support/problem.ts'
import { testService } from '../../support/service.ts'

/**
 * An account is cached for five minutes, and a request may be admitted long before its body arrives.
 */
describe('a user who can no longer manage accounts', () => {
  const service = testService()

  /** An administrator whom the service remembers. */
  async function newKnown() {
    const known = await newAdministrator(service)
    assert.equal((await known.caller.get('/v1/users')).status, 200)
    return known
  }

  const stamp = () => machineStamp(service.now())
  const disable = ({ account }: TestUser) =>
    service.db.write('setAccountEnabled', { account, enabled: false, stamp: stamp() })

  it('changes nothing with a token that worked a moment ago', async () => {
    const other = await newUser(service, { roles: ['Admin'] })
    const passkey = await newPasskey(service, other)
    const client = await newClient(service)
    await service.db.write('addRole', { role: 'Spare', permissions: [], stamp: stamp() })
    const { accessToken } = await tokenPair(service, other)
    const [session] = (await service.client().withBearer(accessToken).get('/v1/auth/sessions')).body.items
    const changes: [method: string, path: string, body?: object][] = [
      ['PATCH', `/v1/users/${other.id}`, { roles: [] }],
      ['POST', '/v1/users', { userName: 'Mine', email: 'mine@example.com', roles: ['Admin'] }],
      ['POST', `/v1/users/${other.id}/links`],
      ['DELETE', `/v1/users/${other.id}/sessions/${session.id}`],
      ['DELETE', `/v1/users/${other.id}/sessions`],
      ['DELETE', `/v1/users/${other.id}/passkeys/${passkey.id}`],
      ['DELETE', `/v1/users/${other.id}/absence`],
      ['POST', '/v1/clients', { clientId: 'Mine', roles: ['Admin'] }],
      ['PATCH', `/v1/clients/${client.id}`, { roles: ['Admin'] }],
      ['POST', `/v1/clients/${client.id}/secrets`],
      ['DELETE', `/v1/clients/${client.id}/secrets`],
      ['POST', '/v1/roles', { name: 'Mine', permissions: ['Accounts.Manage'] }],
      ['PUT', '/v1/roles/Spare', { permissions: ['Accounts.Manage'] }],
      ['DELETE', '/v1/roles/Spare'],
    ]
    for (const [method, path, body] of changes) {
      // One for each change: a refusal makes the service forget the account.
      const { caller, user } = await newKnown()
      await disable(user)
      assertProblem(await caller.send(method, path, body), 401, 'authentication-required')
    }
    assert.equal((await accountEvents(service, other.id)).at(-1)?.kind, 'passkey-added')
  })

  it('cannot restore a role to themselves, nor a permission to their role', async () => {
    const { caller, user } = await newKnown()
    const role = `Keepers${user.id}`
    const permissions = ['Accounts.Manage' as const]
    await service.db.write('addRole', { role, permissions, stamp: stamp() })
    const keeper = await newUser(service, { roles: [role] })
    const keeping = await bearerOf(service, keeper)
    assert.equal((await keeping.get('/v1/users')).status, 200)
    await service.db.write('denyPermissions', { role, permissions, stamp: stamp() })
    assertProblem(await keeping.send('PUT', `/v1/roles/${role}`, { permissions }), 403, 'permission-denied')
    await service.db.write('revokeRoles', { account: user.account, roles: ['Admin'], stamp: stamp() })
    const regained = await caller.patch(`/v1/users/${user.id}`, { roles: ['Admin'] })
    assertProblem(regained, 401, 'authentication-required')
  })
})

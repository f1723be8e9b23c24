import assert from 'node:assert/strict'
import { before, beforeEach, describe, it } from 'node:test'
import { bearerOf, grantRoles, newClient, newUser, serviceToken, signIn } from '../support/accounts.ts'
import { addRole, firstRoles } from '../support/roles.ts'
import { setUp, testService } from '../support/service.ts'

const path = '/v1/auth/me/permissions'

describe('getCurrentUserPermissions', () => {
  const service = testService()
  const user = setUp(() => newUser(service, { roles: ['Approver', 'Operator'] }), beforeEach)
  const browser = setUp(() => signIn(service, user), beforeEach)
  before(async () => {
    await addRole(service, 'Approver', ['Orders.Read', 'Orders.Approve'])
    await addRole(service, 'Idle', [])
  })

  async function permissionsOf(roles: string[]): Promise<string[]> {
    const caller = await bearerOf(service, await newUser(service, { roles }))
    return (await caller.get(path)).body.permissions
  }

  describe('succeeds', () => {
    it('answers the permissions of all roles, each once and sorted, the same for cookie and bearer', async () => {
      for (const caller of [browser, await bearerOf(service, user)]) {
        const answer = await caller.get(path)
        assert.equal(answer.status, 200)
        assert.deepEqual(answer.body, {
          permissions: ['Orders.Approve', 'Orders.Create', 'Orders.Note', 'Orders.Read'],
        })
        assert.equal(answer.headers.get('etag'), null)
      }
    })

    for (const [role, permissions] of [
      ['Admin', firstRoles.Admin],
      ['Operator', firstRoles.Operator],
      ['Viewer', ['Orders.Read']],
      ['Idle', []],
    ] as const) {
      it(`answers ${role} with ${permissions.length} permissions`, async () => {
        assert.deepEqual(await permissionsOf([role]), permissions)
      })
    }

    for (const [role, permissions] of [
      ['Operator', firstRoles.Operator],
      ['Admin', firstRoles.Admin.filter((permission) => !permission.endsWith('.Manage'))],
    ] as const) {
      it(`answers a service that is ${role} without the permissions for people`, async () => {
        const token = await serviceToken(service, await newClient(service, [role]))
        const answer = await service.client().withBearer(token).get(path)
        assert.deepEqual(answer.body, { permissions })
      })
    }

    it('leaves out the permissions of a role granted since the credential was issued', async () => {
      const viewer = await newUser(service, { roles: ['Viewer'] })
      const caller = await bearerOf(service, viewer)
      await grantRoles(service, viewer, ['Admin'])
      assert.deepEqual((await caller.get(path)).body, { permissions: ['Orders.Read'] })
    })
  })
})

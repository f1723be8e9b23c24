import assert from 'node:assert/strict'
import { before, beforeEach, describe, it } from 'node:test'
import { machineStamp } from '../../server/audit/audit.ts'
import { bearerOf, newClient, newUser, serviceToken, signIn, type TestUser } from '../support/accounts.ts'
import type { Client } from '../support/client.ts'
import { addRole } from '../support/roles.ts'
import { testService } from '../support/service.ts'

const path = '/v1/auth/me/permissions'

const ofAdmin = [
  'Accounts.Manage',
  'Log.Read',
  'Orders.Approve',
  'Orders.Create',
  'Orders.Note',
  'Orders.Read',
  'Policy.Manage',
  'Views.Share',
]

describe('getCurrentUserPermissions', () => {
  const service = testService()
  let user: TestUser
  let browser: Client
  before(async () => {
    await addRole(service, 'Approver', ['Orders.Read', 'Orders.Approve'])
    await addRole(service, 'Idle', [])
  })
  beforeEach(async () => {
    user = await newUser(service, { roles: ['Approver', 'Operator'] })
    browser = await signIn(service, user)
  })

  async function permissionsOf(roles: string[]): Promise<string[]> {
    const caller = await bearerOf(service, await newUser(service, { roles }))
    return (await caller.get(path)).body.permissions
  }

  describe('succeeds', () => {
    it('with what all roles hold together, each once and sorted, the same for cookie and bearer', async () => {
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
      ['Admin', ofAdmin],
      ['Operator', ['Orders.Create', 'Orders.Note', 'Orders.Read']],
      ['Viewer', ['Orders.Read']],
      ['Idle', []],
    ] as const) {
      it(`for ${role} with ${permissions.length} permissions`, async () => {
        assert.deepEqual(await permissionsOf([role]), permissions)
      })
    }

    for (const [role, permissions] of [
      ['Operator', ['Orders.Create', 'Orders.Note', 'Orders.Read']],
      ['Admin', ofAdmin.filter((permission) => !permission.endsWith('.Manage'))],
    ] as const) {
      it(`for a service that is ${role}, without those for people`, async () => {
        const token = await serviceToken(service, await newClient(service, [role]))
        const answer = await service.client().withBearer(token).get(path)
        assert.deepEqual(answer.body, { permissions })
      })
    }

    it('without the permissions of a role granted since the credential was issued', async () => {
      const viewer = await newUser(service, { roles: ['Viewer'] })
      const caller = await bearerOf(service, viewer)
      const change = { account: viewer.account, roles: ['Admin'], stamp: machineStamp(service.now()) }
      await service.db.write('grantRoles', change)
      assert.deepEqual((await caller.get(path)).body, { permissions: ['Orders.Read'] })
    })
  })
})

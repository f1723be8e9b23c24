import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { machineStamp } from '../../server/audit/stamp.ts'
import {
  newClient,
  newUser,
  serviceToken,
  signIn,
  storedCredentials,
  type TestUser,
  tokenPair,
} from '../support/accounts.ts'
import type { Client } from '../support/client.ts'
import { assertProblem } from '../support/problem.ts'
import { addRole } from '../support/roles.ts'
import { type Service, startService } from '../support/service.ts'

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
  let service: Service
  let user: TestUser
  let browser: Client
  before(async () => {
    service = await startService()
    await addRole(service, 'Approver', ['Orders.Read', 'Orders.Approve'])
    await addRole(service, 'Idle', [])
  })
  beforeEach(async () => {
    user = await newUser(service, { roles: ['Approver', 'Operator'] })
    browser = await signIn(service, user)
  })
  after(() => service.close())

  async function bearerOf(someone: TestUser): Promise<Client> {
    return service.client().withBearer((await tokenPair(service, someone)).accessToken)
  }

  async function permissionsOf(roles: string[]): Promise<string[]> {
    const caller = await bearerOf(await newUser(service, { roles }))
    return (await caller.get(path)).body.permissions
  }

  describe('succeeds', () => {
    it('with what all roles hold together, each once and sorted, the same for cookie and bearer', async () => {
      for (const caller of [browser, await bearerOf(user)]) {
        const answer = await caller.get(path)
        assert.equal(answer.status, 200)
        assert.deepEqual(answer.body, {
          permissions: ['Orders.Approve', 'Orders.Create', 'Orders.Note', 'Orders.Read'],
        })
        assert.equal(answer.headers.get('cache-control'), 'no-store')
        assert.equal(answer.headers.get('vary'), 'Cookie, Authorization')
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

    it('for an account without roles', async () => {
      assert.deepEqual(await permissionsOf([]), [])
    })

    for (const [role, permissions] of [
      ['Operator', ['Orders.Create', 'Orders.Note', 'Orders.Read']],
      ['Admin', ofAdmin.filter((permission) => !permission.endsWith('.Manage'))],
    ] as const) {
      it(`for a service that is ${role}, never with those of people`, async () => {
        const token = await serviceToken(service, await newClient(service, [role]))
        const answer = await service.client().withBearer(token).get(path)
        assert.deepEqual(answer.body, { permissions })
      })
    }

    it('with what the roles hold now, five minutes after a change at the latest', async (t) => {
      const own = await startService()
      t.after(() => own.close())
      const viewer = await own.bearer('viewer')
      const permissions = async () => (await viewer.get(path)).body.permissions
      assert.deepEqual(await permissions(), ['Orders.Read'])
      await own.db.write('allowPermissions', {
        role: 'Viewer',
        permissions: ['Orders.Approve'],
        stamp: machineStamp(own.now()),
      })
      own.advance(301_000)
      assert.deepEqual(await permissions(), ['Orders.Approve', 'Orders.Read'])
    })

    it('without the permissions of a role granted since the credential was issued', async () => {
      const viewer = await newUser(service, { roles: ['Viewer'] })
      const caller = await bearerOf(viewer)
      const change = { account: viewer.account, roles: ['Admin'], stamp: machineStamp(service.now()) }
      await service.db.write('grantRoles', change)
      assert.deepEqual((await caller.get(path)).body, { permissions: ['Orders.Read'] })
    })

    it('telling a cookie caller when its session ends', async () => {
      const { headers } = await browser.get(path)
      assert.ok(headers.has('session-idle-expires') && headers.has('session-expires'))
    })

    it('from any site: a safe request is never cross-site', async () => {
      const answer = await browser.get(path, { 'sec-fetch-site': 'cross-site' })
      assert.equal(answer.status, 200)
    })
  })

  describe('rejects input', () => {})

  describe('requires access', () => {
    it('but no permission: whoever is somebody may ask', async () => {
      const nobody = await bearerOf(await newUser(service, { roles: [] }))
      assert.equal((await nobody.get(path)).status, 200)
      assertProblem(await nobody.get('/v1/orders/summary'), 403, 'permission-denied')
    })
  })

  it('changes nothing', async () => {
    const bearer = await bearerOf(user)
    const before = await storedCredentials(service)
    await browser.get(path)
    await bearer.get(path)
    await service.db.write('endSession', { idHash: 'none, but written after whatever came before' })
    assert.equal(await storedCredentials(service), before)
  })
})

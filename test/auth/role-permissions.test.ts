import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { machineStamp } from '../../server/caller/stamp.ts'
import { everyCredentialOf, newUser } from '../support/accounts.ts'
import { assertProblem } from '../support/problem.ts'
import { startService, testService } from '../support/service.ts'

const minute = 60_000
const order = { customer: 'Acme', total: 1 }

describe('the permissions of a role', () => {
  const service = testService()

  const permissions = ['Orders.Create' as const]
  const withPermissions = () => ({ role: 'Viewer', permissions, stamp: machineStamp(service.now()) })
  const allow = () => service.db.write('allowPermissions', withPermissions())
  const deny = () => service.db.write('denyPermissions', withPermissions())

  it('are the current ones, cached for 5 minutes, the same for cookie and bearer', async () => {
    const { browser, bearer } = await everyCredentialOf(
      service,
      await newUser(service, { roles: ['Viewer'] }),
    )
    const statuses = async () => [
      (await browser.post('/v1/orders', order)).status,
      (await bearer.post('/v1/orders', order)).status,
    ]
    service.advance(5 * minute)
    assert.deepEqual(await statuses(), [403, 403])
    await allow()
    service.advance(4 * minute + 50_000)
    assert.deepEqual(await statuses(), [403, 403])
    service.advance(10_000)
    assert.deepEqual(await statuses(), [201, 201])
    await deny()
    service.advance(5 * minute)
    assert.deepEqual(await statuses(), [403, 403])
  })

  it('are cached for at most PERMISSION_CACHE_TTL_SECONDS, as are accounts', async (t) => {
    const prompt = await startService({ inside: true, env: { PERMISSION_CACHE_TTL_SECONDS: '0' }, until: t })
    const caller = await prompt.bearer('viewer')
    assertProblem(await caller.post('/v1/orders', order), 403, 'permission-denied')
    await prompt.db.write('allowPermissions', withPermissions())
    assert.equal((await caller.post('/v1/orders', order)).status, 201)
    const account = { kind: 'user', name: 'viewer' } as const
    const change = { account, enabled: false, stamp: machineStamp(prompt.now()) }
    await prompt.db.write('setAccountEnabled', change)
    assertProblem(await caller.get('/v1/auth/me'), 401, 'authentication-required')
  })

  it('add up over all roles; without a role there are none, and the answer names what is missing', async () => {
    const both = await everyCredentialOf(service, await newUser(service, { roles: ['Viewer', 'Operator'] }))
    assert.equal((await both.bearer.post('/v1/orders', order)).status, 201)
    const none = await everyCredentialOf(service, await newUser(service, { roles: [] }))
    const refused = await none.bearer.get('/v1/orders')
    assertProblem(refused, 403, 'permission-denied')
    assert.equal(refused.body.permission, 'Orders.Read')
  })

  it('are either granted or gone if the role is removed while it is granted', async () => {
    const users = await Promise.all(Array.from({ length: 20 }, () => newUser(service, { roles: [] })))
    const outcomes = await Promise.all(
      users.map(async ({ account }, index) => {
        const role = `Passing${index}`
        await service.db.write('addRole', { role, permissions: [], stamp: machineStamp(service.now()) })
        const given = { account, roles: [role], stamp: machineStamp(service.now()) }
        const outcomeOf = (write: Promise<unknown>) =>
          write.then(
            () => 'done',
            ({ code }) => String(code),
          )
        const both = await Promise.all([
          outcomeOf(service.db.write('grantRoles', given)),
          outcomeOf(service.db.write('removeRole', { role, stamp: machineStamp(service.now()) })),
        ])
        return both.join(', ')
      }),
    )
    const unexpected = outcomes.filter(
      (outcome) => outcome !== 'done, role-held' && outcome !== 'unknown-role, done',
    )
    assert.deepEqual(unexpected, [])
  })
})

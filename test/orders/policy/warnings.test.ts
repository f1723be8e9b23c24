// engine: both
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import {
  bearerOf,
  grantRoles,
  newClient,
  newUser,
  setEnabled,
  type TestUser,
} from '../../support/accounts.ts'
import { withRawDatabase } from '../../support/database.ts'
import { insertOrders, orderRow, replaceOrders } from '../../support/orders.ts'
import { newPasskey } from '../../support/passkeys.ts'
import { firstPolicy, policyRow, putPolicy } from '../../support/policy.ts'
import { assertFaults } from '../../support/problem.ts'
import { addRole } from '../../support/roles.ts'
import { type Service, testService } from '../../support/service.ts'

describe('a policy is warned of rows that too few could satisfy', () => {
  const service = testService({})
  let count = 0
  let role: string
  let boss: TestUser
  beforeEach(async () => {
    await disableEveryone(service)
    count += 1
    role = await addRole(service, `Finance${count}`, [])
    const manager = await addRole(service, `Manager${count}`, ['Policy.Manage', 'Orders.Read'])
    boss = await newUser(service, { roles: [manager] })
    await putPolicy(service, firstPolicy)
  })
  afterEach(() => replaceOrders(service, []))

  const approving = async (more: string[] = []) => {
    const name = `Approver${count}`
    const roles = await service.db.read.selectFrom('roles').select('name').execute()
    if (!roles.some((each) => each.name === name)) await addRole(service, name, ['Orders.Approve'])
    return [name, ...more]
  }
  const creating = () => addRole(service, `Creator${count}`, ['Orders.Create'])
  async function approvers(number: number, more: string[] = []): Promise<TestUser[]> {
    const roles = await approving(more)
    return Promise.all(Array.from({ length: number }, () => newUser(service, { roles })))
  }
  type Row = NonNullable<Parameters<typeof policyRow>[0]>
  /** The warnings of PUT and of a check, which say the same. */
  async function warnings(...given: Row[]): Promise<[from: number, code: string, detail: string][]> {
    const rows = given.map((row) => policyRow({ services: false, ...row }))
    const caller = await bearerOf(service, boss)
    const checked = await caller.post('/v1/approval-policy/check', { rows })
    assert.equal(checked.status, 200, checked.text)
    const put = await caller.send('PUT', '/v1/approval-policy', { rows }, { 'if-match': '*' })
    assert.equal(put.status, 200, put.text)
    type Warning = { from: number; code: string; detail: string; pendingOrders: number }
    const counted = checked.body.warnings as Warning[]
    assert.deepEqual(
      counted.map(({ pendingOrders: _, ...warning }) => warning),
      put.body.warnings,
    )
    return counted.map(({ from, code, detail }) => [from, code, detail])
  }

  it('nobody may approve', async () => {
    const nobody = 'No enabled person may approve orders.'
    assert.deepEqual(await warnings({}, { from: 10.5, role }), [
      [0, 'nobody', nobody],
      [10.5, 'nobody', nobody],
    ])
  })

  it('nobody both holds the role and may approve', async () => {
    await approvers(2)
    await newUser(service, { roles: [role] })
    const detail = `No enabled person with the role ${role} may approve orders.`
    assert.deepEqual(await warnings({ from: 0 }, { from: 1, role }), [[1, 'role-unheld', detail]])
    const [holder] = await approvers(2, [role])
    assert.deepEqual(await warnings({ role }), [])
    await setEnabled(service, holder ?? assert.fail(), false)
    const one = `Only one person with the role ${role} may approve orders.`
    assert.deepEqual(await warnings({ role, approvals: 2 }), [[0, 'only-one', one]])
  })

  it('fewer people than approvals, or only one', async () => {
    await approvers(1, [await addRole(service, `Second${count}`, ['Orders.Approve'])])
    assert.deepEqual(await warnings({ approvals: 1 }, { from: 5, approvals: 2 }), [
      [0, 'only-one', 'Only one person may approve orders.'],
      [5, 'too-few', '2 approvals are needed, but only one person may approve orders.'],
    ])
    await approvers(3)
    const detail = '5 approvals are needed, but only 4 people may approve orders.'
    assert.deepEqual(await warnings({ approvals: 4 }, { from: 5, approvals: 5 }), [[5, 'too-few', detail]])
    await approvers(1)
    assert.deepEqual(await warnings({ approvals: 5 }), [])
  })

  it('an approver who creates orders does not count for them where creators may not approve', async () => {
    const [one] = await approvers(2)
    const row = { approvals: 2, selfApproval: false }
    assert.deepEqual(await warnings(row), [])
    await grantRoles(service, one ?? assert.fail(), [await creating()])
    const detail = 'An order by one of the 2 people who may approve orders gets only 1 of 2 approvals.'
    assert.deepEqual(await warnings(row, { from: 1, approvals: 1, selfApproval: false }), [
      [0, 'too-few', detail],
    ])
    await approvers(1)
    assert.deepEqual(await warnings(row), [])
    assert.deepEqual(await warnings({ approvals: 3 }), [])
    await approvers(3)
    assert.deepEqual(await warnings({ approvals: 5, selfApproval: false }), [])
  })

  it('only people with a passkey count where each approval must be signed', async () => {
    await approvers(2)
    const row = { approvals: 1, services: true, passkey: true }
    const nobody = 'No enabled person with a passkey may approve orders.'
    assert.deepEqual(await warnings(row), [[0, 'nobody', nobody]])
    const [one] = await approvers(1)
    await newPasskey(service, one ?? assert.fail())
    const only = 'Only one person with a passkey may approve orders.'
    assert.deepEqual(await warnings(row), [[0, 'only-one', only]])
    assert.deepEqual(await warnings({ ...row, passkey: false }), [])
  })

  it('so is the owner of a service that creates orders', async () => {
    const [one] = await approvers(1)
    const row = { selfApproval: false }
    const only = 'Only one person may approve orders'
    assert.deepEqual(await warnings(row), [[0, 'only-one', `${only}.`]])
    await newClient(service, [await creating()], one?.id)
    const detail = `${only}, and nobody can approve the orders of that person.`
    assert.deepEqual(await warnings(row), [[0, 'only-one', detail]])
    assert.deepEqual(await warnings({ selfApproval: true }), [[0, 'only-one', `${only}.`]])
  })

  it('services count only where they may approve, until their end date', async () => {
    await approvers(1)
    const machine = await newClient(service, await approving())
    assert.deepEqual(await warnings({ approvals: 2, services: true }), [])
    const [[, code] = []] = await warnings({ approvals: 2, services: false })
    assert.equal(code, 'too-few')
    await withRawDatabase(service.databaseUrl, (db) =>
      db
        .updateTable('clients')
        .set({ ends_at: service.now() })
        .where('principal_id', '=', machine.id)
        .execute(),
    )
    const detail = '2 approvals are needed, but only one account may approve orders.'
    assert.deepEqual(await warnings({ approvals: 2, services: true }), [[0, 'too-few', detail]])
  })

  it('a check counts the pending orders with the same rules, and changes nothing', async () => {
    const same = { approvals_needed: 3, self_approval: 0, service_approval: 0, role_needed: role }
    await insertOrders(service, [
      orderRow(same),
      orderRow(same),
      orderRow({ ...same, status: 2 }),
      orderRow({ ...same, role_needed: null }),
      orderRow({ ...same, self_approval: 1 }),
      orderRow({ ...same, approvals_needed: 2 }),
    ])
    const before = await service.db.read.selectFrom('approval_policy').selectAll().execute()
    const rows = [
      policyRow(),
      policyRow({ from: 9, approvals: 3, selfApproval: false, services: false, role }),
      policyRow({ from: 10, approvals: 3, selfApproval: false, services: false }),
    ]
    const caller = await bearerOf(service, boss)
    const { body } = await caller.post('/v1/approval-policy/check', { rows })
    assert.deepEqual(
      body.warnings.map(({ from, pendingOrders }: Record<string, number>) => [from, pendingOrders]),
      [
        [0, 0],
        [9, 2],
        [10, 1],
      ],
    )
    assert.deepEqual(await service.db.read.selectFrom('approval_policy').selectAll().execute(), before)
    assertFaults(await caller.post('/v1/approval-policy/check', { rows: [policyRow({ from: 1 })] }), {
      '#/rows/0/from': 'first',
    })
  })
})

async function disableEveryone({ databaseUrl }: Service): Promise<void> {
  await withRawDatabase(databaseUrl, (db) => db.updateTable('principals').set({ enabled: 0 }).execute())
}

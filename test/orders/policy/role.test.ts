// engine: both
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, beforeEach, describe, it } from 'node:test'
import {
  bearerOf,
  grantRoles,
  machineOf,
  newCaller,
  newClient,
  newUser,
  revokeRoles,
} from '../../support/accounts.ts'
import type { Answer, Client } from '../../support/client.ts'
import { withRawDatabase } from '../../support/database.ts'
import { createdId } from '../../support/orders.ts'
import {
  approvalState,
  approve,
  firstPolicy,
  policyEvents,
  policyRow,
  putPolicy,
  putsPolicyBack,
} from '../../support/policy.ts'
import { assertFaults, assertProblem } from '../../support/problem.ts'
import { addRole } from '../../support/roles.ts'
import { setUp, testService } from '../../support/service.ts'

describe('a role that one of the approvers must hold', () => {
  const service = testService()
  putsPolicyBack(service)
  const admin = setUp(() => service.bearer('admin'))
  const operator = setUp(() => service.bearer('operator'))
  let role: string
  let holders: Client[]
  let others: Client[]
  let holder: Client
  let other: Client

  async function callers(count: number, roles: string[]): Promise<Client[]> {
    const all: Client[] = []
    while (all.length < count) all.push(await newCaller(service, roles))
    return all
  }
  before(async () => {
    role = await addRole(service, `Finance-${randomUUID().slice(0, 8)}`, [])
    holders = await callers(4, ['Admin', role])
    others = await callers(8, ['Admin'])
    holder = holders[0] ?? assert.fail()
    other = others[0] ?? assert.fail()
  })

  async function orderNeeding(approvals: number, row: Parameters<typeof policyRow>[0] = {}): Promise<string> {
    await putPolicy(service, [policyRow({ approvals, role, ...row })])
    return createdId(operator)
  }
  const may = async (caller: Client, id: string) => {
    const { body } = await caller.get(`/v1/orders/${id}/approvals`)
    return [body.role, body.mayApprove, body.reason]
  }
  function assertRoleNeeded(answer: Answer, version: number) {
    assertProblem(answer, 403, 'role-needed')
    assert.equal(answer.body.role, role)
    assert.equal(answer.body.detail, `One approver must hold the role ${role}.`)
    assert.equal(answer.headers.get('etag'), `"${version}"`)
  }

  describe('decides about the last approval', () => {
    it('it is refused to anyone else, which changes nothing, and then succeeds for a holder', async () => {
      const id = await orderNeeding(2)
      assert.deepEqual(await may(other, id), [role, true, null])
      assert.equal((await approve(other, id)).status, 204)
      const state = await approvalState(service, id)
      const [second = admin] = others.slice(1)
      assert.deepEqual(await may(second, id), [role, false, 'role-needed'])
      assertRoleNeeded(await approve(second, id), 2)
      assert.deepEqual(await approvalState(service, id), state)
      assert.deepEqual(await may(holder, id), [role, true, null])
      assert.equal((await approve(holder, id)).status, 204)
      assert.equal((await approvalState(service, id)).status, 1)
    })

    it('it is the first, if one is enough: one row "above 10,000 Finance as well" holds from its total', async () => {
      await putPolicy(service, [policyRow(), policyRow({ from: 10_000, role })])
      const [below, above] = [
        await createdId(operator, { total: '9999.9999' }),
        await createdId(operator, { total: 10_000 }),
      ]
      assert.equal((await approve(other, below)).status, 204)
      assertRoleNeeded(await approve(other, above), 1)
      assert.equal((await approve(holder, above)).status, 204)
    })

    it('the other rules come first, and each refusal names its own', async () => {
      const id = await orderNeeding(2, { selfApproval: false, services: false })
      await approve(other, id)
      assertProblem(await approve(other, id), 409, 'already-approved-by-you')
      const machine = await machineOf(service, await newClient(service, ['Admin', role]))
      assertProblem(await approve(machine, id), 403, 'service-approval')
      const own = await createdId(holder)
      await approve(other, own)
      const refused = await approve(holder, own)
      assertProblem(refused, 403, 'self-approval')
      assert.equal('role' in refused.body, false, 'another refusal says nothing about a role')
    })

    it('nobody else can reject less: a rejection needs no role', async () => {
      const id = await orderNeeding(1)
      assert.equal((await other.patch(`/v1/orders/${id}/reject`, { reason: 'No.' })).status, 204)
    })
  })

  describe('is asked of the database at that moment', () => {
    async function person(roles: string[]) {
      const user = await newUser(service, { roles })
      return { user, caller: await bearerOf(service, user) }
    }

    it('a role that was just given counts, though the token does not have it', async () => {
      const { user, caller } = await person(['Admin'])
      const id = await orderNeeding(1)
      assertRoleNeeded(await approve(caller, id), 1)
      await grantRoles(service, user, [role])
      assert.deepEqual(await may(caller, id), [role, true, null])
      assert.equal((await approve(caller, id)).status, 204)
    })

    it('a role that was just taken away does not, though a token from before says so', async () => {
      const { user } = await person(['Admin', role])
      const id = await orderNeeding(1)
      await revokeRoles(service, user, [role])
      const again = await bearerOf(service, user)
      assertRoleNeeded(await approve(again, id), 1)
    })

    it('an approval keeps the role with which it was given, and gains none', async () => {
      const [giver, later] = [await person(['Admin', role]), await person(['Admin'])]
      const id = await orderNeeding(2)
      assert.equal((await approve(giver.caller, id)).status, 204)
      await revokeRoles(service, giver.user, [role])
      assert.equal((await approve(other, id)).status, 204)
      const second = await createdId(operator)
      assert.equal((await approve(later.caller, second)).status, 204)
      await grantRoles(service, later.user, [role])
      assertRoleNeeded(await approve(other, second), 2)
    })
  })

  it('is in the database’s own check of an approved order', async () => {
    const id = await orderNeeding(1)
    const forced = withRawDatabase(service.databaseUrl, (db) =>
      db.updateTable('orders').set({ status: 1, approvals_given: 1 }).where('id', '=', id).execute(),
    )
    await assert.rejects(forced, /check/i)
    assert.equal((await approvalState(service, id)).status, 0)
  })

  it('stays with the order: a later policy neither adds nor lifts it', async () => {
    const id = await orderNeeding(1)
    await putPolicy(service, firstPolicy)
    assertRoleNeeded(await approve(other, id), 1)
    const free = await createdId(operator)
    await putPolicy(service, [policyRow({ role })])
    assert.deepEqual(await may(other, free), [null, true, null])
    assert.equal((await approve(other, free)).status, 204)
  })

  describe('in the policy', () => {
    let tag: string
    let recent: Client
    beforeEach(async () => {
      await putPolicy(service, firstPolicy)
      recent = await service.bearer('admin')
      tag = (await admin.get('/v1/approval-policy')).headers.get('etag') ?? ''
    })
    const put = (rows: unknown, headers: Record<string, string> = {}) =>
      recent.send('PUT', '/v1/approval-policy', { rows }, { 'if-match': tag, ...headers })
    const rowsNow = async () => (await admin.get('/v1/approval-policy')).body.rows
    const { role: _, ...older } = policyRow()

    it('is read as it was set, and its event has it', async () => {
      const rows = [policyRow(), policyRow({ from: 10_000, role })]
      assert.equal((await put(rows)).status, 200)
      assert.deepEqual(await rowsNow(), rows)
      const { data } = (await policyEvents(service)).at(-1) ?? assert.fail()
      assert.deepEqual(JSON.parse(data), { rows: rows.map((row) => ({ ...row, from: String(row.from) })) })
    })

    it('is null if it is left out while no row has one', async () => {
      assert.equal((await put([older, { ...older, from: 5 }])).status, 200)
      assert.deepEqual(await rowsNow(), [policyRow(), policyRow({ from: 5 })])
    })

    it('cannot be lifted by a client that does not know it, but by one that says so', async () => {
      const rows = [policyRow(), policyRow({ from: 10_000, role })]
      await putPolicy(service, rows)
      const any = { 'if-match': '*' }
      assertFaults(await put([older, { ...older, from: 9 }, policyRow({ from: 10 })], any), {
        '#/rows/0/role': 'required',
        '#/rows/1/role': 'required',
      })
      assert.deepEqual(await rowsNow(), rows)
      assert.equal((await put(firstPolicy, any)).status, 200)
      assert.equal((await put([older], any)).status, 200)
    })

    for (const [wrong, code] of [
      [7, 'type'],
      [['Admin'], 'type'],
      ['', 'format'],
      ['a b', 'format'],
      ['x'.repeat(65), 'format'],
      ['Admin\u0000', 'format'],
    ] as const) {
      it(`is refused if it is no name: ${JSON.stringify(wrong).slice(0, 20)}`, async () => {
        assertFaults(await put([{ ...older, role: wrong }]), { '#/rows/0/role': code })
      })
    }

    it('must exist, in this spelling', async () => {
      for (const unknown of ['Boss', role.toLowerCase()]) {
        const answer = await put([policyRow(), policyRow({ from: 5, role: unknown })])
        assertProblem(answer, 422, 'unknown-role')
        assert.equal(answer.body.detail, `There is no role ${unknown}.`)
      }
      assert.deepEqual(await rowsNow(), firstPolicy)
    })

    it('cannot be removed while a row names it', async () => {
      const name = `Held-${randomUUID().slice(0, 8)}`
      const browser = await service.session('admin')
      await browser.post('/v1/roles', { name, permissions: ['Orders.Read'] })
      await putPolicy(service, [policyRow({ role: name })])
      const held = await browser.send('DELETE', `/v1/roles/${name}`)
      assertProblem(held, 409, 'role-held')
      assert.deepEqual([held.body.detail, held.body.accounts], ['The approval policy names the role.', 0])
      assert.deepEqual((await browser.get(`/v1/roles/${name}`)).body.permissions, ['Orders.Read'])
      await putPolicy(service, firstPolicy)
      assert.equal((await browser.send('DELETE', `/v1/roles/${name}`)).status, 204)
    })

    it('cannot be removed while a pending order needs it', async () => {
      const name = `Needed-${randomUUID().slice(0, 8)}`
      const browser = await service.session('admin')
      await browser.post('/v1/roles', { name, permissions: ['Orders.Read'] })
      await putPolicy(service, [policyRow({ role: name })])
      const ids = [await createdId(browser), await createdId(browser)]
      await putPolicy(service, firstPolicy)
      const held = await browser.send('DELETE', `/v1/roles/${name}`)
      assertProblem(held, 409, 'role-held')
      assert.deepEqual([held.body.accounts, held.body.orders], [0, 2])
      assert.deepEqual((await browser.get(`/v1/roles/${name}`)).body.permissions, ['Orders.Read'])
      for (const id of ids) await browser.patch(`/v1/orders/${id}/reject`, { reason: 'x' })
      assert.equal((await browser.send('DELETE', `/v1/roles/${name}`)).status, 204)
    })

    it('stays if an order that needs it is created while the policy drops it', async () => {
      const browser = await service.session('admin')
      for (let round = 0; round < 10; round += 1) {
        const name = `Dropped-${round}-${randomUUID().slice(0, 8)}`
        await browser.post('/v1/roles', { name, permissions: ['Orders.Read'] })
        await putPolicy(service, [policyRow({ role: name })])
        const creates = Array.from({ length: 8 }, () => createdId(browser))
        const dropped = putPolicy(service, firstPolicy).then(() =>
          browser.send('DELETE', `/v1/roles/${name}`),
        )
        const [{ status }] = await Promise.all([dropped, ...creates])
        const rows = await service.db.read
          .selectFrom('orders')
          .select('id')
          .where('role_needed', '=', name)
          .execute()
        assert.equal(status, rows.length > 0 ? 409 : 204)
      }
    })

    it('is either named or removed if both happen at once', async () => {
      const browser = await service.session('admin')
      for (let round = 0; round < 10; round += 1) {
        const name = `Passing-${round}-${randomUUID().slice(0, 8)}`
        await browser.post('/v1/roles', { name, permissions: ['Orders.Read'] })
        const [named, removed] = await Promise.all([
          put([policyRow({ role: name })], { 'if-match': '*' }),
          browser.send('DELETE', `/v1/roles/${name}`),
        ])
        const outcome = [named.body?.code ?? named.status, removed.body?.code ?? removed.status]
        assert.ok(['200,role-held', 'unknown-role,204'].includes(String(outcome)), String(outcome))
        await putPolicy(service, firstPolicy)
      }
    })
  })
})

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, it } from 'node:test'
import {
  bearerOf,
  machineOf,
  newClient,
  setEnabled,
  signIn,
  type TestClient,
  type TestUser,
} from '../../support/accounts.ts'
import type { Client } from '../../support/client.ts'
import { createdId } from '../../support/orders.ts'
import {
  approvalState,
  approve,
  newApprover,
  policyRow,
  putPolicy,
  putsPolicyBack,
} from '../../support/policy.ts'
import { assertProblem } from '../../support/problem.ts'
import { testService } from '../../support/service.ts'

describe('the owner of a service counts as creator of its orders', () => {
  const service = testService()
  putsPolicyBack(service)
  let owner: TestUser
  let ann: Client
  let other: TestUser
  let bo: Client
  let agent: TestClient
  let machine: Client
  before(async () => {
    await putPolicy(service, [policyRow({ selfApproval: false })])
    ;({ user: owner, caller: ann } = await newApprover(service))
    ;({ user: other, caller: bo } = await newApprover(service))
    agent = await newClient(service, ['Admin'], owner.id)
    machine = await machineOf(service, agent)
  })

  async function assertRefused(caller: Client, id: string) {
    const { body } = await caller.get(`/v1/orders/${id}/approvals`)
    assert.deepEqual([body.mayApprove, body.reason], [false, 'self-approval'])
    assertProblem(await approve(caller, id), 403, 'self-approval')
    const { status, version, approvers } = await approvalState(service, id)
    assert.deepEqual([status, version, approvers], [0, 1, []])
  }
  const setOwner = async (ownerId: number | null) => {
    const answer = await (await service.bearer('admin')).patch(`/v1/clients/${agent.id}`, { ownerId })
    assert.equal(answer.status, 204, answer.text)
  }

  it('neither the service nor its owner approves them, by any credential; anyone else does', async () => {
    const id = await createdId(machine)
    for (const caller of [machine, ann, await signIn(service, owner), await bearerOf(service, owner)]) {
      await assertRefused(caller, id)
    }
    assert.equal((await approve(bo, id)).status, 204)
  })

  it('nor does another service of the same owner', async () => {
    const twin = await machineOf(service, await newClient(service, ['Admin'], owner.id))
    await assertRefused(twin, await createdId(machine))
    const strange = await machineOf(service, await newClient(service, ['Admin'], other.id))
    assert.equal((await approve(strange, await createdId(machine))).status, 204)
    const nobodys = await machineOf(service, await newClient(service, ['Admin']))
    assert.equal((await approve(nobodys, await createdId(machine))).status, 204)
    assert.equal((await approve(ann, await createdId(nobodys))).status, 204)
  })

  it('a service does not approve what its owner created', async () => {
    await assertRefused(machine, await createdId(ann))
    assert.equal((await approve(machine, await createdId(bo))).status, 204)
  })

  it('of many creates at once, each with a key, every one has the owner', async () => {
    const one = () =>
      machine.post('/v1/orders', { customer: 'Acme', total: 1 }, { 'idempotency-key': randomUUID() })
    const created = await Promise.all(Array.from({ length: 20 }, one))
    for (const { body } of created) await assertRefused(ann, body.id)
  })

  it('a later owner changes nothing for orders that exist', async () => {
    const earlier = await createdId(machine)
    const free = await createdId(machine)
    await setOwner(other.id)
    const later = await createdId(machine)
    await assertRefused(ann, earlier)
    await assertRefused(bo, later)
    assert.equal((await approve(bo, free)).status, 204)
    assert.equal((await approve(ann, later)).status, 204)
    await setOwner(null)
    await assertRefused(ann, earlier)
    assert.equal((await approve(ann, await createdId(machine))).status, 204)
    await setOwner(owner.id)
  })

  it('a service whose owner is disabled goes on, and its orders are still not for that owner', async () => {
    await setEnabled(service, owner, false)
    const id = await createdId(machine)
    await setEnabled(service, owner, true)
    await assertRefused(await bearerOf(service, owner), id)
  })

  it('an owner and the service each give an approval of what others created', async () => {
    await putPolicy(service, [policyRow({ selfApproval: false, approvals: 2 })])
    const id = await createdId(bo)
    assert.equal((await approve(machine, id)).status, 204)
    assert.equal((await approve(await bearerOf(service, owner), id)).status, 204)
    assert.equal((await approvalState(service, id)).status, 1)
  })

  it('the owner may approve where the creator may', async () => {
    await putPolicy(service, [policyRow({ selfApproval: true })])
    assert.equal((await approve(await bearerOf(service, owner), await createdId(machine))).status, 204)
    assert.equal((await approve(machine, await createdId(await bearerOf(service, owner)))).status, 204)
  })
})

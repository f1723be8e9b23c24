import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, it } from 'node:test'
import { machineOf, newClient } from '../../support/accounts.ts'
import type { Client } from '../../support/client.ts'
import { seal } from '../../support/log.ts'
import { createdId, storedState } from '../../support/orders.ts'
import { newApprover, policyRow, putPolicy, putsPolicyBack } from '../../support/policy.ts'
import { assertProblem } from '../../support/problem.ts'
import { assertRevalidates } from '../../support/revalidation.ts'
import { setUp, testService } from '../../support/service.ts'

describe('getOrderApprovals', () => {
  const service = testService()
  putsPolicyBack(service)
  const admin = setUp(() => service.bearer('admin'))
  const operator = setUp(() => service.bearer('operator'))
  before(async () => {
    await putPolicy(service, [
      policyRow(),
      policyRow({ from: 100, approvals: 2, selfApproval: false, services: false }),
      policyRow({ from: 1_000, approvals: 3, selfApproval: true, services: true }),
    ])
  })

  const read = (caller: Client, id: string) => caller.get(`/v1/orders/${id}/approvals`)
  const approve = async (caller: Client, id: string) =>
    (await caller.patch(`/v1/orders/${id}/approve`)).body?.code ?? 'approved'
  /** Whether this caller may approve, and why not. */
  const may = async (caller: Client, id: string) => {
    const { body } = await read(caller, id)
    return [body.mayApprove, body.reason]
  }

  const approver = () => newApprover(service)

  describe('succeeds', () => {
    it('says who approved and when, in the order of the log', async () => {
      const id = await createdId(operator, { total: 1_000 })
      const approvers = [await approver(), await approver(), await approver()]
      const times: string[] = []
      for (const { caller } of approvers) {
        service.advance(1_000)
        assert.equal(await approve(caller, id), 'approved')
        times.push((await admin.get(`/v1/orders/${id}`)).body.updatedAtUtc)
        const { body } = await read(admin, id)
        if (times.length === 2) await seal(service.db)
        assert.deepEqual(
          body.given,
          times.map((atUtc, index) => {
            const user = approvers[index]?.user
            const absent = { for: null, forName: null, forId: null }
            return { by: user?.userName, byName: null, byId: user?.id, atUtc, ...absent, signed: false }
          }),
        )
      }
      assert.equal((await admin.get(`/v1/orders/${id}`)).body.status, 1)
    })

    it('says by which rules the order was created', async () => {
      for (const [total, required, selfApproval, services] of [
        [1, 1, true, true],
        [100, 2, false, false],
        [1_000, 3, true, true],
      ] as const) {
        const { body } = await read(admin, await createdId(operator, { total }))
        assert.partialDeepStrictEqual(body, { required, selfApproval, services, role: null })
      }
    })

    it('names the service that created the order, and no person', async () => {
      const client = await newClient(service)
      const proposed = await createdId(await machineOf(service, client))
      assert.equal((await read(admin, proposed)).body.proposedBy, client.clientId)
      assert.equal((await read(admin, await createdId(operator))).body.proposedBy, null)
    })

    it('names the order that it replaces, and the one that replaces it', async () => {
      const former = await createdId(operator)
      assert.equal((await admin.patch(`/v1/orders/${former}/reject`, { reason: 'Twice.' })).status, 204)
      const id = await createdId(operator, { replaces: former })
      const replacement = async (of: string) => {
        const { replaces, replacedBy } = (await read(admin, of)).body
        return [replaces, replacedBy]
      }
      assert.deepEqual(await replacement(id), [former, null])
      assert.deepEqual(await replacement(former), [null, id])
    })

    it('answers all readers alike, except about themselves', async () => {
      const id = await createdId(operator, { total: 100 })
      const { mayApprove: _, reason: __, ...told } = (await read(admin, id)).body
      for (const name of ['viewer', 'operator'] as const) {
        const answer = await read(await service.bearer(name), id)
        assert.deepEqual(answer.body, { ...told, mayApprove: false, reason: 'permission-denied' })
      }
    })
  })

  describe('says how an approval would be answered:', () => {
    it('with order-not-pending to anyone, once the order is in a final state', async () => {
      for (const path of ['approve', 'reject'] as const) {
        const id = await createdId(operator)
        await admin.patch(`/v1/orders/${id}/${path}`, { reason: 'x' })
        assert.deepEqual(await may(admin, id), [false, 'order-not-pending'])
        assert.equal(await approve(admin, id), 'order-not-pending')
      }
    })
  })

  it('answers 304 to its entity tag until there is another approval', async () => {
    const id = await createdId(operator, { total: 100 })
    const { caller } = await approver()
    await assertRevalidates(admin, `/v1/orders/${id}/approvals`, () => approve(caller, id))
  })

  it('answers 404 for an unknown order and a malformed id', async () => {
    for (const id of [randomUUID(), 'x', '%00', '__proto__']) {
      assertProblem(await read(admin, id), 404, 'order-not-found')
    }
  })

  it('changes nothing', async () => {
    const id = await createdId(operator)
    const stateBefore = await storedState(service)
    await read(admin, id)
    assert.deepEqual(await storedState(service), stateBefore)
  })
})

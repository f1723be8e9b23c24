import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, it } from 'node:test'
import { machineOf, newClient } from '../../support/accounts.ts'
import type { Client } from '../../support/client.ts'
import { createdId, storedState } from '../../support/orders.ts'
import { newApprover, policyRow, putPolicy, putsPolicyBack } from '../../support/policy.ts'
import { assertProblem } from '../../support/problem.ts'
import { testService } from '../../support/service.ts'

describe('getOrderApprovals', () => {
  const service = testService()
  putsPolicyBack(service)
  let admin: Client
  let operator: Client
  before(async () => {
    admin = await service.bearer('admin')
    operator = await service.bearer('operator')
    await putPolicy(admin, [
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
    it('with what the policy asked for when the order was created, and nobody yet', async () => {
      for (const [total, required, selfApproval] of [
        [99.9999, 1, true],
        [100, 2, false],
        [999.9999, 2, false],
        [1_000, 3, true],
      ] as const) {
        const answer = await read(admin, await createdId(operator, { total }))
        assert.equal(answer.status, 200, answer.text)
        assert.deepEqual(answer.body, { required, given: [], selfApproval, mayApprove: true, reason: null })
      }
    })

    it('with who approved and when, in the order of the log', async () => {
      const id = await createdId(operator, { total: 1_000 })
      const approvers = [await approver(), await approver(), await approver()]
      const times: string[] = []
      for (const { caller } of approvers) {
        service.advance(1_000)
        assert.equal(await approve(caller, id), 'approved')
        times.push((await admin.get(`/v1/orders/${id}`)).body.updatedAtUtc)
        const { body } = await read(admin, id)
        assert.deepEqual(
          body.given,
          times.map((atUtc, index) => {
            const user = approvers[index]?.user
            return { by: user?.userName, byId: user?.id, atUtc }
          }),
        )
      }
      assert.equal((await admin.get(`/v1/orders/${id}`)).body.status, 1)
    })

    it('the same to all who may read, but for what it says of themselves', async () => {
      const id = await createdId(operator, { total: 100 })
      const { mayApprove: _, reason: __, ...told } = (await read(admin, id)).body
      for (const name of ['viewer', 'operator'] as const) {
        const answer = await read(await service.bearer(name), id)
        assert.deepEqual(answer.body, { ...told, mayApprove: false, reason: 'permission-denied' })
      }
    })
  })

  describe('says what an approval would be answered', () => {
    it('the creator: self-approval, where the policy does not allow it', async () => {
      const { caller } = await approver()
      const [kept, free] = [
        await createdId(caller, { total: 100 }),
        await createdId(caller, { total: 1_000 }),
      ]
      assert.deepEqual(await may(caller, kept), [false, 'self-approval'])
      assert.equal(await approve(caller, kept), 'self-approval')
      assert.deepEqual(await may(caller, free), [true, null])
      assert.equal(await approve(caller, free), 'approved')
    })

    it('someone who has approved: already-approved-by-you', async () => {
      const id = await createdId(operator, { total: 100 })
      assert.equal(await approve(admin, id), 'approved')
      assert.deepEqual(await may(admin, id), [false, 'already-approved-by-you'])
      assert.equal(await approve(admin, id), 'already-approved-by-you')
      assert.deepEqual(await may((await approver()).caller, id), [true, null])
    })

    it('of a service: service-approval, where the policy does not count it', async () => {
      const client = await newClient(service, ['Admin'])
      const caller = await machineOf(service, client)
      const [kept, free] = [
        await createdId(operator, { total: 100 }),
        await createdId(operator, { total: 1_000 }),
      ]
      assert.deepEqual(await may(caller, kept), [false, 'service-approval'])
      assert.equal(await approve(caller, kept), 'service-approval')
      assert.deepEqual(await may(caller, free), [true, null])
      assert.equal(await approve(caller, free), 'approved')
    })

    it('of anybody, once the order is in a final state: order-not-pending', async () => {
      for (const path of ['approve', 'reject'] as const) {
        const id = await createdId(operator)
        await admin.patch(`/v1/orders/${id}/${path}`, { reason: 'x' })
        assert.deepEqual(await may(admin, id), [false, 'order-not-pending'])
        assert.equal(await approve(admin, id), 'order-not-pending')
      }
    })
  })

  it('revalidates: 304 until there is another approval', async () => {
    const id = await createdId(operator, { total: 100 })
    const { headers } = await read(admin, id)
    assert.equal(headers.get('cache-control'), 'private, no-cache')
    const again = () =>
      admin.get(`/v1/orders/${id}/approvals`, { 'if-none-match': headers.get('etag') ?? '' })
    assert.equal((await again()).status, 304)
    await approve((await approver()).caller, id)
    assert.equal((await again()).status, 200)
  })

  it('rejects input: 404 for an unknown order and a malformed id', async () => {
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

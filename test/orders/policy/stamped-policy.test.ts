import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { createdId, storedState } from '../../support/orders.ts'
import { approve, newApprovers, policyRow, putPolicy, putsPolicyBack } from '../../support/policy.ts'
import { setUp, testService } from '../../support/service.ts'

describe('the row that applies when an order is created', () => {
  const service = testService()
  putsPolicyBack(service)
  const admin = setUp(() => service.bearer('admin'))
  const operator = setUp(() => service.bearer('operator'))

  const approvalsOf = async (id: string) => (await admin.get(`/v1/orders/${id}/approvals`)).body

  /** No two rows have the same rule. */
  const rows = [
    policyRow({ approvals: 1, selfApproval: true, services: true }),
    policyRow({ from: 0.01, approvals: 2, selfApproval: true, services: false }),
    policyRow({ from: 100, approvals: 3, selfApproval: false, services: true }),
    policyRow({ from: '1000.0001', approvals: 4, selfApproval: false, services: false }),
    policyRow({ from: 99_999_999_999.9999, approvals: 5, selfApproval: true, services: true }),
  ]
  /** Exactly at each border, and the smallest step to either side of it. */
  const needed: [total: string, row: number][] = [
    ['0.0001', 0],
    ['0.0099', 0],
    ['0.01', 1],
    ['0.0101', 1],
    ['99.9999', 1],
    ['100', 2],
    ['100.0000', 2],
    ['100.0001', 2],
    ['1000', 2],
    ['1000.0001', 3],
    ['1000.0002', 3],
    ['99999999999.9998', 3],
    ['99999999999.9999', 4],
  ]

  function assertStamped(order: Record<string, unknown> | undefined, row: number, label: string) {
    const { approvals, selfApproval, services } = rows[row] ?? assert.fail()
    assert.deepEqual(
      [order?.approvals_needed, order?.self_approval, order?.service_approval, order?.approvals_given],
      [approvals, Number(selfApproval), Number(services), 0],
      label,
    )
  }

  it('is the last one whose total does not exceed the order’s, to the ten-thousandth', async () => {
    await putPolicy(service, rows)
    for (const [total, row] of needed) {
      const id = await createdId(operator, { total })
      const { orders } = await storedState(service)
      assertStamped(
        orders.find((order) => order.id === id),
        row,
        total,
      )
      const { required, selfApproval } = await approvalsOf(id)
      assert.deepEqual([required, selfApproval], [rows[row]?.approvals, rows[row]?.selfApproval], total)
    }
  })

  it('is found for each of many orders created at once, with and without a key', async () => {
    await putPolicy(service, rows)
    const customer = randomUUID()
    const wanted = Array.from({ length: 6 }, () => needed).flat()
    const answers = await Promise.all(
      wanted.map(([total], index) =>
        operator.post(
          '/v1/orders',
          { customer, total },
          index % 2 === 0 ? {} : { 'idempotency-key': `${customer}-${index}` },
        ),
      ),
    )
    const byId = new Map((await storedState(service)).orders.map((order) => [order.id, order]))
    assert.equal(answers.filter(({ status }) => status === 201).length, wanted.length)
    for (const [index, [total, row]] of wanted.entries()) {
      assertStamped(byId.get(answers[index]?.body.id), row, total)
    }
  })

  describe('stays with the order:', () => {
    it('a stricter policy asks nothing more of an existing order', async () => {
      await putPolicy(service, [policyRow()])
      const own = await createdId(admin)
      await putPolicy(service, [policyRow({ approvals: 3, selfApproval: false, services: false })])
      const { number, ...approvals } = await approvalsOf(own)
      assert.ok(number > 0)
      assert.deepEqual(approvals, {
        proposedBy: null,
        required: 1,
        given: [],
        selfApproval: true,
        services: true,
        role: null,
        passkey: false,
        mayApprove: true,
        mayApproveFor: null,
        reason: null,
        replaces: null,
        replacedBy: null,
      })
      assert.equal((await approve(admin, own)).status, 204)
      assert.equal((await admin.get(`/v1/orders/${own}`)).body.status, 1)
    })

    it('a laxer policy asks for no fewer approvals, even if the order has one already', async () => {
      await putPolicy(service, [policyRow({ approvals: 2, selfApproval: false, services: false })])
      const [own, half] = [await createdId(admin), await createdId(operator)]
      assert.equal((await approve(admin, half)).status, 204)
      await putPolicy(service, [policyRow()])
      const answer = await approve(admin, own)
      assert.deepEqual([answer.status, answer.body.code], [403, 'self-approval'])
      assert.equal((await approve(admin, half)).body.code, 'already-approved-by-you')
      const [second] = await newApprovers(service, 1)
      assert.equal((await approve(second?.caller ?? admin, half)).status, 204)
      assert.equal((await admin.get(`/v1/orders/${half}`)).body.status, 1)
      assert.equal((await admin.get(`/v1/orders/${own}`)).body.status, 0)
    })
  })
})

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { policyRow, putPolicy, putsPolicyBack } from '../../support/policy.ts'
import { assertRevalidates } from '../../support/revalidation.ts'
import { setUp, testService } from '../../support/service.ts'

describe('getApprovalPolicy', () => {
  const service = testService()
  putsPolicyBack(service)
  const admin = setUp(() => service.bearer('admin'))

  it('answers the rows by ascending total, in whatever order the database keeps them', async () => {
    const totals = [0, 0.5, 9, 10, 100, 9_000.0001, 99_999_999_999.9999]
    await putPolicy(
      service,
      totals.map((from) => policyRow({ from })),
    )
    const { rows } = (await admin.get('/v1/approval-policy')).body
    const starts = rows.map(({ from }: { from: number }) => from)
    assert.deepEqual(starts, totals)
  })

  it('answers 304 for its entity tag until it changes', async () => {
    const change = () => putPolicy(service, [policyRow({ approvals: 2 })])
    await assertRevalidates(admin, '/v1/approval-policy', change)
  })
})

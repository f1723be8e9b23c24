import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import type { Client } from '../../support/client.ts'
import { policyRow, putPolicy, putsPolicyBack } from '../../support/policy.ts'
import { testService } from '../../support/service.ts'

describe('getApprovalPolicy', () => {
  const service = testService()
  putsPolicyBack(service)
  let admin: Client
  before(async () => {
    admin = await service.bearer('admin')
  })

  it('answers the rows ascending by total, in whatever order a database keeps them', async () => {
    const totals = [0, 0.5, 9, 10, 100, 9_000.0001, 99_999_999_999.9999]
    await putPolicy(
      admin,
      totals.map((from) => policyRow({ from })),
    )
    const { rows } = (await admin.get('/v1/approval-policy')).body
    assert.deepEqual(
      rows.map(({ from }: { from: number }) => from),
      totals,
    )
  })

  it('is 304 for its entity tag until it changes', async () => {
    const tag = (await admin.get('/v1/approval-policy')).headers.get('etag') ?? ''
    const unchanged = await admin.get('/v1/approval-policy', { 'if-none-match': tag })
    assert.deepEqual([unchanged.status, unchanged.text], [304, ''])
    await putPolicy(admin, [policyRow({ approvals: 2 })])
    assert.equal((await admin.get('/v1/approval-policy', { 'if-none-match': tag })).status, 200)
  })
})

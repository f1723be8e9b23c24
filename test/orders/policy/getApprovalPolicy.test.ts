import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../../support/client.ts'
import { policyRow, putPolicy } from '../../support/policy.ts'
import { type Service, startService } from '../../support/service.ts'

describe('getApprovalPolicy', () => {
  let service: Service
  let admin: Client
  before(async () => {
    service = await startService()
    admin = await service.bearer('admin')
  })
  after(() => service.close())

  it('answers the user’s rule to the letter at first: from 0, one approval, anybody’s', async () => {
    const answer = await admin.get('/v1/approval-policy')
    assert.equal(answer.status, 200)
    assert.deepEqual(answer.body, {
      rows: [{ from: 0, approvals: 1, selfApproval: true, services: true }],
    })
    assert.equal(answer.headers.get('etag'), '"1"')
    assert.equal(answer.headers.get('cache-control'), 'private, no-cache')
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

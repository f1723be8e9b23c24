// engine: both
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setUp, testService } from '../support/service.ts'

const emptyPage = {
  items: [],
  pageNumber: 1,
  totalPages: 0,
  totalCount: 0,
  hasPreviousPage: false,
  hasNextPage: false,
}

describe('on a new database', () => {
  const service = testService({ inside: true })
  const admin = setUp(() => service.bearer('admin'))

  for (const [query, pageNumber] of [
    ['', 1],
    ['?pageNumber=3', 3],
    ['?paginated=false', 1],
  ] as const) {
    it(`listOrders${query} has no items, no pages and a count of 0`, async () => {
      const { status, body } = await admin.get(`/v1/orders${query}`)
      assert.deepEqual({ status, ...body }, { status: 200, ...emptyPage, pageNumber })
    })
  }

  it('listViews is an empty page', async () => {
    assert.deepEqual((await admin.get('/v1/views')).body, emptyPage)
  })

  it('getOrdersOverview has zeros, for thirty days up to today', async () => {
    const nothing = { count: 0, total: 0 }
    const none = { pending: nothing, approved: nothing, rejected: nothing, withdrawn: nothing }
    const dates = Array.from({ length: 30 }, (_, index) => {
      return new Date(service.now() - (29 - index) * 86_400_000).toISOString().slice(0, 10)
    })
    const { status, body } = await admin.get('/v1/orders/summary')
    assert.deepEqual(
      { status, ...body },
      {
        status: 200,
        timeZone: 'UTC',
        ...none,
        days: dates.map((date) => ({ date, ...none })),
        oldestPending: [],
      },
    )
  })

  it('getApprovalPolicy is exactly the user’s rule: from 0, one approval, by anyone', async () => {
    const answer = await admin.get('/v1/approval-policy')
    assert.equal(answer.status, 200)
    assert.deepEqual(answer.body, {
      rows: [{ from: 0, approvals: 1, selfApproval: true, services: true, role: null, passkey: false }],
    })
    assert.equal(answer.headers.get('etag'), '"1"')
    assert.equal(answer.headers.get('cache-control'), 'private, no-cache')
  })
})

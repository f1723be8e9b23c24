import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { compareOrders, type OrderRow, onlyOrders, orderRow } from '../support/orders.ts'
import { setUp, testService } from '../support/service.ts'

const orderCount = 1_200

/** Most are approved, some are rejected or withdrawn; the newest are pending. */
function statusOf(index: number): number {
  if (index >= orderCount - 150) return 0
  return index % 40 === 0 ? 3 : index % 11 === 0 ? 2 : 1
}

describe('a list of several statuses', () => {
  const service = testService()
  const viewer = setUp(() => service.bearer('viewer'))
  const rows = Array.from({ length: orderCount }, (_, index) =>
    orderRow({
      created_at: Date.UTC(2026, 0, 1) + index * 1_000,
      total_e4: 10_000 + ((index * 7) % 900) * 100,
      status: statusOf(index),
    }),
  )
  onlyOrders(service, rows)

  const filters: [filter: string, has: (row: OrderRow) => boolean][] = [
    ['status!=Approved', ({ status }) => status !== 1],
    ['status!=Approved status!=2', ({ status }) => status === 0 || status === 3],
    ['status!=Pending', ({ status }) => status !== 0],
    ['status!=Approved total>=5', ({ status, total_e4: total }) => status !== 1 && total >= 50_000],
    ['NOT status=Approved', ({ status }) => status !== 1],
    ['status=Rejected OR status=Withdrawn', ({ status }) => status >= 2],
  ]
  for (const [filter, has] of filters) {
    for (const sortKey of ['createdAtUtc', 'status', 'total', 'id'] as const) {
      it(`has every page of '${filter}' by ${sortKey}, in either direction`, async () => {
        for (const order of ['Asc', 'Desc'] as const) {
          const matching = rows
            .filter(has)
            .sort(compareOrders(sortKey, order))
            .map(({ id }) => id)
          const found: string[] = []
          for (let page = 1; page <= Math.ceil(matching.length / 70); page += 1) {
            const query = `filter=${encodeURIComponent(filter)}&orderBy=${sortKey}&order=${order}`
            const { body } = await viewer.get(`/v1/orders?${query}&pageSize=70&pageNumber=${page}`)
            assert.equal(body.totalCount, matching.length)
            found.push(...body.items.map(({ id }: { id: string }) => id))
          }
          assert.deepEqual(found, matching)
        }
      })
    }
  }
})

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  compareOrders,
  insertOrders,
  type OrderRow,
  onlyOrders,
  orderIdAt,
  orderRow,
} from '../support/orders.ts'
import { setUp, testService } from '../support/service.ts'

const start = Date.UTC(2026, 0, 1)

/**
 * SQLite walks by numbers only while they are in the order of creation: it must notice when they no longer
 * are.
 */
describe('filtered lists by creation', () => {
  const service = testService()
  onlyOrders(service)
  const caller = setUp(() => service.bearer('admin'))
  const stored: OrderRow[] = []

  /** Stores them one after the other, so that they are numbered in this order. */
  async function store(instants: number[]): Promise<void> {
    for (const instant of instants) {
      const index = stored.length
      const [row] = await insertOrders(service, [
        orderRow({
          id: orderIdAt(start + instant, index),
          customer: index % 3 === 0 ? 'Zirkon Werke' : `Kontor ${index}`,
          total_e4: index % 2 === 0 ? 70_000 : 90_000,
        }),
      ])
      if (row !== undefined) stored.push(row)
    }
  }

  async function check(): Promise<void> {
    for (const [filter, holds] of [
      ['werke', ({ customer }: OrderRow) => customer.endsWith('Werke')],
      ['total=7', ({ total_e4 }: OrderRow) => total_e4 === 70_000],
      ['total=7 werke', (row: OrderRow) => row.total_e4 === 70_000 && row.customer.endsWith('Werke')],
    ] as const) {
      for (const order of ['Asc', 'Desc'] as const) {
        const wanted = stored.filter(holds).sort(compareOrders('createdAtUtc', order))
        for (const pageNumber of [1, 2, Math.ceil(wanted.length / 7)]) {
          const query = new URLSearchParams({ filter, order, pageSize: '7', pageNumber: `${pageNumber}` })
          const { body } = await caller.get(`/v1/orders?orderBy=createdAtUtc&${query}`)
          assert.deepEqual(
            [body.totalCount, body.items.map(({ id }: { id: string }) => id)],
            [wanted.length, wanted.slice((pageNumber - 1) * 7, pageNumber * 7).map(({ id }) => id)],
            `${query}`,
          )
        }
      }
    }
  }

  it('are exact where orders were stored as they were created, several in one millisecond', async () => {
    await store(Array.from({ length: 60 }, (_, index) => Math.floor(index / 3)))
    await check()
  })

  it('are exact for orders created while the clock was set back, and for later ones', async () => {
    await store([5])
    await check()
    await store(Array.from({ length: 30 }, (_, index) => 100 + index))
    await check()
  })
})

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { insertOrders, type OrderRow, orderRow } from '../support/orders.ts'
import { type Service, startService } from '../support/service.ts'

const start = Date.UTC(2026, 0, 1)
const sizes = [1, 7, 50]

/** Numbers from 0 up to 1 that are the same in every run. */
function numbersFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state / 2 ** 31
  }
}

describe('filtered lists by creation', () => {
  let service: Service
  let caller: Client
  const stored: OrderRow[] = []
  const random = numbersFrom(42)
  before(async () => {
    service = await startService()
    caller = await service.bearer('admin')
  })
  after(() => service.close())

  const pick = (names: string[]) => names[Math.floor(random() * names.length)] ?? ''

  async function store(instants: number[]): Promise<void> {
    const rows = instants.map((instant) =>
      orderRow({
        customer: random() < 0.3 ? 'Zirkon Werke' : pick(['Other Works', 'Zirbel Kontor', 'Werft Parke']),
        total_e4: random() < 0.4 ? 70_000 : 90_000,
        created_at: start + instant,
      }),
    )
    // One after the other, so that they are numbered as they stand here.
    for (const row of rows) await insertOrders(service, [row])
    stored.push(...rows)
  }

  const filters: [string, (row: OrderRow) => boolean][] = [
    ['customer:zirkon', ({ customer }) => customer.startsWith('Zirkon')],
    ['werke', ({ customer }) => customer.endsWith('Werke')],
    ['"n wer"', ({ customer }) => customer.endsWith('Werke')],
    ['total=7', ({ total_e4 }) => total_e4 === 70_000],
    ['total=7 customer:zirkon', (row) => row.total_e4 === 70_000 && row.customer.startsWith('Zirkon')],
  ]

  /** Every page of every filter both ways against what was stored. */
  async function check(): Promise<void> {
    for (const [filter, matches] of filters) {
      const ascending = stored
        .filter(matches)
        .sort((a, b) => a.created_at - b.created_at || (a.id < b.id ? -1 : 1))
        .map(({ id }) => id)
      for (const order of ['Asc', 'Desc']) {
        const wanted = order === 'Asc' ? ascending : ascending.toReversed()
        for (const size of sizes) {
          for (const page of [1, 2, Math.max(1, Math.ceil(wanted.length / size))]) {
            const query = new URLSearchParams({
              filter,
              order,
              pageSize: String(size),
              pageNumber: String(page),
              orderBy: 'createdAtUtc',
            })
            const { body } = await caller.get(`/v1/orders?${query}`)
            assert.deepEqual(
              [body.totalCount, body.items.map(({ id }: { id: string }) => id)],
              [wanted.length, wanted.slice((page - 1) * size, page * size)],
              `${query}`,
            )
          }
        }
      }
    }
  }

  it('are exact where orders were stored as they were created, several in one millisecond', async () => {
    await store(Array.from({ length: 120 }, (_, index) => Math.floor(index / 3)))
    await check()
  })

  it('are exact where a page ends among many of one millisecond, whatever their ids', async () => {
    await store(Array.from({ length: 60 }, () => 50))
    await check()
  })

  it('are exact where a clock was set back, and beyond', async () => {
    await store(Array.from({ length: 40 }, (_, index) => 10 + Math.floor(index / 4)))
    await check()
    await store(Array.from({ length: 90 }, (_, index) => 60 + Math.floor(index / 2)))
    await check()
  })

  it('are exact where orders were stored in any order', async () => {
    await store(Array.from({ length: 80 }, () => Math.floor(random() * 120)))
    await check()
  })
})

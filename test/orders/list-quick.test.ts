import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { parseFilter } from '../../server/orders/filter/parser.ts'
import type { FindOrdersInput } from '../../server/orders/list/find.ts'
import { compareOrders, insertOrders, type OrderRow, orderRow } from '../support/orders.ts'
import { type Service, startService } from '../support/service.ts'

const orderCount = 3_000
const start = Date.UTC(2026, 0, 1)
const hour = 3_600_000
/** Fifty orders an hour, several of one instant. */
const rows: OrderRow[] = Array.from({ length: orderCount }, (_, index) =>
  orderRow({
    customer: index % 600 === 0 ? 'Zirkon Werke' : 'Zirbel Kontor',
    total_e4: 10_000 * (1 + ((index * 7919) % 40)),
    status: index % 3 === 0 ? 1 : 0,
    created_at: start + Math.floor(index / 50) * hour + Math.floor((index % 50) / 5) * 60_000,
  }),
)
const isFrom = ({ created_at }: OrderRow, hours: number) => created_at >= start + hours * hour
const isApproved = ({ status }: OrderRow) => status === 1

const filters: [filter: string, matches: (row: OrderRow) => boolean][] = [
  ['createdAtUtc>="2026-01-01T06:00:00Z"', (row) => isFrom(row, 6)],
  ['createdAtUtc<"2026-01-02T18:00:00Z"', (row) => !isFrom(row, 42)],
  [
    'createdAtUtc>="2026-01-01T07:00:00Z" createdAtUtc<"2026-01-01T09:00:00Z"',
    (row) => isFrom(row, 7) && !isFrom(row, 9),
  ],
  ['createdAtUtc>="2026-01-01T23:00:00Z" status=Approved', (row) => isFrom(row, 23) && isApproved(row)],
  [
    'createdAtUtc=2026-01-02 status!=Approved',
    (row) => isFrom(row, 24) && !isFrom(row, 48) && !isApproved(row),
  ],
  ['createdAtUtc>2026-01-03', () => false],
  ['total>=12 total<14', ({ total_e4 }) => total_e4 >= 120_000 && total_e4 < 140_000],
  ['total<=7', ({ total_e4 }) => total_e4 <= 70_000],
  ['total=40', ({ total_e4 }) => total_e4 === 400_000],
  ['total>40', () => false],
]
/** Few of all: such are found in another way than what is common. */
const otherFilters: typeof filters = [
  ['zirkon', ({ customer }) => customer.startsWith('Zirkon')],
  ['kontor', ({ customer }) => customer.endsWith('Kontor')],
]

describe('lists of few steps', () => {
  let service: Service
  before(async () => {
    service = await startService()
    await insertOrders(service, rows)
  })
  after(() => service.close())

  const inputs = (filter: string, matches: number): FindOrdersInput[] =>
    (['asc', 'desc'] as const).flatMap((direction) =>
      [0, 5, Math.floor(matches / 2), Math.max(0, matches - 5), matches + 5].map((offset) => ({
        ordering: { sortKey: 'createdAtUtc', direction },
        filter: parseFilter(filter),
        page: { offset, limit: 5 },
      })),
    )

  function expected({ ordering, page }: FindOrdersInput, matches: (row: OrderRow) => boolean) {
    const { sortKey, direction } = ordering
    const wanted = rows.filter(matches).sort(compareOrders(sortKey, direction === 'asc' ? 'Asc' : 'Desc'))
    const { offset, limit } = page ?? { offset: 0, limit: orderCount }
    return { ids: wanted.slice(offset, offset + limit).map(({ id }) => id), totalCount: wanted.length }
  }

  for (const [filter, matches] of [...filters, ...otherFilters]) {
    it(`are exact for ${filter}, near both ends and between`, async () => {
      for (const input of inputs(filter, rows.filter(matches).length)) {
        const found = await service.db.query('findOrders', input, { limitMilliseconds: 2_000, caller: 'ada' })
        assert.deepEqual(
          { ids: found.items.map(({ id }) => id), totalCount: found.totalCount },
          expected(input, matches),
          JSON.stringify(input),
        )
      }
    })
  }
})

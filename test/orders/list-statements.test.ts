import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { type Kysely, sql } from '#kysely'
import type { Database } from '../../server/db/tables.ts'
import { findOrders } from '../../server/orders/list/find.ts'
import type { ListRequest } from '../../server/orders/list/plan.ts'
import { findOrdersAtOnce } from '../../server/orders/list/postgres.ts'
import { type SortKey, sortKeys } from '../../server/orders/order.ts'
import { readOverview } from '../../server/orders/overview/store.ts'
import { countByStatus } from '../../server/orders/tally.ts'
import { testEngine, withRawDatabase } from '../support/database.ts'
import { compareOrders, insertOrders, listRequest, onlyOrders, orderRow } from '../support/orders.ts'
import { accessesOf, statementsOf } from '../support/plans.ts'
import { testService } from '../support/service.ts'

const isSqlite = testEngine === 'sqlite'
const orderCount = 5_000
const dayMilliseconds = 86_400_000

/**
 * By which index orders are found that match a filter, as far as one can know; the rest walks all of them.
 */
const primaryKey = /^orders_(?:by_id|pkey)$/
const filterIndexes: [filter: string, index: RegExp][] = [
  ['zirkon', /^orders_(?:search|by_trigram)$/],
  ['customer:zirkon', /^orders_(?:search|by_trigram)$/],
  ['customer="*zirkon"', /^orders_(?:search|by_trigram)$/],
  ['customer="zirkon 7*"', /^orders_by_(?:customer|trigram)$/],
  ['customer="zirkon 700"', /^orders_by_(?:customer|trigram)$/],
  ['zirkon status=Approved', /^orders_(?:search|by_trigram)$/],
  ['total=7', /^orders_by_total$/],
  ['total>1.5 total<1.6', /^orders_by_total$/],
  ['updatedAtUtc>=2026-01-01', /^orders_by_updated_at$/],
  ['createdAtUtc="1970-01-02T12:00:00Z"', primaryKey],
  ['id=00000000-0000-7000-8000-000000000000', primaryKey],
  ['id="0192*"', primaryKey],
]

describe('the statements of a list', () => {
  const service = testService()
  onlyOrders(
    service,
    Array.from({ length: orderCount }, (_, index) =>
      orderRow({
        customer: index % 500 === 0 ? `Zirkon ${index}` : `Customer ${(index * 7919) % orderCount}`,
        total_e4: 10_000 + ((index * 104_729) % 1_000_000),
        created_at: dayMilliseconds + index * 60_000,
        created_by: `user${index % 40}`,
        updated_at: index % 2 === 0 ? null : 3 * dayMilliseconds + index,
        status: index % 4,
      }),
    ),
  )
  before(async () => {
    if (!isSqlite) await withRawDatabase(service.databaseUrl, (db) => sql`analyze`.execute(db))
  })

  /** What its statements do with orders. */
  const accessesOfList = async (list: ListRequest) =>
    accessesOf(service, await statementsOf(service, (db) => findOrders(db, list)))

  const sortIndexes: Record<SortKey, RegExp> = {
    createdAtUtc: primaryKey,
    updatedAtUtc: /^orders_by_updated_at$/,
    customer: /^orders_by_customer$/,
    total: /^orders_by_total$/,
    status: /^orders_by_status$/,
    id: primaryKey,
  }
  for (const sortKey of sortKeys) {
    for (const direction of ['asc', 'desc'] as const) {
      it(`of the first and last page by ${sortKey} ${direction} walk its index, and look at the rows of the page alone`, async () => {
        for (const offset of [0, orderCount - 20]) {
          const accesses = await accessesOfList({ ...listRequest('', sortKey, offset), direction })
          const [walk, ...others] = accesses.filter((access) => !primaryKey.test(access) && access !== 'sort')
          assert.match(walk ?? 'orders_by_id', sortIndexes[sortKey], accesses.join())
          assert.deepEqual(others, [])
        }
      })
    }
  }

  for (const filter of ['status=Approved', 'status!=Approved']) {
    it(`of ${filter} by creation walk the parts of the index of the status`, async () => {
      for (const offset of [0, 60]) {
        const accesses = await accessesOfList(listRequest(filter, 'createdAtUtc', offset))
        assert.ok(accesses.includes('orders_by_status'), accesses.join())
        assert.ok(!accesses.some((each) => /SCAN orders|Seq Scan/.test(each)), accesses.join())
      }
    })
  }

  for (const [filter, index] of filterIndexes) {
    it(`count what matches ${filter} by an index, at a cost by its number`, async () => {
      const accesses = await accessesOfList(listRequest(filter, 'createdAtUtc', orderCount))
      assert.ok(accesses.length > 0)
      const [access] = accesses.filter((each) => each !== 'sort' && !/PRIMARY KEY/.test(each))
      assert.match(access ?? '', index, accesses.join())
      assert.ok(!accesses.some((each) => /^Seq Scan$|^SCAN orders/.test(each)), accesses.join())
    })
  }

  /** Each is one statement. */
  async function accessesBy(read: (db: Kysely<Database>) => Promise<unknown>): Promise<string[]> {
    const statements = await statementsOf(service, read)
    assert.equal(statements.length, 1)
    const accesses = await accessesOf(service, statements, { generic: true })
    return accesses.filter((access) => access !== 'sort')
  }

  it('of the overview read orders by the index of pending ones alone', async () => {
    assert.deepEqual(await accessesBy((db) => readOverview(db, 0, 30)), ['orders_by_status'])
  })

  it('of the count of each status read no orders', async () => {
    assert.deepEqual(await accessesBy(countByStatus), [])
  })

  it('are seen to walk all orders where they do', async () => {
    const accesses = await accessesOfList(listRequest('modifiedBy=nobody'))
    assert.ok(
      accesses.some((each) => /^(?:SCAN orders|Seq Scan)/.test(each)),
      accesses.join(),
    )
  })
})

describe('a list in one statement', { skip: isSqlite }, () => {
  const service = testService()
  const rows = Array.from({ length: 3_000 }, (_, index) =>
    orderRow({ created_at: dayMilliseconds + index * 60_000, total_e4: 10_000 + index, status: index % 4 }),
  )
  onlyOrders(service, rows)

  for (const [filter, sortKey, offset, isOnce] of [
    ['', 'createdAtUtc', 0, true],
    ['', 'total', 2_980, true],
    ['status=Pending', 'createdAtUtc', 20, true],
    ['status!=Approved', 'createdAtUtc', 40, true],
    ['status!=Approved', 'id', 2_230, true],
    ['', 'total', 1_500, false],
    ['', 'total', null, false],
    ['total>0.5', 'total', 0, false],
    ['customer:acme', 'createdAtUtc', 0, false],
  ] as const) {
    it(`${isOnce ? 'is' : 'is not'} '${filter}' by ${sortKey} from ${offset ?? 'the start, all'}`, async () => {
      const asked = listRequest(filter, sortKey, offset)
      const once = await findOrdersAtOnce(service.db.read, asked)
      assert.equal(once !== undefined, isOnce)
      if (once === undefined) return
      const matching = rows.filter(({ status }) => matches(filter, status))
      const wanted = matching.toSorted(compareOrders(sortKey, 'Desc')).slice(offset ?? 0, (offset ?? 0) + 20)
      assert.deepEqual(
        [once.totalCount, JSON.parse(once.items).map(({ id }: { id: string }) => id)],
        [matching.length, wanted.map(({ id }) => id)],
      )
    })
  }

  const matches = (filter: string, status: number) =>
    filter === '' || (filter === 'status=Pending' ? status === 0 : status !== 1)

  it('is right when the counts have changed since the list before', async () => {
    const viewer = await service.bearer('viewer')
    const last = async () => (await viewer.get('/v1/orders?orderBy=total&pageSize=7&pageNumber=429')).body
    assert.deepEqual((await last()).items.length, 4)
    await insertOrders(service, [orderRow({ total_e4: 90_000_000 })])
    const after = await last()
    assert.deepEqual([after.totalCount, after.items.length, after.items.at(-1).total], [3_001, 5, 9_000])
  })
})

// engine: both
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
import { accessesOf, statementsOf, stepsOf } from '../support/plans.ts'
import { testService } from '../support/service.ts'

const isSqlite = testEngine === 'sqlite'
const orderCount = 5_000
const dayMilliseconds = 86_400_000

/** The index by which matching orders are found, where it is fixed. All other filters walk all orders. */
const primaryKey = /^orders_(?:by_id|pkey)$/
/** The number is the key of SQLite's table. */
const byNumber = /^orders_number_key$|^SEARCH orders USING INTEGER PRIMARY KEY \(rowid=\?\)$/
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
    if (isSqlite) return
    await withRawDatabase(service.databaseUrl, async (db) => {
      // Rows that wait to be indexed make the index look slower, by an amount that changes from run to run.
      await sql`select gin_clean_pending_list('orders_by_trigram')`.execute(db)
      await sql`analyze`.execute(db)
    })
  })

  /** The accesses of its statements to orders. */
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
      it(`of the first and last page by ${sortKey} ${direction} walk its index, and look only at the rows of the page`, async () => {
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
    it(`of ${filter} by creation walk the index of the status, a range for each`, async () => {
      for (const offset of [0, 60]) {
        const accesses = await accessesOfList(listRequest(filter, 'createdAtUtc', offset))
        assert.ok(accesses.includes('orders_by_status'), accesses.join())
        assert.ok(!accesses.some((each) => /SCAN orders|Seq Scan/.test(each)), accesses.join())
      }
    })
  }

  // PostgreSQL chooses by its statistics, and a quarter of these orders are pending.
  for (const filter of ['waits:me', 'approvalsMissing>=2', 'waitingSince<2000-01-01']) {
    it(`of ${filter} read pending orders only`, { skip: !isSqlite }, async () => {
      const list = { ...listRequest(filter), askings: [{ byId: 1, isService: false }] }
      const accesses = await accessesOfList(list)
      assert.ok(accesses.includes('orders_by_status'), accesses.join())
      assert.ok(!accesses.some((each) => /SCAN orders|Seq Scan/.test(each)), accesses.join())
    })
  }

  it('of waits:me count by an index that has all of its columns', { skip: !isSqlite }, async () => {
    const list = { ...listRequest('waits:me'), askings: [{ byId: 1, isService: false }] }
    const statements = await statementsOf(service, (db) => findOrders(db, list))
    const counts = statements.filter(({ sql: text }) => text.startsWith('select count(*)'))
    assert.equal(counts.length, 1)
    assert.match(stepsOf(service, counts).join(), /USING COVERING INDEX orders_by_status \(status=\?\)/)
  })

  for (const filter of ['waits:me total>=0.5', 'status=Rejected total>=1 updatedAtUtc>=1970-01-02']) {
    it(`of ${filter} use no range if few orders have the status`, { skip: !isSqlite }, async () => {
      const list = { ...listRequest(filter), askings: [{ byId: 1, isService: false }] }
      const accesses = await accessesOfList(list)
      assert.ok(accesses.includes('orders_by_status'), accesses.join())
      assert.ok(!accesses.some((each) => /total|updated/.test(each)), accesses.join())
    })
  }

  for (const [filter, index] of filterIndexes) {
    it(`count the matches of ${filter} by an index, at a cost that follows their number`, async () => {
      const accesses = await accessesOfList(listRequest(filter, 'createdAtUtc', orderCount))
      assert.ok(accesses.length > 0)
      const [access] = accesses.filter((each) => each !== 'sort' && !/PRIMARY KEY/.test(each))
      assert.match(access ?? '', index, accesses.join())
      assert.ok(!accesses.some((each) => /^Seq Scan$|^SCAN orders/.test(each)), accesses.join())
    })
  }

  it('look up the order of a number, twice by the number and once by the id', async () => {
    const { number } = await service.db.read.selectFrom('orders').select('number').executeTakeFirstOrThrow()
    for (const filter of [`#${number}`, `#${number} createdAtUtc>=1970-01-01`]) {
      const accesses = await accessesOfList(listRequest(filter))
      assert.equal(accesses.filter((each) => byNumber.test(each)).length, 2, accesses.join())
      const others = accesses.filter((each) => !byNumber.test(each) && each !== 'sort')
      assert.deepEqual(
        others.filter((each) => !primaryKey.test(each)),
        [],
      )
    }
  })

  /** Each is one statement. */
  async function accessesBy(read: (db: Kysely<Database>) => Promise<unknown>): Promise<string[]> {
    const statements = await statementsOf(service, read)
    assert.equal(statements.length, 1)
    const accesses = await accessesOf(service, statements, { generic: true })
    return accesses.filter((access) => access !== 'sort')
  }

  it('of the overview read orders only by the index of pending ones', async () => {
    assert.deepEqual(await accessesBy((db) => readOverview(db, [3_600_000, 90_000_000])), [
      'orders_by_status',
    ])
  })

  it('of the count of each status read no orders', async () => {
    assert.deepEqual(await accessesBy(countByStatus), [])
  })

  it('are reported if they walk all orders', async () => {
    const accesses = await accessesOfList(listRequest('modifiedBy=nobody'))
    assert.ok(
      accesses.some((each) => /^(?:SCAN orders|Seq Scan)/.test(each)),
      accesses.join(),
    )
  })
})

describe('the statements of a list of one customer', () => {
  const service = testService()
  // The oldest orders of the table, so a walk from the newest one would pass all others first.
  onlyOrders(
    service,
    Array.from({ length: orderCount }, (_, index) =>
      orderRow({ customer: index < 1_000 ? 'Steady' : `Customer ${index}`, created_at: index * 60_000 }),
    ),
  )
  before(async () => {
    if (!isSqlite) await withRawDatabase(service.databaseUrl, (db) => sql`analyze`.execute(db))
  })

  // PostgreSQL sorts the rows of a page once more when it makes them JSON.
  const ofPage = ['orders_by_customer', ...(isSqlite ? [] : ['sort'])]
  for (const [customer, offset, accesses] of [
    ['Steady', 0, ofPage],
    ['Steady', 980, ofPage],
    ['Customer 3000', 0, ofPage],
    ['Nobody', 0, []],
  ] as const) {
    it(`from ${offset}, newest first, find the page of ${customer} by one index and look at no other order`, async () => {
      const list = listRequest(`customer="${customer}"`, 'createdAtUtc', offset)
      const statements = await statementsOf(service, (db) => findOrders(db, { ...list, direction: 'desc' }))
      const pages = statements.filter((statement) => /json_group_array|string_agg/.test(statement.sql))
      const found = await accessesOf(service, pages)
      assert.deepEqual(found.filter((access) => !primaryKey.test(access)).toSorted(), accesses)
      assert.equal(found.length - accesses.length, pages.length)
    })
  }
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

  it('is right if the counts have changed since the previous list', async () => {
    const viewer = await service.bearer('viewer')
    const last = async () => (await viewer.get('/v1/orders?orderBy=total&pageSize=7&pageNumber=429')).body
    assert.deepEqual((await last()).items.length, 4)
    await insertOrders(service, [orderRow({ total_e4: 90_000_000 })])
    const after = await last()
    assert.deepEqual([after.totalCount, after.items.length, after.items.at(-1).total], [3_001, 5, 9_000])
  })
})

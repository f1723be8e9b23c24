import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import Sqlite from 'better-sqlite3'
import { type CompiledQuery, Kysely, PostgresDialect, SqliteDialect, sql } from 'kysely'
import pg from 'pg'
import type { Database } from '../../server/db/tables.ts'
import { parseFilter } from '../../server/orders/filter/parser.ts'
import { findOrders } from '../../server/orders/list/find.ts'
import {
  type Count,
  type ListRequest,
  type Page,
  planCount,
  planPage,
} from '../../server/orders/list/plan.ts'
import { findOrdersAtOnce } from '../../server/orders/list/postgres.ts'
import { type SortKey, sortKeys } from '../../server/orders/order.ts'
import { testEngine, withRawDatabase } from '../support/database.ts'
import { compareOrders, insertOrders, type OrderRow, orderRow } from '../support/orders.ts'
import { type Service, startService } from '../support/service.ts'

const isSqlite = testEngine === 'sqlite'
const orderCount = 5_000
const dayMilliseconds = 86_400_000

/** A million orders, of which 400,000 are pending. */
const million = new Map([
  [0, 400_000],
  [1, 600_000],
])

const ofFourStates = new Map([
  [0, 310_000],
  [1, 600_000],
  [2, 60_000],
  [3, 30_000],
])

function countInWords(count: Count): string {
  if (count.by === 'tally') return `tally ${count.statuses.join()}`
  if (count.by === 'rest') return `all but ${countInWords(count.of)}`
  return count.by === 'text' ? `text ${count.text}` : 'looking'
}

function pageInWords(page: Page): string {
  if (page.by === 'nothing') return 'nothing'
  const where = `${page.isReversed ? 'from the end, ' : ''}after ${page.skip}`
  if (page.by === 'sort') return `sort ${where}`
  if (page.by === 'text') return `text ${page.text} ${where}`
  return `walk ${page.index}${page.statuses === null ? '' : ` of ${page.statuses.join()}`} ${where}`
}

/** A page of 20 from the offset, unless it is null. */
function request(filter: string, sortKey: SortKey = 'createdAtUtc', offset: number | null = 0): ListRequest {
  const page = offset === null ? null : { offset, limit: 20 }
  return { filter: parseFilter(filter), sortKey, direction: 'desc', page }
}

describe('how the matches are counted', () => {
  const plans: [filter: string, count: string][] = [
    ['', 'tally 0,1'],
    ['status=Pending', 'tally 0'],
    ['status:Approved', 'tally 1'],
    ['status!=Approved', 'tally 0'],
    ['status=Pending status=Approved', 'tally '],
    ['NOT status=Pending', 'tally 1'],
    ['status=Pending OR status=Approved', 'tally 0,1'],
    ['status=Pending OR acme', 'looking'],
    ['NOT (status=Pending total>5)', 'all but looking'],
    ['acme', 'text acme'],
    ['ACME', 'text acme'],
    ['customer:"a b c"', 'text a b c'],
    ['customer:ac', 'looking'],
    ['-acme', 'all but text acme'],
    ['NOT (acme)', 'all but text acme'],
    ['-total>5', 'all but looking'],
    ['acme status=Pending', 'looking'],
    ['acme OR zeta', 'looking'],
    ['acme zeta', 'looking'],
    // Either a text or the beginning of an id.
    ['cafe', 'looking'],
    ['cafés', 'text cafés'],
    ['customer=acme', 'looking'],
    ['customer="*acme"', 'looking'],
    ['customer!=acme', 'looking'],
    ['createdBy:acme', 'looking'],
    ['total>=5', 'looking'],
    ['createdAtUtc=2026-01-01', 'looking'],
    ['updatedAtUtc:*', 'looking'],
    ['id=019a9d2e-5b7c-7f3a-9c41-6d2f8e0b1a57', 'looking'],
  ]
  for (const [filter, count] of plans) {
    it(`of '${filter}': ${count}`, () => {
      assert.equal(countInWords(planCount(parseFilter(filter), million)), count)
    })
  }

  for (const [filter, count] of [
    ['status!=Approved', 'tally 0,2,3'],
    ['NOT status=Approved', 'tally 0,2,3'],
    ['status=Pending OR status=Rejected', 'tally 0,2'],
    ['NOT (status=Pending OR status!=Rejected)', 'tally 2'],
    ['(status=Pending OR status=Rejected) -status=2', 'tally 0'],
  ] as const) {
    it(`of '${filter}', where there are orders of four states: ${count}`, () => {
      assert.equal(countInWords(planCount(parseFilter(filter), ofFourStates)), count)
    })
  }
})

describe('how a page is found where there are orders of four states', () => {
  for (const [filter, sort, matches, page] of [
    ['status!=Approved', 'createdAtUtc', 400_000, 'walk orders_by_status of 0,2,3 after 0'],
    ['status!=Approved status!=Withdrawn', 'id', 370_000, 'walk orders_by_status of 0,2 after 0'],
    ['status=Rejected', 'createdAtUtc', 60_000, 'walk orders_by_status of 2 after 0'],
    ['status!=Approved', 'status', 400_000, 'walk orders_by_status after 0'],
    ['status=Pending OR status=Rejected', 'createdAtUtc', 370_000, 'walk orders_by_status of 0,2 after 0'],
    ['status=Pending OR status=Rejected', 'status', 370_000, 'walk orders_by_status after 0'],
    ['status=Pending OR total>=5', 'createdAtUtc', 370_000, 'walk orders after 0'],
    ['status!=Approved total>=5', 'createdAtUtc', 9_000, 'walk orders_by_status of 0,2,3 after 0'],
    ['status!=Approved total>=5', 'createdAtUtc', 900, 'sort after 0'],
  ] as const) {
    it(`of ${matches} of '${filter}' by ${sort}: ${page}`, () => {
      const table = { byStatus: ofFourStates, matches, isInOrder: true }
      assert.equal(pageInWords(planPage(request(filter, sort), table)), page)
    })
  }
})

describe('how a page is found', () => {
  const plans: [filter: string, sort: SortKey, matches: number, offset: number | null, page: string][] = [
    ['', 'createdAtUtc', 1_000_000, 0, 'walk orders_by_id after 0'],
    ['', 'id', 1_000_000, 20, 'walk orders_by_id after 20'],
    ['', 'customer', 1_000_000, 0, 'walk orders_by_customer after 0'],
    ['', 'total', 1_000_000, 0, 'walk orders_by_total after 0'],
    ['', 'status', 1_000_000, 0, 'walk orders_by_status after 0'],
    ['', 'updatedAtUtc', 1_000_000, 0, 'walk orders_by_updated_at after 0'],
    // From the nearer end, as far as there are orders.
    ['', 'total', 1_000_000, 400_000, 'walk orders_by_total after 400000'],
    ['', 'total', 1_000_000, 600_000, 'walk orders_by_total from the end, after 399980'],
    ['', 'total', 1_000_000, 999_980, 'walk orders_by_total from the end, after 0'],
    ['', 'total', 1_000_000, 999_990, 'walk orders_by_total from the end, after 0'],
    ['', 'total', 1_000_000, 1_000_000, 'nothing'],
    ['', 'total', 0, 0, 'nothing'],
    ['', 'total', 9_999, null, 'walk orders_by_total after 0'],
    // Of one status by creation the others are passed by.
    ['status=Pending', 'createdAtUtc', 400_000, 0, 'walk orders_by_status of 0 after 0'],
    ['status!=Approved', 'id', 400_000, 0, 'walk orders_by_status of 0 after 0'],
    ['status=Pending', 'status', 400_000, 0, 'walk orders_by_status after 0'],
    ['status=Pending', 'total', 400_000, 0, 'walk orders_by_total after 0'],
    [
      'status=Pending createdAtUtc>=2026-01-01',
      'createdAtUtc',
      90_000,
      0,
      'walk orders_by_status of 0 after 0',
    ],
    ['status=Pending createdAtUtc>=2026-01-01', 'createdAtUtc', 9, 0, 'walk orders_by_status of 0 after 0'],
    // A range of the sort is a part of its index, wherever the page lies.
    ['total>=5 total<6', 'total', 10_000, 0, 'walk orders_by_total after 0'],
    ['total>=5 total<6', 'total', 10_000, 5_000, 'walk orders_by_total from the end, after 4980'],
    ['createdAtUtc=2026-01-01', 'createdAtUtc', 10_000, 4_000, 'walk orders_by_id after 4000'],
    ['createdAtUtc=2026-01-01', 'id', 10_000, 4_000, 'walk orders_by_id after 4000'],
    ['updatedAtUtc>2026-01-01', 'updatedAtUtc', 3, 0, 'walk orders_by_updated_at after 0'],
    // What is common is met soon on a walk; what is rare is found and sorted.
    ['total>=5 total<6', 'createdAtUtc', 10_000, 0, 'walk orders after 0'],
    ['total>=5 total<6', 'createdAtUtc', 4_000, 0, 'sort after 0'],
    ['total>=5 total<6', 'createdAtUtc', 10_000, 400, 'sort after 400'],
    ['total!=5', 'total', 999_000, 0, 'walk orders_by_total after 0'],
    ['createdAtUtc=2026-01-01', 'total', 10_000, 0, 'walk orders_by_total after 0'],
    ['createdAtUtc=2026-01-01', 'total', 1_000, 0, 'sort after 0'],
    ['status=Pending total>=5', 'createdAtUtc', 3_000, 0, 'walk orders_by_status of 0 after 0'],
    ['status=Pending total>=5', 'createdAtUtc', 2_000, 0, 'sort after 0'],
    ['createdBy=ada', 'createdAtUtc', 5, 0, 'sort after 0'],
    ['customer=acme', 'createdAtUtc', 50, 0, 'sort after 0'],
    ['NOT status=Pending', 'createdAtUtc', 600_000, 0, 'walk orders_by_status of 1 after 0'],
    ['-total>5', 'createdAtUtc', 600_000, 0, 'walk orders after 0'],
    // A text is found in the order of creation.
    ['acme', 'createdAtUtc', 10_000, 0, 'text acme after 0'],
    ['acme', 'id', 10_000, 9_980, 'text acme from the end, after 0'],
    ['acme', 'createdAtUtc', 3, 0, 'text acme after 0'],
    ['acme status=Pending', 'createdAtUtc', 4_000, 40, 'text acme after 40'],
    ['total>5 customer:acme', 'createdAtUtc', 4_000, 0, 'text acme after 0'],
    ['acme zeta', 'createdAtUtc', 4, 0, 'text acme after 0'],
    ['ac', 'createdAtUtc', 100_000, 0, 'walk orders after 0'],
    ['acme OR zeta', 'createdAtUtc', 20_000, 0, 'walk orders after 0'],
    ['-acme', 'createdAtUtc', 990_000, 0, 'walk orders after 0'],
    ['acme', 'total', 10_000, 0, 'walk orders_by_total after 0'],
    ['acme', 'total', 1_000, 0, 'sort after 0'],
    // Names with a text lie together among the names.
    ['acme', 'customer', 10_000, 0, 'sort after 0'],
    ['acme status=Pending', 'customer', 10_000, 0, 'sort after 0'],
  ]
  for (const [filter, sort, matches, offset, page] of plans) {
    it(`of ${matches} of '${filter}' by ${sort} from ${offset ?? 'the start, all'}: ${page}`, () => {
      const planned = planPage(request(filter, sort, offset), {
        byStatus: million,
        matches,
        isInOrder: true,
      })
      assert.equal(pageInWords(planned), page)
    })
  }
})

describe('how a page is found where numbers are not in the order of creation', () => {
  for (const [filter, matches, page] of [
    ['acme', 10_000, 'walk orders_by_id after 0'],
    ['acme', 1_000, 'sort after 0'],
    ['total>=5 total<6', 10_000, 'walk orders_by_id after 0'],
    ['', 1_000_000, 'walk orders_by_id after 0'],
  ] as const) {
    it(`of ${matches} of '${filter}': ${page}`, () => {
      const table = { byStatus: million, matches, isInOrder: false }
      assert.equal(pageInWords(planPage(request(filter), table)), page)
    })
  }
})

/** By which index orders are found that match a filter, as far as one can know; the rest walks all of them. */
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
  let service: Service
  before(async () => {
    service = await startService()
    const orders = Array.from({ length: orderCount }, (_, index) =>
      orderRow({
        customer: index % 500 === 0 ? `Zirkon ${index}` : `Customer ${(index * 7919) % orderCount}`,
        total_e4: 10_000 + ((index * 104_729) % 1_000_000),
        created_at: dayMilliseconds + index * 60_000,
        created_by: `user${index % 40}`,
        updated_at: index % 2 === 0 ? null : 3 * dayMilliseconds + index,
        status: index % 4,
      }),
    )
    await insertOrders(service, orders)
    if (!isSqlite) await withRawDatabase(service.databaseUrl, (db) => sql`analyze orders`.execute(db))
  })
  after(() => service.close())

  /** Every statement that a list sends. */
  async function statementsOf(list: ListRequest): Promise<CompiledQuery[]> {
    const statements: CompiledQuery[] = []
    const types = new pg.TypeOverrides()
    types.setTypeParser(pg.types.builtins.INT8, Number)
    const dialect = isSqlite
      ? new SqliteDialect({ database: openSqlite() })
      : new PostgresDialect({ pool: new pg.Pool({ connectionString: service.databaseUrl, max: 1, types }) })
    const db = new Kysely<Database>({ dialect, log: ({ query }) => void statements.push(query) })
    await findOrders(db, list)
    await db.destroy()
    return statements
  }

  function openSqlite(): Sqlite.Database {
    const database = new Sqlite(service.databaseUrl.replace('file:', ''), { readonly: true })
    database.function('within_time', () => 1)
    return database
  }

  /**
   * What a statement does with orders: each access by the index that it uses, or how it goes without. Sorts are `sort`.
   */
  async function accessesOf(statements: CompiledQuery[]): Promise<string[]> {
    const each = await Promise.all(statements.map(isSqlite ? sqliteAccesses : postgresAccesses))
    return each.flat()
  }

  async function sqliteAccesses({ sql: text, parameters }: CompiledQuery): Promise<string[]> {
    const database = openSqlite()
    const steps = database.prepare(`explain query plan ${text}`).all(...parameters) as { detail: string }[]
    database.close()
    return steps.flatMap(({ detail }) => {
      if (/TEMP B-TREE FOR ORDER BY/.test(detail)) return ['sort']
      if (/\borders_search\b/.test(detail)) return ['orders_search']
      if (!/\borders\b/.test(detail)) return []
      return [/USING (?:COVERING )?INDEX (\w+)/.exec(detail)?.[1] ?? detail]
    })
  }

  async function postgresAccesses({ sql: text, parameters }: CompiledQuery): Promise<string[]> {
    const client = new pg.Client({ connectionString: service.databaseUrl })
    await client.connect()
    const { rows } = await client.query(`explain (format json) ${text}`, [...parameters])
    await client.end()
    const accesses: string[] = []
    JSON.stringify(rows, (_key, node) => {
      if (/Sort$/.test(node?.['Node Type'] ?? '')) accesses.push('sort')
      if (/^orders_/.test(node?.['Index Name'] ?? '')) accesses.push(node['Index Name'])
      else if (node?.['Node Type'] === 'Seq Scan' && node['Relation Name'] === 'orders')
        accesses.push('Seq Scan')
      return node
    })
    return accesses
  }

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
          const statements = await statementsOf({ ...request('', sortKey, offset), direction })
          const accesses = await accessesOf(statements)
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
        const accesses = await accessesOf(await statementsOf(request(filter, 'createdAtUtc', offset)))
        assert.ok(accesses.includes('orders_by_status'), accesses.join())
        assert.ok(!accesses.some((each) => /SCAN orders|Seq Scan/.test(each)), accesses.join())
      }
    })
  }

  for (const [filter, index] of filterIndexes) {
    it(`count what matches ${filter} by an index, at a cost by its number`, async () => {
      const statements = await statementsOf(request(filter, 'createdAtUtc', orderCount))
      const accesses = await accessesOf(statements)
      assert.ok(accesses.length > 0)
      const [access] = accesses.filter((each) => each !== 'sort' && !/PRIMARY KEY/.test(each))
      assert.match(access ?? '', index, accesses.join())
      assert.ok(!accesses.some((each) => /^Seq Scan$|^SCAN orders/.test(each)), accesses.join())
    })
  }

  it('are seen to walk all orders where they do', async () => {
    const accesses = await accessesOf(await statementsOf(request('modifiedBy=nobody')))
    assert.match(accesses.join(), /^(?:SCAN orders|Seq Scan)/)
  })
})

describe('a list in one statement', { skip: isSqlite }, () => {
  let service: Service
  let rows: OrderRow[]
  before(async () => {
    service = await startService()
    rows = Array.from({ length: 3_000 }, (_, index) =>
      orderRow({ created_at: dayMilliseconds + index * 60_000, total_e4: 10_000 + index, status: index % 4 }),
    )
    await insertOrders(service, rows)
  })
  after(() => service.close())

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
      const asked = request(filter, sortKey, offset)
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

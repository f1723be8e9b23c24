import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import Sqlite from 'better-sqlite3'
import { type CompiledQuery, Kysely, PostgresDialect, SqliteDialect, sql } from 'kysely'
import pg from 'pg'
import type { Database } from '../../server/db/tables.ts'
import { parseFilter } from '../../server/orders/filter/parser.ts'
import { countOrders } from '../../server/orders/list/count.ts'
import { type FindOrdersInput, findOrders } from '../../server/orders/list/find.ts'
import { type SortKey, sortKeyNames } from '../../server/orders/list/query.ts'
import { testEngine, withRawDatabase } from '../support/database.ts'
import { insertOrders, orderRow } from '../support/orders.ts'
import { type Service, startService } from '../support/service.ts'

const isSqlite = testEngine === 'sqlite'
const orderCount = 20_000
const dayMilliseconds = 86_400_000

/** The index that holds the orders in the order of a sort, by engine where their names differ. */
const sortIndexes: Record<SortKey, RegExp> = {
  createdAtUtc: /^orders_by_created_at$/,
  updatedAtUtc: /^orders_by_updated_at(?:_desc)?$/,
  customer: /^orders_by_customer$/,
  total: /^orders_by_total$/,
  status: /^orders_by_status$/,
  createdBy: /^orders_by_created_by(?:_desc)?$/,
  id: /^orders_(?:by_id|pkey)$/,
}
const primaryKey = /^orders_(?:by_id|pkey)$/

/** By which index orders are found that match a filter, as far as one can know; the rest walks all of them. */
const filterIndexes: [filter: string, index: RegExp][] = [
  ['zirkon', /^orders_(?:search|by_trigram)$/],
  ['customer:zirkon', /^orders_(?:search|by_trigram)$/],
  ['customer="*zirkon"', /^orders_(?:search|by_trigram)$/],
  ['customer="zirkon 7*"', /^orders_by_(?:customer|trigram)$/],
  ['customer="zirkon 700"', /^orders_by_(?:customer|trigram)$/],
  ['zirkon status=Approved', /^orders_(?:search|by_trigram)$/],
  ['total=7', /^orders_by_total$/],
  ['total>1.5 total<1.6', /^orders_by_total$/],
  ['createdBy=nobody', /^orders_by_created_by(?:_desc)?$/],
  ['updatedAtUtc>=2026-01-01', /^orders_by_updated_at(?:_desc)?$/],
  ['createdAtUtc="1970-01-02T12:00:00Z"', /^orders_by_(?:status_and_)?created_at$/],
  ['id=00000000-0000-7000-8000-000000000000', primaryKey],
  ['id="0192*"', primaryKey],
]

describe('the plans of lists', () => {
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
        status: index % 2,
      }),
    )
    await insertOrders(service, orders)
    if (!isSqlite) await withRawDatabase(service.databaseUrl, (db) => sql`analyze orders`.execute(db))
  })
  after(() => service.close())

  /** Every statement that the work sends. */
  async function statementsOf(work: (db: Kysely<Database>) => Promise<unknown>): Promise<CompiledQuery[]> {
    const statements: CompiledQuery[] = []
    const types = new pg.TypeOverrides()
    types.setTypeParser(pg.types.builtins.INT8, Number)
    const dialect = isSqlite
      ? new SqliteDialect({ database: openSqlite() })
      : new PostgresDialect({ pool: new pg.Pool({ connectionString: service.databaseUrl, max: 1, types }) })
    const db = new Kysely<Database>({ dialect, log: ({ query }) => void statements.push(query) })
    await work(db)
    await db.destroy()
    return statements
  }

  function openSqlite(): Sqlite.Database {
    const database = new Sqlite(service.databaseUrl.replace('file:', ''), { readonly: true })
    database.function('within_time', () => 1)
    return database
  }

  /** What the plans do with orders: each access by the index that it uses, or how it goes without. Sorts are `sort`. */
  async function accessesOf(statements: CompiledQuery[]): Promise<string[]> {
    const accesses: string[] = []
    for (const statement of statements) {
      accesses.push(...(isSqlite ? sqliteAccesses(statement) : await postgresAccesses(statement)))
    }
    return accesses
  }

  function sqliteAccesses({ sql: text, parameters }: CompiledQuery): string[] {
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

  /** `generic_plan`: for values that the planner does not know. */
  async function postgresAccesses(
    { sql: text, parameters }: CompiledQuery,
    plan?: 'generic_plan',
  ): Promise<string[]> {
    const client = new pg.Client({ connectionString: service.databaseUrl })
    await client.connect()
    const { rows } = plan
      ? await client.query(`explain (${plan}, format json) ${text}`)
      : await client.query(`explain (format json) ${text}`, [...parameters])
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

  const page = (ordering: FindOrdersInput['ordering'], offset: number, filter = '') => ({
    ordering,
    filter: parseFilter(filter),
    page: { offset, limit: 20 },
  })

  for (const sortKey of sortKeyNames) {
    for (const direction of ['asc', 'desc'] as const) {
      it(`find the first and last page by ${sortKey} ${direction} in its index, and nothing else but the rows of the page`, async () => {
        for (const offset of [0, orderCount - 20]) {
          const statements = await statementsOf((db) => findOrders(db, page({ sortKey, direction }, offset)))
          const accesses = await accessesOf(statements)
          const [walk, ...others] = accesses.filter((access) => !primaryKey.test(access) && access !== 'sort')
          assert.match(walk ?? 'orders_by_id', sortIndexes[sortKey], accesses.join())
          assert.deepEqual(others, [])
        }
      })
    }
  }

  // On PostgreSQL the plan is made once, for any values, and whatever the planner thinks of a status.
  const nearLists: [SortKey, filter: string, index: RegExp][] = [
    ...sortKeyNames.map((key): [SortKey, string, RegExp] => [key, '', sortIndexes[key]]),
    ['createdAtUtc', 'status=Approved', /^orders_by_status_and_created_at$/],
    ['id', 'status=Approved', /^orders_by_status$/],
  ]
  for (const [sortKey, filter, index] of isSqlite ? [] : nearLists) {
    for (const direction of ['asc', 'desc'] as const) {
      it(`of the first and last page by ${sortKey} ${direction} ${filter} walk one index, in a plan for any values`, async () => {
        const total = filter === '' ? orderCount : orderCount / 2
        for (const offset of [0, total - 20]) {
          const statements = await statementsOf((db) =>
            findOrders(db, page({ sortKey, direction }, offset, filter)),
          )
          assert.equal(statements.length, 1)
          const accesses = await postgresAccesses(statements[0] as CompiledQuery, 'generic_plan')
          const [walk, ...others] = accesses.filter((access) => access !== 'sort')
          assert.match(walk ?? '', index, accesses.join())
          assert.deepEqual(others, [])
        }
      })
    }
  }

  it('of a middle page by creation begin on its day', async () => {
    const statements = await statementsOf((db) =>
      findOrders(db, page({ sortKey: 'createdAtUtc', direction: 'asc' }, 9_000)),
    )
    const last = statements.at(-1)
    assert.match(last?.sql ?? '', /"created_at" >= /)
    assert.ok(last?.parameters.includes(7 * dayMilliseconds), String(last?.parameters))
    assert.ok((await accessesOf(statements)).includes('orders_by_created_at'))
  })

  for (const [filter, index] of filterIndexes) {
    it(`find what matches ${filter} by an index, at a cost by its number`, async () => {
      const parsed = parseFilter(filter)
      const accesses = await accessesOf(await statementsOf((db) => countOrders(db, parsed)))
      assert.ok(accesses.length > 0)
      const [access] = accesses.filter((each) => each !== 'sort' && !/PRIMARY KEY/.test(each))
      assert.match(access ?? '', index, accesses.join())
      assert.ok(!accesses.some((each) => /^Seq Scan$|^SCAN orders/.test(each)), accesses.join())
    })
  }

  for (const filter of [
    '',
    'status=Pending',
    'status!=Pending',
    'createdAtUtc=1970-01-03',
    'createdAtUtc>=1970-01-03',
    'createdAtUtc<1970-01-04 status=Approved',
  ]) {
    it(`of the total of ${filter === '' ? 'all orders' : filter} read no more than the parts of days`, async () => {
      const statements = await statementsOf((db) => countOrders(db, parseFilter(filter)))
      assert.deepEqual(
        (await accessesOf(statements)).filter((each) => each !== 'sort' && !/created_at$/.test(each)),
        [],
      )
    })
  }

  it('of the newest with a text are the same by all of its trigrams, which are rare, and by some', async () => {
    const zirkons = Array.from({ length: orderCount / 500 }, (_, index) => `Zirkon ${index * 500}`)
    for (const limit of [20, 30]) {
      for (const direction of ['asc', 'desc'] as const) {
        const input = {
          ...page({ sortKey: 'createdAtUtc', direction }, 0, 'zirkon'),
          page: { offset: 0, limit },
        }
        const options = { limitMilliseconds: 2_000, caller: 'ada' }
        const { items } = await service.db.query('findOrders', input, options)
        const wanted = direction === 'asc' ? zirkons : zirkons.toReversed()
        assert.deepEqual(
          items.map(({ customer }) => customer),
          wanted.slice(0, limit),
        )
      }
    }
  })

  it('are seen to walk all orders where they do', async () => {
    const accesses = await accessesOf(
      await statementsOf((db) => countOrders(db, parseFilter('modifiedBy=nobody'))),
    )
    assert.match(accesses.join(), /^(?:SCAN orders|Seq Scan)$/)
  })
})

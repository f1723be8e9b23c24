import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Kysely, sql, type Transaction } from 'kysely'
import { up as createFirstSchema } from '../../server/db/migrations/0001-initial.ts'
import { migrateDatabase } from '../../server/db/open.ts'
import type { Database } from '../../server/db/tables.ts'
import { runCommand } from '../cli/command-line.ts'
import { createTestDatabase, type TestDatabase, testEngine, withRawDatabase } from '../support/database.ts'
import { isLong } from '../support/faults.ts'
import { assertSound } from '../support/history.ts'
import { orderRow } from '../support/orders.ts'
import { connectTo, runSql } from '../support/postgres.ts'

const main = fileURLToPath(new URL('../../server/main.ts', import.meta.url))
const kills = isLong ? 10 : 1
/** So many that SQLite writes to its log long before the commit. */
const orders = 20_000
const rowsPerInsert = 500
/** What is in the way of the third migration. */
const obstacle =
  testEngine === 'sqlite'
    ? {
        made: 'create table orders_search (mine text)',
        error: /orders_search/,
        removed: 'drop table orders_search',
      }
    : {
        made: 'create index orders_by_customer on orders (status)',
        error: /orders_by_customer/,
        removed: 'drop index orders_by_customer',
      }
const halfWayWithinMilliseconds = 20_000

describe('a migration of a database with orders', () => {
  /** A database of the first version. */
  async function firstVersion(t: TestContext, count: number): Promise<TestDatabase> {
    const database = await createTestDatabase()
    t.after(() => database.drop())
    await withRawDatabase(database.databaseUrl, async (db) => {
      await createFirstSchema(db as Transaction<Database>, testEngine)
      await sql`create table schema_migrations (name text primary key, applied_at text not null)`.execute(db)
      await sql`insert into schema_migrations values ('0001-initial', 'then')`.execute(db)
      for (let start = 0; start < count; start += rowsPerInsert) {
        const rows = Array.from({ length: rowsPerInsert }, () => orderRow())
        const named = rows.map((row) => ({ ...row, customer: row.id, customer_folded: row.id }))
        await db.insertInto('orders').values(named).execute()
      }
    })
    return database
  }

  const appliedTo = ({ databaseUrl }: TestDatabase) =>
    withRawDatabase(databaseUrl, async (db) => {
      const { rows } = await sql<{ name: string }>`select name from schema_migrations order by name`.execute(
        db,
      )
      return rows.map(({ name }) => name)
    })

  async function assertComplete(database: TestDatabase, count: number): Promise<void> {
    await withRawDatabase(database.databaseUrl, async (db) => {
      await assertSound(db)
      const found = await db.selectFrom('orders').select('id').execute()
      assert.equal(found.length, count)
    })
    assert.deepEqual(await migrateDatabase(database), [])
  }

  /** A migration in a process of its own that has begun and is far from its end; `letGo` lets it go on. */
  async function halfWay(t: TestContext, database: TestDatabase) {
    const letGo = testEngine === 'postgres' ? await holdOrders(t, database) : async () => undefined
    const child = spawn(process.execPath, [main, 'migrate'], {
      cwd: tmpdir(),
      env: { DATABASE_URL: database.databaseUrl },
      stdio: 'ignore',
    })
    t.after(() => child.kill('SIGKILL'))
    const deadline = performance.now() + halfWayWithinMilliseconds
    while (!(await isHalfWay(database))) {
      assert.equal(child.exitCode, null, 'it has ended')
      assert.ok(performance.now() < deadline, 'it has not begun')
      await wait(1)
    }
    return { child, letGo }
  }

  async function isHalfWay({ file, databaseUrl }: TestDatabase): Promise<boolean> {
    if (testEngine === 'sqlite') {
      return (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 100_000
    }
    const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    return (await runSql(databaseUrl, waiting)).length > 0
  }

  /** As a write under way does: the migration waits for it. */
  async function holdOrders(t: TestContext, { databaseUrl }: TestDatabase) {
    const holder = await connectTo(databaseUrl)
    t.after(() => holder.end())
    await holder.query('begin; lock table orders in row exclusive mode')
    return async () => void (await holder.query('commit'))
  }

  async function kill(child: ChildProcess): Promise<void> {
    assert.equal(child.exitCode, null, 'it has ended')
    const exit = once(child, 'exit')
    child.kill('SIGKILL')
    await exit
  }

  it('that fails half-way leaves nothing behind, and is complete the next time', async (t) => {
    const database = await firstVersion(t, rowsPerInsert)
    const inDatabase = (work: (db: Kysely<Database>) => Promise<unknown>) =>
      withRawDatabase(database.databaseUrl, work)
    await inDatabase((db) => sql.raw(obstacle.made).execute(db))
    await assert.rejects(migrateDatabase(database), obstacle.error)
    assert.deepEqual(await appliedTo(database), ['0001-initial'])
    await assert.rejects(
      inDatabase((db) => sql`select 1 from order_tally`.execute(db)),
      /order_tally/,
    )
    await inDatabase((db) => sql.raw(obstacle.removed).execute(db))
    assert.ok((await migrateDatabase(database)).length > 0)
    await assertComplete(database, rowsPerInsert)
  })

  it(`that is killed half-way, ${kills} times, leaves nothing behind, and is complete the next time`, async (t) => {
    const database = await firstVersion(t, orders)
    for (let round = 0; round < kills; round += 1) {
      const { child, letGo } = await halfWay(t, database)
      await kill(child)
      assert.deepEqual(await appliedTo(database), ['0001-initial'])
      await letGo()
    }
    assert.ok((await migrateDatabase(database)).length > 0)
    await assertComplete(database, orders)
  })

  it('that is killed while another process waits for it: that one does all of it', async (t) => {
    const database = await firstVersion(t, orders)
    const { child, letGo } = await halfWay(t, database)
    child.kill('SIGSTOP')
    const other = runCommand('migrate', '', tmpdir(), { DATABASE_URL: database.databaseUrl })
    await wait(1_000)
    await kill(child)
    await letGo()
    const { status, stderr } = await other
    assert.equal(status, 0, stderr)
    assert.ok((await appliedTo(database)).length > 1)
    await assertComplete(database, orders)
  })
})

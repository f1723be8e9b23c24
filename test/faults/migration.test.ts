// engine: both
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { sql } from '#kysely'
import { migrateDatabase } from '../../server/db/open.ts'
import type { Trx } from '../../server/db/tables.ts'
import { runCommand } from '../cli/command-line.ts'
import { createTestDatabase, type TestDatabase, testEngine, withRawDatabase } from '../support/database.ts'
import { isLong } from '../support/faults.ts'
import { assertSound } from '../support/history.ts'
import { migrateTo } from '../support/later-release.ts'
import { orderRow } from '../support/orders.ts'
import { connectTo, runSql } from '../support/postgres.ts'
import { quickStart } from '../support/process.ts'

const main = fileURLToPath(new URL('../../server/main.ts', import.meta.url))
const stopping = new URL('../support/stop-preload.ts', import.meta.url).href
const kills = isLong ? 10 : 2
/** An object that collides with one of the last statements of the schema. */
const obstacle = 'create table idempotency_keys (mine text)'

describe('a migration', () => {
  async function emptyDatabase(t: TestContext): Promise<TestDatabase> {
    const database = await createTestDatabase()
    t.after(() => database.drop())
    return database
  }

  const tables = ({ databaseUrl }: TestDatabase) =>
    withRawDatabase(databaseUrl, async (db) => {
      const names =
        testEngine === 'sqlite'
          ? sql<{ name: string }>`select name from sqlite_schema where type = 'table'`
          : sql<{
              name: string
            }>`select tablename as name from pg_tables where schemaname = current_schema()`
      return (await names.execute(db)).rows.map(({ name }) => name)
    })

  async function assertComplete(database: TestDatabase): Promise<void> {
    assert.deepEqual(await migrateDatabase(database), [])
    await withRawDatabase(database.databaseUrl, async (db) => {
      await db.insertInto('orders').values(orderRow()).execute()
      await assertSound(db)
    })
  }

  /** A migration in a separate process that has begun and cannot end. `letGo` removes what holds it up. */
  async function halfWay(t: TestContext, database: TestDatabase) {
    const isSqlite = testEngine === 'sqlite'
    const letGo = isSqlite ? async () => undefined : await holdName(t, database)
    const child = spawn(process.execPath, [...(isSqlite ? ['--import', stopping] : []), main, 'migrate'], {
      cwd: tmpdir(),
      env: { ...quickStart, DATABASE_URL: database.databaseUrl, STOP_BEFORE: 'idempotency_keys' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    t.after(() => child.kill('SIGKILL'))
    if (isSqlite) await once(child.stdout, 'data')
    else await waitsForLock(database)
    assert.equal(child.exitCode, null)
    return { child, letGo }
  }

  async function waitsForLock({ databaseUrl }: TestDatabase): Promise<void> {
    const waiting = `select 1 from pg_stat_activity where datname = current_database()
      and wait_event_type = 'Lock' and wait_event <> 'advisory'`
    while ((await runSql(databaseUrl, waiting)).length === 0) await wait(10)
  }

  /** Makes the migration wait for a transaction that creates a table of the same name. */
  async function holdName(t: TestContext, { databaseUrl }: TestDatabase) {
    const holder = await connectTo(databaseUrl)
    t.after(() => holder.end())
    await holder.query(`begin; ${obstacle}`)
    return async () => void (await holder.query('rollback'))
  }

  async function kill(child: ChildProcess): Promise<void> {
    const exit = child.exitCode === null ? once(child, 'exit') : Promise.resolve()
    child.kill('SIGKILL')
    await exit
  }

  it('that fails half-way leaves nothing behind, and completes the next time', async (t) => {
    const database = await emptyDatabase(t)
    const step = async (trx: Trx) => {
      await sql`create table orders (number integer)`.execute(trx)
      await sql`select 1 from missing`.execute(trx)
    }
    const failing = { '0001-first-release': { oldestRelease: '1.0.0', locks: [], step } }
    await assert.rejects(migrateTo(database.databaseUrl, failing), /missing/)
    assert.deepEqual(await tables(database), [])
    assert.ok((await migrateDatabase(database)).length > 0)
    await assertComplete(database)
  })

  it(`that is killed, ${kills} times, leaves all or nothing done, and completes the next time`, async (t) => {
    for (let round = 0; round < kills; round += 1) {
      const database = await emptyDatabase(t)
      const { child, letGo } = await halfWay(t, database)
      await kill(child)
      await letGo()
      const found = await tables(database)
      assert.equal(found.includes('orders'), found.includes('schema_migrations'))
      await migrateDatabase(database)
      await assertComplete(database)
    }
  })

  it('that is killed leaves the rest to the process that waits for it', async (t) => {
    const database = await emptyDatabase(t)
    const { child, letGo } = await halfWay(t, database)
    child.kill('SIGSTOP')
    const other = runCommand('migrate', '', tmpdir(), { DATABASE_URL: database.databaseUrl })
    await wait(1_000)
    await kill(child)
    await letGo()
    const { status, stderr } = await other
    assert.equal(status, 0, stderr)
    await assertComplete(database)
  })
})

// engine: both
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { sql } from '#kysely'
import { DatabaseRefused } from '../../server/db/errors.ts'
import { judgeDatabase, migrateDatabase } from '../../server/db/open.ts'
import type { Migration, Trx } from '../../server/db/tables.ts'
import { openAppDatabase } from '../../server/operations.ts'
import { readVersion } from '../../server/version.ts'
import { createTestDatabase } from '../support/database.ts'
import { judgeAs, migrateTo } from '../support/later-release.ts'
import { connectTo, runSql, withoutPostgres } from '../support/postgres.ts'

/** One column more in the two tables that most statements use. */
async function addColumns(trx: Trx): Promise<void> {
  for (const table of ['orders', 'events']) {
    await sql.raw(`alter table ${table} add column later_${table} integer`).execute(trx)
  }
}

const added: Migration = { oldestRelease: readVersion(), locks: ['orders', 'events'], step: addColumns }
const indexed: Migration = {
  oldestRelease: readVersion(),
  index: 'orders_later',
  on: 'orders (later_orders)',
}

async function migrated(t: TestContext): Promise<string> {
  const { databaseUrl, drop } = await createTestDatabase()
  t.after(drop)
  await migrateDatabase({ databaseUrl })
  return databaseUrl
}

describe('a database that a later release migrated', () => {
  it('opens in this release if the later one says so', async (t) => {
    const databaseUrl = await migrated(t)
    const later = { '0002-columns': added, '0003-index': indexed }
    assert.deepEqual((await judgeAs(databaseUrl, later)).pending, [
      { name: '0002-columns', locks: ['orders', 'events'] },
      { name: '0003-index', locks: [] },
    ])
    assert.deepEqual(await migrateTo(databaseUrl, later), ['0002-columns', '0003-index'])
    const judged = await judgeDatabase({ databaseUrl })
    assert.deepEqual([judged.refusal, judged.pending], [null, []])
    const db = await openAppDatabase({ databaseUrl })
    t.after(() => db.close())
    assert.deepEqual(await db.read.selectFrom('orders').select('number').execute(), [])
  })

  it('is refused with the release that serves it otherwise', async (t) => {
    const databaseUrl = await migrated(t)
    const later: Record<string, Migration> = {
      '0002-columns': { ...added, oldestRelease: '9.10.0' },
      '0003-index': { ...indexed, oldestRelease: '9.9.0' },
    }
    await migrateTo(databaseUrl, later)
    const refused = (error: Error) => {
      assert.match(error.message, /newer version of Countersign: run 9\.10\.0 or later, /)
      return error instanceof DatabaseRefused
    }
    await assert.rejects(openAppDatabase({ databaseUrl }), refused)
    await assert.rejects(openAppDatabase({ databaseUrl, readOnly: true }), refused)
    const { oldestRelease, refusal } = await judgeDatabase({ databaseUrl })
    assert.equal(oldestRelease, '9.10.0')
    assert.match(String(refusal), /9\.10\.0 or later/)
  })

  it('is refused by a release that has a migration of another line', async (t) => {
    const databaseUrl = await migrated(t)
    await migrateTo(databaseUrl, { '0003-other': added })
    await assert.rejects(migrateTo(databaseUrl, { '0002-columns': added }), /newer version .*0003-other/)
  })

  it('keeps the steps that succeeded before one failed', async (t) => {
    const databaseUrl = await migrated(t)
    const broken: Migration = {
      ...added,
      async step(trx) {
        await sql`alter table users add column later_users integer`.execute(trx)
        await sql`select * from nowhere`.execute(trx)
      },
    }
    const steps = { '0002-columns': added, '0003-broken': broken, '0004-index': indexed }
    await assert.rejects(migrateTo(databaseUrl, steps), /nowhere/)
    const whole = { ...steps, '0003-broken': { ...added, step: async () => undefined } }
    assert.deepEqual(await migrateTo(databaseUrl, whole), ['0003-broken', '0004-index'])
  })
})

describe('a migration of PostgreSQL while others work', { skip: withoutPostgres }, () => {
  it('locks the tables that it names, and no others', async (t) => {
    const databaseUrl = await migrated(t)
    let locked: string[] = []
    const looking: Migration = {
      ...added,
      async step(trx) {
        await addColumns(trx)
        const { rows } = await sql<{ name: string }>`select relname as name from pg_locks
          join pg_class on pg_class.oid = relation
          where pid = pg_backend_pid() and mode = 'AccessExclusiveLock' and relkind = 'r' order by 1`.execute(
          trx,
        )
        locked = rows.map(({ name }) => name)
      },
    }
    await migrateTo(databaseUrl, { '0002-columns': looking })
    assert.deepEqual(locked, ['events', 'orders'])
  })

  it('waits for a transaction without holding up who comes after it', async (t) => {
    const databaseUrl = await migrated(t)
    const [holder, other] = [await connectTo(databaseUrl), await connectTo(databaseUrl)]
    t.after(() => Promise.all([holder.end(), other.end()]))
    await holder.query('begin; lock table orders in access share mode')
    const notices: string[] = []
    const migrating = migrateTo(databaseUrl, { '0002-columns': added }, (notice) => notices.push(notice))
    const columns = "select 1 from pg_attribute where attname = 'later_orders'"
    // The statement comes behind the step in the queue of the table, and waits a second at most.
    while (notices.length === 0) {
      await other.query('select count(*) from orders')
      assert.equal((await other.query(columns)).rowCount, 0)
    }
    await other.query('select count(*) from orders')
    await holder.query('commit')
    assert.deepEqual(await migrating, ['0002-columns'])
    assert.match(notices.join(), /holds a table that the migration changes; trying again/)
  })

  it('makes an index again that a process left half made', async (t) => {
    const databaseUrl = await migrated(t)
    await migrateTo(databaseUrl, { '0002-columns': added })
    // Like a killed process, a statement that fails leaves an index that is not valid.
    const failing = runSql(
      databaseUrl,
      'create unique index concurrently orders_later on role_permissions (role)',
    )
    await assert.rejects(failing, /could not create unique index/)
    assert.deepEqual(await migrateTo(databaseUrl, { '0002-columns': added, '0003-index': indexed }), [
      '0003-index',
    ])
    const index =
      "select indisvalid as valid, indisunique as only from pg_index where indexrelid = 'orders_later'::regclass"
    assert.deepEqual(await runSql(databaseUrl, index), [{ valid: true, only: false }])
  })

  it('makes an index once when several processes want it', async (t) => {
    const databaseUrl = await migrated(t)
    const steps = { '0002-columns': added, '0003-index': indexed }
    const applied = await Promise.all([1, 2, 3].map(() => migrateTo(databaseUrl, steps)))
    assert.equal(applied.flat().filter((name) => name === '0002-columns').length, 1)
    assert.ok(applied.flat().includes('0003-index'))
    const rows = await runSql<{ name: string }>(
      databaseUrl,
      'select name from schema_migrations order by name',
    )
    assert.equal(rows.length, 4)
  })
})

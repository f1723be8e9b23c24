import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import Sqlite from 'better-sqlite3'
import { DatabaseRefused } from '../../server/db/errors.ts'
import { judgeDatabase, migrateDatabase } from '../../server/db/open.ts'
import { refusal, runCommand } from '../cli/command-line.ts'

describe('the migrations on SQLite', () => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-migrate-'))
  let files = 0
  const newFile = () => join(folder, `${++files}.db`)
  after(() => rmSync(folder, { recursive: true, force: true }))

  const migrate = (file: string) => migrateDatabase({ databaseUrl: `file:${file}` })

  function inFile<T>(file: string, work: (database: Sqlite.Database) => T): T {
    const database = new Sqlite(file)
    try {
      return work(database)
    } finally {
      database.close()
    }
  }

  const tablesOf = (file: string) =>
    inFile(file, (database) =>
      database.prepare("select name from sqlite_master where type = 'table' order by name").pluck().all(),
    )
  const appliedTo = (file: string) =>
    inFile(file, (database) =>
      database.prepare('select name from schema_migrations order by name').pluck().all(),
    )

  it('make the folder, apply once, and report their names', async () => {
    const file = join(folder, 'deep', 'er', 'new.db')
    const applied = await migrate(file)
    assert.ok(applied.includes('0001-first-release'))
    assert.deepEqual(applied, [...applied].sort())
    assert.deepEqual(await migrate(file), [])
    assert.deepEqual(appliedTo(file), applied)
  })

  it('refuse the tables, views and histories of other programs, and change nothing', async () => {
    const endless =
      'with recursive n(i) as (select 1 union all select i + 1 from n) select i as name, i as oldest_release from n'
    for (const statement of [
      'create table mine (name text)',
      'create view mine as select * from missing',
      'create table schema_migrations (version text)',
      `create view schema_migrations as ${endless}`,
    ]) {
      const file = newFile()
      inFile(file, (database) => database.exec(statement))
      const before = readFileSync(file)
      await assertRefused(
        migrate(file),
        /^DATABASE_URL: the database has tables or views of another program; /,
      )
      const { refusal: reason } = await judgeDatabase({ databaseUrl: `file:${file}` })
      assert.match(reason ?? '', /^DATABASE_URL: the database has tables or views of another program; /)
      inFile(file, (database) => database.pragma('journal_mode = delete'))
      assert.equal(Buffer.compare(readFileSync(file).subarray(100), before.subarray(100)), 0, statement)
    }
  })

  it('refuse a database of a newer version, and change nothing', async () => {
    const file = newFile()
    await migrate(file)
    inFile(file, (database) =>
      database.exec("insert into schema_migrations values ('9999-future', '9.0.0', 'then')"),
    )
    const before = inFile(file, (database) => database.serialize())
    await assertRefused(
      migrate(file),
      /^DATABASE_URL: the database is of a newer version of Countersign: .*9999-future/,
    )
    assert.deepEqual(
      inFile(file, (database) => database.serialize()),
      before,
    )
  })

  it('refuse a database from before the first release in one line', async () => {
    const file = newFile()
    inFile(file, (database) =>
      database.exec(
        "create table schema_migrations (name text, applied_at text); insert into schema_migrations values ('0001-initial', '')",
      ),
    )
    await assertRefused(
      migrate(file),
      /^DATABASE_URL: the database is from before the first release [^\n]* use a new database$/,
    )
  })

  it('apply once when several processes start at the same moment', async () => {
    const file = newFile()
    const env = { DATABASE_URL: `file:${file}` }
    const runs = await Promise.all([1, 2, 3].map(() => runCommand('migrate --json', '', folder, env)))
    for (const { status, stderr } of runs) assert.equal(status, 0, stderr)
    assert.deepEqual(appliedTo(file), await appliedToNew())
    assert.equal(runs.filter(({ stdout }) => stdout.includes('0001-first-release')).length, 1)
    assert.equal(
      inFile(file, (database) => database.pragma('integrity_check', { simple: true })),
      'ok',
    )
  })

  async function appliedToNew(): Promise<string[]> {
    return migrate(newFile())
  }

  it('wait for a writer of another process instead of failing', async () => {
    const file = newFile()
    await migrate(file)
    const env = { DATABASE_URL: `file:${file}` }
    const holder = new Sqlite(file)
    holder.exec('begin immediate')
    const run = runCommand('migrate --json', '', folder, env)
    const first = await Promise.race([run.then(() => 'ended'), waitFor(600).then(() => 'waiting')])
    holder.exec('rollback')
    holder.close()
    const { status, stderr } = await run
    assert.equal(first, 'waiting')
    assert.equal(status, 0, stderr)
  })

  it('give up with a message if another writer holds the file for more than a few seconds', async () => {
    const file = newFile()
    inFile(file, (database) => database.exec('pragma journal_mode = wal'))
    const holder = new Sqlite(file)
    holder.exec('begin immediate')
    const run = await runCommand('migrate', '', folder, { DATABASE_URL: `file:${file}` })
    holder.exec('create table other (name text)')
    holder.exec('commit')
    holder.close()
    const what =
      'is being written by another process, by a migration perhaps: start again once that has ended'
    assert.deepEqual(run, refusal(`DATABASE_URL: ${file} ${what}`))
    assert.deepEqual(tablesOf(file), ['other'])
  })

  const waitFor = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))

  it('say in one line that a file is not writable, and who owns it', {
    skip: process.platform === 'win32' && 'has no such modes',
  }, async () => {
    const folderOfOthers = join(folder, 'of others')
    mkdirSync(folderOfOthers)
    const file = join(folderOfOthers, 'read-only.db')
    await migrate(file)
    chmodSync(folder, 0o755)
    chmodSync(file, 0o444)
    chmodSync(folderOfOthers, 0o555)
    await assertRefused(
      withoutPrivileges(() => migrate(file)),
      /^DATABASE_URL: .*read-only\.db may not be written \(owned by [\w-]+, this process is [\w-]+\)$/,
    )
    chmodSync(folderOfOthers, 0o755)
    chmodSync(file, 0o644)
    assert.deepEqual(await migrate(file), [])
  })

  it('say in one line what is wrong with an address that cannot be the database', async () => {
    const garbage = newFile()
    writeFileSync(garbage, 'this is no database, but text that is long enough to be one '.repeat(100))
    const below = join(garbage, 'below.db')
    for (const file of [folder, garbage, below]) {
      await assertRefused(migrate(file), /^DATABASE_URL: [^\n]+$/)
    }
    const others = ['file::memory:', 'mysql://localhost/x', 'countersign.db', 'file:a\0b']
    for (const databaseUrl of ['', 'file:', ...others]) {
      await assert.rejects(migrateDatabase({ databaseUrl }), DatabaseRefused, databaseUrl)
    }
  })
})

/** One line says what is wrong with the address or its database. */
async function assertRefused(work: Promise<unknown>, line: RegExp): Promise<void> {
  const error = await work.then(
    () => assert.fail('it was not refused'),
    (reason: Error) => reason,
  )
  assert.ok(error instanceof DatabaseRefused, String(error))
  assert.match(error.message, line)
}

/** File modes do not stop root, which therefore runs the work as another account. */
async function withoutPrivileges<T>(work: () => Promise<T>): Promise<T> {
  const privileged = process.geteuid?.() === 0
  if (privileged) process.seteuid?.(65_534)
  try {
    return await work()
  } finally {
    if (privileged) process.seteuid?.(0)
  }
}

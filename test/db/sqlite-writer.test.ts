import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it, type TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import { Kysely, sql } from '#kysely'
import { DatabaseUnavailable } from '../../server/db/errors.ts'
import { sqliteDialect } from '../../server/db/sqlite/driver.ts'
import type { Database } from '../../server/db/tables.ts'
import { Problem } from '../../server/problems/problems.ts'
import { openTestPort, type TestPort } from '../support/test-port.ts'

describe('the SQLite writer', () => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-writer-'))
  let files = 0
  const newFile = () => join(folder, `${++files}.db`)
  const openFile = (file: string, isForService = true) => openTestPort(`file:${file}`, {}, isForService)

  /** The file shared by tests that leave nothing but names in it. */
  const file = newFile()
  let port: TestPort
  before(async () => {
    port = await openFile(file)
  })
  after(async () => {
    await port.close()
    rmSync(folder, { recursive: true, force: true })
  })

  async function open(t: TestContext, file = newFile(), isForService = true): Promise<TestPort> {
    const port = await openFile(file, isForService)
    t.after(() => port.close())
    return port
  }

  async function namesOf(port: TestPort, prefix: string): Promise<string[]> {
    const rows = await port.read
      .selectFrom('roles')
      .select('name')
      .where('name', 'like', `${prefix}%`)
      .orderBy('name')
      .execute()
    return rows.map(({ name }) => name)
  }

  const numbered = (prefix: string, count: number) =>
    Array.from({ length: count }, (_, index) => `${prefix}${String(index).padStart(4, '0')}`)

  it('refuses the 10,001st waiting write as too many, not as an outage', async () => {
    const outcomes = await Promise.allSettled(Array.from({ length: 10_001 }, () => port.write('count', null)))
    const refused = outcomes.flatMap((outcome) =>
      outcome.status === 'rejected' ? [outcome.reason.name] : [],
    )
    assert.deepEqual(refused, ['TooManyWaiting'])
  })

  it('commits many parallel writes together, and acknowledges each', async () => {
    const names = numbered('group-', 200)
    const before = commitsIn(file)
    const answers = await Promise.all(names.map((name) => port.write('add', { name })))
    const commits = commitsIn(file) - before
    assert.deepEqual(answers, names)
    assert.deepEqual(await namesOf(port, 'group-'), names)
    assert.ok(commits >= 1 && commits <= 25, `${commits} commits`)
  })

  it('commits a single write at once', async () => {
    const before = commitsIn(file)
    for (const name of numbered('alone-', 5)) await port.write('add', { name })
    assert.equal(commitsIn(file) - before, 5)
  })

  it('rolls back only the operation of a group that throws, and reports what it threw', async () => {
    const holdUp = port.write('addThenBlock', { name: 'held', milliseconds: 50 })
    const group = [
      port.write('add', { name: 'kept-1' }),
      port.write('addThenFail', { name: 'lost-1' }),
      port.write('add', { name: 'kept-2' }),
      port.write('addThenRefuse', { name: 'lost-2' }),
      port.write('add', { name: 'kept-1' }),
      port.write('add', { name: 'kept-3' }),
    ]
    const [first, failed, second, refused, duplicate, third] = await Promise.allSettled(group)
    await holdUp
    assert.deepEqual(
      [first, second, third].map((each) => each?.status),
      ['fulfilled', 'fulfilled', 'fulfilled'],
    )
    assert.match(String(reasonOf(failed)), /failed after lost-1/)
    assert.match(String(reasonOf(duplicate)), /UNIQUE/)
    const problem = reasonOf(refused)
    assert.ok(problem instanceof Problem)
    assert.equal(problem.code, 'order-not-pending')
    assert.deepEqual(problem.members, { currentStatus: 1 })
    assert.deepEqual(await namesOf(port, 'kept-'), ['kept-1', 'kept-2', 'kept-3'])
    assert.deepEqual(await namesOf(port, 'lost-'), [])
  })

  it('fails the writes not acknowledged when its thread dies, and starts again', async () => {
    await port.write('add', { name: 'before-death' })
    const holdUp = port.write('addThenBlock', { name: 'holding', milliseconds: 50 })
    const lost = [
      port.write('add', { name: 'dead-1' }),
      port.write('addThenCrash', { name: 'dead-2' }),
      port.write('add', { name: 'dead-3' }),
    ]
    const outcomes = await Promise.allSettled(lost)
    // It was committed, but its acknowledgement may have died with the thread.
    await Promise.allSettled([holdUp])
    for (const outcome of outcomes) assert.ok(reasonOf(outcome) instanceof DatabaseUnavailable)
    assert.deepEqual(await namesOf(port, 'before-death'), ['before-death'])
    await port.ping()
    await port.write('add', { name: 'after-death' })
    assert.deepEqual(await namesOf(port, 'dead-'), [])
    assert.deepEqual(await namesOf(port, 'after-death'), ['after-death'])
  })

  it('starts again however often it dies', async () => {
    for (const name of ['a', 'b', 'c']) {
      await assert.rejects(port.write('addThenCrash', { name: `crash-${name}` }), DatabaseUnavailable)
      await port.write('count', null)
    }
    assert.deepEqual(await namesOf(port, 'crash-'), [])
  })

  it('creates no new file if its file is gone when it restarts, and writes again once the file is back', async (t) => {
    const file = newFile()
    const port = await open(t, file)
    await port.write('add', { name: 'before' })
    renameSync(file, `${file}.away`)
    await assert.rejects(port.write('addThenCrash', { name: 'crash' }), DatabaseUnavailable)
    await assert.rejects(port.write('add', { name: 'lost' }), DatabaseUnavailable)
    assert.equal(existsSync(file), false)
    renameSync(`${file}.away`, file)
    await port.write('add', { name: 'after' })
    assert.deepEqual(await namesOf(port, 'before'), ['before'])
    assert.deepEqual(await namesOf(port, 'after'), ['after'])
    assert.deepEqual(await namesOf(port, 'lost'), [])
  })

  it('writes nothing of a group whose transaction is ended by an error, and then works again', async (t) => {
    const port = await open(t)
    await port.write('limitPages', { pages: 1 })
    const group = numbered(`full-${'x'.repeat(3_000)}`, 40).map((name) => port.write('add', { name }))
    const outcomes = await Promise.allSettled(group)
    for (const outcome of outcomes) assert.ok(reasonOf(outcome) instanceof DatabaseUnavailable)
    assert.deepEqual(await namesOf(port, 'full-'), [])
    await port.write('limitPages', { pages: 1_000_000 })
    await port.write('add', { name: 'full-after' })
    assert.deepEqual(await namesOf(port, 'full-'), ['full-after'])
  })

  it('refuses an input that cannot be cloned, and an unknown operation, and continues', async () => {
    await assert.rejects(port.write('add', { name: (() => 1) as unknown as string }), /could not be cloned/)
    await assert.rejects(port.write('none' as 'add', { name: 'x' }), /no operation none/)
    await port.write('add', { name: 'unharmed' })
  })

  it('shares a file with the writers of commands without losing an acknowledged write', async (t) => {
    const file = newFile()
    const ports = [await open(t, file), await open(t, file, false), await open(t, file, false)]
    const names = numbered('shared-', 150)
    const writes = names.map((name, index) => ports[index % ports.length]?.write('add', { name }))
    await Promise.all(writes)
    for (const port of ports) assert.deepEqual(await namesOf(port, 'shared-'), names)
  })

  it('shows a reader nothing that is not committed', async () => {
    const latch = new SharedArrayBuffer(4)
    const slow = port.write('addThenBlock', { name: 'uncommitted', milliseconds: 60_000, latch })
    await wait(100)
    assert.deepEqual(await namesOf(port, 'uncommitted'), [])
    Atomics.store(new Int32Array(latch), 0, 1)
    Atomics.notify(new Int32Array(latch), 0)
    await slow
    assert.deepEqual(await namesOf(port, 'uncommitted'), ['uncommitted'])
  })

  it('gives readers a connection that cannot change anything', async () => {
    await assert.rejects(
      port.read.insertInto('roles').values({ name: 'never' }).execute(),
      /readonly|READONLY/,
    )
  })

  it('finishes running writes when it is closed, and accepts no others', async () => {
    const file = newFile()
    const port = await openFile(file)
    const names = numbered('closing-', 300)
    const writes = names.map((name) => port.write('add', { name }))
    const closed = port.close()
    await assert.rejects(port.write('add', { name: 'late' }), DatabaseUnavailable)
    const outcomes = await Promise.allSettled(writes)
    await closed
    assert.deepEqual(new Set(outcomes.map(({ status }) => status)), new Set(['fulfilled']))
    await assert.rejects(port.ping(), DatabaseUnavailable)
    await assert.rejects(namesOf(port, 'closing-'), DatabaseUnavailable)
    const connection = new Sqlite(file, { readonly: true })
    const stored = connection.prepare("select count(*) from roles where name like 'closing-%'").pluck().get()
    connection.close()
    assert.equal(stored, 300)
  })

  for (const [when, use] of [
    [
      'after reads',
      async (port: TestPort) => {
        await port.write('add', { name: 'logged' })
        await port.query('countTwice', null, { limitMilliseconds: 1_000, caller: 'ada' })
      },
    ],
    ['if nobody wrote', async (port: TestPort) => assert.deepEqual(await namesOf(port, 'none'), [])],
    [
      'if its thread died',
      (port: TestPort) => assert.rejects(port.write('addThenCrash', { name: 'crash' }), DatabaseUnavailable),
    ],
  ] as const) {
    it(`leaves no write-ahead log when it is closed, even ${when}`, async () => {
      const file = newFile()
      const port = await openFile(file)
      await use(port)
      assert.equal(existsSync(`${file}-wal`), true)
      await port.close()
      assert.equal(existsSync(`${file}-wal`), false)
      await assert.rejects(port.write('add', { name: 'late' }), DatabaseUnavailable)
    })
  }

  it('leaves what a command wrote in the log if the file cannot grow', async (t) => {
    const file = newFile()
    const port = await openFile(file, false)
    await port.write('add', { name: 'logged' })
    const { pragma } = Sqlite.prototype
    t.mock.method(Sqlite.prototype, 'pragma', function (this: Sqlite.Database, text: string) {
      if (text.startsWith('wal_checkpoint')) throw new Sqlite.SqliteError('disk full', 'SQLITE_FULL')
      return pragma.call(this, text)
    })
    await port.close()
    const again = await open(t, file)
    assert.deepEqual(await namesOf(again, 'logged'), ['logged'])
  })

  it('leaves a file alone that has replaced its own', async () => {
    const file = newFile()
    const port = await openFile(file)
    renameSync(file, `${file}.away`)
    writeFileSync(file, '')
    await port.close()
    assert.equal(readFileSync(file, 'utf8'), '')
  })

  it('starts with the first write; if it cannot, that write fails and the next one starts it', async (t) => {
    const file = newFile()
    const port = await open(t, file)
    renameSync(file, `${file}.away`)
    await assert.rejects(port.write('add', { name: 'lost' }), DatabaseUnavailable)
    await assert.rejects(port.ping(), DatabaseUnavailable)
    assert.equal(existsSync(file), false)
    renameSync(`${file}.away`, file)
    await port.write('add', { name: 'kept' })
    assert.deepEqual(await namesOf(port, 'kept'), ['kept'])
  })

  it('keeps only the latest prepared statements, up to a limit', async () => {
    const connection = new Sqlite(':memory:')
    const prepared: string[] = []
    const prepare = connection.prepare.bind(connection)
    connection.prepare = ((text: string) => {
      if (text.startsWith('select')) prepared.push(text)
      return prepare(text)
    }) as typeof connection.prepare
    const db = new Kysely<Database>({ dialect: sqliteDialect(connection, 'begin') })
    const run = (number: number) => sql.raw(`select ${number}`).execute(db)
    for (let number = 0; number < 1_000; number += 1) await run(number)
    assert.equal(prepared.length, 1_000)
    for (let number = 999; number >= 900; number -= 1) await run(number)
    assert.equal(prepared.length, 1_000)
    for (let number = 0; number < 500; number += 1) await run(number)
    assert.equal(prepared.length, 1_500)
    connection.close()
  })
})

function reasonOf(outcome: PromiseSettledResult<unknown> | undefined): unknown {
  return outcome?.status === 'rejected' ? outcome.reason : undefined
}

/**
 * Commits in the write-ahead log: frames with a size of the database
 * (https://sqlite.org/fileformat2.html#walformat).
 */
function commitsIn(file: string): number {
  const log = readFileSync(`${file}-wal`)
  if (log.length === 0) return 0
  const salt = log.subarray(16, 24)
  const frameBytes = 24 + log.readUInt32BE(8)
  let commits = 0
  for (let at = 32; at + frameBytes <= log.length; at += frameBytes) {
    const isCurrent = log.subarray(at + 8, at + 16).equals(salt)
    if (isCurrent && log.readUInt32BE(at + 4) > 0) commits += 1
  }
  return commits
}

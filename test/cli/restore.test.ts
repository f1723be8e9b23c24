import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import Sqlite from 'better-sqlite3'
import { keyFiles } from '../support/signing-key.ts'
import { type CommandLine, commandLine, refusal, runCommand } from './command-line.ts'

/** A service client for each command: `first` is in the backup, `second` is not. */
const original = commandLine({ after })
before(async () => {
  for (const command of ['client add first', 'log export first.jsonl', 'backup backup.db']) {
    assert.equal((await original.run(command)).status, 0)
  }
  assert.equal((await original.run('client add second')).status, 0)
})

function restorable(t: TestContext): CommandLine {
  const cli = commandLine(t)
  cpSync(original.folder, cli.folder, { recursive: true })
  return cli
}

interface Found {
  clients: string[]
  era: number
}

/** The content of the file, opened as the service opens it. */
function contentOf(file: string): Found {
  const database = new Sqlite(file, { fileMustExist: true })
  try {
    assert.equal(database.pragma('integrity_check', { simple: true }), 'ok')
    database.pragma('journal_mode = WAL')
    return {
      clients: database.prepare('select name from principals order by id').pluck().all() as string[],
      era: database.prepare('select era from log_head').pluck().get() as number,
    }
  } finally {
    database.close()
  }
}

/** Overwrites the page with which a table begins. */
function damage(file: string, table: string): void {
  const database = new Sqlite(file)
  const page = database.prepare('select rootpage from sqlite_schema where name = ?').pluck().get(table)
  const bytes = Number(database.pragma('page_size', { simple: true }))
  database.close()
  const begin = (Number(page) - 1) * bytes
  writeFileSync(file, readFileSync(file).fill(7, begin, begin + bytes))
}

const former: Found = { clients: ['first', 'second'], era: 1 }
const restored: Found = { clients: ['first'], era: 2 }

interface Answer {
  file: string
  former: string | null
  era: number
  last: { sequence: number; hash: string | null }
}

/**
 * Makes the database one of a service that was killed: its last change is in the write-ahead log only.
 * Returns the way back to that.
 */
function crashService(file: string): () => void {
  const change = (name: string) => (database: Sqlite.Database) =>
    database.prepare("update principals set name = ? where name <> 'first'").run(name)
  const open = new Sqlite(file)
  change('before the log')(open)
  open.pragma('journal_mode = WAL')
  change('second')(open)
  for (const end of ['', '-wal']) cpSync(`${file}${end}`, `${file}${end}.kept`)
  open.close()
  return () => {
    for (const end of ['-journal', '-shm']) rmSync(`${file}${end}`, { force: true })
    rmSync(file)
    for (const end of ['', '-wal']) cpSync(`${file}${end}.kept`, `${file}${end}`)
  }
}

const inUse = (file: string) =>
  refusal(`DATABASE_URL: ${file} is in use: stop the service and every command that uses it, then try again`)

describe('restore', () => {
  it('puts a backup in the place of the database, keeps the former one, and begins the next era', async (t) => {
    const cli = restorable(t)
    const [first = ''] = (await cli.run('log export')).stdout.split('\n')
    const { status, stdout } = await cli.run('restore backup.db')
    assert.equal(status, 0)
    const [, formerFile = ''] = /The former database is (.*)\.\n/.exec(stdout) ?? []
    const file = cli.databaseFile
    assert.equal(
      stdout,
      `Restored ${file} from backup.db.\nEra 2 of the log begins after event 1, the last that is left.\n` +
        `The former database is ${formerFile}.\n`,
    )
    assert.ok(formerFile.startsWith(`${file}.before-2`), formerFile)
    assert.deepEqual([contentOf(file), contentOf(formerFile)], [restored, former])
    const [left = '', begun = ''] = (await cli.run('log export')).stdout.split('\n')
    assert.equal(left, first)
    const { hash } = JSON.parse(first)
    assert.partialDeepStrictEqual(JSON.parse(begun), {
      sequence: 2,
      kind: 'log-restored',
      subject: { kind: 'log', id: '1' },
      data: { era: 2, last: { sequence: 1, hash } },
    })
    assert.equal((await cli.run('log verify')).status, 0)
    assert.deepEqual(
      readdirSync(cli.folder).toSorted(),
      ['backup.db', 'first.jsonl', 'test.db', formerFile.slice(cli.folder.length + 1)].toSorted(),
    )
  })

  it('gives each restore an era of which neither the backup nor the former database knows', async (t) => {
    const cli = restorable(t)
    const eras: number[] = []
    for (const command of ['', '', '--era 7', '--era 2']) {
      eras.push((await cli.json<Answer>(`restore backup.db ${command}`)).era)
    }
    assert.deepEqual(eras, [2, 3, 7, 8])
  })

  it('works without a database, and in the place of one whose pages are damaged', async (t) => {
    const cli = restorable(t)
    rmSync(cli.databaseFile)
    const answer = await cli.json<Answer>('restore backup.db')
    assert.deepEqual([answer.former, contentOf(cli.databaseFile)], [null, restored])
    damage(cli.databaseFile, 'principals')
    assert.throws(() => contentOf(cli.databaseFile))
    await cli.json<Answer>('restore backup.db --era 3')
    assert.deepEqual(contentOf(cli.databaseFile), { ...restored, era: 3 })
    writeFileSync(cli.databaseFile, readFileSync(cli.databaseFile).fill(7))
    const { stderr } = await cli.run('restore backup.db')
    assert.match(
      stderr,
      /test\.db is too damaged to be locked: .*, move it away together with its -wal and -shm/,
    )
  })

  it('takes what is in the write-ahead log of a backup that is a copy of all files', async (t) => {
    const cli = restorable(t)
    const open = new Sqlite(cli.databaseFile)
    t.after(() => open.close())
    open.pragma('journal_mode = WAL')
    open.exec("update principals set name = 'renamed' where name = 'second'")
    for (const end of ['', '-wal']) cpSync(`${cli.databaseFile}${end}`, join(cli.folder, `copy.db${end}`))
    open.close()
    await cli.json<Answer>('restore copy.db')
    assert.deepEqual(contentOf(cli.databaseFile), { clients: ['first', 'renamed'], era: 2 })
  })

  it('is refused while a process has the database open, even if it is idle', async (t) => {
    const cli = restorable(t)
    const open = new Sqlite(cli.databaseFile)
    t.after(() => open.close())
    open.pragma('journal_mode = WAL')
    open.prepare('select 1 from principals').get()
    assert.deepEqual(await cli.run('restore backup.db'), inUse(cli.databaseFile))
    open.close()
    assert.deepEqual(contentOf(cli.databaseFile), former)
  })

  it('is refused unless the backup is a whole database of this version, and changes nothing then', async (t) => {
    const cli = restorable(t)
    const { folder } = cli
    writeFileSync(join(folder, 'text.db'), 'not a database')
    new Sqlite(join(folder, 'foreign.db')).exec('create table orders (id)').close()
    const newer = new Sqlite(join(folder, 'newer.db'))
    newer.exec(
      "create table schema_migrations (name, oldest_release); insert into schema_migrations values ('9999-later', '9.0.0')",
    )
    newer.close()
    cpSync(join(folder, 'backup.db'), join(folder, 'damaged.db'))
    damage(join(folder, 'damaged.db'), 'principals')
    const files = readdirSync(folder)
    for (const [backup, reason] of [
      ['missing.db', 'there is no database at missing.db'],
      ['text.db', 'text.db cannot be used: SQLite answered SQLITE_NOTADB: file is not a database'],
      [
        'foreign.db',
        'the database has tables or views of another program; use a new one (on PostgreSQL, a separate schema)',
      ],
      ['newer.db', /^the backup: the database is of a newer version of Countersign: /],
      ['damaged.db', /^the backup: it is damaged: /],
      ['test.db', 'test.db is the database itself'],
    ] as const) {
      const { status, stderr } = await cli.run(`restore ${backup} --json`)
      assert.equal(status, 1)
      const { code, message } = JSON.parse(stderr).error
      assert.equal(code, 'database-refused')
      if (typeof reason === 'string') assert.equal(message, `the backup: ${reason}`)
      else assert.match(message, reason)
    }
    assert.deepEqual([contentOf(cli.databaseFile), readdirSync(folder)], [former, files])
  })

  it('is for SQLite', async (t) => {
    const env = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' }
    const { status, stderr } = await restorable(t).run('restore backup.db', '', env)
    assert.equal(status, 1)
    assert.match(
      stderr,
      /restore is for SQLite; recover PostgreSQL with its own tools, then run `log restored`/,
    )
  })

  it('leaves the former database or the restored one, whenever it is killed', async (t) => {
    const cli = restorable(t)
    const preload = fileURLToPath(new URL('../support/kill-count-preload.ts', import.meta.url))
    const env = { DATABASE_URL: `file:${cli.databaseFile}`, NODE_OPTIONS: `--import=${preload}` }
    const putBack = crashService(cli.databaseFile)
    const eras: number[] = []
    for (let isKilled = true; isKilled; ) {
      putBack()
      const killed = { ...env, KILL_BEFORE: String(eras.length + 1) }
      isKilled = (await runCommand('restore backup.db', '', cli.folder, killed)).status === null
      const found = contentOf(cli.databaseFile)
      assert.deepEqual(found, found.era === 1 ? former : restored, `killed before call ${eras.length + 1}`)
      eras.push(found.era)
      assert.equal((await cli.run('restore backup.db')).status, 0, 'the next run')
    }
    assert.deepEqual(eras, eras.toSorted())
    assert.ok(eras.length > 10)
    assert.deepEqual(new Set(eras), new Set([1, 2]))
  })
})

describe('log restored', () => {
  it('begins the next era of a database that was put in place by hand', async (t) => {
    const cli = restorable(t)
    cpSync(join(cli.folder, 'backup.db'), cli.databaseFile)
    const [first = ''] = (await cli.run('log export')).stdout.split('\n')
    const { hash } = JSON.parse(first)
    const last = { sequence: 1, hash }
    assert.deepEqual(await cli.json<Answer>('log restored'), { era: 2, last })
    const { status, stdout } = await cli.run('log restored --era 4')
    assert.equal(status, 0)
    assert.equal(stdout, 'Era 4 of the log begins after event 2, the last that is left.\n')
    assert.equal((await cli.run('log verify')).status, 0)
  })

  it('is what other commands ask for while witnesses contradict the log', async (t) => {
    const cli = restorable(t)
    cli.sql((database) => {
      database.exec('update log_head set contradicted_at = 1')
      database.exec("insert into log_witnesses values ('witness.example+00000000+AAAA', 1, 0, null, 9)")
    })
    const said =
      'The log has 1 event, but witness.example has a checkpoint of 9 events that does not lead to it. ' +
      'Nothing is sealed or signed until `restore` or `log restored` has begun the next era.'
    const verified = await cli.run('log verify')
    assert.equal(verified.status, 0)
    assert.ok(verified.stderr.startsWith(said), verified.stderr)
    const env = {
      DATABASE_URL: `file:${cli.databaseFile}`,
      PUBLIC_URL: 'https://orders.example.com',
      ...keyFiles(),
      ANTIFORGERY_KEY: randomBytes(32).toString('base64'),
    }
    const refused = await cli.run('log checkpoint', '', env)
    assert.deepEqual([refused.status, refused.stdout], [1, ''])
    assert.match(refused.stderr, /^countersign: the log has 1 event, but witness\.example has/)
    assert.equal((await cli.json<Answer>('log restored')).last.sequence, 1)
    assert.doesNotMatch((await cli.run('log verify')).stderr, /witness/)
    assert.equal((await cli.run('log checkpoint', '', env)).status, 0)
  })

  it('is refused without a database, and for an era that is no number', async (t) => {
    const cli = restorable(t)
    assert.equal((await cli.run('log restored --era x')).status, 2)
    rmSync(cli.databaseFile)
    const reason = `DATABASE_URL: there is no database at ${cli.databaseFile}`
    assert.deepEqual(await cli.run('log restored'), refusal(reason))
  })
})

// engine: PostgreSQL
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import Sqlite from 'better-sqlite3'
import { commandLine, refusal } from './command-line.ts'
import {
  assertFresh,
  contentOf,
  copy,
  fillSource,
  holdCopy,
  migrateTarget,
  notEmpty,
  prepare,
  prepareSource,
  skip,
  trigger,
} from './copying.ts'

describe('copy rejects input', { concurrency: 4 }, () => {
  it('that lacks an address', async (t) => {
    const cli = commandLine(t)
    const surplus =
      'too many arguments: 0 expected at most, 1 given (a password or secret is never an argument)'
    for (const [args, fault] of [
      ['--to postgres://jo:hunter2@127.0.0.1:1/x', '--from is missing'],
      ['--from file:x', '--to is missing'],
      ['--from file:x postgres://jo:hunter2@127.0.0.1:1/x', surplus],
    ] as const) {
      const stderr = `countersign: copy: ${fault} (see: node server/main.ts copy --help)\n`
      assert.deepEqual(await cli.run(`copy ${args}`), { status: 2, stdout: '', stderr })
    }
  })

  it('that asks for any other direction, without repeating an address', async (t) => {
    const cli = await prepareSource(t)
    const secret = 'postgres://jo:hunter2@127.0.0.1:1'
    const source = `file:${cli.databaseFile}`
    const direction = 'copy goes from SQLite to PostgreSQL only: --from file:... --to postgres://...'
    for (const [from, to, line] of [
      [`${secret}/x`, source, direction],
      [source, source, direction],
      [`${secret}/x`, `${secret}/y`, direction],
      [
        'mysql://jo:hunter2@h',
        `${secret}/x`,
        '--from: must be file:PATH (SQLite) or postgres://... (PostgreSQL)',
      ],
      [
        source,
        `${secret}x/x`,
        '--to: the address is not a valid URL (in a user name or password write # / ? : @ % as %23 %2F %3F %3A %40 %25)',
      ],
      [
        source,
        `${secret}/x`,
        '--to: PostgreSQL cannot be used: the connection failed: connect ECONNREFUSED 127.0.0.1:1',
      ],
      [
        source,
        `${secret}/x?sslkey=hunter2`,
        '--to: the address is not valid, or names a certificate file that cannot be read',
      ],
    ] as const) {
      assert.deepEqual(await cli.run(`copy --from ${from} --to ${to}`), refusal(line))
    }
  })
})

describe('copy refuses a source', { concurrency: 4 }, () => {
  const nowhere = 'postgres://127.0.0.1:1/x'

  it('that is not a database', async (t) => {
    const cli = commandLine(t)
    writeFileSync(join(cli.folder, 'text'), 'not a database '.repeat(100))
    assert.deepEqual(
      await Promise.all([
        copy(cli, nowhere),
        cli.run(`copy --from file:${cli.folder} --to ${nowhere}`),
        cli.run(`copy --from file:text --to ${nowhere}`),
      ]),
      [
        refusal(`--from: there is no database at ${cli.databaseFile}`),
        refusal(`--from: ${cli.folder} is not a file`),
        refusal('--from: text cannot be locked: SQLite answered SQLITE_NOTADB: file is not a database'),
      ],
    )
  })

  it('of an older or a newer version', async (t) => {
    const [older, newer] = await Promise.all([prepareSource(t), prepareSource(t)])
    older.exec("delete from schema_migrations where name = '0001-first-release'")
    newer.exec("insert into schema_migrations values ('9999-later', '9.0.0', '')")
    assert.deepEqual(await Promise.all([copy(older, nowhere), copy(newer, nowhere)]), [
      refusal(
        '--from: the database is older than this version (it lacks 0001-first-release): back it up, then run `migrate`',
      ),
      refusal(
        '--from: the database is of a newer version of Countersign: run 9.0.0 or later, or use a backup that this version made (it has 9999-later)',
      ),
    ])
  })

  it('that another process is writing to', async (t) => {
    const cli = await prepareSource(t)
    const writer = new Sqlite(cli.databaseFile)
    t.after(() => writer.close())
    writer.exec('begin immediate')
    assert.deepEqual(
      await copy(cli, nowhere),
      refusal(
        `--from: ${cli.databaseFile} cannot be locked: SQLite answered SQLITE_BUSY: database is locked`,
      ),
    )
  })
})

describe('copy refuses a target', { skip, concurrency: 4 }, () => {
  for (const [what, change, table] of [
    ['that holds anything', "insert into login_failures values ('mine', 1, 2, 3)", 'login_failures'],
    [
      'whose roles are not those of a new database',
      "update role_permissions set permission = 'Orders.Approve' where role = 'Viewer'",
      'role_permissions',
    ],
  ] as const) {
    it(`${what}, and does not change it`, async (t) => {
      const { cli, target } = await prepare(t)
      await migrateTarget(target)
      await target.query(change)
      const before = await contentOf(target)
      assert.deepEqual(await copy(cli, target.url), notEmpty(table))
      assert.deepEqual(await contentOf(target), before)
    })
  }

  it('of another program, without migrating anything there', async (t) => {
    const { cli, target } = await prepare(t)
    const refused = refusal(
      '--to: the database has tables or views of another program; use a new one (on PostgreSQL, a separate schema)',
    )
    for (const change of ['create table users (name text)', "insert into users values ('theirs')"]) {
      await target.query(change)
      assert.deepEqual(await copy(cli, target.url), refused)
    }
    const tables = await target.query("select tablename from pg_tables where schemaname = 'public'")
    assert.deepEqual(tables, [{ tablename: 'users' }])
  })

  it('of a newer version', async (t) => {
    const { cli, target } = await prepare(t)
    await migrateTarget(target)
    await target.query("insert into schema_migrations values ('9999-later', '9.0.0', '')")
    assert.deepEqual(
      await copy(cli, target.url),
      refusal(
        '--to: the database is of a newer version of Countersign: run 9.0.0 or later, or use a backup that this version made (it has 9999-later)',
      ),
    )
  })

  it('that does not exist', async (t) => {
    const { cli, target } = await prepare(t)
    const url = `${target.url}_not`
    const name = new URL(url).pathname.slice(1)
    const line = `--to: there is no such database: database "${name}" does not exist`
    assert.deepEqual(await copy(cli, url), refusal(line))
  })
})

describe('copy leaves no trace on failure', { skip, concurrency: 4 }, () => {
  const errorOf = (stderr: string) => JSON.parse(stderr.trim().split('\n').at(-1) ?? '').error

  async function assertRefused(t: TestContext, fault: string, message: RegExp): Promise<void> {
    const { cli, target } = await prepare(t)
    fillSource(cli)
    await migrateTarget(target)
    await target.query(fault)
    const { status, stdout, stderr } = await copy(cli, target.url, '--json')
    assert.deepEqual({ status, stdout }, { status: 1, stdout: '' })
    assert.equal(errorOf(stderr).code, 'database-refused')
    assert.match(errorOf(stderr).message, message)
    await assertFresh(t, target)
  }

  it('when a row is lost', async (t) => {
    const body = 'return case when new.total_e4 = 77 then null else new end'
    await assertRefused(
      t,
      trigger('orders', body),
      /^--to: the table orders did not arrive as it was sent \(4501 rows in the source, 4500 in the target\)/,
    )
  })

  it('when a single value is changed on the way', async (t) => {
    const body = 'new.total_e4 = new.total_e4 + (new.total_e4 = 77)::integer; return new'
    await assertRefused(
      t,
      trigger('orders', body),
      /^--to: the table orders .* \(4501 rows in the source, 4501 in the target, with other content\)/,
    )
  })

  it('when the target refuses a row, and its values are not shown', async (t) => {
    await assertRefused(
      t,
      "alter table session_ids add check (id_hash <> 'id-2')",
      /^--to: a row of the source breaks a rule of the schema, in the table session_ids \(23514\)$/,
    )
  })

  it('when PostgreSQL gives an unforeseen answer', async (t) => {
    const answer = /^--to: PostgreSQL answered P0001, in the table orders: injected$/
    await assertRefused(t, trigger('orders', "raise exception 'injected'"), answer)
  })

  it('when PostgreSQL cannot hold a value', async (t) => {
    const { cli, target } = await prepare(t)
    cli.exec("insert into login_failures values ('a' || char(0), 1, 2, 3)")
    const { status, stderr } = await copy(cli, target.url, '--json')
    assert.equal(status, 1)
    assert.equal(
      errorOf(stderr).message,
      '--to: PostgreSQL cannot hold a value of the source, in the table login_failures (22P05)',
    )
    assert.deepEqual(await target.query("select 1 from pg_tables where schemaname = 'public'"), [])
  })

  it('when the connection is lost', async (t) => {
    const { cli, target } = await prepare(t)
    fillSource(cli)
    const held = await holdCopy(t, target)
    const copying = copy(cli, target.url, '--json')
    await held.reached()
    const ended = await target.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where application_name = 'countersign copy' and datname = current_database()`,
    )
    assert.equal(ended.length, 1)
    const { status, stderr } = await copying
    assert.equal(status, 1)
    assert.match(errorOf(stderr).message, /^--to: PostgreSQL cannot be used, in the table session_ids: /)
    await held.release()
    await assertFresh(t, target)
  })
})

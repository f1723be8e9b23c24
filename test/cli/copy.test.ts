import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import pg from 'pg'
import { progressPrinter } from '../../server/cli/copy.ts'
import type { CopyReport } from '../../server/db/copy/copy.ts'
import { CopySource, describeTables } from '../../server/db/copy/source.ts'
import { migrateDatabase } from '../../server/db/open.ts'
import { orderNumber } from '../../server/db/sqlite/order-number.ts'
import { type Database, type DerivedTable, sqliteRowNumber } from '../../server/db/tables.ts'
import { createTestDatabase, testEngine } from '../support/database.ts'
import { orderIdAt } from '../support/orders.ts'
import { type CommandLine, commandLine, goodPassword, refusal } from './command-line.ts'

const skip = testEngine === 'sqlite' ? 'copies to PostgreSQL: set TEST_DATABASE_URL' : false

/** Rows that `fillSource` makes. A table that is missing here and is copied is an error of the compiler. */
const filledRows: Record<Exclude<keyof Database, DerivedTable>, number> = {
  orders: 4_501,
  principals: 2,
  users: 1,
  client_secrets: 1,
  roles: 4,
  role_permissions: 6,
  principal_roles: 2,
  sessions: 1,
  session_ids: 2,
  refresh_families: 1,
  refresh_tokens: 1,
  login_failures: 1,
  idempotency_keys: 3,
}
const tableNames = Object.keys(filledRows).sort()
const sumOfRows = Object.values(filledRows).reduce((sum, rows) => sum + rows, 0)

/** Everything that a format between the engines could mistake for its own signs. */
const oddText = `"quoted" 'single' {a,b} \\N \\ NULL null $1 \n\r\t ﬁ ẞ é e\u0301 ‮ 🥪 \u{10ffff}`
const lastInstant = 8_640_000_000_000_000
const lastInstantOfOrders = 2 ** 45 - 1

interface Target {
  url: string
  /** Numbers for bigint too, as SQLite gives them. */
  query(text: string): Promise<Record<string, unknown>[]>
}

/** A command line with a migrated source, and an empty PostgreSQL database. */
async function prepare(t: TestContext): Promise<{ cli: CommandLine; target: Target }> {
  const cli = await prepareSource(t)
  const { databaseUrl, drop } = await createTestDatabase()
  t.after(drop)
  return { cli, target: { url: databaseUrl, query: (text) => queryOnce(databaseUrl, text) } }
}

async function prepareSource(t: TestContext): Promise<CommandLine> {
  const cli = commandLine(t)
  await migrateDatabase({ databaseUrl: `file:${cli.databaseFile}` })
  return cli
}

async function queryOnce(url: string, text: string): Promise<Record<string, unknown>[]> {
  const types = new pg.TypeOverrides()
  types.setTypeParser(pg.types.builtins.INT8, Number)
  const client = new pg.Client({ connectionString: url, types })
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

function copy(cli: CommandLine, to: string, options = '') {
  return cli.run(`copy --from file:${cli.databaseFile} --to ${to} ${options}`)
}

async function copied(cli: CommandLine, target: Target): Promise<CopyReport> {
  const result = await copy(cli, target.url, '--json')
  assert.equal(result.status, 0, result.stderr)
  return JSON.parse(result.stdout)
}

/** The greatest principal was 41, and is gone. */
function fillSource(cli: CommandLine): void {
  cli.sql((database) => database.transaction(insertSource)(database))
}

function insertSource(database: Sqlite.Database): void {
  const insert = (table: keyof Database, ...rows: [unknown[], ...unknown[][]]) => {
    const places = rows[0].map(() => '?').join(', ')
    const columns = database.prepare('select name from pragma_table_info(?) order by cid').pluck().all(table)
    const statement = database.prepare(`insert into ${table} (${columns.join(', ')}) values (${places})`)
    for (const row of rows) statement.run(...row)
  }
  insert('roles', [oddText])
  insert('principals', [7, 'user', 'Jo', 'jo', 1, 5, 0, 6], [40, 'client', oddText, oddText, 0, 0, 1, 0])
  insert('principals', [41, 'user', 'gone', 'gone', 1, 0, 0, 0])
  database.exec('delete from principals where id = 41')
  insert('users', [7, 'jo@example.com', '$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA', 'Europe/Berlin'])
  insert('client_secrets', [9, 40, 'secret-hash', 3])
  insert('principal_roles', [7, 'Operator'], [40, oddText])
  insert('sessions', ['session', 7, '["Operator"]', 'binding', 1, 2, lastInstant, oddText])
  insert('session_ids', ['id-1', 'session', null], ['id-2', 'session', 3])
  insert('refresh_families', ['family', 7, 1, 2, null])
  insert('refresh_tokens', ['token', 'family', 2, null])
  insert('login_failures', ['key', 3, 4, 5])
  const kept = ['fingerprint', '{"a":"\\n"}', 99]
  insert('idempotency_keys', [40, 'POST /v1/orders', 'ä', ...kept], [40, 'POST /v1/orders', 'Z', ...kept])
  insert('idempotency_keys', [7, 'POST /v1/orders', 'k', 'fingerprint', '', 1])
  const odd = [
    oddText,
    '',
    999_999_999_999_999,
    0,
    lastInstantOfOrders,
    '',
    oddText,
    -1,
    '',
    '',
    2_147_483_647,
  ]
  const plain = Array.from({ length: 4_500 }, (_, index) => plainOrder(index))
  const oddId = orderIdAt(lastInstantOfOrders, 0)
  insert('orders', [orderNumber(oddId), oddId, ...odd], ...plain)
}

/** Ids fall while totals rise, so that no order but that of the key will do. */
function plainOrder(index: number): unknown[] {
  const instant = 9_999 - index
  const id = orderIdAt(instant, 0)
  const rest = [null, null, null, null, null, 1]
  return [orderNumber(id), id, `Customer ${index}`, `customer ${index}`, index + 1, 0, instant, ...rest]
}

/** The number that SQLite gives to the rows of orders is its own. */
function withoutRowNumber(name: string, value: unknown): unknown {
  return name === sqliteRowNumber ? undefined : value
}

/** Every table whole, in an order that both engines share. */
async function contentOf(source: CommandLine | Target): Promise<Record<string, string[]>> {
  const content: Record<string, string[]> = {}
  for (const table of tableNames) {
    const text = `select * from ${table}`
    const rows =
      'sql' in source ? source.sql((database) => database.prepare(text).all()) : await source.query(text)
    content[table] = rows.map((row) => JSON.stringify(row, withoutRowNumber)).sort()
  }
  return content
}

/** Asserts that the target holds what a migration makes, and nothing else. */
async function assertFresh(t: TestContext, target: Target): Promise<void> {
  assert.deepEqual(await contentOf(target), await contentOf(await prepareSource(t)))
}

/** A row-level trigger of the target, for faults on the way. */
function trigger(table: string, body: string): string {
  return `create function fault() returns trigger language plpgsql as $$ begin ${body}; end $$;
    create trigger fault before insert on ${table} for each row execute function fault()`
}

describe('copy', { concurrency: 4 }, () => {
  it('carries every table over, whole', { skip }, async (t) => {
    const { cli, target } = await prepare(t)
    fillSource(cli)
    const before = await contentOf(cli)
    const report = await copied(cli, target)
    const counts = Object.entries(report.tables).map(([table, { rows }]) => [table, rows])
    assert.deepEqual(Object.fromEntries(counts), filledRows)
    assert.equal(report.rows, sumOfRows)
    assert.deepEqual(report.leftBehind, [])
    assert.deepEqual(await contentOf(target), before)
    assert.deepEqual(await contentOf(cli), before)
  })

  it('knows every table of the schema, parents before children', async () => {
    const names = (await describeTables()).map((table) => table.name)
    assert.deepEqual([...names].sort(), tableNames)
    const inOrder = (...tables: (keyof Database)[]) =>
      assert.deepEqual(
        tables,
        names.filter((name) => (tables as string[]).includes(name)),
      )
    inOrder('principals', 'sessions', 'session_ids')
    inOrder('principals', 'refresh_families', 'refresh_tokens')
    inOrder('roles', 'principal_roles')
  })

  it('says what it copied in words, with the digest of each table in JSON', { skip }, async (t) => {
    const { cli, target } = await prepare(t)
    fillSource(cli)
    cli.sql((database) => database.exec('create table _backup_tool (a)'))
    cli.sql((database) => database.exec('alter table users add column shoe_size integer'))
    const { status, stdout, stderr } = await copy(cli, target.url)
    assert.equal(status, 0)
    assert.match(stdout, /^TABLE +ROWS\n/)
    assert.match(stdout, /\norders +4,501\n/)
    assert.match(
      stdout,
      /\nCopied 4,526 rows; counts and content are the same on both sides\.\nNot copied, .*: _backup_tool, users\.shoe_size\.\n$/,
    )
    assert.match(stderr, /^copying \w+: 0 of \d rows\n/)
    assert.match(stderr, /\nWhat is written to the file from now on is not in the copy: .*\n$/)
    const second = await prepare(t)
    fillSource(second.cli)
    const { tables } = await copied(second.cli, second.target)
    assert.deepEqual(tables.refresh_tokens, {
      rows: 1,
      // printf '["token","family","2",null]\n' | sha256sum
      sha256: 'c4374fa7723e5e1f63ddfa8310bd30356cf84ec646958f846cbf337e47b1692f',
    })
  })

  it('keeps ids, and gives none again that the source ever gave', { skip }, async (t) => {
    const { cli, target } = await prepare(t)
    fillSource(cli)
    await copied(cli, target)
    const [principal] = await target.query(
      `insert into principals (kind, name, name_folded, enabled, credentials_changed_at, demo, created_at)
       values ('user', 'new', 'new', 1, 0, 0, 0) returning id`,
    )
    const [secret] = await target.query(
      `insert into client_secrets (principal_id, secret_hash, created_at) values (40, 'h', 0) returning id`,
    )
    assert.deepEqual([principal, secret], [{ id: 42 }, { id: 10 }])
  })

  it('leaves a database that the service and its commands go on with', { skip }, async (t) => {
    const { cli, target } = await prepare(t)
    await cli.run('user add jo@example.com --role Viewer', goodPassword)
    await cli.run('role deny Operator Orders.Create')
    await copied(cli, target)
    const env = { DATABASE_URL: target.url }
    const [users, roles, added] = await Promise.all([
      cli.run('user list --json', '', env),
      cli.run('role list', '', env),
      cli.run('user add ed@example.com --role Viewer', goodPassword, env),
    ])
    assert.match(users.stdout, /jo@example\.com/)
    assert.deepEqual(roles, await cli.run('role list'))
    assert.equal(added.status, 0)
  })

  it('copies an empty database', { skip }, async (t) => {
    const { cli, target } = await prepare(t)
    assert.equal((await copied(cli, target)).rows, 9)
    const [principal] = await target.query("select nextval(pg_get_serial_sequence('principals', 'id')) as id")
    assert.deepEqual(principal, { id: 1 })
  })
})

describe('the tally of copied orders', { skip, concurrency: 4 }, () => {
  /** Folded or not, without what came to nothing. */
  const tallyOf = (target: Target) =>
    target.query(`
      select day::integer, status, sum(orders)::integer as orders, sum(total_units)::text as units,
        sum(total_parts_e4)::text as parts_e4
      from (select day, status, orders, total_units, total_parts_e4 from order_tally
        union all select -1, status, orders, total_units, total_parts_e4 from order_tally_changes
        union all select day, status, orders, total_units, total_parts_e4 from order_tally_changes) as tally
      group by 1, 2 order by 1, 2`)

  it('is made by the target, as the source has it', async (t) => {
    const { cli, target } = await prepare(t)
    fillSource(cli)
    const { tables } = await copied(cli, target)
    assert.equal('order_tally' in tables, false)
    const [units, partsOfOthers] = ['99999999999', (4_500 * 4_501) / 2]
    assert.deepEqual(await tallyOf(target), [
      { day: -1, status: 0, orders: 4_501, units, parts_e4: String(partsOfOthers + 9_999) },
      { day: 0, status: 0, orders: 4_500, units: '0', parts_e4: String(partsOfOthers) },
      { day: Math.floor(lastInstantOfOrders / 86_400_000), status: 0, orders: 1, units, parts_e4: '9999' },
    ])
  })

  it('is not left behind, nor in the way of a target whose orders are gone again', async (t) => {
    const { cli, target } = await prepare(t)
    fillSource(cli)
    await migrateDatabase({ databaseUrl: target.url })
    await target.query(`insert into orders values
      (gen_random_uuid(), 'a', 'a', 5, 1, 0, null, null, null, null, null, 1)`)
    await target.query('delete from orders')
    assert.deepEqual((await copied(cli, target)).leftBehind, [])
  })

  it('refuses a target that does not make it', async (t) => {
    const { cli, target } = await prepare(t)
    fillSource(cli)
    await migrateDatabase({ databaseUrl: target.url })
    await target.query('alter table orders disable trigger order_tally_insert')
    const { status, stderr } = await copy(cli, target.url)
    assert.equal(status, 1)
    assert.match(stderr, /\ncountersign: --to: the target has not counted the orders that arrived: [^\n]+\n$/)
    await assertFresh(t, target)
  })
})

describe('copy rejects input', { concurrency: 4 }, () => {
  it('that lacks an address', async (t) => {
    const cli = commandLine(t)
    const see = '(see: node server/main.ts copy --help)'
    const results = await Promise.all([
      cli.run('copy --to postgres://jo:hunter2@127.0.0.1:1/x'),
      cli.run('copy --from file:x'),
      cli.run('copy --from file:x postgres://jo:hunter2@127.0.0.1:1/x'),
    ])
    assert.deepEqual(
      results.map(({ status, stderr }) => ({ status, stderr })),
      [
        { status: 2, stderr: `countersign: copy: --from is missing ${see}\n` },
        { status: 2, stderr: `countersign: copy: --to is missing ${see}\n` },
        {
          status: 2,
          stderr: `countersign: copy: too many arguments: 0 expected at most, 1 given (a password or secret is never an argument) ${see}\n`,
        },
      ],
    )
  })

  it('of any other direction, and repeats no address', async (t) => {
    const cli = await prepareSource(t)
    const secret = 'postgres://jo:hunter2@127.0.0.1:1'
    const run = (from: string, to: string) => cli.run(`copy --from ${from} --to ${to}`)
    const source = `file:${cli.databaseFile}`
    const direction = refusal('copy goes from SQLite to PostgreSQL only: --from file:... --to postgres://...')
    assert.deepEqual(
      await Promise.all([
        run(`${secret}/x`, source),
        run(source, source),
        run(`${secret}/x`, `${secret}/y`),
        run('mysql://jo:hunter2@h', `${secret}/x`),
        run(source, `${secret}x/x`),
        run(source, `${secret}/x`),
        run(source, `${secret}/x?sslkey=hunter2`),
      ]),
      [
        direction,
        direction,
        direction,
        refusal('--from: must be file:PATH (SQLite) or postgres://... (PostgreSQL)'),
        refusal('--to: the address is not a valid URL'),
        refusal('--to: PostgreSQL cannot be used: the connection failed: connect ECONNREFUSED 127.0.0.1:1'),
        refusal('--to: the address names a file or a setting that cannot be used'),
      ],
    )
  })
})

describe('copy refuses a source', { concurrency: 4 }, () => {
  const nowhere = 'postgres://127.0.0.1:1/x'

  it('that is no database', async (t) => {
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
        refusal('--from: text cannot be locked: SQLite answered SQLITE_NOTADB'),
      ],
    )
  })

  it('of an older or a newer version', async (t) => {
    const [older, newer] = await Promise.all([prepareSource(t), prepareSource(t)])
    older.sql((database) => database.exec("delete from schema_migrations where name = '0001-schema'"))
    newer.sql((database) => database.exec("insert into schema_migrations values ('9999-later', '')"))
    assert.deepEqual(await Promise.all([copy(older, nowhere), copy(newer, nowhere)]), [
      refusal(
        '--from: the database is older than this version (it lacks 0001-schema): run `migrate` on it first',
      ),
      refusal(
        '--from: the database belongs to another version of Countersign, newer than this one or from before its first release (it has 9999-later)',
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
      refusal(`--from: ${cli.databaseFile} cannot be locked: SQLite answered SQLITE_BUSY`),
    )
  })
})

describe('copy refuses a target', { skip, concurrency: 4 }, () => {
  const notEmpty = (table: string) =>
    refusal(`--to: the target is not empty: its table ${table} holds rows of its own; nothing was changed`)

  it('that holds anything, and leaves it as it is', async (t) => {
    const { cli, target } = await prepare(t)
    fillSource(cli)
    await migrateDatabase({ databaseUrl: target.url })
    await target.query("insert into login_failures values ('mine', 1, 2, 3)")
    const before = await contentOf(target)
    assert.deepEqual(await copy(cli, target.url), notEmpty('login_failures'))
    assert.deepEqual(await contentOf(target), before)
  })

  it('whose roles are not those of a new database', async (t) => {
    const { cli, target } = await prepare(t)
    await migrateDatabase({ databaseUrl: target.url })
    await target.query("update role_permissions set permission = 'Orders.Approve' where role = 'Viewer'")
    const before = await contentOf(target)
    assert.deepEqual(await copy(cli, target.url), notEmpty('role_permissions'))
    assert.deepEqual(await contentOf(target), before)
  })

  it('that is copied to a second time', async (t) => {
    const { cli, target } = await prepare(t)
    fillSource(cli)
    await copied(cli, target)
    assert.deepEqual(await copy(cli, target.url), notEmpty('login_failures'))
    assert.deepEqual(await contentOf(target), await contentOf(cli))
  })

  it('of another program, before anything is migrated', async (t) => {
    const [full, empty] = await Promise.all([prepare(t), prepare(t)])
    await full.target.query("create table users (name text); insert into users values ('theirs')")
    await empty.target.query('create table users (name text)')
    assert.deepEqual(await copy(full.cli, full.target.url), notEmpty('users'))
    assert.deepEqual(
      await copy(empty.cli, empty.target.url),
      refusal('--to: the target holds tables or views of another program with the names of this one (42P07)'),
    )
    const tables = "select tablename from pg_tables where schemaname = 'public'"
    assert.deepEqual(await Promise.all([full.target.query(tables), empty.target.query(tables)]), [
      [{ tablename: 'users' }],
      [{ tablename: 'users' }],
    ])
  })

  it('of a newer version', async (t) => {
    const { cli, target } = await prepare(t)
    await migrateDatabase({ databaseUrl: target.url })
    await target.query("insert into schema_migrations values ('9999-later', '')")
    assert.deepEqual(
      await copy(cli, target.url),
      refusal(
        '--to: the database belongs to another version of Countersign, newer than this one or from before its first release (it has 9999-later)',
      ),
    )
  })

  it('that does not exist', async (t) => {
    const { cli, target } = await prepare(t)
    assert.deepEqual(await copy(cli, `${target.url}_not`), refusal('--to: there is no such database (3D000)'))
  })
})

describe('copy leaves no trace on failure', { skip, concurrency: 4 }, () => {
  const errorOf = (stderr: string) => JSON.parse(stderr.trim().split('\n').at(-1) ?? '').error

  async function assertRefused(t: TestContext, fault: string, message: RegExp): Promise<void> {
    const { cli, target } = await prepare(t)
    fillSource(cli)
    await migrateDatabase({ databaseUrl: target.url })
    await target.query(fault)
    const { status, stdout, stderr } = await copy(cli, target.url, '--json')
    assert.deepEqual({ status, stdout }, { status: 1, stdout: '' })
    assert.equal(errorOf(stderr).code, 'database-refused')
    assert.match(errorOf(stderr).message, message)
    await assertFresh(t, target)
  }

  it('when a row does not arrive', async (t) => {
    const body = 'return case when new.total_e4 = 77 then null else new end'
    await assertRefused(
      t,
      trigger('orders', body),
      /^--to: the table orders did not arrive as it was sent \(4501 rows in the source, 4500 in the target\)/,
    )
  })

  it('when a single value arrives changed', async (t) => {
    const body = 'new.total_e4 = new.total_e4 + (new.total_e4 = 77)::integer; return new'
    await assertRefused(
      t,
      trigger('orders', body),
      /^--to: the table orders .* \(4501 rows in the source, 4501 in the target, with other content\)/,
    )
  })

  it('when the target does not take a row, whose values it keeps to itself', async (t) => {
    await assertRefused(
      t,
      "alter table session_ids add check (id_hash <> 'id-2')",
      /^--to: a row of the source breaks a rule of the schema, in the table session_ids \(23514\)$/,
    )
  })

  it('when PostgreSQL cannot hold a value', async (t) => {
    const { cli, target } = await prepare(t)
    cli.sql((database) => database.exec("insert into login_failures values ('a' || char(0), 1, 2, 3)"))
    const { status, stderr } = await copy(cli, target.url, '--json')
    assert.equal(status, 1)
    assert.equal(
      errorOf(stderr).message,
      '--to: PostgreSQL cannot hold a value of the source, in the table login_failures (22021)',
    )
    await assertFresh(t, target)
  })

  it('when the connection is lost', async (t) => {
    const { cli, target } = await prepare(t)
    fillSource(cli)
    const held = await holdCopy(t, target)
    const copying = copy(cli, target.url, '--json')
    await held.reached()
    await target.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'countersign copy'",
    )
    const { status, stderr } = await copying
    assert.equal(status, 1)
    assert.match(errorOf(stderr).message, /^--to: PostgreSQL cannot be used, in the table session_ids: /)
    await held.release()
    await assertFresh(t, target)
  })
})

describe('copy, while it runs', { concurrency: 4 }, () => {
  it('shuts other writers out of both sides, and readers out of none', { skip }, async (t) => {
    const { cli, target } = await prepare(t)
    fillSource(cli)
    const held = await holdCopy(t, target)
    const copying = copy(cli, target.url)
    await held.reached()
    const lateRow = "insert into login_failures values ('late', 1, 2, 3)"
    const write = () =>
      cli.sql((database) => {
        database.pragma('busy_timeout = 0')
        database.exec(lateRow)
      })
    assert.throws(write, { code: 'SQLITE_BUSY' })
    await assert.rejects(target.query(`set lock_timeout = 50; ${lateRow}`), { code: '55P03' })
    assert.equal((await contentOf(cli)).orders?.length, filledRows.orders)
    assert.equal((await contentOf(target)).orders?.length, 0)
    await held.release()
    assert.equal((await copying).status, 0)
    assert.deepEqual(await contentOf(target), await contentOf(cli))
    write()
  })

  it('reads in batches that are bounded by rows and by length', async (t) => {
    const cli = await prepareSource(t)
    fillSource(cli)
    const long = 'x'.repeat(1_500_000)
    cli.sql((database) => {
      const insert = database.prepare('insert into login_failures values (?, 0, 0, 0)')
      for (const key of ['b', 'a', 'd', 'c']) insert.run(key + long)
    })
    const source = await CopySource.lock(cli.databaseFile)
    t.after(() => source.close())
    const batches = (await describeTables())
      .filter(({ name }) => name === 'orders' || name === 'login_failures')
      .map((table) => [table.name, [...source.batches(table)].map((rows) => rows.length)])
    assert.deepEqual(Object.fromEntries(batches), { orders: [2_000, 2_000, 501], login_failures: [3, 2] })
  })
})

/** Stops the copy in the middle of its transaction, at a lock in the target that the test holds. */
async function holdCopy(t: TestContext, target: Target) {
  await migrateDatabase({ databaseUrl: target.url })
  await target.query(trigger('session_ids', 'perform pg_advisory_xact_lock(77); return new'))
  const holder = new pg.Client({ connectionString: target.url })
  holder.on('error', () => undefined)
  await holder.connect()
  await holder.query('select pg_advisory_lock(77)')
  const waiting = "select 1 from pg_locks where locktype = 'advisory' and objid = 77 and not granted"
  t.after(() => holder.end())
  return {
    async reached() {
      for (let tries = 0; (await target.query(waiting)).length === 0; tries += 1) {
        assert.equal(tries < 200, true, 'the copy did not come as far')
        await delay(50)
      }
    },
    release: () => holder.query('select pg_advisory_unlock(77)'),
  }
}

describe('progress', () => {
  it('is one line a second at most, and one JSON value with --json', () => {
    let now = 100
    const told: string[] = []
    const print = progressPrinter(
      (line) => told.push(line),
      () => now,
      false,
    )
    const at = (milliseconds: number, rows: number) => {
      now = milliseconds
      print({ phase: 'copying', table: 'orders', rows, of: 10_000 })
    }
    at(100, 0)
    at(1_099, 2_000)
    at(1_100, 4_000)
    at(2_000, 6_000)
    at(9_000, 8_000)
    assert.deepEqual(told, [
      'copying orders: 0 of 10,000 rows',
      'copying orders: 4,000 of 10,000 rows',
      'copying orders: 8,000 of 10,000 rows',
    ])
    const progress = { phase: 'verifying', table: 'orders', rows: 1, of: 2 } as const
    const values: string[] = []
    progressPrinter(
      (line) => values.push(line),
      () => 0,
      true,
    )(progress)
    assert.deepEqual(
      values.map((value) => JSON.parse(value)),
      [{ progress }],
    )
  })
})

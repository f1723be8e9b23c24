// engine: PostgreSQL
import assert from 'node:assert/strict'
import { after as afterAll, before as beforeAll, describe, it } from 'node:test'
import { progressPrinter } from '../../server/cli/output.ts'
import type { CopyReport } from '../../server/db/copy/copy.ts'
import { CopySource, describeTables } from '../../server/db/copy/source.ts'
import type { Database } from '../../server/db/tables.ts'
import { openAppDatabase } from '../../server/operations.ts'
import { withRawDatabase } from '../support/database.ts'
import { assertWholeTree, storedEvents } from '../support/kept-log.ts'
import { stamp } from '../support/orders.ts'
import { keptTally } from '../support/tally.ts'
import { type CommandLine, goodPassword } from './command-line.ts'
import {
  assertFresh,
  contentOf,
  copied,
  copy,
  filledRows,
  fillSource,
  firstNumber,
  holdCopy,
  lastInstantOfOrders,
  lastOrderId,
  migrateTarget,
  notEmpty,
  prepare,
  prepareSource,
  skip,
  sumOfRows,
  type Target,
  tableNames,
} from './copying.ts'

describe('a copied database', { skip }, () => {
  const scope = new AsyncDisposableStack()
  let cli: CommandLine
  let target: Target
  let report: CopyReport
  let before: Record<string, string[]>
  let after: Record<string, string[]>
  beforeAll(async () => {
    const made = await prepare({ after: (end) => scope.defer(end) })
    cli = made.cli
    target = made.target
    fillSource(cli)
    before = await contentOf(cli)
    report = await copied(cli, target)
    after = await contentOf(target)
  })
  afterAll(() => scope.disposeAsync())

  it('has every table, complete', async () => {
    const counts = Object.entries(report.tables).map(([table, { rows }]) => [table, rows])
    assert.deepEqual(Object.fromEntries(counts), filledRows)
    assert.equal(report.rows, sumOfRows)
    assert.deepEqual(report.leftBehind, [])
    assert.deepEqual(after, before)
    assert.deepEqual(await contentOf(cli), before)
  })

  it('is reported with a digest of each table', () => {
    assert.deepEqual(report.tables.refresh_families, {
      rows: 1,
      // printf '["family","7",null,"2","3","token","2","1","3","4","till/2.1"]\n' | sha256sum
      sha256: '461a5660b41ee38d5b8f47ce3788c993becab80525b5c350d176bef2560a7fec',
    })
  })

  it('has made its own tally, equal to the source’s', async () => {
    assert.equal('order_tally' in report.tables, false)
    const [ofLast, ofOthers] = ['1, 999999999999999', `4500, ${(4_500 * 4_501) / 2}`]
    const [always, day, quarter] = [Number.MAX_SAFE_INTEGER, 86_400_000, 900_000]
    const partOf = (span: number) => `${span} ${Math.floor(lastInstantOfOrders / span)} 0`
    assert.deepEqual(await withRawDatabase(target.url, keptTally), {
      [`${always} 0 0`]: `4501, ${999_999_999_999_999 + (4_500 * 4_501) / 2}`,
      [`${day} 0 0`]: ofOthers,
      [`${quarter} 0 0`]: ofOthers,
      [partOf(day)]: ofLast,
      [partOf(quarter)]: ofLast,
    })
  })

  it('cannot be the target of a second copy', async () => {
    assert.deepEqual(await copy(cli, target.url), notEmpty('document_leftovers'))
    assert.deepEqual(await contentOf(target), before)
  })

  it('continues the log from its head', async (t) => {
    const db = await openAppDatabase({ databaseUrl: target.url })
    t.after(() => db.close())
    const kept = (await storedEvents(db.read)).slice(0, filledRows.events)
    const text = 'In the new home.'
    await db.write('addNote', { id: lastOrderId, stamp: stamp(), text, idempotency: null })
    assert.equal(await db.write('sealEvents', { limit: 100 }), 3)
    await assertWholeTree(db.read)
    const events = await storedEvents(db.read)
    assert.deepEqual(events.slice(0, filledRows.events), kept)
    assert.deepEqual(
      events.map(({ sequence, kind }) => [sequence, kind]),
      ['created', 'approval-given', 'role-added', 'noted', 'noted', 'role-added', 'noted'].map(
        (kind, index) => [index + 1, kind],
      ),
    )
  })

  it('never reuses an id that the source assigned', async () => {
    const [principal] = await target.query(
      `insert into principals (kind, name, name_folded, enabled, credentials_changed_at, credentials_epoch, demo, created_at)
       values ('user', 'new', 'new', 1, 0, 0, 0, 0) returning id`,
    )
    const [secret] = await target.query(
      `insert into client_secrets (principal_id, secret_hash, created_at) values (40, 'h', 0) returning id`,
    )
    assert.deepEqual([principal, secret], [{ id: 42 }, { id: 10 }])
    const nextOf = (table: string) =>
      target.query(`select nextval(pg_get_serial_sequence('${table}', 'number')) as number`)
    // One note was added after the copy.
    assert.deepEqual(await nextOf('unsealed_events'), [{ number: 2 ** 40 + 7 }])
    assert.deepEqual(await nextOf('orders'), [{ number: firstNumber + filledRows.orders }])
  })
})

describe('copy', { concurrency: 4 }, () => {
  it('knows every table of the schema, parents before children', async () => {
    const names = (await describeTables()).map((table) => table.name)
    assert.deepEqual([...names].sort(), tableNames)
    const inOrder = (...tables: (keyof Database)[]) =>
      assert.deepEqual(
        tables,
        names.filter((name) => (tables as string[]).includes(name)),
      )
    inOrder('principals', 'sessions', 'session_ids')
    inOrder('principals', 'refresh_families')
    inOrder('roles', 'principal_roles')
  })

  it('says what it copied and what it left out', { skip }, async (t) => {
    const { cli, target } = await prepare(t)
    fillSource(cli)
    cli.exec('create table _backup_tool (a)')
    cli.exec('alter table users add column shoe_size integer')
    const { status, stdout, stderr } = await copy(cli, target.url)
    assert.equal(status, 0)
    assert.match(stdout, /^TABLE +ROWS\n/)
    assert.match(stdout, /\norders +4,501\n/)
    assert.match(
      stdout,
      /\nCopied 4,583 rows; counts and content match on both sides\.\nNot copied, .*: _backup_tool, users\.shoe_size\.\n$/,
    )
    assert.match(stderr, /^copying \w+: 0 of \d rows\n/)
    assert.match(stderr, /\nLater writes to the file are not in the copy: .*\n$/)
  })

  it('leaves a database that the service and its commands can use', { skip }, async (t) => {
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
    assert.equal((await copied(cli, target)).rows, 18)
    const [principal] = await target.query("select nextval(pg_get_serial_sequence('principals', 'id')) as id")
    assert.deepEqual(principal, { id: 1 })
  })

  it('leaves no tally behind, and accepts a target whose orders have been deleted', { skip }, async (t) => {
    const { cli, target } = await prepare(t)
    fillSource(cli)
    await migrateTarget(target)
    await target.query(`insert into orders (id, customer, customer_folded, total_e4, status, created_at, version,
        approvals_needed, self_approval, service_approval, approvals_given)
      values (gen_random_uuid(), 'a', 'a', 5, 1, 0, 1, 1, 1, 1, 1)`)
    await target.query('delete from orders')
    assert.deepEqual((await copied(cli, target)).leftBehind, [])
  })

  it('refuses a target that does not make its own tally', { skip }, async (t) => {
    const { cli, target } = await prepare(t)
    fillSource(cli)
    await migrateTarget(target)
    await target.query('alter table orders disable trigger order_tally_insert')
    const { status, stderr } = await copy(cli, target.url)
    assert.equal(status, 1)
    assert.match(stderr, /\ncountersign: --to: the target has not counted the orders that arrived: [^\n]+\n$/)
    await assertFresh(t, target)
  })
})

describe('copy, while it runs', { concurrency: 4 }, () => {
  it('locks writers out of both databases, and readers out of neither', { skip }, async (t) => {
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

  it('reads in batches with a limited number of rows', async (t) => {
    const cli = await prepareSource(t)
    fillSource(cli)
    const source = await CopySource.lock(cli.databaseFile)
    t.after(() => source.close())
    const [orders] = (await describeTables()).filter(({ name }) => name === 'orders')
    assert.ok(orders)
    assert.deepEqual(
      [...source.batches(orders)].map((rows) => rows.length),
      [2_000, 2_000, 501],
    )
  })
})

it('shows progress in at most one line a second, and as one JSON value with --json', () => {
  let now = 100
  const told: string[] = []
  const describeRows = ({ rows, of }: { rows: number; of: number }) => `${rows} of ${of} rows`
  const write = (line: string) => told.push(line)
  const print = progressPrinter(false, describeRows, write, () => now)
  const at = (milliseconds: number, rows: number) => {
    now = milliseconds
    print({ rows, of: 10_000 })
  }
  at(100, 0)
  at(1_099, 2_000)
  at(1_100, 4_000)
  at(2_000, 6_000)
  at(9_000, 8_000)
  assert.deepEqual(told, ['0 of 10000 rows', '4000 of 10000 rows', '8000 of 10000 rows'])
  const progress = { rows: 1, of: 2 }
  const values: string[] = []
  progressPrinter(true, describeRows, (line) => values.push(line))(progress)
  assert.deepEqual(
    values.map((value) => JSON.parse(value)),
    [{ progress }],
  )
})

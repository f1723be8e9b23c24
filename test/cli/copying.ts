import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type Sqlite from 'better-sqlite3'
import pg from 'pg'
import { hashOf } from '../../proof/line.ts'
import { LogTree } from '../../proof/log-tree.ts'
import { eventRow } from '../../server/audit/audit.ts'
import { lineOf } from '../../server/audit/events/line.ts'
import type { CopyReport } from '../../server/db/copy/copy.ts'
import { migrateDatabase } from '../../server/db/open.ts'
import type { Database, UncopiedTable } from '../../server/db/tables.ts'
import { createTestDatabase, testEngine } from '../support/database.ts'
import { orderIdAt, stamp } from '../support/orders.ts'
import { type CommandLine, commandLine, refusal } from './command-line.ts'

export const skip = testEngine === 'sqlite' ? 'copies to PostgreSQL: set TEST_DATABASE_URL' : false

/** Rows that `fillSource` makes. Leaving out a copied table is a compile error. */
export const filledRows: Record<Exclude<keyof Database, UncopiedTable>, number> = {
  orders: 4_501,
  principals: 2,
  users: 1,
  clients: 1,
  client_uses: 1,
  client_secrets: 1,
  roles: 4,
  role_permissions: 12,
  principal_roles: 2,
  administration: 1,
  sessions: 1,
  session_ids: 2,
  refresh_families: 1,
  one_time_links: 1,
  mail_settings: 1,
  mail_place: 1,
  mails: 1,
  passkeys: 1,
  company_accounts: 1,
  company_sessions: 1,
  used_challenges: 1,
  login_failures: 1,
  known_addresses: 1,
  idempotency_keys: 3,
  approval_policy: 1,
  order_approvals: 1,
  order_receipts: 1,
  order_documents: 1,
  document_pieces: 20,
  document_leftovers: 1,
  absences: 1,
  views: 1,
  unsealed_events: 2,
  events: 4,
  log_head: 1,
  log_tiles: 1,
  log_witnesses: 2,
  log_cosigned: 1,
  subscriptions: 1,
  delivery_attempts: 1,
}
export const tableNames = Object.keys(filledRows).sort()
export const sumOfRows = Object.values(filledRows).reduce((sum, rows) => sum + rows, 0)

/** The refusal of a target. */
export const notEmpty = (table: string) =>
  refusal(`--to: the target is not empty: its table ${table} already holds rows; nothing was changed`)

/** Every character that a format used between the engines could mistake for syntax. */
export const oddText = `"quoted" 'single' {a,b} \\N \\ NULL null $1 \n\r\t ﬁ ẞ é e\u0301 ‮ 🥪 \u{10ffff}`
export const lastInstant = 8_640_000_000_000_000
export const lastInstantOfOrders = 2 ** 45 - 1
/** Beyond an int32. */
export const firstNumber = 2 ** 40
export const lastOrderId = orderIdAt(lastInstantOfOrders, 0)

export interface Target {
  url: string
  /** With numbers for bigint, like SQLite. */
  query(text: string): Promise<Record<string, unknown>[]>
}

/** A test, or a hook for several tests. */
interface Scope {
  after(end: () => Promise<void> | void): void
}

/** A command line with a migrated source, and an empty PostgreSQL database. */
export async function prepare(t: Scope): Promise<{ cli: CommandLine; target: Target }> {
  const cli = await prepareSource(t)
  const { databaseUrl, drop } = await createTestDatabase()
  t.after(drop)
  return { cli, target: { url: databaseUrl, query: (text) => queryOnce(databaseUrl, text) } }
}

export async function prepareSource(t: Scope): Promise<CommandLine> {
  const cli = commandLine(t)
  await migrateDatabase({ databaseUrl: `file:${cli.databaseFile}` })
  return cli
}

/** Longer than a busy server takes to accept a connection. */
export async function migrateTarget({ url }: Target): Promise<void> {
  await migrateDatabase({ databaseUrl: url, startTimeoutMilliseconds: 60_000 })
}

export async function queryOnce(url: string, text: string): Promise<Record<string, unknown>[]> {
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

export function copy(cli: CommandLine, to: string, options = '') {
  return cli.run(`copy --from file:${cli.databaseFile} --to ${to} ${options}`)
}

export async function copied(cli: CommandLine, target: Target): Promise<CopyReport> {
  const result = await copy(cli, target.url, '--json')
  assert.equal(result.status, 0, result.stderr)
  return JSON.parse(result.stdout)
}

/** The greatest principal was 41 and has been deleted. */
export function fillSource(cli: CommandLine): void {
  cli.sql((database) => database.transaction(insertSource)(database))
}

export function insertSource(database: Sqlite.Database): void {
  const insert = (table: keyof Database, ...rows: [unknown[], ...unknown[][]]) => {
    const places = rows[0].map(() => '?').join(', ')
    const columns = database.prepare('select name from pragma_table_info(?) order by cid').pluck().all(table)
    const statement = database.prepare(`insert into ${table} (${columns.join(', ')}) values (${places})`)
    for (const row of rows) statement.run(...row)
  }
  insert('roles', [oddText, 3, 1])
  insert(
    'principals',
    [7, 'user', 'Jo', 'jo', 1, 5, 2, 0, 6, 4, lastInstant],
    [40, 'client', oddText, oddText, 0, 0, 0, 1, 0, 1, null],
  )
  insert('principals', [41, 'user', 'gone', 'gone', 1, 0, 0, 0, 0, 1, null])
  database.exec('delete from principals where id = 41')
  const hash = '$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA'
  insert('users', [7, 'jo@example.com', hash, 'set', 7, oddText, 'Europe/Berlin', lastInstant])
  insert('clients', [40, oddText, oddText, lastInstant, 7])
  insert('client_uses', [40, 8])
  insert('client_secrets', [9, 40, 'secret-hash', 3])
  insert('principal_roles', [7, 'Operator'], [40, oddText])
  insert('sessions', ['session', 7, 'passkey', 2, '["Operator"]', 'binding', 1, 2, lastInstant, oddText, 2])
  insert('session_ids', ['id-1', 'session', 1, 1, null, null, 0], ['id-2', 'session', 2, 2, 'passkey', 3, 1])
  insert('company_accounts', [7, 'https://login.example.com', oddText, lastInstant])
  insert('company_sessions', ['session', oddText])
  insert('refresh_families', ['family', 7, null, 2, 3, 'token', 2, 1, 3, 4, 'till/2.1'])
  insert('one_time_links', [7, 'email', 'link', 7, oddText, 4, oddText])
  insert('mail_settings', [7, 'daily', 23, 1, 0, lastInstant])
  insert('mail_place', [1, 1, 4])
  insert('mails', [9, 'forgotten-password', oddText, oddText, 1, lastInstant, 2, null, null])
  insert('passkeys', ['passkey', 7, 'localhost', oddText, 'key', 4_294_967_295, 1, 2, null])
  insert('used_challenges', ['nonce', 9])
  insert('login_failures', ['key', 3, 4, 5])
  insert('known_addresses', ['pair', 'account', 6])
  const kept = ['fingerprint', '{"a":"\\n"}', 99]
  insert('idempotency_keys', [40, 'POST /v1/orders', 'ä', ...kept], [40, 'POST /v1/orders', 'Z', ...kept])
  insert('idempotency_keys', [7, 'POST /v1/orders', 'k', 'fingerprint', '', 1])
  const audit = [
    ...['', oddText, -1, '', '', 2_147_483_647, 40, 7, 5, 0, 0],
    ...[oddText, 1, 1, 1, oddText, lastOrderId, null],
  ]
  const odd = [oddText, '', 999_999_999_999_999, 0, lastInstantOfOrders, ...audit]
  const plain = Array.from({ length: 4_500 }, (_, index) => plainOrder(index))
  insert('orders', [firstNumber, lastOrderId, ...odd], ...plain)
  insert('order_approvals', [lastOrderId, 7])
  insert('order_receipts', [lastOrderId, oddText])
  insert('absences', [40, 7, -1, lastInstant])
  insert('views', [7, lastOrderId, oddText, oddText, 'id', 'desc', '["id"]', 2])
  const url = 'https://example.com/'
  const failing = [0, 'failing', 1, firstNumber, 3, 2, 7, 8, 9, 2, lastInstant, -1, 3]
  insert('subscriptions', [lastOrderId, 'webhook', url, '["order"]', ...failing])
  insert('delivery_attempts', [9, lastOrderId, 'event', 'ping', null, 1, 2, null, oddText, oddText])
  const document = [oddText, 'text/plain', 1, 'sha', lastInstant, oddText, null]
  insert('order_documents', [lastOrderId, lastOrderId, ...document])
  // More than one batch, and every byte.
  const everyByte = Buffer.from(Array.from({ length: 65_536 }, (_, index) => index))
  for (let piece = 0; piece < filledRows.document_pieces; piece += 1) {
    insert('document_pieces', [lastOrderId, piece, everyByte])
  }
  insert('document_leftovers', [lastOrderId, lastInstant])
  insertLog(database)
}

/** Four sealed events, and two not yet sealed. */
function insertLog(database: Sqlite.Database): void {
  const order = {
    subject: { kind: 'order', id: lastOrderId },
    facts: { customer: oddText, total: '0.5' },
  } as const
  const by = (name: string, byId: number | null) =>
    stamp({ by: name, byId, timeZone: null, nowMilliseconds: lastInstantOfOrders })
  const rules = { approvals: 2, selfApproval: true, services: true, role: null, passkey: false }
  const role = { kind: 'role-added', subject: { kind: 'role', id: oddText }, facts: {} } as const
  const rows = [
    eventRow(by('Jo', 7), {
      ...order,
      kind: 'created',
      version: 1,
      facts: { ...order.facts, number: firstNumber, rules },
    }),
    eventRow(by(oddText, 40), { ...order, kind: 'approval-given', version: 2 }),
    eventRow(by('machine:root', null), role),
    eventRow(by('Jo', 7), { ...order, kind: 'noted', version: 2, facts: { ...order.facts, text: oddText } }),
    eventRow(by('Jo', 7), { ...order, kind: 'noted', version: 2, facts: { ...order.facts, text: '\n' } }),
    eventRow(by('machine:root', null), role),
  ]
  const insert = (table: keyof Database, row: object) =>
    database
      .prepare(`insert into ${table} (${Object.keys(row)}) values (${Object.keys(row).map(() => '?')})`)
      .run(...Object.values(row))
  const tree = new LogTree()
  for (const [index, row] of rows.entries()) {
    if (index >= filledRows.events) {
      insert('unsealed_events', { number: 2 ** 40 + index, ...row })
      continue
    }
    const hash = hashOf(lineOf(row, index + 1))
    tree.add(hash)
    insert('events', { sequence: index + 1, ...row, hash })
  }
  const { size, root } = tree.head
  database
    .prepare('update log_head set size = ?, root = ?, edge = ?')
    .run(size, root, JSON.stringify(tree.edge))
  const known = { witness: oddText, era: 1, size: firstNumber }
  insert('log_witnesses', { ...known, cosigned_at: lastInstant, contradicts: null })
  insert('log_witnesses', { ...known, era: 2, cosigned_at: null, contradicts: firstNumber })
  const cosigned = { era: 1, size: firstNumber, checkpoint: oddText, cosigned_at: lastInstant }
  insert('log_cosigned', { id: 1, ...cosigned })
  insert('log_tiles', { level: 0, number: 0, root: '0'.repeat(64), hashes: '0'.repeat(256 * 64) })
}

/** Numbers ascend while ids descend, so only the order of the key is correct. */
export function plainOrder(index: number): unknown[] {
  const instant = 9_999 - index
  const id = orderIdAt(instant, 0)
  const rest = [null, null, null, null, null, 1, null, null, 1, 1, 1, null, 0, 0, 0, null, null, null]
  return [null, id, `Customer ${index}`, `customer ${index}`, index + 1, 0, instant, ...rest]
}

/** Every table, in an order that both engines share. */
export async function contentOf(source: CommandLine | Target): Promise<Record<string, string[]>> {
  const content: Record<string, string[]> = {}
  for (const table of tableNames) {
    const text = `select * from ${table}`
    const rows = 'sql' in source ? source.rows(text) : await source.query(text)
    content[table] = rows.map((row) => JSON.stringify(row)).sort()
  }
  return content
}

/** Asserts that the target holds only what a migration makes. */
export async function assertFresh(t: TestContext, target: Target): Promise<void> {
  assert.deepEqual(await contentOf(target), await contentOf(await prepareSource(t)))
}

/** A row-level trigger in the target, to cause faults. */
export function trigger(table: string, body: string): string {
  return `create function fault() returns trigger language plpgsql as $$ begin ${body}; end $$;
    create trigger fault before insert on ${table} for each row execute function fault()`
}

/** Stops the copy in the middle of its transaction by a lock that the test holds in the target. */
export async function holdCopy(t: TestContext, target: Target) {
  await migrateTarget(target)
  await target.query(trigger('session_ids', 'perform pg_advisory_xact_lock(77); return new'))
  const holder = new pg.Client({ connectionString: target.url })
  holder.on('error', () => undefined)
  await holder.connect()
  await holder.query('select pg_advisory_lock(77)')
  // Only this database: the view shows the locks of the whole server.
  const waiting = `select 1 from pg_locks join pg_database on pg_database.oid = database
    where datname = current_database() and locktype = 'advisory' and objid = 77 and not granted`
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

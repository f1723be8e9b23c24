import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { copyFile, mkdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import Sqlite from 'better-sqlite3'
import { type Acknowledged, OrderLoad, ordersAt } from '../support/order-load.ts'
import { type RunningServer, startServer } from '../support/process.ts'
import { at, bearerOf, type Production, prepareProduction } from '../support/production.ts'
import { type Result, runCommand } from './command-line.ts'

/** The steps of docs/operations.md, backup and restore of SQLite. */
describe('a backup of SQLite, made under a load of writes and put in place elsewhere', () => {
  const servers: RunningServer[] = []
  let production: Production
  after(async () => {
    for (const server of servers) await server.stop()
    await production?.remove()
    await rm(folder, { recursive: true, force: true })
  })
  const folder = mkdtempSync(join(tmpdir(), 'countersign-restore-'))
  const file = join(folder, 'countersign.db')
  const backup = join(folder, 'backup.db')
  const restored = join(folder, 'elsewhere', 'countersign.db')

  /** Enough that the copy takes many steps, and would begin again for ever if writes could disturb it. */
  function fill(path: string): void {
    const database = new Sqlite(path)
    database.exec(`
      with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 50000)
      insert into orders (id, customer, customer_folded, total_e4, status, created_at, created_at_time_zone,
        created_by, updated_at, updated_at_time_zone, modified_by, version, approvals_needed, self_approval,
        service_approval, approvals_given)
      select format('00000000-0000-7000-8000-%012d', n), 'Filling ' || n, 'filling ' || n, n, 0,
        n, 'UTC', 'admin', null, null, null, 1, 1, 1, 1, 0 from numbers`)
    database.close()
  }

  async function serve(path: string): Promise<string> {
    const server = await startServer([], { ...production.env, DATABASE_URL: `file:${path}` })
    servers.push(server)
    return server.baseUrl
  }

  let result: Result
  let acknowledged: Acknowledged
  let writtenMeanwhile: number
  let original: unknown[]
  let answers: unknown[]
  before(async () => {
    production = await prepareProduction(`file:${file}`)
    fill(file)
    const source = await bearerOf(await serve(file), 'admin')
    const load = new OrderLoad(source)
    await load.settles(200)
    acknowledged = load.acknowledged()
    result = await runCommand(`backup ${backup}`, '', folder, { DATABASE_URL: `file:${file}` })
    writtenMeanwhile = load.acknowledged().created.length - acknowledged.created.length
    await load.settles(50)
    await load.end()
    original = await ordersAt(source, acknowledged.settled.keys())
    await mkdir(join(folder, 'elsewhere'))
    await copyFile(backup, restored)
    answers = await ordersAt(at(await serve(restored), source), acknowledged.settled.keys())
  })

  it('is made while orders are being written, for its owner’s eyes only', async () => {
    assert.equal(result.status, 0, result.stderr)
    assert.equal((await stat(backup)).mode & 0o777, 0o600)
    assert.ok(writtenMeanwhile > 0)
  })

  it('is whole, and consistent in itself', () => {
    const database = new Sqlite(restored, { readonly: true })
    const integrity = database.pragma('integrity_check', { simple: true })
    const foreignKeys = database.pragma('foreign_key_check')
    database.close()
    assert.equal(integrity, 'ok')
    assert.deepEqual(foreignKeys, [])
  })

  it('holds every order that was acknowledged before it began', () => {
    const database = new Sqlite(restored, { readonly: true })
    const stored = new Set(database.prepare('select id from orders').pluck().all())
    database.close()
    assert.deepEqual(
      acknowledged.created.filter((id) => !stored.has(id)),
      [],
    )
  })

  it('serves each of them in its version, and with its audit fields, as the original does', () => {
    assert.ok(answers.length >= 200)
    assert.deepEqual(answers, original)
    assert.deepEqual(
      answers.map((answer) => (answer as { etag: string }).etag),
      [...acknowledged.settled.values()],
    )
  })

  it('takes the next write', async () => {
    const caller = await bearerOf(servers[1]?.baseUrl ?? '', 'operator')
    assert.equal((await caller.post('/v1/orders', { customer: 'Acme', total: 1 })).status, 201)
  })
})

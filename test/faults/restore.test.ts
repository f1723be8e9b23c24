// engine: both
import assert from 'node:assert/strict'
import { copyFile, mkdir, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { runCommand } from '../cli/command-line.ts'
import type { Client } from '../support/client.ts'
import { createPostgresDatabase, testEngine, withRawDatabase } from '../support/database.ts'
import { assertSound } from '../support/history.ts'
import { type Acknowledged, OrderLoad, ordersAt } from '../support/order-load.ts'
import { type OwnPostgres, startPostgres } from '../support/postgres.ts'
import { startCopy, takeBaseBackup } from '../support/postgres-copy.ts'
import { at, bearerOf, newProduction, type Production } from '../support/production.ts'

/** A backup that is taken from a database while the load writes, and restored elsewhere. */
interface Restored {
  databaseUrl: string
  /** The content that the backup promises. */
  acknowledged: Acknowledged
  /** Orders created while it was taken. */
  writtenMeanwhile: number
}

interface Source {
  production: Production
  backUp(load: OrderLoad): Promise<Restored>
  end(): Promise<void>
}

/** The steps of docs/operations.md for SQLite. */
async function sqliteSource(): Promise<Source> {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-restore-'))
  const file = join(folder, 'countersign.db')
  const backup = join(folder, 'backup.db')
  const restored = join(folder, 'elsewhere', 'countersign.db')
  const databaseUrl = `file:${file}`
  const production = await newProduction({ databaseUrl })
  async function backUp(load: OrderLoad): Promise<Restored> {
    const acknowledged = load.acknowledged()
    const { status, stderr } = await runCommand(`backup ${backup}`, '', folder, { DATABASE_URL: databaseUrl })
    assert.equal(status, 0, stderr)
    const writtenMeanwhile = load.acknowledged().created.length - acknowledged.created.length
    assert.equal((await stat(backup)).mode & 0o777, 0o600, 'others may read it')
    await mkdir(join(folder, 'elsewhere'))
    await copyFile(backup, restored)
    return { databaseUrl: `file:${restored}`, acknowledged, writtenMeanwhile }
  }
  return { production, backUp, end: () => rm(folder, { recursive: true, force: true }) }
}

/** The steps for PostgreSQL, with the base backup taken by hand. */
async function postgresSource(): Promise<Source> {
  const postgres = await startPostgres({ durable: true })
  let copy: OwnPostgres | undefined
  const { databaseUrl } = await createPostgresDatabase(postgres.url)
  async function backUp(load: OrderLoad): Promise<Restored> {
    const before = load.acknowledged().created.length
    let acknowledged = load.acknowledged()
    const taken = await takeBaseBackup(postgres.url, {
      onTablesCopied: () => load.settles(50),
      onCopied: () => {
        acknowledged = load.acknowledged()
      },
    })
    copy = await startCopy(taken)
    const url = new URL(copy.url)
    url.pathname = new URL(databaseUrl).pathname
    return { databaseUrl: url.href, acknowledged, writtenMeanwhile: acknowledged.created.length - before }
  }
  const end = async () => {
    await copy?.end()
    await postgres.end()
  }
  return { production: await newProduction({ databaseUrl }), backUp, end }
}

describe('a backup made under a load of writes and restored elsewhere', () => {
  let source: Source
  let restored: Restored
  let original: unknown[]
  let answers: unknown[]
  let elsewhere: Client
  before(async () => {
    source = await (testEngine === 'sqlite' ? sqliteSource() : postgresSource())
    const { production } = source
    const caller = await bearerOf((await production.serve()).baseUrl, 'admin')
    const load = new OrderLoad(caller)
    await load.settles(100)
    restored = await source.backUp(load)
    await load.settles(25)
    await load.end()
    const { databaseUrl, acknowledged } = restored
    original = await ordersAt(caller, acknowledged.settled.keys())
    elsewhere = at((await production.serve({ DATABASE_URL: databaseUrl })).baseUrl, caller)
    answers = await ordersAt(elsewhere, acknowledged.settled.keys())
  })
  after(async () => {
    await source?.production.remove()
    await source?.end()
  })

  it('is made while orders are being written', () => {
    assert.ok(restored.writtenMeanwhile > 0)
  })

  it('is complete, and consistent in itself', () => withRawDatabase(restored.databaseUrl, assertSound))

  it('has every order that was acknowledged before it began', async () => {
    const rows = await withRawDatabase(restored.databaseUrl, (db) =>
      db.selectFrom('orders').select('id').execute(),
    )
    const stored = new Set(rows.map(({ id }) => id))
    const strays = restored.acknowledged.created.filter((id) => !stored.has(id))
    assert.deepEqual(strays, [])
  })

  it('serves each of them as the original does, with its version and audit fields', () => {
    assert.ok(answers.length >= 100)
    assert.deepEqual(answers, original)
    assert.deepEqual(
      answers.map((answer) => (answer as { etag: string }).etag),
      [...restored.acknowledged.settled.values()],
    )
  })

  it('accepts the next write', async () => {
    assert.equal((await elsewhere.post('/v1/orders', { customer: 'Acme', total: 1 })).status, 201)
  })
})

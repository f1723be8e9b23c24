import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createPostgresDatabase } from '../support/database.ts'
import { type Acknowledged, OrderLoad, ordersAt } from '../support/order-load.ts'
import { type OwnPostgres, runSql, startPostgres, withoutPostgres } from '../support/postgres.ts'
import { type RunningCopy, startCopy, takeBaseBackup } from '../support/postgres-copy.ts'
import { type RunningServer, startServer } from '../support/process.ts'
import { at, bearerOf, type Production, prepareProduction } from '../support/production.ts'

/** The steps of docs/operations.md, backup and restore of PostgreSQL, with the base backup taken by hand. */
describe('a base backup of PostgreSQL, taken under a load of writes', { skip: withoutPostgres }, () => {
  const servers: RunningServer[] = []
  let postgres: OwnPostgres
  let copy: RunningCopy
  let production: Production
  after(async () => {
    for (const server of servers) await server.stop()
    await copy?.end()
    await postgres?.end()
    await production?.remove()
  })

  async function serve(databaseUrl: string): Promise<string> {
    const server = await startServer([], { ...production.env, DATABASE_URL: databaseUrl })
    servers.push(server)
    return server.baseUrl
  }

  let copiedUrl: string
  let acknowledged: Acknowledged
  let writtenMeanwhile: number
  let original: unknown[]
  let answers: unknown[]
  before(async () => {
    postgres = await startPostgres({ durable: true })
    const { databaseUrl } = await createPostgresDatabase(postgres.url)
    production = await prepareProduction(databaseUrl)
    const source = await bearerOf(await serve(databaseUrl), 'admin')
    const load = new OrderLoad(source)
    await load.settles(200)
    const before = load.acknowledged().created.length
    const taken = await takeBaseBackup(postgres.url, {
      onTablesCopied: () => load.settles(100),
      onCopied: () => {
        acknowledged = load.acknowledged()
      },
    })
    writtenMeanwhile = acknowledged.created.length - before
    await load.settles(50)
    await load.end()
    original = await ordersAt(source, acknowledged.settled.keys())
    copy = await startCopy(taken)
    const url = new URL(copy.url)
    url.pathname = new URL(databaseUrl).pathname
    copiedUrl = url.href
    answers = await ordersAt(at(await serve(copiedUrl), source), acknowledged.settled.keys())
  })

  it('is taken while orders are being written', () => {
    assert.ok(writtenMeanwhile > 0)
  })

  it('holds every order that was acknowledged before it ended', async () => {
    const rows = await runSql<{ id: string }>(copiedUrl, 'select id from orders')
    const stored = new Set(rows.map(({ id }) => id))
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

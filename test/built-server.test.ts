import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { statSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { buildServerIfStale } from '../tools/build-server.ts'
import { Client } from './support/client.ts'
import { createTestDatabase, type TestDatabase } from './support/database.ts'
import { type RunningServer, startServer } from './support/process.ts'
import { bearerOf, type Production, prepareProduction, sessionOf } from './support/production.ts'

const folder = fileURLToPath(new URL('../server/dist/', import.meta.url))
const entry = `${folder}main.js`

describe('the built server', () => {
  let database: TestDatabase
  let production: Production
  let server: RunningServer
  before(async () => {
    await buildServerIfStale()
    database = await createTestDatabase()
    production = await prepareProduction(database.databaseUrl)
    server = await startServer([], production.env, entry)
  })
  after(async () => {
    await server?.stop()
    await production?.remove()
    await database?.drop()
  })

  it('is made once for the same sources', async () => {
    assert.equal(await buildServerIfStale(), false)
  })

  it('may be read by another account than the one that builds', () => {
    assert.equal(statSync(folder).mode & 0o777, 0o755)
  })

  it('signs in, writes, and finds in a reader what it wrote', async () => {
    const app = await bearerOf(server.baseUrl, 'operator')
    for (const total of [1, 2, 3]) {
      const { status } = await app.post('/v1/orders', { customer: `Built ${total}`, total })
      assert.equal(status, 201)
    }
    // A negated text is never quick: on SQLite it runs in a thread.
    const found = await app.get(`/v1/orders?filter=${encodeURIComponent('-customer:"lt 2"')}&orderBy=total`)
    assert.deepEqual(
      found.body.items.map(({ total }: { total: number }) => total),
      [1, 3],
    )
    const browser = await sessionOf(server.baseUrl, 'admin')
    const { status } = await browser.patch(`/v1/orders/${found.body.items[0].id}/approve`)
    assert.equal(status, 204)
  })

  it('finds the web app from where it lies', async () => {
    const { status, headers } = await new Client(server.baseUrl).get('/orders')
    assert.equal(status, 200)
    assert.match(headers.get('content-type') ?? '', /^text\/html/)
  })

  it('carries out commands', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [entry, 'user', 'list', '--json'], {
      env: { ...process.env, DATABASE_URL: database.databaseUrl },
    })
    const names = JSON.parse(stdout).map(({ userName }: { userName: string }) => userName)
    assert.deepEqual(names.toSorted(), ['admin', 'operator'])
  })

  it('ends gracefully', async () => {
    assert.equal(await server.stop(), 0)
  })
})

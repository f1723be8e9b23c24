import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { createTestDatabase, type TestDatabase, testEngine } from '../support/database.ts'
import { startServer } from '../support/process.ts'

describe('a start with workers that cannot be', {
  skip: testEngine !== 'postgres' && 'needs PostgreSQL',
}, () => {
  let database: TestDatabase
  let holder: Server
  let taken: number
  before(async () => {
    database = await createTestDatabase()
    holder = createServer().listen(0, '127.0.0.1')
    await once(holder, 'listening')
    const address = holder.address()
    assert.ok(typeof address === 'object' && address !== null)
    taken = address.port
  })
  after(async () => {
    holder.close()
    await database.drop()
  })

  const start = (env: Record<string, string>) =>
    startServer(['--dev', '--no-demo-orders', '--workers', '2'], {
      ...env,
      DATABASE_URL: database.databaseUrl,
    })

  it('ends all processes with status 1 when the port is taken', async () => {
    await assert.rejects(start({ PORT: String(taken) }), (error: Error) => {
      assert.match(error.message, /^the server ended with 1:/)
      assert.ok(error.message.includes(`PORT: ${taken} is in use at 127.0.0.1`))
      return true
    })
  })

  it('refuses a metrics port, where a scrape would meet one worker at random', async () => {
    await assert.rejects(start({ METRICS_PORT: '1' }), /METRICS_PORT: not with --workers/)
  })
})

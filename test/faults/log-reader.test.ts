import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { Client } from '../support/client.ts'
import { createTestDatabase } from '../support/database.ts'
import { startServer } from '../support/process.ts'
import { prepareProduction } from '../support/production.ts'

/** Of log.ts, and what the pipe holds besides. */
const heldBytes = 4 * 1024 * 1024 + 128 * 1024

it('a reader of the log that stalls costs lines of it, which are counted, and no memory without end', async () => {
  const database = await createTestDatabase()
  const production = await prepareProduction(database.databaseUrl)
  const server = await startServer([], production.env)
  try {
    const path = `/v1/${'x'.repeat(1_100)}`
    const requests = Math.ceil((1.2 * heldBytes) / 1_024)
    server.process.stdout?.pause()
    let sent = 0
    async function send(): Promise<void> {
      const caller = new Client(server.baseUrl)
      while (sent < requests) {
        sent += 1
        assert.equal((await caller.get(path)).status, 404)
      }
    }
    await Promise.all(Array.from({ length: 32 }, send))
    server.process.stdout?.resume()
    const lines = () =>
      server
        .output()
        .split('\n')
        .filter((line) => line.endsWith('}'))
    const written = () => lines().filter((line) => line.includes('/v1/xxx')).length
    const lost = () =>
      lines()
        .filter((line) => line.includes('were lost'))
        .reduce((sum, line) => sum + JSON.parse(line).lines, 0)
    const end = performance.now() + 10_000
    while (written() + lost() < requests) {
      assert.ok(performance.now() < end, `${written()} written and ${lost()} lost of ${requests}`)
      await wait(100)
    }
    assert.ok(lost() > 0, 'all lines were kept')
    assert.equal((await new Client(server.baseUrl).get('/health')).status, 200)
  } finally {
    server.process.stdout?.resume()
    await server.stop()
    await production.remove()
    await database.drop()
  }
})

// engine: both
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { Client } from '../support/client.ts'
import { withRawDatabase } from '../support/database.ts'
import { faultSeed, isLong, needsCore, randomOf } from '../support/faults.ts'
import { assertSound } from '../support/history.ts'
import { OrderLoad, ordersAt } from '../support/order-load.ts'
import { bearerOf, newProduction } from '../support/production.ts'
import { startService } from '../support/service.ts'

const rounds = isLong ? 20 : 2
const stallMilliseconds = 1_000

describe('stalled for a second', () => {
  it('the event loop, during writes and lists: all are answered', async (t) => {
    await needsCore(t)
    const service = await startService({ until: t })
    const admin = await service.bearer('admin')
    const session = await service.session('operator')
    const calls = Array.from({ length: 20 }, (_, index) => [
      admin.post('/v1/orders', { customer: `stalled ${index}`, total: 1 }),
      session.post('/v1/orders', { customer: `stalled ${index}`, total: 1 }),
      admin.get('/v1/orders?filter=stalled'),
    ]).flat()
    // The requests are on their way, and answers of the writer arrive while nobody reads them.
    await wait(5)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, stallMilliseconds)
    const statuses = (await Promise.all(calls)).map(({ status }) => status)
    assert.deepEqual(new Set(statuses), new Set([200, 201]))
    assert.equal((await admin.get('/v1/orders?filter=stalled')).body.totalCount, 40)
    assert.equal((await service.client().get('/health/ready')).status, 200)
    await withRawDatabase(service.databaseUrl, assertSound)
  })

  describe('the whole process, under a load of writes', () => {
    it(`${rounds} times: every write is answered, and stored as answered`, async (t) => {
      await needsCore(t)
      const production = await newProduction()
      t.after(() => production.remove())
      const server = await production.serve()
      const random = randomOf('stalled')
      const caller = await bearerOf(server.baseUrl, 'admin')
      const load = new OrderLoad(caller)
      for (let round = 0; round < rounds; round += 1) {
        await load.settles(10)
        await wait(50 * random())
        server.process.kill('SIGSTOP')
        await wait(stallMilliseconds)
        server.process.kill('SIGCONT')
        assert.equal((await new Client(server.baseUrl).get('/health/ready')).status, 200)
      }
      await load.settles(10)
      await load.end()
      const { settled } = load.acknowledged()
      const found = (await ordersAt(caller, settled.keys())) as { status: number; etag: string }[]
      assert.deepEqual(
        found.map(({ etag }) => etag),
        [...settled.values()],
      )
      await withRawDatabase(production.databaseUrl, assertSound)
      t.diagnostic(`seed ${faultSeed}: ${rounds} stalls, ${settled.size} orders`)
    })
  })
})

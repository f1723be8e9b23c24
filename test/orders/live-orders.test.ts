// engine: both
import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import type { KyselyPlugin } from '#kysely'
import { LiveOrders } from '../../server/orders/live/live.ts'
import type { Client } from '../support/client.ts'
import { seal } from '../support/log.ts'
import { atNext } from '../support/moments.ts'
import { createdId } from '../support/orders.ts'
import { type InsideService, startService } from '../support/service.ts'
import { openStream } from '../support/stream.ts'

const beginning = { era: 1, sequence: 0 }

describe('the streams of an instance', () => {
  let service: InsideService
  let operator: Client
  before(async () => {
    service = await startService({ inside: true })
    operator = await service.bearer('operator')
    await seal(service.db)
  })

  it('can begin with the very first event, even if no event was read before', async () => {
    await createdId(operator)
    await seal(service.db)
    const live = new LiveOrders(service.db)
    const end = await live.end()
    const { from, reached } = await live.after(beginning, 1_000, new AbortController().signal)
    assert.deepEqual([from, reached], [beginning, end])
  })

  it('can begin where a list was read, if an order comes before its answer', async (t) => {
    const { sequence } = await new LiveOrders(service.db).end()
    const db: { query: (name: string) => Promise<unknown> } = service.db as never
    atNext(t, db, ['query', 'findOrders'], async (find) => {
      const found = await find()
      await createdId(operator)
      await seal(service.db)
      return found
    })
    const { headers } = await operator.get('/v1/orders')
    assert.equal(headers.get('last-event-id'), `1.${sequence}`)
  })

  it('let others be served between batches, however far behind their caller is', async () => {
    const live = new LiveOrders(service.db)
    await live.end()
    let isServed = false
    setImmediate(() => {
      isServed = true
    })
    await live.after(beginning, 1_000, new AbortController().signal)
    assert.ok(isServed)
  })

  it('report a change to all who wait, long before their time limit', async () => {
    const live = new LiveOrders(service.db)
    const place = await live.end()
    const leaving = new AbortController()
    const listeners = [1, 2].map(() => live.after(place, 600_000, leaving.signal))
    await createdId(operator)
    await seal(service.db)
    const heard = await Promise.race([Promise.all(listeners), wait(10_000, undefined, { ref: false })])
    leaving.abort()
    assert.deepEqual(
      heard?.map(({ reached }) => reached.sequence),
      [place.sequence + 1, place.sequence + 1],
    )
  })

  it('share one query for the head of the log, made only while someone listens, and again after a failure', async () => {
    let queries = 0
    let isAway = false
    const counting: KyselyPlugin = {
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        queries += 1
        if (isAway) throw new Error('the database is away')
        return result
      },
    }
    const live = new LiveOrders({ ...service.db, read: service.db.read.withPlugin(counting) })
    await wait(400)
    assert.equal(queries, 0)

    const place = await live.end()
    const listening = Array.from({ length: 50 }, () => new AbortController())
    const heard = listening.map(({ signal }) => live.after(place, 60_000, signal))
    queries = 0
    const listened = performance.now()
    while (queries < 3) await wait(100)
    const looks = (performance.now() - listened) / 300
    assert.ok(queries <= looks + 1, `${queries} in the time of ${looks}`)

    isAway = true
    await wait(700)
    const id = await createdId(operator)
    await seal(service.db)
    isAway = false
    const portions = await Promise.all(heard)
    assert.equal(new Set(portions).size, 1)
    assert.match(String(portions[0]?.bytes), new RegExp(id))

    const left = new AbortController()
    const nothing = live.after(portions[0]?.reached ?? beginning, 60_000, left.signal)
    await wait(400)
    left.abort()
    assert.equal((await nothing).bytes.length, 0)
    await wait(400)
    queries = 0
    await wait(1_000)
    assert.equal(queries, 0)
  })

  it('end when it closes, and do not keep it from closing', async () => {
    const stream = await openStream(await service.bearer('viewer'))
    const start = performance.now()
    await service.close()
    assert.equal(await stream.ends(), 'whole')
    assert.ok(performance.now() - start < 5_000)
  })
})

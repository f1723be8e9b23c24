// engine: both
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { type Answer, assertUnanswered, Client } from '../support/client.ts'
import { withRawDatabase } from '../support/database.ts'
import { assertSound } from '../support/history.ts'
import { assertProblem } from '../support/problem.ts'
import { bearerOf, newProduction } from '../support/production.ts'

const writers = 12
/** The pause between two writes of a caller. */
const pauseMilliseconds = 15
const drainSeconds = 1.5
/** How long the shutdown itself may take on a busy machine. */
const endMilliseconds = 6_000

describe('the service ended by SIGTERM', () => {
  it('under load, reports that it is not ready, serves until it stops listening, acknowledges everything it does, and exits with 0', async (t) => {
    const production = await newProduction()
    t.after(() => production.remove())
    const server = await production.serve({ DRAIN_SECONDS: String(drainSeconds) })
    const admin = await bearerOf(server.baseUrl, 'admin')
    const answers: Answer[] = []
    const probes: Answer[] = []
    /**
     * Sends one request after another until nothing listens, or the server sends the caller elsewhere.
     */
    async function load(): Promise<void> {
      for (let isOver = false; !isOver; ) {
        const answer = await admin.post('/v1/orders', { customer: 'load', total: 1 }).catch(assertUnanswered)
        if (answer !== undefined) answers.push(answer)
        isOver = answer?.status !== 201
        await wait(pauseMilliseconds)
      }
    }
    /** Until nothing listens any more. */
    async function probe(): Promise<void> {
      for (;;) {
        probes.push(await new Client(server.baseUrl).get('/health/ready'))
        await wait(20)
      }
    }
    const work = Promise.all(Array.from({ length: writers }, load))
    const probing = probe().catch(assertUnanswered)
    while (answers.length < 100) await wait(5)
    const begun = performance.now()
    const stopped = server.stop('SIGTERM')
    await server.printed('shutting down')
    const beforeDrain = answers.length
    const status = await stopped
    const milliseconds = performance.now() - begun
    await work
    await probing
    assert.equal(status, 0, server.output().slice(-2_000))
    const afterDrain = milliseconds - drainSeconds * 1_000
    assert.ok(afterDrain > -100 && afterDrain < endMilliseconds, `${afterDrain} ms after the drain`)
    const created = answers.filter((answer) => answer.status === 201)
    const refused = answers.filter((answer) => answer.status !== 201)
    assert.ok(created.length > beforeDrain)
    assert.ok(refused.length <= writers)
    for (const answer of refused) assertProblem(answer, 503, 'shutting-down')
    const drained = probes.slice(probes.findIndex((probe) => probe.status !== 200))
    assert.ok(drained.length < probes.length)
    for (const probe of drained) assertProblem(probe, 503, 'shutting-down')
    await withRawDatabase(production.databaseUrl, async (db) => {
      const stored = await db.selectFrom('orders').select('id').where('customer', '=', 'load').execute()
      assert.deepEqual(stored.map(({ id }) => id).sort(), created.map(({ body }) => body.id).sort())
      await assertSound(db)
    })
  })
})

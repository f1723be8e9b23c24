import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it, type TestContext } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { Client } from '../support/client.ts'
import { createPostgresDatabase } from '../support/database.ts'
import { isLong, randomOf } from '../support/faults.ts'
import { type OwnPostgres, runSql, startPostgres, withoutPostgres } from '../support/postgres.ts'
import { startServer } from '../support/process.ts'
import { bearerOf, type Production, prepareProduction } from '../support/production.ts'

const databaseKills = isLong ? 20 : 2
const writerCount = 8
const loadMilliseconds = 400
const resumesWithinMilliseconds = 10_000

interface Write {
  key: string
  customer: string
  /** Of every 201 that the key was answered with. */
  acknowledgedIds: string[]
  /** Answers other than 201, and calls without any answer. */
  failures: (number | 'no answer')[]
}

/** Callers that write without a pause, each repeating a write under its key until it is acknowledged. */
class Load {
  readonly writes: Write[] = []
  /** When the last acknowledgement came, on the clock of `performance`. */
  lastAcknowledged = 0
  #isOver = false
  readonly #writers: Promise<void>[]

  constructor(caller: Client) {
    this.#writers = Array.from({ length: writerCount }, () => this.#work(caller))
  }

  /** Lets every writer finish the write that it has begun, then sends each acknowledged write once more. */
  async end(): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#writers)
  }

  async #work(caller: Client): Promise<void> {
    while (!this.#isOver) {
      const write: Write = {
        key: randomUUID(),
        customer: `load ${randomUUID()}`,
        acknowledgedIds: [],
        failures: [],
      }
      this.writes.push(write)
      while (write.acknowledgedIds.length === 0) {
        await send(caller, write)
        if (write.acknowledgedIds.length === 0) await setTimeout(20)
      }
      this.lastAcknowledged = performance.now()
    }
  }
}

async function send(caller: Client, write: Write): Promise<void> {
  const { key, customer } = write
  try {
    const answer = await caller.post('/v1/orders', { customer, total: 1 }, { 'idempotency-key': key })
    if (answer.status === 201) write.acknowledgedIds.push(answer.body.id)
    else write.failures.push(answer.status)
  } catch {
    write.failures.push('no answer')
  }
}

describe('PostgreSQL killed under a load of writes', { skip: withoutPostgres }, () => {
  let postgres: OwnPostgres
  let databaseUrl: string
  let production: Production
  before(async () => {
    postgres = await startPostgres({ durable: true })
    databaseUrl = (await createPostgresDatabase(postgres.url)).databaseUrl
    production = await prepareProduction(databaseUrl)
  })
  after(async () => {
    await production?.remove()
    await postgres?.end()
  })

  /** Resolves with the milliseconds until a write that came after this moment was acknowledged. */
  async function nextAcknowledgement(load: Load): Promise<number> {
    const start = performance.now()
    while (load.lastAcknowledged < start) {
      assert.ok(performance.now() - start < resumesWithinMilliseconds, 'no write within 10 s')
      await setTimeout(5)
    }
    return load.lastAcknowledged - start
  }

  /** Every write of the history is there exactly once, under the id that was acknowledged, and replays as that. */
  async function assertHistory(
    t: TestContext,
    load: Load,
    caller: Client,
    recoveries: number[],
  ): Promise<void> {
    const rows = await runSql<{ id: string; customer: string }>(
      databaseUrl,
      "select id, customer from orders where customer like 'load %'",
    )
    const stored = Map.groupBy(rows, ({ customer }) => customer)
    const ids = (write: Write) => (stored.get(write.customer) ?? []).map(({ id }) => id)
    const lost = load.writes.filter((write) => write.acknowledgedIds.some((id) => !ids(write).includes(id)))
    const doubled = load.writes.filter((write) => ids(write).length > 1)
    const repeated = load.writes.filter((write) => write.failures.length > 0)
    t.diagnostic(
      `acknowledged ${load.writes.length}, lost ${lost.length}, doubled ${doubled.length}, repeated ${repeated.length}, ` +
        `recovery ms: max ${Math.round(Math.max(...recoveries))}, mean ${Math.round(mean(recoveries))}`,
    )
    assert.deepEqual([lost, doubled], [[], []])
    const known = new Set(load.writes.map(({ customer }) => customer))
    assert.deepEqual(
      rows.filter(({ customer }) => !known.has(customer)),
      [],
    )
    const failures = new Set(load.writes.flatMap((write) => write.failures))
    assert.deepEqual(
      [...failures].filter((failure) => !expectedFailures.has(failure)),
      [],
    )
    await Promise.all(repeated.map((write) => send(caller, write)))
    for (const write of repeated) assert.deepEqual(new Set(write.acknowledgedIds), new Set(ids(write)))
    await runSql(databaseUrl, "delete from orders where customer like 'load %'")
  }

  it(`${databaseKills} times: the service lives on, no write is lost, none is doubled`, async (t) => {
    const server = await startServer([], production.env)
    t.after(() => server.stop())
    const caller = await bearerOf(server.baseUrl, 'admin')
    const load = new Load(caller)
    const random = randomOf('postgres-kill')
    const recoveries: number[] = []
    for (let round = 0; round < databaseKills; round += 1) {
      await setTimeout(loadMilliseconds * (0.5 + random()))
      await postgres.tell('kill9')
      assert.equal((await new Client(server.baseUrl).get('/health')).status, 200)
      assert.equal((await new Client(server.baseUrl).get('/health/ready')).status, 503)
      await postgres.tell('start')
      recoveries.push(await nextAcknowledgement(load))
    }
    await load.end()
    assert.equal(server.process.exitCode, null)
    await assertHistory(t, load, caller, recoveries)
  })
})

/** A request that a killed service had taken has no answer; one that waits for the same key of a lost caller is 409. */
const expectedFailures = new Set<number | 'no answer'>([409, 503, 'no answer'])

function mean(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

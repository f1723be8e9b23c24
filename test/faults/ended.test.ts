import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { after, before, describe, it, type TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { type Answer, Client, isUnanswered } from '../support/client.ts'
import { createTestDatabase, type TestDatabase, withRawDatabase } from '../support/database.ts'
import { assertSound } from '../support/history.ts'
import { assertProblem } from '../support/problem.ts'
import { type RunningServer, startServer } from '../support/process.ts'
import { at, bearerOf, type Production, prepareProduction } from '../support/production.ts'

const writers = 12
/** Of serve.ts, and what the machine may need on top. */
const graceMilliseconds = 10_000
const atOnceMilliseconds = 5_000

describe('the service ended by SIGTERM', () => {
  let database: TestDatabase
  let production: Production
  before(async () => {
    database = await createTestDatabase()
    production = await prepareProduction(database.databaseUrl)
  })
  after(async () => {
    await production?.remove()
    await database?.drop()
  })

  async function start(t: TestContext): Promise<{ server: RunningServer; admin: Client }> {
    const server = await startServer([], production.env)
    t.after(() => server.stop('SIGKILL'))
    return { server, admin: await bearerOf(server.baseUrl, 'admin') }
  }

  /** A create of which the server has everything but the last byte of its body. */
  async function beginCreate(admin: Client, customer: string) {
    const { hostname, port } = new URL(admin.baseUrl)
    const socket = connect(Number(port), hostname)
    await once(socket, 'connect')
    const body = JSON.stringify({ customer, total: 1 })
    const lines = [
      'POST /v1/orders HTTP/1.1',
      'Host: localhost',
      `Authorization: ${admin.headers.authorization}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
    ]
    socket.write(`${lines.join('\r\n')}\r\n\r\n${body.slice(0, -1)}`)
    // The guard has passed it once the next request of this kind has been answered.
    await admin.get('/v1/orders?pageSize=1')
    return { socket, finish: () => socket.write(body.slice(-1)) }
  }

  async function received(socket: Socket): Promise<string> {
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk
    })
    await once(socket, 'close')
    return text
  }

  /** Nothing listens any more, or the system had taken a connection that nobody will read. */
  function assertUnanswered(error: unknown): undefined {
    assert.ok(isUnanswered(error), String(error))
  }

  async function isStored(customer: string): Promise<boolean> {
    const row = await withRawDatabase(database.databaseUrl, (db) =>
      db.selectFrom('orders').select('id').where('customer', '=', customer).executeTakeFirst(),
    )
    return row !== undefined
  }

  it('under load serves until it listens no more, says before that it is not ready, does nothing that it does not acknowledge, and exits with 0', async (t) => {
    const { server, admin } = await start(t)
    const answers: Answer[] = []
    const probes: Answer[] = []
    /** One request after the other, until nothing listens any more, or the server sends the caller elsewhere. */
    async function load(): Promise<void> {
      for (let isOver = false; !isOver; ) {
        const answer = await admin.post('/v1/orders', { customer: 'load', total: 1 }).catch(assertUnanswered)
        if (answer !== undefined) answers.push(answer)
        isOver = answer?.status !== 201
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
    await wait(100)
    const beforeDrain = answers.length
    const status = await stopped
    const milliseconds = performance.now() - begun
    await work
    await probing
    assert.equal(status, 0, server.output().slice(-2_000))
    assert.ok(milliseconds < graceMilliseconds, `${milliseconds} ms`)
    const created = answers.filter((answer) => answer.status === 201)
    const refused = answers.filter((answer) => answer.status !== 201)
    assert.ok(created.length > beforeDrain)
    assert.ok(refused.length <= writers)
    for (const answer of refused) assertProblem(answer, 503, 'shutting-down')
    assert.equal(probes[0]?.status, 200)
    assert.ok(probes.length > 1)
    assertProblem(probes.at(-1) as Answer, 503, 'shutting-down')
    await withRawDatabase(database.databaseUrl, async (db) => {
      const stored = await db.selectFrom('orders').select('id').where('customer', '=', 'load').execute()
      assert.deepEqual(stored.map(({ id }) => id).sort(), created.map(({ body }) => body.id).sort())
      await assertSound(db)
    })
  })

  it('is not ready for DRAIN_SECONDS, and then listens no more', async (t) => {
    const server = await startServer([], { ...production.env, DRAIN_SECONDS: '2.5' })
    t.after(() => server.stop('SIGKILL'))
    const begun = performance.now()
    const stopped = server.stop('SIGTERM')
    await wait(500)
    let unready = 0
    for (let isOver = false; !isOver; await wait(50)) {
      const answer = await new Client(server.baseUrl).get('/health/ready').catch(assertUnanswered)
      if (answer === undefined) isOver = true
      else {
        assertProblem(answer, 503, 'shutting-down')
        unready = performance.now() - begun
      }
    }
    assert.ok(unready > 2_000 && unready < 2_500 + atOnceMilliseconds, `${unready} ms`)
    assert.equal(await stopped, 0)
  })

  describe('with a request under way', { concurrency: 3 }, () => {
    it('waits for a request whose body is still on its way, and answers it', async (t) => {
      const { server, admin } = await start(t)
      const { socket, finish } = await beginCreate(admin, 'slow body')
      const text = received(socket)
      const stopped = server.stop('SIGTERM')
      await wait(1_000)
      assert.equal(server.process.exitCode, null)
      finish()
      assert.match(await text, /^HTTP\/1\.1 201 /)
      assert.equal(await stopped, 0)
      assert.ok(await isStored('slow body'))
    })

    it('gives up a request that does not end when its grace period is over', async (t) => {
      const { server, admin } = await start(t)
      const { socket } = await beginCreate(admin, 'never ends')
      const text = received(socket)
      const begun = performance.now()
      const status = await server.stop('SIGTERM')
      const milliseconds = performance.now() - begun
      await text
      assert.notEqual(status, 0)
      assert.ok(milliseconds < graceMilliseconds + atOnceMilliseconds, `${milliseconds} ms`)
      assert.equal(await isStored('never ends'), false)
    })

    it('ends at once at a second signal', async (t) => {
      const { server, admin } = await start(t)
      const { socket } = await beginCreate(admin, 'second signal')
      const text = received(socket)
      const exit = once(server.process, 'exit')
      server.process.kill('SIGTERM')
      await wait(1_000)
      assert.equal(server.process.exitCode, null)
      const begun = performance.now()
      server.process.kill('SIGTERM')
      const [status] = await exit
      assert.notEqual(status, 0)
      assert.ok(performance.now() - begun < atOnceMilliseconds)
      await text
      assert.equal(await isStored('second signal'), false)
      const { server: next } = await start(t)
      assert.equal((await at(next.baseUrl, admin).get('/v1/orders')).status, 200)
    })
  })
})

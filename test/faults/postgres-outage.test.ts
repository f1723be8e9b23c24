// engine: PostgreSQL
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, afterEach, before, describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { sha256 } from '../../server/ids.ts'
import { type Answer, Client } from '../support/client.ts'
import { createPostgresDatabase } from '../support/database.ts'
import { connectTo, type OwnPostgres, runSql, startPostgres, withoutPostgres } from '../support/postgres.ts'
import { assertProblem } from '../support/problem.ts'
import type { RunningServer } from '../support/process.ts'
import { bearerOf, credentialsOf, newProduction, type Production, sessionOf } from '../support/production.ts'
import { type FaultProxy, startProxy } from '../support/proxy.ts'
import { openStream, until } from '../support/stream.ts'

const resumesWithinMilliseconds = 10_000
/** A refused or cut connection is noticed at once, well within the 3 s that an unanswered one takes. */
const promptMilliseconds = 2_500
/** The service abandons a silent server after 5 s (server/db/postgres/driver.ts), not after twice that. */
const silentMilliseconds = 8_000
/**
 * Authentication (5 s), a new connection (3 s) and a transaction (4 s), each within its limit, and a second
 * for a busy machine. A call that finds its connection open takes 8 s.
 */
const slowMilliseconds = 13_000

describe('when PostgreSQL goes away', { skip: withoutPostgres }, () => {
  let postgres: OwnPostgres
  let databaseUrl: string
  let proxy: FaultProxy
  let production: Production
  let server: RunningServer
  let bearer: Client
  let session: Client
  let orderId: string
  let refreshToken: string
  before(async () => {
    postgres = await startPostgres({ durable: true })
    databaseUrl = (await createPostgresDatabase(postgres.url)).databaseUrl
    proxy = await startProxy(databaseUrl)
    production = await newProduction({ databaseUrl })
    server = await production.serve({ DATABASE_URL: proxy.url })
    bearer = await bearerOf(server.baseUrl, 'admin')
    session = await sessionOf(server.baseUrl, 'admin')
    const created = await bearer.post('/v1/orders', { customer: 'Acme', total: 1 })
    orderId = created.body.id
    const pair = await anyone().post('/v1/auth/token', credentialsOf('operator'))
    refreshToken = pair.body.refreshToken
  })
  afterEach(() => proxy.set('pass'))
  after(async () => {
    await production?.remove()
    await proxy?.close()
    await postgres?.end()
  })

  const anyone = () => new Client(server.baseUrl)
  const order = (customer: string) => ({ customer, total: 12.5 })
  const create = () => noted(bearer.post('/v1/orders', order('during an outage')))

  const acknowledged: string[] = []
  async function noted(creation: Promise<Answer>): Promise<Answer> {
    const answer = await creation
    acknowledged.push(...[answer.body.id].filter((id) => id !== undefined))
    return answer
  }

  /**
   * One call of every kind and its usual status: reads and writes, with both credentials, sign-ins and the
   * probe.
   */
  const kinds: Record<string, [healthy: number, call: () => Promise<Answer>]> = {
    readiness: [200, () => anyone().get('/health/ready')],
    list: [200, () => bearer.get('/v1/orders')],
    get: [200, () => bearer.get(`/v1/orders/${orderId}`)],
    create: [201, create],
    createOnce: [
      201,
      () => noted(bearer.post('/v1/orders', order('once'), { 'idempotency-key': randomUUID() })),
    ],
    approveUnknown: [404, () => bearer.patch(`/v1/orders/${randomUUID()}/approve`)],
    me: [200, () => session.get('/v1/auth/me')],
    createBySession: [201, () => noted(session.post('/v1/orders', order('by session')))],
    antiforgery: [200, () => session.get('/v1/auth/csrf')],
    signIn: [200, () => anyone().post('/v1/auth/session', credentialsOf('operator'))],
    exchange: [200, () => anyone().post('/v1/auth/token', credentialsOf('operator'))],
    refresh: [401, () => anyone().post('/v1/auth/token/refresh', { refreshToken: 'A'.repeat(112) })],
  }
  const healthy = Object.fromEntries(Object.entries(kinds).map(([name, [status]]) => [name, status]))

  async function timed(call: () => Promise<Answer>): Promise<{ answer: Answer; milliseconds: number }> {
    const start = performance.now()
    const answer = await call()
    return { answer, milliseconds: performance.now() - start }
  }

  /** Sends all kinds at once, several times. Every one gets this 503, and the process stays alive. */
  async function assertOutage(boundMilliseconds: number): Promise<void> {
    const calls = Object.values(kinds).flatMap(([, call]) => [call, call, call])
    const [health, ...rest] = await Promise.all([
      timed(() => anyone().get('/health')),
      ...calls.map((call) => timed(call)),
    ])
    assert.equal(health.answer.status, 200)
    assert.ok(health.milliseconds < promptMilliseconds, `/health took ${health.milliseconds} ms`)
    for (const { answer, milliseconds } of rest) {
      assertUnavailable(answer)
      assert.ok(milliseconds < boundMilliseconds, `${answer.body.instance} took ${milliseconds} ms`)
    }
  }

  function assertUnavailable(answer: Answer): void {
    assertProblem(answer, 503, 'database-unavailable')
    assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d?$/)
    assert.deepEqual(answer.setCookies, [])
  }

  /** Every kind is answered as before. Asks each at most once every 50 ms. */
  async function assertResumes(): Promise<void> {
    const start = performance.now()
    const deadline = start + resumesWithinMilliseconds
    const statuses = await Promise.all(
      Object.entries(kinds).map(async ([name, [, call]]) => {
        let { status } = await call()
        while (status === 503 && performance.now() < deadline) {
          await setTimeout(50)
          status = (await call()).status
        }
        return [name, status]
      }),
    )
    assert.deepEqual(Object.fromEntries(statuses), healthy)
    assert.ok(performance.now() < deadline)
    assert.equal(server.process.exitCode, null)
    assert.doesNotMatch(server.output(), /internal-error|unexpected error/)
  }

  const storedOrders = (customer: string) =>
    runSql<{ id: string }>(databaseUrl, 'select id from orders where customer = $1', [customer])

  /**
   * Every answer is 201 or 503, and every order answered 201 is there once. The customers begin with the run.
   */
  async function assertAllThereOnce(run: string, answers: Answer[]): Promise<void> {
    const made = answers.filter(({ status }) => status === 201).map(({ body }) => body.id)
    const refused = answers.filter(({ status }) => status === 503)
    assert.equal(made.length + refused.length, answers.length)
    const stored = await runSql<{ id: string; customer: string }>(
      databaseUrl,
      'select id, customer from orders where customer like $1',
      [`${run}%`],
    )
    assert.equal(new Set(stored.map(({ customer }) => customer)).size, stored.length)
    const ids = new Set(stored.map(({ id }) => id))
    assert.ok(made.every((id) => ids.has(id)))
  }

  const terminateAll = () =>
    runSql(
      postgres.url,
      "select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name = 'countersign'",
    )

  it('serves normally before', () => assertResumes())

  for (const [what, begin, end] of [
    ['stopped and started', () => postgres.tell('stop'), () => postgres.tell('start')],
    ['killed with SIGKILL and started', () => postgres.tell('kill9'), () => postgres.tell('start')],
    ['refusing connections', () => proxy.set('refuse'), () => proxy.set('pass')],
    ['cutting every connection', () => proxy.set('cut'), () => proxy.set('pass')],
  ] as const) {
    it(`${what}: 503 at once, then service as before, and the live list continues`, async () => {
      const stream = await openStream(bearer)
      await begin()
      await assertOutage(promptMilliseconds)
      await end()
      await assertResumes()
      const { body } = await create()
      await until(() => stream.told.some(({ id }) => id === body.id))
      stream.close()
    })
  }

  it('restarted under load: every answer is 201 or 503, and each order answered 201 is there once', async () => {
    const run = randomUUID()
    const answers: Answer[] = []
    let isOver = false
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      for (let turn = 0; !isOver; turn += 1) {
        const answer = await bearer.post('/v1/orders', order(`${run} ${writer} ${turn}`))
        answers.push(answer)
        if (answer.status === 503) await setTimeout(20)
      }
    })
    await setTimeout(200)
    await postgres.tell('restart')
    await setTimeout(500)
    isOver = true
    await Promise.all(writers)
    await assertAllThereOnce(run, answers)
    await assertResumes()
  })

  it('all connections ended by an administrator: the next calls are answered as usual', async () => {
    await assertResumes()
    await terminateAll()
    await setTimeout(100)
    const answers = await Promise.all(Object.values(kinds).map(([, call]) => call()))
    const statuses = answers.map(({ status }) => status)
    assert.deepEqual(statuses, Object.values(healthy))
  })

  it('connections ended again and again under load: every answer is 201 or 503, and each order answered 201 is there once', async () => {
    const run = randomUUID()
    const customers = Array.from({ length: 120 }, (_, index) => `${run} ${index}`)
    const [answers] = await Promise.all([
      Promise.all(customers.map((customer) => bearer.post('/v1/orders', order(customer)))),
      setTimeout(20).then(terminateAll),
      setTimeout(60).then(terminateAll),
      setTimeout(100).then(terminateAll),
    ])
    await assertAllThereOnce(run, answers)
    await assertResumes()
  })

  it('hanging: 503 after 5 s, then service as before', async () => {
    await assertResumes()
    await proxy.set('hang')
    await assertOutage(silentMilliseconds)
    await proxy.set('pass')
    await assertResumes()
  })

  it('hanging while nobody calls: afterwards, a single caller is served again within 10 s', async () => {
    await Promise.all(Array.from({ length: 30 }, create))
    await proxy.set('hang')
    await proxy.set('pass')
    const deadline = performance.now() + resumesWithinMilliseconds
    let status = 0
    while (status !== 201 && performance.now() < deadline) {
      status = (await bearer.post('/v1/orders', order('alone'))).status
    }
    assert.equal(status, 201)
    assert.ok(performance.now() < deadline)
    await assertResumes()
  })

  it('slow by 2 s: not ready; single reads work, transactions answer 503, all within 13 s', async () => {
    await assertResumes()
    await proxy.set({ delayMilliseconds: 2_000 })
    const calls = Object.entries(kinds).map(async ([name, [, call]]) => ({ name, ...(await timed(call)) }))
    const results = await Promise.all(calls)
    const transactions = ['create', 'createOnce', 'approveUnknown', 'createBySession', 'signIn', 'exchange']
    const refused = ['readiness', ...transactions]
    const expected = Object.fromEntries(refused.map((name) => [name, 503]))
    assert.deepEqual(Object.fromEntries(results.map(({ name, answer }) => [name, answer.status])), {
      ...healthy,
      ...expected,
    })
    for (const { name, milliseconds } of results) {
      assert.ok(milliseconds < slowMilliseconds, `${name} took ${milliseconds} ms`)
    }
    for (const { answer } of results.filter(({ name }) => refused.includes(name))) assertUnavailable(answer)
    await proxy.set('pass')
    await assertResumes()
  })

  // Slow enough that a list uses up its time limit, although no statement keeps the server busy long.
  it('slow by 0.4 s: a list is answered or refused with 503, and its filter is not blamed', async () => {
    await assertResumes()
    await proxy.set({ delayMilliseconds: 400 })
    const { answer, milliseconds } = await timed(() => bearer.get('/v1/orders?filter=acme'))
    assert.ok(answer.status === 200 || answer.body.code === 'database-unavailable', answer.body.code)
    assert.ok(milliseconds < slowMilliseconds, `${milliseconds} ms`)
  })

  it('cut in the middle of a query: 503, and nothing is left behind', async () => {
    const { body } = await bearer.post('/v1/orders', order('locked'))
    const holder = await connectTo(databaseUrl)
    await holder.query('begin')
    await holder.query('select 1 from orders where id = $1 for update', [body.id])
    const approval = bearer.patch(`/v1/orders/${body.id}/approve`)
    await setTimeout(200)
    await proxy.set('cut')
    assertProblem(await approval, 503, 'database-unavailable')
    await holder.query('commit')
    await holder.end()
    await proxy.set('pass')
    await assertResumes()
    assert.equal((await bearer.get(`/v1/orders/${body.id}`)).body.status, 0)
    assert.equal((await bearer.patch(`/v1/orders/${body.id}/approve`)).status, 204)
  })

  it('cut before the commit was sent: the write runs again on a new connection and is there once', async () => {
    const customer = `before ${randomUUID()}`
    await freshConnections()
    proxy.cutBefore('insert into "orders"')
    assert.equal((await bearer.post('/v1/orders', order(customer))).status, 201)
    assert.equal((await storedOrders(customer)).length, 1)
  })

  for (const [what, cut, made, replayed] of [
    [
      'instead of the commit: 503, not there; the same key makes it once',
      (customer: string) => proxy.cutBefore('commit\0', customer),
      0,
      null,
    ],
    [
      'between the commit and its answer: 503; the same key replays what was made, there once',
      (customer: string) => proxy.cutAfter('commit\0', customer),
      1,
      'true',
    ],
  ] as const) {
    it(`cut ${what}`, async () => {
      const customer = `cut ${randomUUID()}`
      const key = { 'idempotency-key': randomUUID() }
      cut(customer)
      assertProblem(await bearer.post('/v1/orders', order(customer), key), 503, 'database-unavailable')
      assert.equal((await storedOrders(customer)).length, made)
      const again = await bearer.post('/v1/orders', order(customer), key)
      assert.deepEqual([again.status, again.headers.get('idempotency-replayed')], [201, replayed])
      assert.deepEqual(await storedOrders(customer), [{ id: again.body.id }])
    })
  }

  it('a refresh cut between the commit and its answer: the token is used, and the family ends', async () => {
    proxy.cutAfter('commit\0', sha256(refreshToken))
    const first = await anyone().post('/v1/auth/token/refresh', { refreshToken })
    assertProblem(first, 503, 'database-unavailable')
    const second = await anyone().post('/v1/auth/token/refresh', { refreshToken })
    assertProblem(second, 401, 'invalid-refresh-token')
  })

  it('tables locked by another session: 503 to every caller, and neither request nor database is blamed', async () => {
    const holder = await connectTo(databaseUrl)
    await holder.query('begin')
    await holder.query('lock table sessions, orders in access exclusive mode')
    const answers = await Promise.all([
      timed(() => session.get('/v1/auth/me')),
      timed(() => bearer.get('/v1/orders')),
      timed(() => bearer.patch(`/v1/orders/${orderId}/approve`)),
    ])
    // It shares its connection with the first, and would wait for both limits.
    answers.push(await timed(() => bearer.get(`/v1/orders/${orderId}`)))
    await holder.query('rollback')
    await holder.end()
    for (const { answer, milliseconds } of answers) {
      assertProblem(answer, 503, 'timed-out')
      assert.ok(milliseconds < silentMilliseconds)
    }
  })

  it('database renamed: 503 at once, then service as before', async () => {
    await assertResumes()
    const name = new URL(databaseUrl).pathname.slice(1)
    await runSql(postgres.url, `alter database ${name} connection limit 0`)
    // The rename waits until all connections have ended, and the service reconnects whenever it is
    // disconnected.
    let isRenamed = false
    const renaming = runSql(postgres.url, `alter database ${name} rename to elsewhere`).finally(() => {
      isRenamed = true
    })
    while (!isRenamed) {
      await terminateAll()
      await setTimeout(50)
    }
    await renaming
    await assertOutage(promptMilliseconds)
    await runSql(postgres.url, `alter database elsewhere rename to ${name}`)
    await runSql(postgres.url, `alter database ${name} connection limit -1`)
    await assertResumes()
  })

  it('loses nothing it acknowledged through all this, and keeps nothing it refused', async () => {
    const stored = await runSql<{ id: string }>(
      databaseUrl,
      "select id from orders where customer in ('during an outage', 'once', 'by session') order by id",
    )
    assert.ok(acknowledged.length > 0)
    assert.deepEqual(
      stored.map(({ id }) => id),
      acknowledged.toSorted(),
    )
  })

  it('shuts down during an outage within the grace period, with exit status 0', async () => {
    await proxy.set('hang')
    const start = performance.now()
    assert.equal(await server.stop(), 0)
    assert.ok(performance.now() - start < 10_000)
  })

  async function freshConnections(): Promise<void> {
    await proxy.set('cut')
    await proxy.set('pass')
    await assertResumes()
    await proxy.set('cut')
    await proxy.set('pass')
    await setTimeout(100)
  }
})

import assert from 'node:assert/strict'
import { after, afterEach, before, describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { type Answer, Client } from '../support/client.ts'
import { createTestDatabase, type TestDatabase, withRawDatabase } from '../support/database.ts'
import { assertSound } from '../support/history.ts'
import { runSql, withoutPostgres } from '../support/postgres.ts'
import { assertProblem } from '../support/problem.ts'
import { type RunningServer, startServer } from '../support/process.ts'
import {
  bearerOf,
  credentialsOf,
  type Production,
  prepareProduction,
  sessionOf,
} from '../support/production.ts'

const writers = 8
const recoversWithinMilliseconds = 10_000
const tables = ['orders', 'sessions', 'session_ids', 'refresh_families']

/** https://www.postgresql.org/docs/18/errcodes-appendix.html: what a server answers whose disk takes no more. */
const refusals = {
  'its disk is full': '53100',
  'reading and writing fail': '58030',
  'its memory is exhausted': '53200',
} as const

describe('when PostgreSQL writes nothing more', { skip: withoutPostgres }, () => {
  let database: TestDatabase
  let production: Production
  let server: RunningServer
  let bearer: Client
  let session: Client
  let orderId: string
  const acknowledged: string[] = []
  before(async () => {
    database = await createTestDatabase()
    production = await prepareProduction(database.databaseUrl)
    server = await startServer([], production.env)
    bearer = await bearerOf(server.baseUrl, 'admin')
    session = await sessionOf(server.baseUrl, 'operator')
    orderId = (await create()).body.id
  })
  after(async () => {
    await server?.stop()
    await production?.remove()
    await database?.drop()
  })

  const query = (statement: string) => runSql(database.databaseUrl, statement)
  const name = () => new URL(database.databaseUrl).pathname.slice(1)
  const anyone = () => new Client(server.baseUrl)

  let mend: () => Promise<unknown> = async () => undefined
  afterEach(async () => {
    await mend()
    mend = async () => undefined
  })

  async function create(): Promise<Answer> {
    const answer = await bearer.post('/v1/orders', { customer: 'Acme', total: 1 })
    if (answer.status === 201) acknowledged.push(answer.body.id)
    return answer
  }

  async function assertReadsOnly(): Promise<void> {
    for (const answer of await Promise.all([
      create(),
      bearer.patch(`/v1/orders/${orderId}/approve`),
      session.post('/v1/orders', { customer: 'Acme', total: 1 }),
      session.post('/v1/auth/session/refresh'),
      anyone().post('/v1/auth/session', credentialsOf('operator')),
      anyone().post('/v1/auth/token', credentialsOf('operator')),
    ])) {
      assertProblem(answer, 503, 'database-unavailable')
      assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d?$/)
      assert.deepEqual(answer.setCookies, [])
    }
    const reads = await Promise.all([
      bearer.get(`/v1/orders/${orderId}`),
      bearer.get('/v1/orders?filter=acme'),
      bearer.get('/v1/orders/summary?days=1'),
      session.get('/v1/auth/me'),
      anyone().get('/health'),
    ])
    assert.deepEqual(
      reads.map(({ status }) => status),
      [200, 200, 200, 200, 200],
    )
  }

  /** With writers from before the fault to after it: each of their answers is 201 or 503. */
  async function assertOutlived(fault: () => Promise<void>): Promise<void> {
    let isOver = false
    const statuses: number[] = []
    const work = Array.from({ length: writers }, async () => {
      while (!isOver) statuses.push((await create()).status)
    })
    await wait(100)
    await fault()
      .then(assertReadsOnly)
      .finally(() => {
        isOver = true
      })
    await Promise.all(work)
    assert.deepEqual(new Set(statuses), new Set([201, 503]))
    await mend()
    mend = async () => undefined
    const deadline = performance.now() + recoversWithinMilliseconds
    while ((await create()).status !== 201) {
      assert.ok(performance.now() < deadline, 'no write within 10 s')
      await wait(20)
    }
    assert.equal((await anyone().get('/health/ready')).status, 200)
    assert.doesNotMatch(server.output(), /internal-error|unexpected error/)
    await withRawDatabase(database.databaseUrl, async (db) => {
      await assertSound(db)
      const rows = await db.selectFrom('orders').select('id').orderBy('id').execute()
      assert.deepEqual(
        rows.map(({ id }) => id),
        acknowledged.toSorted(),
      )
    })
  }

  for (const [what, code] of Object.entries(refusals)) {
    it(`because ${what}: 503 while it lasts, reads go on, all is well after`, () =>
      assertOutlived(async () => {
        mend = () => query('drop function if exists fault cascade')
        await query(
          `create function fault() returns trigger language plpgsql as
             $$ begin raise exception 'injected' using errcode = '${code}'; end $$`,
        )
        for (const table of tables) {
          await query(
            `create trigger fault before insert or update on ${table} for each row execute function fault()`,
          )
        }
      }))
  }

  it('because it has become a read-only server: 503 while it lasts, reads go on, all is well after', () =>
    assertOutlived(async () => {
      const terminate = `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = '${name()}' and pid <> pg_backend_pid()`
      mend = async () => {
        await query(`begin read write; alter database ${name()} reset default_transaction_read_only; commit`)
        await query(terminate)
      }
      await query(`alter database ${name()} set default_transaction_read_only = on`)
      await query(terminate)
    }))
})

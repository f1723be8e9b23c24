// engine: both
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { sql } from '#kysely'
import { verifyLog } from '../../proof/log.ts'
import { eventColumns, type Migration } from '../../server/db/tables.ts'
import { readVersion } from '../../server/version.ts'
import type { Answer, Client } from '../support/client.ts'
import { testEngine, withRawDatabase } from '../support/database.ts'
import { isLong } from '../support/faults.ts'
import { migrateTo } from '../support/later-release.ts'
import { inPortions } from '../support/log.ts'
import { mailSettings, startMailServer } from '../support/mail.ts'
import { assertProblem } from '../support/problem.ts'
import type { RunningServer } from '../support/process.ts'
import { at, bearerOf, sessionOf } from '../support/production.ts'
import { databaseOf, productionOf } from '../support/releases.ts'
import { setUp } from '../support/service.ts'
import { runCommand } from '../support/story.ts'
import { openStream } from '../support/stream.ts'
import { viewOf } from '../support/views.ts'
import { newWebhook, startReceiver, toReceivers } from '../support/webhooks.ts'

const callers = 4

/** Waits as long as a test may: two instances and their callers may get little of a machine. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await wait(20)
}

const isPostgres = testEngine === 'postgres'

/**
 * Warm instances, two on PostgreSQL, on a database of the first release, with a webhook, a mail server and a
 * reader of the live list.
 */
async function startBoth(scope: AsyncDisposableStack) {
  const { databaseUrl, drop } = await databaseOf('1.0.0')
  const production = await productionOf(databaseUrl)
  scope.defer(() => production.remove().then(drop))
  const [mail, receiver] = [
    await startMailServer(),
    await startReceiver({ after: (end) => scope.defer(async () => void (await end())) }),
  ]
  scope.defer(() => mail.close())
  const smtp = { ...mailSettings, SMTP_URL: `smtp://127.0.0.1:${mail.server.port}` }
  const serve = () => production.serve({ ...toReceivers, ...smtp })
  const servers = await Promise.all(isPostgres ? [serve(), serve()] : [serve()])
  const urls = servers.map(({ baseUrl }) => baseUrl)
  const first = urls[0] as string
  const admin = await bearerOf(first, 'admin')
  const browser = await sessionOf(first, 'admin')
  const webhook = await newWebhook(browser, { url: receiver.url })
  const stream = await openStream(admin)
  scope.defer(() => stream.close())
  return { ...production, serve, servers, urls, admin, browser, webhook, stream, mail, receiver }
}

type Both = Awaited<ReturnType<typeof startBoth>>

/** The daily work of people and programs, at one instance. Throws at any answer but a success. */
async function workOnce(admin: Client, browser: Client, webhook: string): Promise<string> {
  const succeeded = async (answer: Promise<Answer>) => {
    const { status, text, ...others } = await answer
    assert.ok(status >= 200 && status < 300, `${status} ${text}`)
    return { status, text, ...others }
  }
  const key = { 'idempotency-key': randomUUID() }
  const order = { customer: `Acme ${randomUUID()}`, total: 1.5 }
  const { body } = await succeeded(admin.post('/v1/orders', order, key))
  const path = `/v1/orders/${body.id}`
  await succeeded(admin.post(`${path}/notes`, { text: 'A note' }))
  await succeeded(admin.patch(`${path}/approve`))
  const view = `/v1/views/${randomUUID()}`
  await succeeded(admin.send('PUT', view, viewOf()))
  await succeeded(admin.send('DELETE', view))
  for (const read of [
    ...['', '/history', '/approvals'].map((part) => path + part),
    '/v1/orders',
    '/v1/orders?filter=status%3DPending&orderBy=total',
    `/v1/orders?filter=customer:${order.customer.slice(-6)}`,
    '/v1/orders/summary',
    ...['/v1/users', '/v1/users/1', '/v1/clients', '/v1/roles', '/v1/roles/Admin', '/v1/views'],
    ...['/v1/approval-policy', '/v1/log', '/v1/log?kind=created', '/v1/log/checkpoint', '/v1/webhooks'],
    ...[webhook, `${webhook}/deliveries`],
  ]) {
    await succeeded(admin.get(read))
  }
  // It may ask for another try, while the other instance seals.
  await until(async () => (await admin.get(`${path}/receipt`)).body.code !== 'receipt-not-ready')
  await succeeded(admin.get(`${path}/receipt`))
  for (const part of ['', '/account', '/permissions', '/mail']) {
    await succeeded(browser.get(`/v1/auth/me${part}`))
  }
  for (const read of ['sessions', 'passkeys', 'absence']) await succeeded(browser.get(`/v1/auth/${read}`))
  await succeeded(
    browser.send('PUT', '/v1/auth/me/mail', { waiting: 'at-once', hour: 8, decided: true, noted: true }),
  )
  return body.id
}

/** Callers that work until they are stopped, each at both instances in turn. */
class Work {
  readonly orders: string[] = []
  readonly failures: string[] = []
  readonly #done: Promise<unknown>
  #isOver = false

  constructor({ urls, admin, browser, webhook }: Both) {
    const work = async (caller: number) => {
      for (let turn = caller; !this.#isOver; turn += 1) {
        const url = urls[turn % urls.length] as string
        this.orders.push(await workOnce(at(url, admin), at(url, browser), webhook.path))
      }
    }
    const failed = (error: Error) => void this.failures.push(error.message)
    this.#done = Promise.all(Array.from({ length: callers }, (_, caller) => work(caller).catch(failed)))
  }

  /** Resolves once this many more orders went through everything, or one request failed. */
  async goesOn(count: number): Promise<void> {
    const enough = this.orders.length + count
    await until(() => this.orders.length >= enough || this.failures.length > 0)
  }

  async end(): Promise<void> {
    this.#isOver = true
    await this.#done
    assert.deepEqual(this.failures, [])
  }
}

const rowsOf = (databaseUrl: string, query: string) =>
  withRawDatabase(databaseUrl, async (trx) => (await sql.raw<{ name: string }>(query).execute(trx)).rows)

async function tablesOf(databaseUrl: string): Promise<string[]> {
  const tables = isPostgres
    ? 'select tablename as name from pg_tables where schemaname = current_schema() order by 1'
    : "select name from sqlite_schema where type = 'table' order by 1"
  const names = (await rowsOf(databaseUrl, tables)).map(({ name }) => name)
  return names.filter((name) => !/^(?:schema_migrations|sqlite_|orders_search)/.test(name))
}

/** A later release gives each table columns, and orders an index. */
function stepsOf(tables: string[], before: () => Promise<void>): Record<string, Migration> {
  const oldestRelease = readVersion()
  const steps = tables.map((table): [string, Migration] => [
    `1000-${table}`,
    {
      oldestRelease,
      locks: [table],
      async step(trx) {
        await before()
        for (const column of ['later integer', "later_too text not null default 'new'"]) {
          await sql.raw(`alter table ${table} add column ${column}`).execute(trx)
        }
      },
    },
  ])
  return {
    ...Object.fromEntries(steps),
    '2000-index': { oldestRelease, index: 'orders_later', on: 'orders (later)' },
  }
}

/** All that happens in the background goes on, too. */
async function assertGoesOn({ databaseUrl, admin, urls, stream, mail, receiver }: Both): Promise<void> {
  mail.received()
  const { body } = await admin.post('/v1/orders', { customer: 'Acme', total: 1 })
  const link = await at(urls.at(-1) as string, admin).post('/v1/auth/links', {
    email: 'operator@example.com',
  })
  assert.equal(link.status, 204)
  await until(() => stream.told.some(({ id }) => id === body.id))
  await until(() => receiver.received.some(({ text }) => text.includes(body.id)))
  await until(() => mail.received().some(({ to }) => to.includes('operator@example.com')))
  await until(async () => (await rowsOf(databaseUrl, 'select id from unsealed_events')).length === 0)
}

describe('instances whose schema becomes newer', () => {
  const scope = new AsyncDisposableStack()
  after(() => scope.disposeAsync())
  const both = setUp(() => startBoth(scope))

  it('serve orders, events and permissions that only a newer version knows', async () => {
    const { admin, urls, databaseUrl, stream, receiver } = both
    const { id } = (await admin.post('/v1/orders', { customer: 'Acme', total: 1 })).body
    const path = `/v1/orders/${id}`
    await stream.hearsOf(id, 1)
    await withRawDatabase(databaseUrl, async (trx) => {
      await sql`update orders set status = 17, version = 2 where id = ${id}`.execute(trx)
      await sql`insert into role_permissions (role, permission) values ('Admin', 'Orders.Freeze')`.execute(
        trx,
      )
      const columns = Object.keys(eventColumns).filter(
        (name) => !/^(?:id|kind|subject_kind|data)$/.test(name),
      )
      for (const subject of ['order', 'parcel']) {
        await sql`insert into unsealed_events (id, kind, subject_kind, data, ${sql.raw(String(columns))})
          select ${randomUUID()}, 'frozen', ${subject}, '{"depth":{"of":2},"total":"1"}', ${sql.raw(String(columns))}
          from events where subject_id = ${id} limit 1`.execute(trx)
      }
    })
    await until(async () => (await admin.get('/v1/log?kind=frozen')).body.totalCount === 2)
    assert.deepEqual(
      (await stream.hearsOf(id, 2)).map(({ kind, status }) => [kind, status]),
      [
        ['created', 0],
        ['frozen', 17],
      ],
    )
    await until(() => receiver.received.some(({ type }) => type === 'order.frozen'))
    for (const url of urls) {
      const caller = at(url, admin)
      assert.equal((await caller.get(path)).body.status, 17)
      assert.deepEqual(
        (await caller.get(`${path}/history`)).body.items.map(({ kind }: { kind: string }) => kind),
        ['created', 'frozen'],
      )
      for (const read of [
        `${path}/approvals`,
        '/v1/orders',
        '/v1/orders?orderBy=status',
        '/v1/orders/summary',
        '/v1/log',
        '/v1/roles',
        '/v1/permissions',
      ]) {
        assert.equal((await caller.get(read)).status, 200, read)
      }
      for (const accept of ['text/csv', 'application/jsonl']) {
        for (const list of ['/v1/orders', '/v1/log'])
          assert.equal((await caller.get(list, { accept })).status, 200, list)
      }
      const refused = await caller.patch(`${path}/approve`)
      assertProblem(refused, 409, 'order-not-pending')
      assert.equal(refused.body.currentStatus, 17)
    }
    await assertGoesOn(both)
    const { fault } = await verifyLog(
      inPortions(Buffer.from(await runCommand(both, ['log', 'export'])), 65_536),
    )
    assert.equal(fault, null)
  })

  it('fail no request when every table gets columns, and seal, send and mail as before', async (t) => {
    const { databaseUrl, servers, urls } = both
    const work = new Work(both)
    await work.goesOn(3 * callers)
    const tables = await tablesOf(databaseUrl)
    assert.ok(tables.length > 20)
    // Each change stays, so all later work meets it.
    const steps = stepsOf(tables, async () => void (isLong && (await work.goesOn(1))))
    assert.equal((await migrateTo(databaseUrl, steps)).length, tables.length + 1)
    await work.goesOn(2 * callers)
    // On PostgreSQL the others serve while one is gone, and without anybody there is nothing to be failed.
    if (!isPostgres) await work.end()
    const gone = servers.at(-1) as RunningServer
    urls.splice(urls.indexOf(gone.baseUrl), 1)
    await work.goesOn(isPostgres ? 2 * callers : 0)
    await gone.stop('SIGKILL')
    urls.push((await both.serve()).baseUrl)
    both.admin = at(urls[0] as string, both.admin)
    both.stream = await openStream(both.admin)
    t.after(() => both.stream.close())
    const later = isPostgres ? work : new Work(both)
    await later.goesOn(2 * callers)
    await later.end()
    await assertGoesOn(both)
    const orders = [...new Set([...work.orders, ...later.orders])]
    await until(() => orders.every((id) => both.receiver.received.some(({ text }) => text.includes(id))))
    for (const id of orders) assert.equal((await both.admin.get(`/v1/orders/${id}`)).body.status, 1)
    t.diagnostic(`${orders.length} orders went through everything`)
  })
})

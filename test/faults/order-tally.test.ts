// engine: PostgreSQL

import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { migrateDatabase } from '../../server/db/open.ts'
import type { AppDatabase } from '../../server/db/port.ts'
import { newOrderedId } from '../../server/ids.ts'
import { openAppDatabase } from '../../server/operations.ts'
import { findOverview } from '../../server/orders/overview/overview.ts'
import { newActor } from '../support/accounts.ts'
import { createTestDatabase, poolTo, withRawDatabase } from '../support/database.ts'
import { assertSound } from '../support/history.ts'
import { stamp } from '../support/orders.ts'
import { connectTo, runSql, withoutPostgres } from '../support/postgres.ts'
import { bearerOf, newProduction } from '../support/production.ts'
import { keptTally } from '../support/tally.ts'
import { mergeTally } from '../support/upkeep.ts'

const day = 86_400_000
/** The span of the tally that has all orders. */
const always = Number.MAX_SAFE_INTEGER
const secret = 'h0rse-battery-staple'

/** Bypasses the service: inserts an order with the columns that the tally uses. Returns its id. */
const insertOne = `insert into orders (id, customer, customer_folded, total_e4, status, created_at, version,
    approvals_needed, self_approval, service_approval, approvals_given)
  values (gen_random_uuid(), 'a', 'a', $1, 0, $2, 1, 1, 1, 1, 0) returning id`

const assertExact = (databaseUrl: string) => withRawDatabase(databaseUrl, assertSound)

/** Two instances on a database that no other test uses. */
async function tallied(t: TestContext) {
  const { databaseUrl, remove } = await newProduction()
  const instances: AppDatabase[] = []
  const pool = poolTo(databaseUrl, { max: 10 })
  t.after(async () => {
    await Promise.all([pool.end(), ...instances.map((instance) => instance.close())])
    await remove()
  })
  for (let count = 0; count < 2; count += 1) instances.push(await openAppDatabase({ databaseUrl }))
  const instance = (index = 0): AppDatabase => instances[index % 2] as AppDatabase
  const exact = () => withRawDatabase(databaseUrl, assertSound)
  const tally = () => withRawDatabase(databaseUrl, keptTally)
  const sql = async (statement: string, values: unknown[] = []) => (await pool.query(statement, values)).rows
  const merge = (limit = 100, index = 0) => mergeTally(instance(index), limit)

  const rejecter = await newActor(instance())

  async function create(index: number): Promise<string> {
    const id = newOrderedId((20_000 + (index % 3)) * day)
    const order = { id, customer: 'A', total: 1 + index * 7_777 }
    await instance(index).write('createOrder', { order, stamp: stamp(), idempotency: null })
    return id
  }

  async function reject(index: number, id: string): Promise<void> {
    const actor = { ...rejecter, eventId: randomUUID() }
    const change = { id, acceptedVersions: null, actor, text: null, signature: null, idempotency: null }
    await instance(index).write('rejectOrder', change)
  }

  async function mergeAll(): Promise<number> {
    let moved = 0
    for (let last = 1; last > 0; moved += last) last = await merge()
    return moved
  }

  /** A connection in a transaction that never waits for a lock. */
  async function begun(): Promise<pg.Client> {
    const client = await connectTo(databaseUrl)
    t.after(() => client.end())
    await client.query(`begin; set local lock_timeout = '50ms'`)
    return client
  }

  return { databaseUrl, instance, exact, tally, sql, merge, create, reject, mergeAll, begun }
}

describe('the tally of orders on PostgreSQL', { skip: withoutPostgres }, () => {
  it('is exact in every snapshot while orders are created, rejected and deleted, and changes are merged', async (t) => {
    const { exact, sql, merge, create, reject, mergeAll } = await tallied(t)
    let isOver = false
    const looksAgain = async <T>(look: (round: number) => Promise<T>): Promise<T[]> => {
      const seen: T[] = []
      while (!isOver) seen.push(await look(seen.length))
      return seen
    }
    const merging = [0, 1, 2].map((merger) => looksAgain((round) => merge(1 + (round % 9), merger)))
    const reading = looksAgain(() =>
      sql(
        `select (select count(*) from orders) as orders, (select sum(total_e4) from orders where status = 2) as rejected,
          (select coalesce(sum(orders), 0) from order_tally where span = ${always})
            + (select coalesce(sum(orders), 0) from order_tally_changes) as kept_orders,
          (select sum(total_units * 10000 + total_parts_e4) from (
            select status, total_units, total_parts_e4 from order_tally where span = ${always} union all
            select status, total_units, total_parts_e4 from order_tally_changes) as tally where status = 2) as kept`,
      ),
    )
    const work = async (index: number) => {
      const id = await create(index)
      if (index % 2 === 0) await reject(index, id)
      if (index % 5 === 0) await sql('delete from orders where id = $1', [id])
    }
    const indexes = Array.from({ length: 150 }).keys()
    const workOff = async () => {
      for (const index of indexes) await work(index)
    }
    await Promise.all(Array.from({ length: 10 }, workOff))
    isOver = true
    for (const [snapshot] of await reading) {
      assert.equal(snapshot?.kept_orders, snapshot?.orders)
      assert.equal(Number(snapshot?.kept), Number(snapshot?.rejected))
    }
    const moved = (await Promise.all(merging)).flat()
    assert.ok((await reading).length > 5 && moved.some((rows) => rows > 0))
    await exact()
    await mergeAll()
    assert.deepEqual(await sql('select 1 from order_tally_changes'), [])
    await exact()
  })

  it('agrees with the overview, whether changes are merged or not', async (t) => {
    const { instance, sql, create, reject, mergeAll } = await tallied(t)
    const ids = await Promise.all(Array.from({ length: 10 }, (_, index) => create(index)))
    await reject(0, ids[0] as string)
    const overview = () =>
      findOverview(instance().read, { days: 9, timeZone: 'UTC', nowMilliseconds: 20_005 * day })
    const before = await overview()
    assert.ok((await mergeAll()) > 0)
    assert.deepEqual(await overview(), before)
    const [row] = await sql('select count(*)::integer as count from orders')
    assert.equal(before.pending.count + before.rejected.count, row?.count)
    assert.ok(before.rejected.count > 0)
  })

  it('makes no create wait for another on the same day or for a merge, and no merge wait for a create', async (t) => {
    const { exact, merge, create, mergeAll, begun } = await tallied(t)
    const [first, second, folder] = [await begun(), await begun(), await begun()]
    await first.query(insertOne, [1, 20_000 * day])
    await second.query(insertOne, [2, 20_000 * day])
    await second.query('commit')
    assert.ok((await mergeAll()) > 0)
    await create(0)
    const { rowCount } = await folder.query('select 1 from order_tally_changes for update')
    assert.ok(rowCount === 1)
    await create(0)
    assert.equal(await merge(100), 1)
    await folder.query('select 1 from order_tally for update')
    await create(0)
    await exact()
    await first.query('commit')
    await folder.query('commit')
    await exact()
  })

  it('can be merged by many at once: every change counts once, and nothing deadlocks', async (t) => {
    const { exact, sql, merge, mergeAll } = await tallied(t)
    for (let index = 0; index < 60; index += 1) await sql(insertOne, [5, (index % 7) * day])
    const merges = Array.from({ length: 16 }, (_, index) => merge(7, index))
    const moved = (await Promise.all(merges)).reduce((sum, rows) => sum + rows)
    assert.equal(moved + (await mergeAll()), 60)
    await exact()
  })

  it('keeps the changes that a failed merge would have moved', async (t) => {
    const { tally, sql, merge, create, mergeAll } = await tallied(t)
    await create(1)
    const before = await tally()
    await sql('alter table order_tally add constraint fault check (orders < 0) not valid')
    await assert.rejects(merge(10))
    await sql('alter table order_tally drop constraint fault')
    assert.deepEqual(await tally(), before)
    assert.ok((await mergeAll()) > 0)
    assert.deepEqual(await tally(), before)
  })

  it('counts orders that COPY adds, as one change for each quarter of an hour and status', async (t) => {
    const { databaseUrl, exact, mergeAll } = await tallied(t)
    const columns = `id, customer, customer_folded, total_e4, status, created_at, version, approvals_needed,
      self_approval, service_approval, approvals_given`
    const line = (index: number) =>
      `${randomUUID()}\tCopied\tcopied\t${index}\t${index % 2}\t${300 * day}\t1\t1\t1\t1\t${index % 2}\n`
    const lines = Array.from({ length: 1_000 }, (_, index) => line(index + 1))
    await copyIn(databaseUrl, `copy orders (${columns}) from stdin`, lines.join(''))
    await exact()
    assert.equal(await mergeAll(), 2)
    await exact()
  })

  it('is empty after a truncate', async (t) => {
    const { exact, tally, sql, create } = await tallied(t)
    await create(3)
    await sql('truncate orders')
    assert.deepEqual(await tally(), {})
    await create(4)
    await exact()
  })

  it('is merged by the service itself within seconds', async (t) => {
    const own = await newProduction()
    t.after(() => own.remove())
    const operator = await bearerOf((await own.serve()).baseUrl, 'operator')
    await operator.post('/v1/orders', { customer: 'A', total: 3 })
    const merged = () => runSql(own.databaseUrl, 'select 1 from order_tally where orders = 1')
    for (let tries = 0; (await merged()).length === 0; tries += 1) {
      assert.ok(tries < 200, 'nothing was merged')
      await delay(50)
    }
    await assertExact(own.databaseUrl)
    const { body } = await operator.get('/v1/orders/summary?days=1')
    assert.deepEqual(body.pending, { count: 1, total: 3 })
  })
})

describe('the tally of orders on PostgreSQL, for any role that writes orders', {
  skip: withoutPostgres,
}, () => {
  /**
   * A database with separate roles for its owner and its service (docs/operations.md), in a schema of that
   * name.
   */
  async function separateRoles(t: TestContext, schema: string) {
    const { databaseUrl, drop } = await createTestDatabase()
    const [owner, app, loader] = ['owner', 'app', 'loader'].map(
      (kind) => `scram_${kind}_${randomBytes(5).toString('hex')}`,
    )
    const url = (role: string | undefined, searchPath: string) => {
      const address = new URL(databaseUrl)
      address.username = role ?? ''
      address.password = secret
      address.searchParams.set('options', `-c search_path=${searchPath}`)
      return address.href
    }
    for (const role of [owner, app, loader]) {
      await runSql(databaseUrl, `create role ${role} login password '${secret}'`)
    }
    t.after(async () => {
      await drop()
      for (const role of [owner, app, loader])
        await runSql(process.env.TEST_DATABASE_URL ?? '', `drop role ${role}`)
    })
    const name = new URL(databaseUrl).pathname.slice(1)
    await runSql(databaseUrl, `alter database ${name} owner to ${owner}`)
    await runSql(databaseUrl, `revoke connect, temporary on database ${name} from public`)
    await runSql(databaseUrl, `grant connect on database ${name} to ${app}, ${loader}`)
    const asOwner = url(owner, `"${schema}"`)
    await runSql(asOwner, `create schema "${schema}"`)
    await runSql(asOwner, `grant usage on schema "${schema}" to ${app}, ${loader}`)
    const tables = 'grant select, insert, update, delete on tables to'
    await runSql(asOwner, `alter default privileges in schema "${schema}" ${tables} ${app}`)
    await migrateDatabase({ databaseUrl: asOwner })
    await runSql(asOwner, `grant insert on orders to ${loader}`)
    return { asOwner, asApp: url(app, `"${schema}"`), asLoader: url(loader, 'pg_catalog') }
  }

  it('can be made, merged and read without the right to change the schema, whatever schema the tables are in', async (t) => {
    const { asApp } = await separateRoles(t, 'Order-Book')
    const db = await openAppDatabase({ databaseUrl: asApp })
    t.after(() => db.close())
    const id = newOrderedId(0)
    const order = { id, customer: 'A', total: 10_000 }
    await db.write('createOrder', { order, stamp: stamp(), idempotency: null })
    const overview = () => findOverview(db.read, { days: 1, timeZone: 'UTC', nowMilliseconds: 0 })
    const before = await overview()
    assert.equal(await mergeTally(db, 10), 1)
    assert.deepEqual(await overview(), before)
    assert.deepEqual(before.pending, { count: 1, total: 1 })
  })

  it('counts orders written by a role that may only insert and has another search_path', async (t) => {
    const { asOwner, asLoader } = await separateRoles(t, 'books')
    await runSql(
      asLoader,
      insertOne.replace('into orders', 'into books.orders').replace('returning id', ''),
      [7, day],
    )
    await assert.rejects(runSql(asLoader, 'select * from books.order_tally_changes'), { code: '42501' })
    await assertExact(asOwner)
    const kept = await withRawDatabase(asOwner, keptTally)
    assert.deepEqual(kept, { [`${always} 0 0`]: '1, 7', [`${day} 1 0`]: '1, 7', '900000 96 0': '1, 7' })
  })
})

/** One COPY by the driver's protocol, for which the driver has no call. */
async function copyIn(databaseUrl: string, statement: string, data: string): Promise<void> {
  const client = await connectTo(databaseUrl)
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  interface Wire {
    query(text: string): void
    sendCopyFromChunk(chunk: Buffer): void
    endCopyFrom(): void
  }
  const copying = {
    submit: (wire: Wire) => wire.query(statement),
    handleCopyInResponse(wire: Wire) {
      wire.sendCopyFromChunk(Buffer.from(data))
      wire.endCopyFrom()
    },
    handleCommandComplete: () => undefined,
    handleReadyForQuery: () => resolve(),
    handleError: (error: Error) => reject(error),
  }
  client.query(copying as unknown as pg.Submittable)
  await promise.finally(() => client.end())
}

// engine: both
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { Kysely } from '#kysely'
import { migrateDatabase } from '../../server/db/open.ts'
import type { Database } from '../../server/db/tables.ts'
import { makeOrders } from '../../server/demo/orders.ts'
import { createTestDatabase, withRawDatabase } from '../support/database.ts'
import { assertSound } from '../support/history.ts'
import { commandLine } from './command-line.ts'

const nowMilliseconds = 1_800_000_000_000
const dayMilliseconds = 86_400_000

async function prepare(t: TestContext) {
  const { databaseUrl, drop } = await createTestDatabase()
  t.after(drop)
  await migrateDatabase({ databaseUrl })
  const cli = commandLine(t)
  return {
    run: (args: string) => cli.run(args, '', { DATABASE_URL: databaseUrl }),
    ids: () => withRawDatabase(databaseUrl, (db) => db.selectFrom('orders').select('id').execute()),
    query: <T>(work: (db: Kysely<Database>) => Promise<T>) => withRawDatabase(databaseUrl, work),
  }
}

describe('seed', () => {
  it('adds the given number of orders over the last year, tallied, three in five of them approved', async (t) => {
    const place = await prepare(t)
    const { status, stdout, stderr } = await place.run('seed --orders 5000 --json')
    assert.equal(status, 0)
    for (const line of stderr.split('\n').filter(Boolean)) assert.ok('progress' in JSON.parse(line), line)
    assert.partialDeepStrictEqual(JSON.parse(stdout), { added: 5_000, total: 5_000 })
    await place.query(assertSound)
    const orders = await place.query((db) => db.selectFrom('orders').selectAll().orderBy('id').execute())
    assert.equal(orders.length, 5_000)
    const approved = orders.filter((order) => order.status === 1)
    assert.ok(approved.length > 2_850 && approved.length < 3_100, String(approved.length))
    assert.ok(orders.every((order) => order.created_by?.startsWith('seed:')))
    const oldest = Date.now() - 366 * dayMilliseconds
    const instants = orders.map(({ created_at }) => Number(created_at))
    assert.ok(instants.every((instant) => instant >= oldest && instant <= Date.now()))
  })

  it('adds to existing orders', async (t) => {
    const place = await prepare(t)
    for (const [count, total] of [
      [700, '700'],
      [5, '705'],
      [2_000, '2,705'],
    ] as const) {
      const { status, stdout } = await place.run(`seed --orders ${count}`)
      assert.equal(status, 0)
      assert.match(stdout, new RegExp(`there are now ${total}\\.\n$`))
    }
    await place.query(assertSound)
  })

  it('refuses a database with real accounts, except with --yes', async (t) => {
    const place = await prepare(t)
    assert.equal((await place.run('client add billing')).status, 0)
    const refused = await place.run('seed --orders 10')
    assert.deepEqual({ status: refused.status, stdout: refused.stdout }, { status: 1, stdout: '' })
    assert.match(refused.stderr, /nothing was added \(--yes/)
    assert.equal((await place.ids()).length, 0)
    assert.equal((await place.run('seed --orders 10 --yes')).status, 0)
    assert.equal((await place.ids()).length, 10)
  })

  it('rejects anything but a number of orders', async (t) => {
    const place = await prepare(t)
    for (const args of ['seed', 'seed --orders 0', 'seed --orders 1e3', 'seed --orders 5 --days 0']) {
      assert.equal((await place.run(args)).status, 2, args)
    }
  })
})

describe('makeOrders', () => {
  const people = { creators: ['seed:operator'], approver: 'seed:admin' }
  const order = { count: 20_000, days: 365, nowMilliseconds, people, batchRows: 1_000 }

  const orders = [...makeOrders(order)].flatMap(({ orders }) => orders)

  it('makes the same orders every time, oldest first, with new ids', () => {
    assert.deepEqual(
      [...makeOrders(order)].flatMap(({ orders }) => orders),
      orders,
    )
    const ids = orders.map(({ id }) => id)
    assert.equal(new Set(ids).size, 20_000)
    assert.deepEqual(ids, ids.toSorted())
    const times = orders.map(({ created_at }) => created_at)
    assert.deepEqual(
      times,
      times.toSorted((a, b) => a - b),
    )
    const form = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
    assert.ok(ids.every((id) => form.test(id)))
  })

  it('gives a few customers many orders, many customers few, and one order in a hundred a rare word', () => {
    const byCustomer = new Map<string, number>()
    for (const { customer } of orders) byCustomer.set(customer, (byCustomer.get(customer) ?? 0) + 1)
    const counts = [...byCustomer.values()].sort((a, b) => b - a)
    assert.ok((counts[0] ?? 0) > 100 && (counts[0] ?? 0) < 400, String(counts[0]))
    assert.ok(counts.filter((count) => count <= 3).length > 1_000, String(counts.length))
    const having = orders.filter(({ customer_folded }) => customer_folded.includes('sørensen')).length
    assert.ok(having > 100 && having < 300, String(having))
  })
})

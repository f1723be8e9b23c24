// engine: both
import assert from 'node:assert/strict'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, afterEach, beforeEach, describe, it } from 'node:test'
import { sql } from '#kysely'
import { originOf, publishedKeys } from '../../server/audit/checkpoints/checkpoints.ts'
import type { AppDatabase } from '../../server/db/port.ts'
import { openAppDatabase } from '../../server/operations.ts'
import { exportOrders } from '../../server/orders/export/export.ts'
import type { TransitionName } from '../../server/orders/order.ts'
import { newActor } from '../support/accounts.ts'
import { createTestDatabase, type TestDatabase, withRawDatabase } from '../support/database.ts'
import { checkpointOver, seal, testLogKeys } from '../support/log.ts'
import { orderIdAt, stamp } from '../support/orders.ts'
import { publicUrl } from '../support/service.ts'
import { commandLine, refusal } from './command-line.ts'

const start = Date.UTC(2026, 10, 22)
const ids = ['Acme', 'Beta', 'Comma, "Ltd"', 'Delta', 'Epsilon'].map((customer, index) => ({
  customer,
  id: orderIdAt(start, index),
}))
const [first, second, third, fourth] = ids.map(({ id }) => id)
const cli = commandLine({ after })
let database: TestDatabase
let db: AppDatabase
let actor: Awaited<ReturnType<typeof newActor>>

const create = (customer: string, id: string) =>
  db.write('createOrder', { order: { id, customer, total: 125_001 }, stamp: stamp(), idempotency: null })
const change = (name: TransitionName, id = '') =>
  db.write(`${name}Order`, {
    id,
    acceptedVersions: null,
    actor: { ...actor, eventId: stamp().eventId },
    text: null,
    signature: null,
    idempotency: null,
  })

/** Five orders and a user, one order approved, one rejected and one with a note: nine sealed events. */
async function fill(): Promise<void> {
  database = await createTestDatabase()
  db = await openAppDatabase({ databaseUrl: database.databaseUrl })
  for (const { customer, id } of ids) await create(customer, id)
  actor = await newActor(db)
  await change('approve', first)
  await change('reject', second)
  await db.write('addNote', { id: third ?? '', stamp: stamp(), text: 'x', idempotency: null })
  await seal(db)
}

async function empty(): Promise<void> {
  await db.close()
  await database.drop()
}

const verify = (options = '') => cli.run(`log verify ${options}`, '', { DATABASE_URL: database.databaseUrl })
const [key] = await publishedKeys(testLogKeys(), originOf(publicUrl, 1))
const offline = (options = '') =>
  cli.run(
    `log verify --export log.jsonl --orders orders.jsonl --checkpoint kept.txt --log-key ${key?.verifierKey} ${options}`,
    '',
    {},
  )
const run = (statement: string) =>
  withRawDatabase(database.databaseUrl, (trx) => sql.raw(statement).execute(trx))
const file = (name: string) => join(cli.folder, name)

async function keepLog(): Promise<void> {
  await seal(db)
  rmSync(file('log.jsonl'), { force: true })
  await cli.run('log export log.jsonl', '', { DATABASE_URL: database.databaseUrl })
}

async function keepOrders(): Promise<void> {
  const request = {
    type: 'application/jsonl',
    bom: false,
    filter: null,
    sortKey: 'total',
    direction: 'desc',
  } as const
  writeFileSync(file('orders.jsonl'), (await Array.fromAsync(exportOrders(db, request, 'test'))).join(''))
}

async function keepCheckpoint(): Promise<void> {
  const head = await db.read.selectFrom('log_head').select(['size', 'root']).executeTakeFirstOrThrow()
  writeFileSync(file('kept.txt'), await checkpointOver(head))
}

describe('log verify, comparing the orders of the database with their events,', () => {
  beforeEach(fill)
  afterEach(empty)

  it('finds that they agree, even if events wait to be sealed', async () => {
    await create('Later', orderIdAt(start, 9))
    await change('reject', fourth)
    const { status, stdout } = await verify()
    assert.equal(status, 0)
    assert.match(stdout, /^The log is intact: 9 events, .*\nIt agrees with 6 orders\.\n$/)
  })

  const differences: [what: string, statement: string, message: string][] = [
    [
      'orders that were deleted',
      `delete from orders where id in ('${third}', '${fourth}')`,
      `order ${third} is missing: event 3 (created) is about it`,
    ],
    [
      'another customer',
      `update orders set customer = 'Eve' where id = '${fourth}'`,
      `order ${fourth} has another customer or total than event 4 (created)`,
    ],
    [
      'another total',
      `update orders set total_e4 = 125000 where id = '${first}'`,
      `order ${first} has another customer or total than event 1 (created)`,
    ],
    [
      'a rejection without an event',
      `update orders set status = 2 where id = '${third}'`,
      `order ${third} is Rejected, but the last event of its status says Pending`,
    ],
    [
      'an approval that was undone',
      `update orders set status = 0, approvals_given = 0 where id = '${first}'`,
      `order ${first} is Pending, but the last event of its status says Approved`,
    ],
    [
      'an order that nobody created',
      `update unsealed_events set kind = 'noted' where subject_id = '${orderIdAt(start, 9)}'`,
      `order ${orderIdAt(start, 9)} has no event of its creation`,
    ],
  ]
  for (const [what, statement, message] of differences) {
    it(`names ${what}`, async () => {
      await create('Later', orderIdAt(start, 9))
      await run(statement)
      assert.deepEqual(await verify(), refusal(message))
    })
  }
})

describe('log verify, comparing a file of orders with an export of the log,', () => {
  beforeEach(async () => {
    await fill()
    await keepCheckpoint()
    await keepOrders()
  })
  afterEach(empty)
  const whole = (events: number, orders: number) =>
    new RegExp(
      `^The log is intact: ${events} events, .*\\nIt agrees with the checkpoint\\.\\nIt agrees with ${orders} orders\\.\\n$`,
    )

  it('finds that they agree', async () => {
    await keepLog()
    const { status, stdout } = await offline()
    assert.equal(status, 0)
    assert.match(stdout, whole(9, 5))
    const { stdout: json } = await offline('--json')
    assert.partialDeepStrictEqual(JSON.parse(json), { size: 9, orders: 5 })
  })

  it('compares the orders with all events, or with those up to the newest checkpoint', async () => {
    await create('Later', orderIdAt(start, 9))
    await keepLog()
    const missing = `order ${orderIdAt(start, 9)} is missing: event 10 (created) is about it`
    assert.deepEqual(await verify('--orders orders.jsonl'), refusal(missing))
    const hint = (orders: number) =>
      `Orders that changed after the newest checkpoint, which the file does not show: ${orders}.\n`
    const created = await offline()
    assert.deepEqual([created.status, created.stderr], [0, hint(1)])
    await change('reject', fourth)
    await keepLog()
    const changed = await offline()
    assert.deepEqual([changed.status, changed.stderr], [0, hint(2)])
    assert.match(changed.stdout, whole(11, 5))
  })

  it('accepts orders that changed after the checkpoint', async () => {
    await create('Later', orderIdAt(start, 9))
    await change('reject', fourth)
    await keepOrders()
    await keepLog()
    const { status, stdout } = await offline()
    assert.equal(status, 0)
    assert.match(stdout, whole(11, 6))
  })

  it('names an order that differs, or has no event', async () => {
    await keepLog()
    const orders = readFileSync(file('orders.jsonl'), 'utf8')
    const of = (id = '') => orders.split('\n').find((line) => line.includes(id)) ?? ''
    const again = of(third).replace(third ?? '', orderIdAt(start, 9))
    for (const [text, message] of [
      [orders.replace(`${of(third)}\n`, ''), `order ${third} is missing: event 3 (created) is about it`],
      [
        orders.replace(of(first), of(first).replace('"status":1', '"status":0')),
        `order ${first} is Pending, but the last event of its status says Approved`,
      ],
      [`${orders}${again}\n`, `order ${orderIdAt(start, 9)} has no event of its creation`],
    ] as const) {
      writeFileSync(file('orders.jsonl'), text)
      assert.deepEqual(await offline(), refusal(message))
    }
  })

  it('refuses a file of anything else, a truncated file, and one that has an order twice', async () => {
    await keepLog()
    const orders = readFileSync(file('orders.jsonl'), 'utf8')
    const lines = orders.split('\n')
    const refused: [text: string, message: string][] = [
      [orders.slice(0, -1), 'orders.jsonl:5 is not an order in JSON Lines'],
      ['id,customer,total,status\r\n', 'orders.jsonl:1 is not an order in JSON Lines'],
      ['null\n', 'orders.jsonl:1 is not an order in JSON Lines'],
      [`${lines[0]}\n{"id":"${second}"}\n`, 'orders.jsonl:2 is not an order in JSON Lines'],
      [`${lines[0]}\n${lines[0]}\n`, `orders.jsonl:2 repeats the order ${JSON.parse(lines[0] ?? '').id}`],
    ]
    for (const [text, message] of refused) {
      writeFileSync(file('orders.jsonl'), text)
      assert.deepEqual(await offline(), refusal(message))
    }
  })
})

// engine: PostgreSQL
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { orderIdAt, stamp, storedState } from '../support/orders.ts'
import { connectTo, runSql, withoutPostgres } from '../support/postgres.ts'
import { setUp, testService } from '../support/service.ts'

describe('creates that share a transaction', { skip: withoutPostgres }, () => {
  const service = testService({})
  const operator = setUp(() => service.bearer('operator'))

  const create = (customer: string, key: string) =>
    operator.post('/v1/orders', { customer, total: 1 }, { 'idempotency-key': key })

  it('are stored with their keys, as if each had its own transaction', async () => {
    const customer = randomUUID()
    const write = (number: number, key: string | null) => {
      const terms = { principalId: 1, operation: 'POST /v1/orders', fingerprint: customer, expiresAt: 2 }
      return service.db.write('createOrder', {
        order: { id: orderIdAt(service.now(), number), customer, total: 10_000 },
        stamp: stamp(),
        idempotency: key === null ? null : { ...terms, key, nowMilliseconds: 1 },
      })
    }
    const keys = [null, randomUUID(), null, randomUUID()]
    const written = await Promise.all(keys.map((key, number) => write(number, key)))
    const transactions = await runSql(
      service.databaseUrl,
      'select xmin::text, count(*)::integer as orders from orders where customer = $1 group by 1',
      [customer],
    )
    assert.deepEqual(
      transactions.map(({ orders }) => orders),
      [4],
    )
    const again = await write(9, keys[1] ?? null)
    assert.deepEqual(again, { ...written[1], replayed: true })
  })

  it('do not wait for one whose key another instance has locked; it is stored later', async () => {
    const [held, customer] = [randomUUID(), randomUUID()]
    const other = await connectTo(service.databaseUrl)
    await other.query('begin')
    await other.query(
      `insert into idempotency_keys (principal_id, operation, key, fingerprint, result, expires_at)
       select id, 'POST /v1/orders', $1, '', '', 0 from principals where name = 'operator'`,
      [held],
    )
    let isHeldAnswered = false
    const waiting = create(customer, held).finally(() => {
      isHeldAnswered = true
    })
    const others = await Promise.all(Array.from({ length: 10 }, () => create(customer, randomUUID())))
    assert.equal(isHeldAnswered, false)
    assert.deepEqual(new Set(others.map(({ status }) => status)), new Set([201]))
    await other.query('rollback')
    await other.end()
    assert.equal((await waiting).status, 201)
    const { orders } = await storedState(service)
    assert.equal(orders.filter((order) => order.customer === customer).length, 11)
  })

  it('are stored, except the one that the database refuses', async () => {
    const customer = randomUUID()
    const refused = await connectTo(service.databaseUrl)
    await refused.query(`alter table orders add constraint no_bad_luck check (customer <> 'bad luck')`)
    const answers = await Promise.all(
      ['bad luck', ...Array.from({ length: 5 }, () => customer)].map((name) => create(name, randomUUID())),
    )
    await refused.query('alter table orders drop constraint no_bad_luck')
    await refused.end()
    const statuses = answers.map(({ status }) => status)
    assert.deepEqual(statuses, [500, 201, 201, 201, 201, 201])
  })
})

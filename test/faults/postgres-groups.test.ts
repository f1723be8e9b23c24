// engine: PostgreSQL
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { storedState } from '../support/orders.ts'
import { connectTo, withoutPostgres } from '../support/postgres.ts'
import { type Service, startService } from '../support/service.ts'

describe('creates that share a transaction', { skip: withoutPostgres }, () => {
  let service: Service
  let operator: Client
  before(async () => {
    service = await startService()
    operator = await service.bearer('operator')
  })
  after(() => service?.close())

  const create = (customer: string, key: string) =>
    operator.post('/v1/orders', { customer, total: 1 }, { 'idempotency-key': key })

  it('do not wait for one whose key another instance has locked, and that one is stored later', async () => {
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
    assert.deepEqual(
      answers.map(({ status }) => status),
      [500, 201, 201, 201, 201, 201],
    )
  })
})

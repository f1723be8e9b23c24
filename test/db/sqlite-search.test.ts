import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import Sqlite from 'better-sqlite3'
import { createdId, insertOrders, orderRow } from '../support/orders.ts'
import { testService } from '../support/service.ts'

describe('the search index of SQLite', () => {
  const service = testService()

  /** Throws if the index and the orders differ (https://sqlite.org/fts5.html#the_integrity_check_command). */
  function assertWhole(): void {
    const connection = new Sqlite(service.databaseUrl.replace(/^file:/, ''))
    try {
      connection.exec(`insert into orders_search (orders_search, rank) values ('integrity-check', 1)`)
      assert.deepEqual(
        connection.prepare('select cast(indexed_to as text) from orders_search_deferral').pluck().all(),
        ['9223372036854775807'],
      )
    } finally {
      connection.close()
    }
  }

  async function found(word: string): Promise<number> {
    const caller = await service.bearer('admin')
    const { body } = await caller.get(`/v1/orders?filter=${encodeURIComponent(`customer:"${word}"`)}`)
    return body.totalCount
  }

  it('has all orders of a group of creates, even if operations between them are rolled back', async () => {
    const word = randomUUID()
    const admin = await service.bearer('admin')
    const approved = await createdId(admin)
    await admin.patch(`/v1/orders/${approved}/approve`)
    const create = (customer: string) => admin.post('/v1/orders', { customer, total: 1 })
    // Claims its key before it is refused, so its group starts over, one operation at a time.
    const refused = () =>
      admin.patch(`/v1/orders/${approved}/approve`, undefined, { 'idempotency-key': randomUUID() })
    const both = Array.from({ length: 40 }, (_, index) =>
      index % 10 === 7 ? refused() : create(`Customer ${word}`),
    )
    const statuses = (await Promise.all(both)).map(({ status }) => status)
    assert.deepEqual(statuses.filter((status) => status === 409).length, 4)
    assert.deepEqual(await found(word), 36)
    assertWhole()
    const creates = Array.from({ length: 40 }, () => create(`Customer ${word}`))
    await Promise.all(creates)
    assert.deepEqual(await found(word), 76)
    assertWhole()
  })

  it('has rows of another process as soon as they are written', async () => {
    const word = randomUUID()
    await insertOrders(service, [orderRow({ customer: `Customer ${word}` })])
    assert.deepEqual(await found(word), 1)
    assertWhole()
  })
})

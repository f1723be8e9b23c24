// engine: both
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sql } from '#kysely'
import { orderStatus, orderStatusNames } from '../../server/orders/order.ts'
import { withRawDatabase } from '../support/database.ts'
import { insertOrders, orderRow } from '../support/orders.ts'
import { setUp, testService } from '../support/service.ts'

/** Where SQLite and PostgreSQL differ, but the service must not. The runner runs this file on both. */
describe('on either engine', () => {
  const service = testService()
  const viewer = setUp(() => service.bearer('viewer'))

  async function customersOf(filter: string, orderBy = 'customer'): Promise<string[]> {
    const query = new URLSearchParams({ filter, orderBy, pageSize: '100' })
    const { body } = await viewer.get(`/v1/orders?${query}`)
    return body.items.map(({ customer }: { customer: string }) => customer)
  }

  it('text is found whatever its case and compatibility forms, but accents count', async () => {
    const customers = [
      ...['İstanbul AŞ', 'ISPARTA', 'Straße 1', 'STRASSE 2', 'ΟΔΟΣ', 'οδος', 'ﬁne ＡＢＣ'],
      ...['Kelvin', 'Zoë', 'Zoe'],
    ]
    await insertOrders(
      service,
      customers.map((customer) => orderRow({ customer, created_by: 'folding' })),
    )
    const found = (text: string) => customersOf(`createdBy=folding customer:"${text}"`)
    assert.deepEqual(await found('istanbul'), ['İstanbul AŞ'])
    assert.deepEqual(await found('ısparta'), ['ISPARTA'])
    assert.deepEqual(await found('strasse'), ['Straße 1', 'STRASSE 2'])
    assert.deepEqual((await found('οδοσ')).sort(), ['ΟΔΟΣ', 'οδος'].sort())
    assert.deepEqual(await found('fine abc'), ['ﬁne ＡＢＣ'])
    assert.deepEqual(await found('\u212aelvin'), ['Kelvin'])
    assert.deepEqual(await found('zoe'), ['Zoe'])
  })

  it('text sorts by the code points of its folded form: no locale, emoji last', async () => {
    const customers = ['b', 'A', 'a2', 'Z', 'ä', '_', '0', '🦊', '￼', 'e\u0301']
    await insertOrders(
      service,
      customers.map((customer) => orderRow({ customer, created_by: 'sorting' })),
    )
    const sorted = ['0', '_', 'A', 'a2', 'b', 'Z', 'ä', 'e\u0301', '￼', '🦊']
    assert.deepEqual(await customersOf('createdBy=sorting'), sorted)
  })

  it('totals and instants are read as the numbers that were stored, at both ends of their range', async () => {
    const rows = [
      orderRow({ customer: 'range', total_e4: 1, created_at: 0 }),
      orderRow({ customer: 'range', total_e4: 999_999_999_999_999, created_at: 35_184_372_088_831 }),
    ]
    await insertOrders(service, rows)
    const [least, most] = await Promise.all(rows.map(({ id }) => viewer.get(`/v1/orders/${id}`)))
    assert.deepEqual([least?.body.total, least?.body.createdAtUtc], [0.0001, '1970-01-01T00:00:00.000Z'])
    assert.deepEqual(
      [most?.body.total, most?.body.createdAtUtc],
      [99_999_999_999.9999, new Date(35_184_372_088_831).toISOString()],
    )
  })

  it('a violated constraint is an error, and leaves nothing behind', async () => {
    const row = orderRow({ customer: 'constraint', total_e4: 0 })
    await assert.rejects(insertOrders(service, [row]))
    assert.deepEqual(await customersOf('constraint'), [])
  })

  it('the readable view shows decimals and words', async () => {
    const row = orderRow({ customer: 'view', total_e4: 12_345_678, status: 1, created_at: 1_700_000_000_123 })
    await insertOrders(service, [row])
    const { rows } = await withRawDatabase(service.databaseUrl, (db) =>
      sql<{ total: string; status: string; created_at: string }>`
        select total, status, created_at from orders_readable where id = ${row.id}`.execute(db),
    )
    const [shown] = rows
    assert.equal(Number(shown?.total), 1234.5678)
    assert.equal(shown?.status, 'Approved')
    assert.equal(new Date(shown?.created_at ?? '').toISOString(), '2023-11-14T22:13:20.123Z')
  })

  it('the readable view has the name of every status', async () => {
    const rows = Object.values(orderStatus).map((status) => orderRow({ customer: 'named', status }))
    await insertOrders(service, rows)
    const shown = await withRawDatabase(service.databaseUrl, (db) =>
      sql<{
        status: string
      }>`select status from orders_readable where customer = 'named' order by id`.execute(db),
    )
    const statuses = shown.rows.map(({ status }) => status)
    assert.deepEqual(statuses, orderStatusNames)
  })
})

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { insertOrders, onlyOrders, orderIdAt, orderRow } from '../support/orders.ts'
import { testService } from '../support/service.ts'

/**
 * The database makes the JSON of a list, and the service that of an order by its id. Both must be the same.
 */
describe('the items of a list', () => {
  const service = testService()
  onlyOrders(service)

  it('are each the same text as the order by its id', async () => {
    const orders = fc.sample(
      fc.record({
        total_e4: fc.oneof(
          fc.constantFrom(1, 9, 10, 9_999, 10_000, 10_001, 999_999_999_999_999, 100_000_000_000_000),
          fc.integer({ min: 1, max: 999_999_999_999_999 }),
          fc.integer({ min: 1, max: 99_999 }).map((units) => units * 100),
        ),
        instant: fc.oneof(
          fc.constantFrom(0, 999, 1_000, 951_827_696_789, 2 ** 45 - 1),
          fc.integer({ min: 0, max: 2 ** 45 - 1 }),
        ),
        customer: fc.oneof(
          fc.constantFrom('"', '\\', '/', '</script>', '\u2028', '\ud83d\ude00', 'null', "O'Brien", '\u007f'),
          fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }).filter((text) => !text.includes('\0')),
        ),
        status: fc.constantFrom(0, 1),
      }),
      { numRuns: 600, seed: 20_261_122 },
    )
    const rows = orders.map(({ instant, ...given }, index) =>
      orderRow({ ...given, id: orderIdAt(instant, index) }),
    )
    await insertOrders(service, rows)
    const viewer = await service.bearer('viewer')
    const { body } = await viewer.get('/v1/orders?paginated=false')
    assert.equal(body.items.length, rows.length)
    for (const item of body.items) {
      const { text } = await viewer.get(`/v1/orders/${item.id}`)
      const { id, customer, total, status, createdAtUtc } = JSON.parse(text)
      assert.deepEqual(item, { id, customer, total, status, createdAtUtc })
    }
    const { text: listed } = await viewer.get('/v1/orders?pageSize=100')
    const { text: again } = { text: JSON.stringify(JSON.parse(listed)) }
    assert.equal(listed, again)
  })
})

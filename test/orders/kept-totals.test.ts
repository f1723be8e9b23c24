// engine: both
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { connectTo } from '../support/postgres.ts'
import { setUp, testService } from '../support/service.ts'

const isPostgres = process.env.TEST_DATABASE_URL !== undefined

/** A count is kept for as long as nothing is written (ADR 12). */
describe('the total of a filter', () => {
  const service = testService()
  const caller = setUp(() => service.bearer('admin'))

  const total = async (): Promise<number> =>
    (await caller.get('/v1/orders?filter=customer:zirkon')).body.totalCount
  const create = async () => (await caller.post('/v1/orders', { customer: 'Zirkon & Co', total: 1 })).status

  it('is counted again after each write', async () => {
    assert.deepEqual([await total(), await total()], [0, 0])
    for (const count of [1, 2, 3]) {
      assert.equal(await create(), 201)
      assert.deepEqual([await total(), await total()], [count, count])
    }
  })

  it('is correct for lists during writes, and after them', async () => {
    const begun = await total()
    const seen = await Promise.all(
      Array.from({ length: 40 }, (_, index) => (index % 4 === 0 ? create().then(total) : total())),
    )
    assert.ok(
      seen.every((count) => count >= begun && count <= begun + 10),
      seen.join(),
    )
    assert.equal(await total(), begun + 10)
  })

  it('includes orders of another program once they are committed, and not before', {
    skip: !isPostgres,
  }, async () => {
    const other = await connectTo(service.databaseUrl)
    const begun = await total()
    await other.query('begin')
    await other.query(`update orders set customer = 'Quarz', customer_folded = 'quarz'
      where id = (select id from orders where customer_folded = 'zirkon & co' limit 1)`)
    assert.deepEqual([await total(), await total()], [begun, begun])
    await other.query('commit')
    assert.deepEqual([await total(), await total()], [begun - 1, begun - 1])
    await other.end()
  })
})

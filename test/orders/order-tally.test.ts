// engine: both
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { type Kysely, sql, type Transaction } from '#kysely'
import type { Database } from '../../server/db/tables.ts'
import { readOverview } from '../../server/orders/overview/store.ts'
import { insertRows } from '../../server/orders/store.ts'
import { withRawDatabase } from '../support/database.ts'
import { forAllAsync } from '../support/for-all.ts'
import { createdId, insertOrders, type OrderRow, orderRow } from '../support/orders.ts'
import { testService } from '../support/service.ts'
import { countedTally, keptTally } from '../support/tally.ts'

const day = 86_400_000
const greatestTotalE4 = 999_999_999_999_999

async function assertExact(db: Kysely<Database>): Promise<void> {
  const orders = await db.selectFrom('orders').selectAll().execute()
  assert.deepEqual(await keptTally(db), countedTally(orders.map(withNumbers)))
}

/** A connection of the test's own gives PostgreSQL's bigint as text. */
function withNumbers(row: OrderRow): OrderRow {
  return { ...row, created_at: Number(row.created_at), total_e4: Number(row.total_e4) }
}

describe('the tally of orders', () => {
  const service = testService({ inside: true })

  const write = <T>(work: (trx: Transaction<Database>) => Promise<T>) =>
    withRawDatabase(service.databaseUrl, (db) => work(db as Transaction<Database>))

  describe('is exact', () => {
    const instant = fc.constantFrom(0, 1, day - 1, day, 20_000 * day, 20_000 * day - 1, 2 ** 45 - 1)
    const total = fc.oneof(
      fc.constantFrom(1, 9_999, 10_000, 10_001, greatestTotalE4),
      fc.integer({ min: 1, max: 5_000_000 }),
    )
    const status = fc.constantFrom(0, 0, 1, 7)
    const values = fc.record({ created_at: instant, total_e4: total, status })
    const some = fc.constantFrom(...'0 1 2 3 4 5 6 7 8 9 a b c d e f'.split(' '))
    const step = fc.oneof(
      fc.record({
        kind: fc.constant('insert' as const),
        rows: fc.array(values, { minLength: 1, maxLength: 5 }),
      }),
      fc.record({ kind: fc.constant('status' as const), some, status }),
      fc.record({ kind: fc.constant('total' as const), some, total_e4: total }),
      fc.record({ kind: fc.constant('rewrite' as const), some, status, total_e4: total }),
      fc.record({ kind: fc.constant('other' as const), some }),
      fc.record({ kind: fc.constant('delete' as const), some }),
    )
    type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

    /** Takes orders whatever their ids end with: none, one or many at once. */
    async function take(trx: Transaction<Database>, taken: Step): Promise<void> {
      if (taken.kind === 'insert') {
        await insertRows(trx, taken.rows.map(orderRow))
        return
      }
      const these = sql<boolean>`cast(id as text) like ${`%${taken.some}`}`
      // An approved order has the one approval that each of these needs.
      const update = ({ status, ...set }: Partial<OrderRow>) =>
        trx
          .updateTable('orders')
          .set(status === undefined ? set : { ...set, status, approvals_given: status === 1 ? 1 : 0 })
          .where(these)
          .execute()
      if (taken.kind === 'status') await update({ status: taken.status })
      else if (taken.kind === 'total') await update({ total_e4: taken.total_e4 })
      else if (taken.kind === 'rewrite') await update({ status: taken.status, total_e4: taken.total_e4 })
      else if (taken.kind === 'other') await update({ customer: 'Other', version: 2 })
      else await trx.deleteFrom('orders').where(these).execute()
    }

    it('after any statements, one row or many, committed or rolled back', async () => {
      const transaction = fc.record({
        steps: fc.array(step, { minLength: 1, maxLength: 6 }),
        isCommitted: fc.boolean(),
      })
      await forAllAsync(60, fc.array(transaction, { minLength: 1, maxLength: 5 }), async (transactions) => {
        for (const { steps, isCommitted } of transactions) {
          const work = write(async (trx) => {
            for (const each of steps) await take(trx, each)
            if (!isCommitted) throw new Error('rolled back')
          })
          await (isCommitted ? work : assert.rejects(work, /rolled back/))
        }
        await write(assertExact)
      })
      assert.notDeepEqual(await write(keptTally), {})
    })

    it('after creates and approvals by the API, even refused and repeated ones', async () => {
      const admin = await service.bearer('admin')
      const ids = await Promise.all(
        Array.from({ length: 20 }, (_, index) => createdId(admin, { total: index + 0.1 })),
      )
      await Promise.all(
        ids.flatMap((id) => [id, id].map((each) => admin.patch(`/v1/orders/${each}/approve`))),
      )
      const key = { 'idempotency-key': randomUUID() }
      for (const total of [1, 1, 2]) await admin.post('/v1/orders', { customer: 'A', total }, key)
      await admin.post('/v1/orders', { customer: 'A', total: -1 })
      await write(assertExact)
    })

    it('even if neither 64 bits of ten-thousandths nor a double of units could hold the sum', async () => {
      // The tally that ninety thousand orders of the greatest total would leave.
      const units = 2n ** 53n + 1n
      await write((trx) =>
        sql`insert into order_tally (span, part, status, orders, total_units, total_parts_e4)
          values (${sql.lit(day)}, 19000, 5, 90000, ${sql.raw(String(units))}, 0)`.execute(trx),
      )
      const orders = [1, 2, 3].map(() =>
        orderRow({ total_e4: greatestTotalE4, created_at: 19_000 * day, status: 5 }),
      )
      await insertOrders(service, orders)
      const sum = units * 10_000n + 3n * BigInt(greatestTotalE4)
      assert.ok(sum > 2n ** 63n && sum / 10_000n > 2n ** 53n)
      const kept = await write(keptTally)
      assert.equal(kept[`${day} 19000 5`], `90003, ${sum}`)
      const { days } = await readOverview(service.db.read, [19_000 * day, 19_001 * day])
      assert.deepEqual(days[0]?.get(5), { count: 90_003, totalE4: sum })
    })
  })

  it('keeps no trace of a statement that fails', async () => {
    const before = await write(keptTally)
    const broken = [orderRow(), orderRow({ total_e4: 0 })]
    await assert.rejects(write((trx) => insertRows(trx, broken)))
    const twice = orderRow()
    await assert.rejects(write((trx) => insertRows(trx, [twice, twice])))
    assert.deepEqual(await write(keptTally), before)
  })
})

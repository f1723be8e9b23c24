// engine: both
import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import type { Answer } from '../support/client.ts'
import {
  createdId,
  type OrderRow,
  onlyOrders,
  orderIdAt,
  orderRow,
  replaceOrders,
  sendExactly,
  storedState,
} from '../support/orders.ts'
import { assertProblem } from '../support/problem.ts'
import { assertRevalidates } from '../support/revalidation.ts'
import { type Service, setUp, testService } from '../support/service.ts'

const path = '/v1/orders/summary'
const day = 86_400_000
const nothing = { count: 0, total: 0 }
const nothingDecided = { approved: nothing, rejected: nothing, withdrawn: nothing }

const dateOf = (instant: number) => new Date(instant).toISOString().slice(0, 10)
const startOf = (instant: number) => Math.floor(instant / day) * day

/**
 * If midnight is near, waits until it has passed, so that today is the same day for the test and the service.
 */
function awayFromMidnight(service: Service): void {
  if (startOf(service.now() + 60_000) !== startOf(service.now())) service.advance(60_000)
}

describe('getOrdersOverview', () => {
  const service = testService()
  onlyOrders(service)
  before(() => awayFromMidnight(service))
  const viewer = setUp(() => service.bearer('viewer'))

  /** Figures of these orders alone. */
  async function ofOrders(rows: OrderRow[], query: string): Promise<Answer['body']> {
    await replaceOrders(service, rows)
    const answer = await viewer.get(`${path}?${query}`)
    assert.equal(answer.status, 200, answer.text)
    return answer.body
  }

  describe('succeeds', () => {
    it('shows counts and sums by state, of all orders and of each UTC day of creation', async () => {
      const today = startOf(service.now())
      const order = (created_at: number, status: number, total_e4: number) =>
        orderRow({ created_at, status, total_e4 })
      const body = await ofOrders(
        [
          order(today, 0, 1),
          order(today + 1, 1, 20_000),
          order(today - 1, 0, 12_345),
          order(today - day, 0, 10_000),
          order(today - day, 1, 70_000),
          order(today - day - 1, 1, 999_999_999_999_999),
          order(today - 3 * day, 0, 5),
          order(0, 0, 30_000),
          order(1, 1, 40_000),
          order(today, 2, 30_000),
          order(today - day, 2, 5_000),
          order(today - day, 3, 60_000),
          order(2, 3, 1),
        ],
        'days=3',
      )
      assert.deepEqual(body.pending, { count: 5, total: 5.2351 })
      assert.deepEqual(body.approved, { count: 4, total: 100_000_000_012.9999 })
      assert.deepEqual(body.rejected, { count: 2, total: 3.5 })
      assert.deepEqual(body.withdrawn, { count: 2, total: 6.0001 })
      assert.deepEqual(body.days, [
        {
          date: dateOf(today - 2 * day),
          ...nothingDecided,
          pending: nothing,
          approved: { count: 1, total: 99_999_999_999.9999 },
        },
        {
          date: dateOf(today - day),
          pending: { count: 2, total: 2.2345 },
          approved: { count: 1, total: 7 },
          rejected: { count: 1, total: 0.5 },
          withdrawn: { count: 1, total: 6 },
        },
        {
          date: dateOf(today),
          pending: { count: 1, total: 0.0001 },
          approved: { count: 1, total: 2 },
          rejected: { count: 1, total: 3 },
          withdrawn: nothing,
        },
      ])
    })

    it('counts days as the filter language does', async () => {
      const today = startOf(service.now())
      const rows = Array.from({ length: 40 }, (_, index) => {
        const inDay = [0, 1, day / 2, day - 1][index % 4] ?? 0
        return orderRow({ created_at: today - Math.floor(index / 4) * day + inDay, status: index % 3 })
      })
      const { days } = await ofOrders(rows, 'days=12')
      let listed = 0
      for (const { date, pending, approved, rejected, withdrawn } of days) {
        const answer = await viewer.get(`/v1/orders?filter=createdAtUtc%3D${date}`)
        const counted = pending.count + approved.count + rejected.count + withdrawn.count
        assert.equal(answer.body.totalCount, counted, date)
        listed += answer.body.totalCount
      }
      assert.equal(listed, rows.length)
    })

    for (const [what, totals, sum] of [
      ['of 0.1 and 0.2', [1_000, 2_000], 0.3],
      ['of a million and a ten-thousandth', [10_000_000_000, 1], 1_000_000.0001],
      ['beyond 15 digits', Array<number>(50).fill(999_999_999_999_997), 4_999_999_999_999.985],
    ] as const) {
      it(`answers the double nearest to the sum ${what}`, async () => {
        const rows = totals.map((total_e4) => orderRow({ total_e4 }))
        assert.deepEqual((await ofOrders(rows, '')).pending, { count: totals.length, total: sum })
      })
    }

    it('lists the five oldest pending orders, oldest first, then by id, as the list shows them', async () => {
      const ids = [50, 20, 20, 10, 40, 1, 20, 30].map(orderIdAt)
      const rows = ids.map((id, index) =>
        orderRow({ id, status: index === 5 ? 1 : 0, customer: `No ${index}` }),
      )
      const { oldestPending } = await ofOrders(rows.toReversed(), 'days=1')
      const customers = oldestPending.map(({ customer }: { customer: string }) => customer)
      assert.deepEqual(customers, ['No 3', 'No 1', 'No 2', 'No 6', 'No 7'])
      const createdAtUtc = '1970-01-01T00:00:00.010Z'
      assert.deepEqual(oldestPending[0], { id: ids[3], customer: 'No 3', total: 1, status: 0, createdAtUtc })
    })

    it('includes an order that was created or approved just now', async () => {
      const admin = await service.bearer('admin')
      const before = (await viewer.get(`${path}?days=1`)).body
      const id = await createdId(admin, { total: 2.5 })
      const created = (await viewer.get(`${path}?days=1`)).body
      await admin.patch(`/v1/orders/${id}/approve`)
      const approved = (await viewer.get(`${path}?days=1`)).body
      const changes = (from: typeof before, to: typeof before) =>
        [
          [from, to],
          [from.days[0], to.days[0]],
        ].map(([a, b]) => [
          b.pending.count - a.pending.count,
          b.pending.total - a.pending.total,
          b.approved.count - a.approved.count,
          b.approved.total - a.approved.total,
        ])
      assert.deepEqual(changes(before, created), [
        [1, 2.5, 0, 0],
        [1, 2.5, 0, 0],
      ])
      assert.deepEqual(changes(created, approved), [
        [-1, -2.5, 1, 2.5],
        [-1, -2.5, 1, 2.5],
      ])
    })

    it('covers 1 to 366 days, without a gap at the end of a year or February', async () => {
      for (const days of [1, 2, 29, 365, 366]) {
        const { body } = await viewer.get(`${path}?days=${days}`)
        const dates = body.days.map(({ date }: { date: string }) => Date.parse(date))
        assert.equal(dates.length, days)
        assert.equal(dates.at(-1), startOf(service.now()))
        for (const [index, date] of dates.entries()) assert.equal(date, dates[0] + index * day)
      }
    })

    it('shows a single moment, whatever is written in the meantime', async () => {
      const admin = await service.bearer('admin')
      const today = startOf(service.now())
      const old = Array.from({ length: 30 }, () => orderRow({ created_at: today }))
      await replaceOrders(service, old)
      const answers: Promise<Answer>[] = []
      const writes = old.map(async ({ id }) => {
        await admin.patch(`/v1/orders/${id}/approve`)
        answers.push(viewer.get(`${path}?days=366`))
        await createdId(admin)
      })
      await Promise.all(writes)
      for (const { body } of await Promise.all(answers)) {
        for (const state of ['pending', 'approved'] as const) {
          const counts = body.days.map((each: Record<typeof state, { count: number }>) => each[state].count)
          const sum = counts.reduce((total: number, count: number) => total + count)
          assert.equal(sum, body[state].count)
        }
      }
      assert.equal(answers.length, 30)
    })

    it('answers everyone who may read, HEAD requests, and a path with a trailing slash', async () => {
      const callers = [await service.bearer('admin'), await service.bearer('demo-service')]
      callers.push(await service.session('viewer'))
      const { text } = await viewer.get(path)
      for (const caller of callers) assert.equal((await caller.get(path)).text, text)
      assert.equal((await viewer.get(`${path}/`)).text, text)
      const byHead = await viewer.send('HEAD', path)
      assert.deepEqual([byHead.status, byHead.text], [200, ''])
    })
  })

  it('answers 304 to the entity tag of the same overview, until an order changes', async () => {
    const admin = await service.bearer('admin')
    const id = await createdId(admin)
    const ifNoneMatch = { 'if-none-match': (await viewer.get(path)).headers.get('etag') ?? '' }
    assert.equal((await viewer.get(`${path}?days=29`, ifNoneMatch)).status, 200)
    await assertRevalidates(viewer, path, () => admin.patch(`/v1/orders/${id}/approve`))
  })

  describe('rejects input', () => {
    const refused = (answer: Pick<Answer, 'status' | 'headers' | 'text' | 'body'>) => {
      assertProblem({ ...answer, setCookies: [] }, 400, 'validation-failed')
      const parameters = answer.body.errors.map(({ parameter }: { parameter: string }) => parameter)
      assert.deepEqual(parameters, ['days'])
    }

    for (const text of [
      ...['0', '-1', '367', '1000', '2147483647', '2147483648', '-2147483649', '9'.repeat(400)],
      ...['x', 'null', 'true', '01', '1.0', '1e1', '%2B1', '%201', '1%20', '0x1', '1,0', '[1]', '%EF%BC%91'],
    ]) {
      it(`refuses days=${text.slice(0, 20)}, naming it`, async () => {
        refused(await viewer.get(`${path}?days=${text}`))
      })
    }

    it('refuses days given twice, or not percent-encoded UTF-8', async () => {
      for (const query of ['days=1&days=1', 'days=1&days=', 'days=&days=', 'd%61ys=1&days=2', 'days=%zz']) {
        refused(await sendExactly(viewer, 'GET', `${path}?${query}`))
      }
    })

    it('treats empty days as absent, and ignores unknown parameters', async () => {
      const { text } = await viewer.get(path)
      for (const query of ['days=', 'days', 'x=1&x=2', 'Days=1', 'pageSize=0&filter=(']) {
        assert.equal((await viewer.get(`${path}?${query}`)).text, text, query)
      }
    })

    it('treats any other spelling of the path as an order’s', async () => {
      assertProblem(await viewer.get('/v1/orders/Summary'), 404, 'order-not-found')
    })
  })

  it('changes nothing', async () => {
    const stateBefore = await storedState(service)
    assert.equal((await viewer.get(path)).status, 200)
    assert.deepEqual(await storedState(service), stateBefore)
  })
})

describe('getOrdersOverview at midnight UTC, by the clock of the service', () => {
  const service = testService()
  onlyOrders(service)

  it('begins a new day', async () => {
    service.advance(startOf(service.now()) + day - service.now() - 5_000)
    const caller = await service.bearer('admin')
    await createdId(caller)
    const [before] = (await caller.get(`${path}?days=1`)).body.days
    service.advance(6_000)
    const after = (await caller.get(`${path}?days=2`)).body.days
    assert.equal(before.pending.count, 1)
    assert.deepEqual(after[0], before)
    assert.deepEqual(after[1], { date: dateOf(service.now()), pending: nothing, ...nothingDecided })
  })
})

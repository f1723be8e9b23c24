// engine: both
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import type { Answer } from '../support/client.ts'
import { storedEvents } from '../support/kept-log.ts'
import { createdId, storedState } from '../support/orders.ts'
import { assertProblem } from '../support/problem.ts'
import { setUp, testService } from '../support/service.ts'

/** Calls that are all in progress before the first of them is answered. */
function atOnce(count: number, call: (index: number) => Promise<Answer>): Promise<Answer[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => call(index)))
}

describe('order races', () => {
  const service = testService()
  const admin = setUp(() => service.bearer('admin'))
  const operator = setUp(() => service.bearer('operator'))

  const approve = (id: string, headers: Record<string, string> = {}) =>
    admin.patch(`/v1/orders/${id}/approve`, undefined, headers)
  const create = (body: unknown, headers: Record<string, string> = {}) =>
    operator.post('/v1/orders', body, headers)
  const versionOf = async (id: string) => (await admin.get(`/v1/orders/${id}`)).headers.get('etag')
  const withStatus = (answers: Answer[], status: number) =>
    answers.filter((answer) => answer.status === status)
  const read = async (id: string) => (await admin.get(`/v1/orders/${id}`)).body
  const eventsOf = (id: string) => storedEvents(service.db.read, id)
  const ordersOf = async (customer: string) =>
    (await storedState(service)).orders.filter((order) => order.customer === customer)

  describe('approvals of one order', () => {
    it('succeed once: of 20 at once, one gets 204 and nineteen get 409 order-not-pending', async () => {
      const id = await createdId(operator)
      const callers = [admin, await service.session('admin')]
      const answers = await atOnce(20, (index) =>
        (callers[index % 2] ?? admin).patch(`/v1/orders/${id}/approve`),
      )
      const [winner, ...others] = withStatus(answers, 204)
      assert.deepEqual([winner?.headers.get('etag'), others.length], ['"2"', 0])
      const losers = answers.filter((answer) => answer !== winner)
      assert.equal(losers.length, 19)
      for (const loser of losers) {
        assertProblem(loser, 409, 'order-not-pending')
        assert.equal(loser.body.currentStatus, 1)
      }
      assert.equal(await versionOf(id), '"2"')
    })

    it('give each loser its reason: 412 for its version, 409 for the state', async () => {
      const headers: Record<string, string>[] = [
        {},
        { 'if-match': '"1"' },
        { 'if-match': '*' },
        { 'if-match': '"9"' },
      ]
      const reasons = [409, 412, 409, 412]
      const id = await createdId(operator)
      const answers = await atOnce(20, (index) => approve(id, headers[index % 4]))
      const winner = answers.findIndex(({ status }) => status === 204)
      assert.notEqual(winner, -1)
      const statuses = answers.map(({ status }) => status)
      assert.deepEqual(
        statuses,
        answers.map((_, index) => (index === winner ? 204 : reasons[index % 4])),
      )
      assert.notEqual(winner % 4, 3)
    })

    it('succeed once: of 20 at once with different keys, one gets 204, and only its key is kept', async () => {
      const id = await createdId(operator)
      const answers = await atOnce(20, (index) => approve(id, { 'idempotency-key': `${id}-${index}` }))
      assert.deepEqual([withStatus(answers, 204).length, withStatus(answers, 409).length], [1, 19])
      const { keys } = await storedState(service)
      assert.equal(keys.filter(({ key }) => key.startsWith(id)).length, 1)
    })

    it('succeed once in a race with reject and withdraw, and leave only that event', async () => {
      for (let round = 0; round < 10; round += 1) {
        const id = await createdId(operator)
        const answers = await Promise.all([
          admin.patch(`/v1/orders/${id}/approve`),
          admin.patch(`/v1/orders/${id}/reject`, { reason: 'Ordered twice.' }),
          operator.patch(`/v1/orders/${id}/withdraw`),
        ])
        const index = answers.findIndex((answer) => answer.status === 204)
        assert.deepEqual(answers.map((answer) => answer.status).sort(), [204, 409, 409])
        assert.equal((await read(id)).status, index + 1)
        const kinds = (await eventsOf(id)).map((event) => event.kind)
        assert.deepEqual(kinds, ['created', ['approved', 'rejected', 'withdrawn'][index]])
      }
    })
  })

  describe('creates', () => {
    it('make one order from 50 at once with one Idempotency-Key, and every answer is that 201 or 409', async () => {
      const key = randomUUID()
      const answers = await atOnce(50, () => create({ customer: key, total: 1 }, { 'idempotency-key': key }))
      const accepted = withStatus(answers, 201)
      assertInProgress(answers.filter((answer) => answer.status !== 201))
      const stored = await ordersOf(key)
      assert.equal(stored.length, 1)
      for (const { body, headers } of accepted) {
        assert.deepEqual(body, { id: stored[0]?.id })
        assert.equal(headers.get('location'), `/v1/orders/${body.id}`)
        assert.equal(headers.get('etag'), '"1"')
      }
      const replayed = accepted.map(({ headers }) => headers.get('idempotency-replayed'))
      assert.deepEqual(
        replayed.toSorted(),
        accepted.map((_, index) => (index < accepted.length - 1 ? 'true' : null)).toSorted(),
      )
    })

    it('make one order from 50 different requests at once with one key, and refuse the others with 422', async () => {
      const key = randomUUID()
      const answers = await atOnce(50, (index) =>
        create({ customer: key, total: index + 1 }, { 'idempotency-key': key }),
      )
      const [winner, ...others] = withStatus(answers, 201)
      assert.equal(others.length, 0)
      const refused = withStatus(answers, 422)
      for (const answer of refused) assertProblem(answer, 422, 'idempotency-key-reused')
      assertInProgress(answers.filter((answer) => answer !== winner && answer.status !== 422))
      const ids = (await ordersOf(key)).map(({ id }) => id)
      assert.deepEqual(ids, [winner?.body.id])
    })

    it('are all stored: 50 at once with different keys', async () => {
      const customer = randomUUID()
      const answers = await atOnce(50, (index) =>
        create({ customer, total: index + 1 }, { 'idempotency-key': `${customer}-${index}` }),
      )
      assert.equal(withStatus(answers, 201).length, 50)
      const stored = await ordersOf(customer)
      assert.deepEqual(stored.map(({ id }) => id).sort(), answers.map(({ body }) => body.id).sort())
      assert.equal(new Set(stored.map(({ total_e4 }) => total_e4)).size, 50)
    })

    it('are all stored: 50 at once without a key', async () => {
      const customer = randomUUID()
      const answers = await atOnce(50, () => create({ customer, total: 1 }))
      assert.equal(new Set(answers.map(({ body }) => body.id)).size, 50)
      assert.equal((await ordersOf(customer)).length, 50)
    })

    it('by different callers at once with the same key make one order each', async () => {
      const customer = randomUUID()
      const callers = [admin, operator, await service.bearer('demo-service')]
      const answers = await atOnce(30, (index) =>
        (callers[index % 3] ?? admin).post(
          '/v1/orders',
          { customer, total: 1 },
          { 'idempotency-key': customer },
        ),
      )
      assertInProgress(answers.filter((answer) => answer.status !== 201))
      const stored = await ordersOf(customer)
      assert.deepEqual(stored.map(({ created_by }) => created_by).sort(), [
        'admin',
        'demo-service',
        'operator',
      ])
    })

    it('do not fail because others at the same time do', async () => {
      const customer = randomUUID()
      const key = { 'idempotency-key': customer }
      const first = await create({ customer, total: 1 }, key)
      // Odd ones are refused inside the transaction that even ones may share.
      const answers = await atOnce(40, (index) =>
        create({ customer, total: index + 2 }, index % 2 === 1 ? key : {}),
      )
      assert.deepEqual(
        answers.map(({ status }) => status),
        answers.map((_, index) => (index % 2 === 1 ? 422 : 201)),
      )
      const created = withStatus(answers, 201).map(({ body }) => body.id)
      assert.deepEqual(
        (await ordersOf(customer)).map(({ id }) => id).sort(),
        [first.body.id, ...created].sort(),
      )
    })
  })

  describe('reads during writes', () => {
    it('see an order as soon as its 201 has been sent', async () => {
      const answers = await atOnce(30, async () => {
        const { headers } = await create({ customer: 'Seen', total: 1 })
        return admin.get(headers.get('location') ?? '')
      })
      assert.equal(withStatus(answers, 200).length, 30)
    })

    it('show items and totals of one moment', async () => {
      const customer = randomUUID()
      const path = `/v1/orders?filter=customer%3D${customer}&paginated=`
      const [pages] = await Promise.all([
        atOnce(30, (index) => admin.get(`${path}${index % 2 === 0}&pageSize=100`)),
        atOnce(30, () => create({ customer, total: 1 })),
      ])
      for (const { body } of pages) assert.equal(body.items.length, body.totalCount)
    })

    it('show version and state of an order together', async () => {
      const id = await createdId(operator)
      const [reads] = await Promise.all([atOnce(30, () => admin.get(`/v1/orders/${id}`)), approve(id)])
      for (const { body, headers } of reads) {
        const isApproved = body.status === 1
        assert.equal(headers.get('etag'), isApproved ? '"2"' : '"1"')
        assert.equal(body.modifiedBy, isApproved ? 'admin' : null)
      }
    })
  })
})

/** Other answers that a request with a key may get while the first one runs. */
function assertInProgress(answers: Answer[]): void {
  for (const answer of answers) {
    assertProblem(answer, 409, 'idempotency-in-progress')
    assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/)
  }
}

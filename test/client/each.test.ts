import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { maximumNesting, maximumRestrictions } from '../../server/orders/filter/parser.ts'
import { newClient } from '../support/accounts.ts'
import { installedClient, watchedFetch } from '../support/client-package.ts'
import { insertOrders, orderRow } from '../support/orders.ts'
import { setUp, testService } from '../support/service.ts'

describe('each', () => {
  const client = setUp(installedClient)
  const service = testService({ env: { RATE_LIMIT_FACTOR: '0' } })
  const credentials = setUp(async () => (await newClient(service, ['Admin'])).credentials)
  const { fetch, count } = watchedFetch()
  const caller = setUp(async () => client.serviceClient({ baseUrl: service.baseUrl, fetch, ...credentials }))
  const other = setUp(async () => client.serviceClient({ baseUrl: service.baseUrl, ...credentials }))

  /** Pending orders of this customer. Returns their ids. */
  async function pending(customer: string, howMany: number): Promise<string[]> {
    const rows = Array.from({ length: howMany }, (_, index) =>
      orderRow({ customer, total_e4: ((index * 7919) % howMany) + 1 }),
    )
    await insertOrders(service, rows)
    return rows.map(({ id }) => id).sort()
  }

  const idsOf = async (walk: AsyncIterable<{ id: string }>) =>
    (await Array.fromAsync(walk)).map(({ id }) => id)

  for (const query of [{}, { orderBy: 'total' }, { orderBy: 'status' }, { orderBy: 'id', order: 'Desc' }]) {
    it(`gives each of 300 orders once while the walk decides on them: ${JSON.stringify(query)}`, async () => {
      const customer = `Walked ${JSON.stringify(query)}`
      const expected = await pending(customer, 300)
      const filter = `status=Pending customer='${customer}'`
      const walked: string[] = []
      const calls: Promise<unknown>[] = []
      for await (const { id } of caller.orders.each({ filter, ...query })) {
        walked.push(id)
        calls.push(walked.length % 2 === 0 ? caller.orders.approve(id) : caller.orders.reject(id, 'No.'))
        if (calls.length === 20) await Promise.all(calls.splice(0))
      }
      await Promise.all(calls)
      assert.equal(walked.length, 300)
      assert.deepEqual(walked.sort(), expected)
    })
  }

  it('gives no order that others have decided on before its turn, and none twice', async () => {
    await pending('Shared', 300)
    const filter = 'status=Pending customer=Shared'
    for (const orderBy of ['id', 'total'] as const) {
      const { items } = await client.answerOf(other.orders.list({ filter, orderBy, paginated: false }))
      const ids = items.map(({ id }) => id)
      const walked: string[] = []
      for await (const { id } of caller.orders.each({ filter, orderBy, pageSize: 10 })) {
        walked.push(id)
        const decided = walked.length === 1 ? ids.splice(50, 100) : []
        await Promise.all(decided.map((one) => other.orders.reject(one, 'No.')))
      }
      assert.deepEqual(walked, ids)
    }
  })

  it('gives at the end what others moved past the pages while they were read', async () => {
    await pending('Moved', 40)
    const query = { filter: 'status=Pending customer=Moved', orderBy: 'total' }
    const { items } = await client.answerOf(other.orders.list({ ...query, paginated: false }))
    const ids = items.map(({ id }) => id)
    let decided: string[] | undefined
    const moving = async (request: Request, init: RequestInit) => {
      const answer = await globalThis.fetch(request, init)
      if (new URL(request.url).pathname === '/v1/orders' && decided === undefined) {
        decided = ids.splice(0, 10)
        await Promise.all(decided.map((id) => other.orders.reject(id, 'No.')))
      }
      return answer
    }
    const walker = client.serviceClient({ baseUrl: service.baseUrl, fetch: moving, ...credentials })
    const walked = await idsOf(walker.orders.each({ ...query, pageSize: 10 }))
    assert.deepEqual(walked, [...ids.slice(10), ...ids.slice(0, 10).sort()])
  })

  it('keeps the sort that was asked for', async () => {
    await pending('Sorted', 150)
    for (const [orderBy, order] of [
      ['total', 'Desc'],
      ['customer', 'Asc'],
      ['createdAtUtc', 'Desc'],
      ['id', 'Asc'],
    ] as const) {
      const query = { filter: 'customer=Sorted', orderBy, order }
      const whole = await client.answerOf(caller.orders.list({ ...query, paginated: false }))
      assert.deepEqual(await Array.fromAsync(caller.orders.each(query)), whole.items)
    }
  })

  it('walks by a filter at each limit of the language', async () => {
    await pending('At the limit', 120)
    const customer = `customer='At the limit'`
    const filters = [
      `${customer} ${'total>0 '.repeat(maximumRestrictions - 1)}`,
      `${'('.repeat(maximumNesting)}${customer}${')'.repeat(maximumNesting)}`,
      `${customer} -${'x'.repeat(1_000)}`.slice(0, 1_000),
      // Words that would be refused next to the parenthesis of the walk.
      `or else -zzz`,
    ]
    await pending('Or else', 120)
    for (const filter of filters) {
      assert.equal((await idsOf(caller.orders.each({ filter }))).length, 120, filter)
      assert.equal((await idsOf(caller.orders.each({ filter, orderBy: 'total' }))).length, 120, filter)
    }
    for (const filter of [`${customer}${' '.repeat(1_000)}`, `${customer}) OR (total>0`]) {
      const refused = await idsOf(caller.orders.each({ filter })).catch((failure) => failure)
      assert.ok(client.problemOf(refused, 'invalid-filter'), filter)
    }
  })

  it('reads no further than needed, and other lists whole before the first entry', async () => {
    const before = count('/v1/orders')
    for await (const _ of caller.orders.each()) break
    assert.equal(count('/v1/orders'), before + 1)
    const sort = { orderBy: 'id', order: 'Asc' }
    const content = { filter: '', sort, columns: ['id' as const] }
    const names = ['Each 1', 'Each 2', 'Each 3']
    for (const name of names) {
      const params = { path: { id: crypto.randomUUID() } }
      await caller.PUT('/v1/views/{id}', { params, body: { ...content, name } })
    }
    const walked: string[] = []
    for await (const { id, name } of caller.each('/v1/views', { params: { query: { pageSize: 1 } } })) {
      walked.push(name)
      await caller.DELETE('/v1/views/{id}', { params: { path: { id } } })
    }
    assert.deepEqual(walked, names)
  })
})

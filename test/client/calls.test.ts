import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import type * as Package from '../../client/src/index.ts'
import { newClient } from '../support/accounts.ts'
import { installedClient, watchedFetch } from '../support/client-package.ts'
import { seal } from '../support/log.ts'
import { setUp, testService } from '../support/service.ts'

/** The stream up to its first event. */
function cutAfterAnEvent(answer: Response): Response {
  const cutting = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      controller.enqueue(chunk)
      if (Buffer.from(chunk).includes('data: ')) controller.terminate()
    },
  })
  return new Response(answer.body?.pipeThrough(cutting), answer)
}

describe('the client', () => {
  const client = setUp(installedClient)
  const service = testService({ orders: true })

  describe('works', () => {
    let caller: Package.Client
    before(async () => {
      caller = client.serviceClient({
        baseUrl: service.baseUrl,
        ...(await newClient(service, ['Admin'])).credentials,
      })
    })

    it('by names: from the creation of an order to its receipt', async () => {
      const { orders } = caller
      const { data } = await orders.create({ customer: 'Named', total: '12.50' }, { timeZone: 'Asia/Tokyo' })
      const read = await orders.get(data.id)
      assert.deepEqual([read.data.total, read.data.createdAtTimeZone], [12.5, 'Asia/Tokyo'])
      assert.equal((await orders.note(data.id, 'Called them.')).response.status, 201)
      await orders.approve(data.id, { ifUnchanged: read })
      await assert.rejects(orders.reject(data.id, 'Late.', { ifUnchanged: read }), (failure) => {
        return client.problemOf(failure, 'precondition-failed') !== undefined
      })
      const kinds = (await Array.fromAsync(orders.history(data.id))).map(({ kind }) => kind)
      assert.deepEqual(kinds, ['created', 'noted', 'approved'])
      assert.equal((await client.answerOf(orders.approvals(data.id))).given.length, 1)
      const { receipt } = await client.answerOf(orders.receipt(data.id))
      const { keys } = await client.answerOf(caller.GET('/v1/log/key'))
      const vouched = await Promise.all(keys.map(({ verifierKey }) => client.readVerifierKey(verifierKey)))
      const judged = await client.judgeReceipt(receipt, vouched)
      const { id, customer, total } = judged.order ?? {}
      const valid = [client.verdictOf([judged]), id, customer, total]
      assert.deepEqual(valid, ['valid', data.id, 'Named', '12.5'])
      const withdrawn = await client.answerOf(orders.create({ customer: 'Named', total: 1 }))
      await orders.withdraw(withdrawn.id, 'Twice.')
      const query = { filter: 'customer=Named', orderBy: 'id', order: 'Asc' }
      const page = await client.answerOf(orders.list(query))
      const { Approved, Withdrawn } = client.orderStates
      const statuses = page.items.map(({ status }) => status)
      assert.deepEqual(statuses, [Approved, Withdrawn])
      assert.deepEqual(await Array.fromAsync(orders.each(query)), page.items)
      assert.deepEqual(await Array.fromAsync(orders.export(query)), page.items)
    })

    it('through a list page by page, and no further than needed', async () => {
      const { fetch, count } = watchedFetch()
      const { credentials } = await newClient(service)
      const watchedCaller = client.serviceClient({ baseUrl: service.baseUrl, fetch, ...credentials })
      const query = { orderBy: 'id', order: 'Asc', filter: 'createdBy!=none' }
      const { totalCount = 0 } = await client.answerOf(caller.GET('/v1/orders', { params: { query } }))
      const params = { query: { ...query, pageNumber: 2 } }
      const ids: string[] = []
      for await (const { id } of watchedCaller.each('/v1/orders', { params })) {
        ids.push(id)
        assert.ok(ids.length <= totalCount)
      }
      assert.ok(ids.length > 200)
      assert.deepEqual(ids, [...new Set(ids)].sort())
      assert.equal(ids.length, totalCount)
      const pages = count('/v1/orders')
      assert.equal(pages, Math.ceil(ids.length / 100))
      for await (const _ of watchedCaller.each('/v1/orders')) break
      assert.equal(count('/v1/orders'), pages + 1)
    })

    it('through a whole list in a chosen form', async () => {
      const whole = await caller.export('/v1/orders', 'application/jsonl')
      const { totalCount } = await client.answerOf(caller.GET('/v1/orders'))
      assert.equal((await whole.text()).split('\n').length - 1, totalCount)
      const refused = caller.export('/v1/orders', 'text/csv', { params: { query: { filter: 'total>' } } })
      await assert.rejects(refused, (failure) => client.problemOf(failure, 'invalid-filter') !== undefined)
    })

    it('through an export line by line, and throws if it breaks off', async () => {
      const broken = new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(new TextEncoder().encode('{"customer":"Acme"}\n{"custo')),
        pull: (controller) => controller.error(new TypeError('terminated')),
      })
      const { orders } = client.browserClient({
        baseUrl: service.baseUrl,
        fetch: async () => new Response(broken),
      })
      const lines = orders.export()
      assert.equal((await lines.next()).value?.customer, 'Acme')
      await assert.rejects(lines.next(), client.NoAnswerError)
    })

    it('through what happens to orders, resumed after a lost connection', async () => {
      const leaving = new AbortController()
      const asked: (string | null)[] = []
      const { credentials } = await newClient(service, ['Admin'])
      const { orders } = client.serviceClient({
        baseUrl: service.baseUrl,
        ...credentials,
        async fetch(request, init) {
          const answer = await fetch(request, init)
          if (!request.url.endsWith('/events')) return answer
          asked.push(request.headers.get('last-event-id'))
          return asked.length > 1 ? answer : cutAfterAnEvent(answer)
        },
      })
      await seal(service.db)
      const batches = orders.follow({ signal: leaving.signal })
      /** Without the batches that say only how far the log goes. */
      const changed = async function* () {
        for await (const { changes, place } of batches) {
          if (changes.length > 0) yield { kinds: changes.map(({ kind }) => kind), place }
        }
      }
      const changes = changed()
      const nextAfter = async (change: () => Promise<unknown>) => {
        const next = changes.next()
        await change()
        await seal(service.db)
        return (await next).value
      }
      let id = ''
      const first = await nextAfter(async () => {
        while (asked.length === 0) await wait(5)
        ;({ id } = await client.answerOf(orders.create({ customer: 'Followed', total: 1 })))
      })
      const second = await nextAfter(() => orders.approve(id))
      assert.deepEqual([first?.kinds, second?.kinds], [['created'], ['approved']])
      assert.deepEqual(asked, [null, first?.place])
      leaving.abort()
      assert.equal((await changes.next()).done, true)
    })

    it('through them until the service refuses the caller', async () => {
      const { credentials } = await newClient(service, [])
      const { orders } = client.serviceClient({ baseUrl: service.baseUrl, ...credentials })
      await assert.rejects(orders.follow().next(), (failure) => {
        return client.problemOf(failure, 'permission-denied') !== undefined
      })
    })

    it('changes an order that was read, unless it has changed since', async () => {
      const { data } = await caller.POST('/v1/orders', { body: { customer: 'Acme', total: '12.50' } })
      const params = { path: { id: data.id } }
      const before = await caller.GET('/v1/orders/{id}', { params })
      assert.deepEqual([before.etag, before.data.total], ['"1"', 12.5])
      const rejected = {
        params: { ...params, header: client.ifUnchanged(before) },
        body: { reason: 'Twice.' },
      }
      await caller.PATCH('/v1/orders/{id}/reject', rejected)
      const approval = { params: { ...params, header: client.ifUnchanged(before) } }
      await assert.rejects(caller.PATCH('/v1/orders/{id}/approve', approval), (failure) => {
        return client.problemOf(failure, 'precondition-failed') !== undefined
      })
      await assert.rejects(caller.PATCH('/v1/orders/{id}/approve', { params }), (failure) => {
        const problem = client.problemOf(failure, 'order-not-pending')
        return problem?.currentStatus === client.orderStates.Rejected
      })
    })

    it('until it is aborted, and throws if no answer comes', async () => {
      const signal = AbortSignal.abort()
      await assert.rejects(caller.GET('/v1/orders', { signal }), { name: 'AbortError' })
      const nobody = client.browserClient({ baseUrl: 'http://127.0.0.1:9', retries: 0 })
      await assert.rejects(nobody.GET('/health'), {
        name: 'NoAnswerError',
        message: 'no answer (GET http://127.0.0.1:9/health)',
      })
      const proxy = client.browserClient({
        baseUrl: service.baseUrl,
        fetch: async () => new Response('<html>', { status: 502 }),
        retries: 0,
      })
      await assert.rejects(proxy.GET('/health'), client.NoAnswerError)
    })
  })

  describe('sends again after a passing failure', () => {
    const lost = () => {
      throw new TypeError('terminated')
    }
    const refusal = (retryAfter: string) =>
      Response.json(
        { code: 'overloaded', status: 503, detail: 'Try again.' },
        { status: 503, headers: { 'retry-after': retryAfter } },
      )

    /** A caller that gets these answers, one after another, for its first requests to a path. */
    async function callerWith(path: string, ...replaced: (() => Response)[]) {
      const { fetch, count } = watchedFetch((asked, answer) => {
        return (asked === path && replaced.shift()?.()) || answer
      })
      const { credentials } = await newClient(service, ['Admin'])
      return {
        caller: client.serviceClient({ baseUrl: service.baseUrl, fetch, ...credentials }),
        sent: () => count(path),
      }
    }

    it('a change under its key, so that it happens once', async () => {
      const { caller, sent } = await callerWith('/v1/orders', lost)
      await caller.orders.create({ customer: 'Only once', total: 1 })
      assert.equal(sent(), 2)
      const { totalCount } = await client.answerOf(caller.orders.list({ filter: 'customer="Only once"' }))
      assert.equal(totalCount, 1)
    })

    it('a change that the program sends again with the key of the error, so that it happens once', async () => {
      let isLost = true
      const { credentials } = await newClient(service, ['Admin'])
      const fetchOrLose = async (request: Request, init: RequestInit) => {
        const answer = await fetch(request, init)
        if (isLost && request.method === 'PATCH') throw new TypeError('lost')
        return answer
      }
      const { orders } = client.serviceClient({
        ...{ baseUrl: service.baseUrl, fetch: fetchOrLose, retries: 0 },
        ...credentials,
      })
      const { id } = (await orders.create({ customer: 'Approved once', total: 1 })).data
      const failure = await orders.approve(id).catch((error) => error)
      assert.ok(failure instanceof client.NoAnswerError)
      isLost = false
      const refusal = await orders.approve(id).catch((error) => client.problemOf(error, 'order-not-pending'))
      assert.match(
        String(refusal && 'detail' in refusal && refusal.detail),
        /You are the one who approved it/,
      )
      const { idempotencyKey } = failure
      const { headers } = (await orders.approve(id, { idempotencyKey })).response
      assert.equal(headers.get('idempotency-replayed'), 'true')
    })

    it('a read, at most three times, after the wait that the service requires', async () => {
      const [once, often] = [() => refusal('0'), Array.from({ length: 4 }, () => () => refusal('0'))]
      const passing = await callerWith('/v1/auth/me', once)
      await passing.caller.GET('/v1/auth/me')
      assert.equal(passing.sent(), 2)
      const lasting = await callerWith('/v1/auth/me', ...often)
      await assert.rejects(lasting.caller.GET('/v1/auth/me'), client.ProblemError)
      assert.equal(lasting.sent(), 4)
    })

    it('but neither a change without a key nor what would take longer than 10 s', async () => {
      const keyless = await callerWith('/v1/orders', lost)
      const body = { customer: 'Acme', total: 1 }
      await assert.rejects(keyless.caller.POST('/v1/orders', { body }), client.NoAnswerError)
      const patient = await callerWith('/v1/auth/me', () => refusal('11'))
      await assert.rejects(patient.caller.GET('/v1/auth/me'), client.ProblemError)
      assert.deepEqual([keyless.sent(), patient.sent()], [1, 1])
    })

    it('until the caller aborts', async () => {
      const leaving = new AbortController()
      const { caller, sent } = await callerWith('/v1/auth/me', () => {
        setTimeout(() => leaving.abort())
        return refusal('10')
      })
      await assert.rejects(caller.GET('/v1/auth/me', { signal: leaving.signal }), { name: 'AbortError' })
      assert.equal(sent(), 1)
    })
  })
})

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import type { Answer } from '../../support/client.ts'
import { storedEvents } from '../../support/kept-log.ts'
import { createdId, insertOrders, orderRow, sendExactly, storedState } from '../../support/orders.ts'
import { assertFaults, assertProblem } from '../../support/problem.ts'
import { type Service, setUp, testService } from '../../support/service.ts'
import { badWords, goodWords } from '../../support/words.ts'

/** A transition of an order to a final state. */
export interface Transition {
  /** Last part of the path. */
  path: 'approve' | 'reject' | 'withdraw'
  /** The status of the moved order, and of its event. */
  status: number
  kind: string
  /** Who may make the transition with an order of the operator. */
  actor: 'admin' | 'operator'
  /** Undefined for a transition without a reason. */
  reason: string | undefined
  /** Further members of `data` of its event, besides the total. */
  facts: object
}

/**
 * The tests that all moves share, in the order of every file of an operation. Further tests may use its
 * service.
 */
export function describeTransition({ path, status, kind, actor, reason, facts }: Transition): Service {
  const service = testService()
  const operator = setUp(() => service.bearer('operator'))
  const caller = setUp(() => service.bearer(actor))

  const move = (id: string, headers?: Record<string, string>, body: unknown = reason && { reason }) =>
    caller.patch(`/v1/orders/${id}/${path}`, body, headers)
  const read = async (id: string) => (await caller.get(`/v1/orders/${id}`)).body
  /** Inserts an order of the operator, in any version and state. */
  const insert = async (given: Parameters<typeof orderRow>[0]) => {
    const { body: creator } = await operator.get('/v1/auth/me')
    const row = orderRow({ created_by: creator.userName, created_by_id: creator.id, ...given })
    await insertOrders(service, [row])
    return row.id
  }
  const eventsOf = (id: string) => storedEvents(service.db.read, id)

  describe('succeeds', () => {
    it('answers 204 without body and with the new version', async () => {
      const answer = await move(await createdId(operator))
      assert.deepEqual([answer.status, answer.text, answer.headers.get('etag')], [204, '', '"2"'])
      for (const name of ['content-type', 'location', 'idempotency-replayed']) {
        assert.equal(answer.headers.get(name), null)
      }
      assert.equal(answer.headers.get('cache-control'), 'private, no-cache')
    })

    it('moves the order and stamps who, when and where, and nothing else', async () => {
      const id = await createdId(operator, { customer: 'Müller', total: '12.3456' })
      const { updatedAtUtc: _, ...created } = await read(id)
      service.advance(1_000)
      const earliest = service.now()
      await move(id, { 'time-zone': 'Europe/Berlin' })
      const { updatedAtUtc, ...rest } = await read(id)
      assert.deepEqual(rest, {
        ...created,
        status,
        updatedAtTimeZone: 'Europe/Berlin',
        modifiedBy: actor,
      })
      assert.ok(earliest <= Date.parse(updatedAtUtc) && Date.parse(updatedAtUtc) <= service.now())
    })

    it('leaves one event with what was decided on, and the reason if it takes one', async () => {
      const id = await createdId(operator, { customer: 'Müller', total: '12.3450' })
      const { body: self } = await caller.get('/v1/auth/me')
      await move(id, { 'time-zone': 'Asia/Tokyo' })
      const [created, event, ...others] = await eventsOf(id)
      assert.deepEqual([created?.kind, others.length], ['created', 0])
      assert.partialDeepStrictEqual(event, {
        kind,
        version: 2,
        by: actor,
        by_id: self.id,
        at: Date.parse((await read(id)).updatedAtUtc),
        at_time_zone: 'Asia/Tokyo',
        text: reason ?? null,
      })
      assert.deepEqual(JSON.parse(event?.data ?? ''), { total: '12.345', ...facts })
      assert.equal(JSON.parse(event?.clear ?? '').customer.value, 'Müller')
    })

    it('works from any version, and changes only this order', async () => {
      const [id, bystander] = [await insert({ version: 41 }), await createdId(operator)]
      const asItWas = await read(bystander)
      assert.equal((await move(id)).headers.get('etag'), '"42"')
      assert.deepEqual(await read(bystander), asItWas)
    })

    it('accepts the id in upper or lower case, a trailing slash, and unknown members and parameters', async () => {
      assert.equal((await move((await createdId(operator)).toUpperCase())).status, 204)
      const id = await createdId(operator)
      const body = { reason, status: 1, version: 9, text: 'x' }
      assert.equal((await caller.patch(`/v1/orders/${id}/${path}/?status=1`, body)).status, 204)
      assert.equal((await read(id)).status, status)
    })

    it('works by session with its antiforgery token', async () => {
      const id = await createdId(operator)
      const browser = await service.session(actor)
      assert.equal((await browser.patch(`/v1/orders/${id}/${path}`, reason && { reason })).status, 204)
      const { modifiedBy, updatedAtTimeZone } = await read(id)
      assert.deepEqual([modifiedBy, updatedAtTimeZone], [actor, 'UTC'])
    })
  })

  if (reason !== undefined) {
    describe('takes a reason', () => {
      it('gives each reason its own salt', async () => {
        const both = [await createdId(operator), await createdId(operator)]
        for (const id of both) await move(id)
        const [a, b] = await Promise.all(both.map(async (id) => (await eventsOf(id)).at(-1)))
        assert.equal(a?.text, b?.text)
        const [one, other] = [a, b].map((event) => JSON.parse(event?.clear ?? '').text.salt)
        assert.match(one, /^[0-9a-f]{32}$/)
        assert.notEqual(one, other)
      })

      for (const [what, sent, kept] of goodWords) {
        it(`that has ${what}`, async () => {
          const id = await createdId(operator)
          const answer = await move(id, {}, { reason: sent })
          assert.equal(answer.status, 204, answer.text)
          assert.equal((await eventsOf(id)).at(-1)?.text, kept)
          const { body: history } = await caller.get(`/v1/orders/${id}/history`)
          assert.equal(history.items.at(-1).text, kept)
        })
      }

      for (const [what, json, code] of badWords) {
        it(`refuses a reason that is or has ${what}`, async () => {
          const id = await createdId(operator)
          assertFaults(await move(id, {}, `{"reason":${json}}`), { '#/reason': code })
          assert.equal((await read(id)).status, 0)
        })
      }

      it('and treats another wording as another request under the same key, but not other white space', async () => {
        const [id, key] = [await createdId(operator), { 'idempotency-key': randomUUID() }]
        assert.equal((await move(id, key)).status, 204)
        const again = await move(id, key, { more: 1, reason: ` ${reason} ` })
        assert.deepEqual([again.status, again.headers.get('idempotency-replayed')], [204, 'true'])
        assertProblem(await move(id, key, { reason: 'Another.' }), 422, 'idempotency-key-reused')
      })

      it('and answers 400 to a faulty one before 404, 412 and 409', async () => {
        const approved = await insert({ status: 1, version: 2, approvals_given: 1 })
        for (const id of [randomUUID(), 'x', approved]) {
          assertProblem(await move(id, { 'if-match': '"9"' }, { reason: '' }), 400, 'validation-failed')
        }
      })
    })
  }

  describe('honours If-Match', () => {
    for (const tags of ['"3"', '*', '"1", "3"', 'W/"3"', ',"3",']) {
      it(`moves version 3 with If-Match: ${tags}`, async () => {
        const answer = await move(await insert({ version: 3 }), { 'if-match': tags })
        assert.deepEqual([answer.status, answer.headers.get('etag')], [204, '"4"'])
      })
    }

    for (const tags of ['"2"', '"2", "4"', '"03"', '""', '"4294967299"', '3', '"3', '', '**']) {
      it(`answers 412 with the current version for version 3 with If-Match: ${tags}`, async () => {
        const id = await insert({ version: 3 })
        const answer = await move(id, { 'if-match': tags })
        assertProblem(answer, 412, 'precondition-failed')
        assert.equal(answer.headers.get('etag'), '"3"')
        assert.equal((await read(id)).status, 0)
      })
    }

    it('reads it over several lines as one list', async () => {
      const url = `/v1/orders/${await insert({ version: 3 })}/${path}`
      const lines = ['If-Match: "1"', 'If-Match: "3"', 'Content-Type: application/json']
      const answer = await sendExactly(caller, 'PATCH', url, lines, JSON.stringify({ reason }))
      assert.equal(answer.status, 204)
    })

    it('checks it after 404 and before 409', async () => {
      assertProblem(await move(randomUUID(), { 'if-match': '"1"' }), 404, 'order-not-found')
      const id = await insert({ status: 1, version: 5, approvals_given: 1 })
      assertProblem(await move(id, { 'if-match': '"4"' }), 412, 'precondition-failed')
      assertProblem(await move(id, { 'if-match': '"5"' }), 409, 'order-not-pending')
    })
  })

  describe('honours Idempotency-Key', () => {
    const keyed = (id: string, key: string, headers = {}) => move(id, { 'idempotency-key': key, ...headers })

    for (const tags of ['*', '"1"', '"7", "1"']) {
      it(`replays the same request, with one event, for If-Match: ${tags}`, async () => {
        const [id, key, given] = [await createdId(operator), randomUUID(), { 'if-match': tags }]
        const answers = [await keyed(id, key, given), await keyed(id, key, given)]
        assert.deepEqual(
          answers.map(({ status, headers }) => [
            status,
            headers.get('etag'),
            headers.get('idempotency-replayed'),
          ]),
          [
            [204, '"2"', null],
            [204, '"2"', 'true'],
          ],
        )
        assert.equal((await eventsOf(id)).length, 2)
      })
    }

    it('answers 422 for another If-Match or time zone', async () => {
      const [id, key] = [await createdId(operator), randomUUID()]
      const first = { 'if-match': '"1"', 'time-zone': 'Asia/Tokyo' }
      await keyed(id, key, first)
      for (const headers of [
        {},
        { 'if-match': '"1"' },
        { 'time-zone': 'Asia/Tokyo' },
        { ...first, 'if-match': '"2"' },
        { ...first, 'time-zone': 'Asia/Seoul' },
      ]) {
        assertProblem(await keyed(id, key, headers), 422, 'idempotency-key-reused')
      }
      assert.equal((await keyed(id, key, first)).headers.get('idempotency-replayed'), 'true')
    })

    it('treats the key as new for another order, and for another operation on it', async () => {
      const [first, second, key] = [await createdId(operator), await createdId(operator), randomUUID()]
      for (const id of [first, second]) {
        const { status: answered, headers } = await keyed(id, key)
        assert.deepEqual([answered, headers.get('idempotency-replayed')], [204, null])
      }
      const headers = { 'idempotency-key': key }
      assert.equal((await caller.post(`/v1/orders/${first}/notes`, { text: 'x' }, headers)).status, 201)
    })
  })

  describe('rejects input', () => {
    it('answers 400 to a faulty header before 404, 412 and 409', async () => {
      const approved = await insert({ status: 1, version: 2, approvals_given: 1 })
      for (const id of [randomUUID(), 'x', approved]) {
        const stale = { 'if-match': '"9"' }
        assertProblem(await move(id, { ...stale, 'time-zone': 'Mars' }), 400, 'invalid-time-zone')
        assertProblem(await move(id, { ...stale, 'idempotency-key': '"' }), 400, 'invalid-idempotency-key')
      }
    })

    for (const id of ['x', '%00', '019a9d2e5b7c7f3a9c416d2f8e0b1a57', randomUUID()]) {
      it(`answers 404 for the id ${id.slice(0, 8)}`, async () => {
        assertProblem(await move(id), 404, 'order-not-found')
      })
    }
  })

  describe('conflicts', () => {
    for (const current of [1, 2, 3]) {
      it(`answers 409 with the current status for an order of status ${current}`, async () => {
        const id = await insert({ status: current, version: 2 })
        const asItWas = await read(id)
        const answer = await move(id)
        assertProblem(answer, 409, 'order-not-pending')
        assert.equal(answer.body.currentStatus, current)
        assert.equal(answer.headers.get('etag'), '"2"')
        assert.deepEqual(await read(id), asItWas)
        assert.deepEqual(await eventsOf(id), [])
      })
    }

    it('answers one of fifty simultaneous requests with 204, and leaves one event', async () => {
      const id = await createdId(operator)
      const answers = await Promise.all(Array.from({ length: 50 }, () => move(id)))
      const statuses = answers.map((answer: Answer) => answer.status).sort()
      assert.deepEqual(statuses, [204, ...Array<number>(49).fill(409)])
      const kinds = (await eventsOf(id)).map((event) => event.kind)
      assert.deepEqual(kinds, ['created', kind])
    })
  })

  it('writes no order, no event and no key on failure', async () => {
    const pending = await createdId(operator)
    const approved = await insert({ status: 1, version: 2, approvals_given: 1 })
    const stateBefore = await storedState(service)
    const key = { 'idempotency-key': 'no-trace' }
    const outsider = await service.bearer('viewer')
    const refused = [
      await move(pending, { ...key, 'if-match': '"2"' }),
      await move(pending, { ...key, 'time-zone': 'Mars' }),
      await move(approved, key),
      await move(randomUUID(), key),
      await outsider.patch(`/v1/orders/${pending}/${path}`, reason && { reason }, key),
      await service.client().patch(`/v1/orders/${pending}/${path}`, reason && { reason }, key),
    ]
    assert.deepEqual(
      refused.map((answer) => answer.status),
      [412, 400, 409, 404, 403, 401],
    )
    assert.deepEqual(await storedState(service), stateBefore)
  })
  return service
}

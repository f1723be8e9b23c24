import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { newUser, tokenPair } from '../../support/accounts.ts'
import type { Answer, Client } from '../../support/client.ts'
import { type LoggedEvent, storedEvents } from '../../support/kept-log.ts'
import { createdId, insertOrders, orderRow, setTimeZone, storedState } from '../../support/orders.ts'
import { assertProblem } from '../../support/problem.ts'
import { addRole } from '../../support/roles.ts'
import { passwordOf, type Service, startService } from '../../support/service.ts'
import { badWords, goodWords } from '../../support/words.ts'

/** A move of an order to a final state, which has the rules of approve beside its reason. */
export interface Transition {
  /** Last part of the path. */
  path: 'reject' | 'withdraw'
  /** Of the moved order, and of its event. */
  status: number
  kind: string
  permission: 'Orders.Approve' | 'Orders.Create'
  /** Who may do it to an order of the operator. */
  actor: 'admin' | 'operator'
  /** Who lacks the permission. */
  outsiders: readonly ('operator' | 'viewer' | 'demo-service')[]
}

const reason = 'Ordered twice.'

/** What both moves have in common, in the order of every file of an operation. */
export function describeTransition({ path, status, kind, permission, actor, outsiders }: Transition): void {
  let service: Service
  let operator: Client
  let caller: Client
  before(async () => {
    service = await startService()
    operator = await service.bearer('operator')
    caller = await service.bearer(actor)
  })
  after(() => service.close())

  const move = (id: string, headers?: Record<string, string>, body: unknown = { reason }) =>
    caller.patch(`/v1/orders/${id}/${path}`, body, headers)
  const read = async (id: string) => (await caller.get(`/v1/orders/${id}`)).body
  /** Of the operator, in any version and state. */
  const insert = async (given: Parameters<typeof orderRow>[0]) => {
    const { body: creator } = await operator.get('/v1/auth/me')
    const row = orderRow({ created_by: creator.userName, created_by_id: creator.id, ...given })
    await insertOrders(service, [row])
    return row.id
  }
  const eventsOf = async (id: string): Promise<LoggedEvent[]> =>
    (await storedEvents(service.db.read)).filter(({ subject_id: subject }) => subject === id)

  describe('succeeds', () => {
    it('answers 204 without body and with the new version', async () => {
      const answer = await move(await createdId(operator))
      assert.deepEqual([answer.status, answer.text, answer.headers.get('etag')], [204, '', '"2"'])
      assert.equal(answer.headers.get('content-type'), null)
      assert.equal(answer.headers.get('idempotency-replayed'), null)
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

    it('leaves one event, of what was decided on, with the reason', async () => {
      const id = await createdId(operator, { customer: 'Müller', total: '12.3450' })
      const { body: self } = await caller.get('/v1/auth/me')
      await move(id, { 'time-zone': 'Asia/Tokyo' })
      const [created, event, ...others] = await eventsOf(id)
      assert.deepEqual([created?.kind, others.length], ['created', 0])
      assert.partialDeepStrictEqual(event, {
        kind,
        version: 2,
        by_name: actor,
        by_id: self.id,
        at: Date.parse((await read(id)).updatedAtUtc),
        at_time_zone: 'Asia/Tokyo',
        text: reason,
      })
      assert.deepEqual(JSON.parse(event?.data ?? ''), { customer: 'Müller', total: '12.345' })
    })

    it('gives each reason a salt of its own', async () => {
      const both = [await createdId(operator), await createdId(operator)]
      for (const id of both) await move(id)
      const [a, b] = await Promise.all(both.map(async (id) => (await eventsOf(id)).at(-1)))
      assert.equal(a?.text, b?.text)
      assert.match(a?.text_salt ?? '', /^[0-9a-f]{32}$/)
      assert.notEqual(a?.text_salt, b?.text_salt)
      assert.notEqual(a?.text_hash, b?.text_hash)
    })

    it('from any version, and changes this order only', async () => {
      const [id, bystander] = [await insert({ version: 41 }), await createdId(operator)]
      const asItWas = await read(bystander)
      assert.equal((await move(id)).headers.get('etag'), '"42"')
      assert.deepEqual(await read(bystander), asItWas)
    })

    it('takes the id in any case, a trailing slash, members and parameters that it does not know', async () => {
      assert.equal((await move((await createdId(operator)).toUpperCase())).status, 204)
      const id = await createdId(operator)
      const body = { reason, status: 1, version: 9, text: 'x' }
      assert.equal((await caller.patch(`/v1/orders/${id}/${path}/?status=1`, body)).status, 204)
      assert.equal((await read(id)).status, status)
    })

    it('for a session with its antiforgery token', async () => {
      const id = await createdId(operator)
      const browser = await service.session(actor)
      assert.equal((await browser.patch(`/v1/orders/${id}/${path}`, { reason })).status, 204)
      assert.equal((await read(id)).modifiedBy, actor)
    })
  })

  describe('takes a reason', () => {
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
  })

  describe('takes the time zone of the audit stamp', () => {
    it('from the header, else from the user, else from the setting', async (t) => {
      const elsewhere = await startService({ env: { DEFAULT_TIME_ZONE: 'Asia/Tokyo' } })
      t.after(() => elsewhere.close())
      const own = await elsewhere.bearer(actor)
      const creator = await elsewhere.bearer('operator')
      const zoneOf = async (headers: Record<string, string>) => {
        const id = await createdId(creator)
        await own.patch(`/v1/orders/${id}/${path}`, { reason }, headers)
        return (await own.get(`/v1/orders/${id}`)).body.updatedAtTimeZone
      }
      assert.equal(await zoneOf({ 'time-zone': 'europe/paris' }), 'Europe/Paris')
      assert.equal(await zoneOf({}), 'Asia/Tokyo')
      await setTimeZone(elsewhere, passwordOf(actor).email, 'America/New_York')
      elsewhere.advance(301_000)
      assert.equal(await zoneOf({}), 'America/New_York')
    })
  })

  describe('honours If-Match', () => {
    for (const tags of ['"3"', '*', '"1", "3"', 'W/"3"', ',"3",']) {
      it(`moves version 3 with If-Match: ${tags}`, async () => {
        const answer = await move(await insert({ version: 3 }), { 'if-match': tags })
        assert.deepEqual([answer.status, answer.headers.get('etag')], [204, '"4"'])
      })
    }

    for (const tags of ['"2"', '"2", "4"', '"03"', '""', '"4294967299"', '3', '"3', '', '**']) {
      it(`is 412 with the current version for version 3 with If-Match: ${tags}`, async () => {
        const id = await insert({ version: 3 })
        const answer = await move(id, { 'if-match': tags })
        assertProblem(answer, 412, 'precondition-failed')
        assert.equal(answer.headers.get('etag'), '"3"')
        assert.equal((await read(id)).status, 0)
      })
    }

    it('after 404 and before 409', async () => {
      assertProblem(await move(randomUUID(), { 'if-match': '"1"' }), 404, 'order-not-found')
      const id = await insert({ status: 1, version: 5, approvals_given: 1 })
      assertProblem(await move(id, { 'if-match': '"4"' }), 412, 'precondition-failed')
      assertProblem(await move(id, { 'if-match': '"5"' }), 409, 'order-not-pending')
    })
  })

  describe('honours Idempotency-Key', () => {
    const keyed = (id: string, key: string, body: unknown = { reason }, headers = {}) =>
      move(id, { 'idempotency-key': key, ...headers }, body)

    it('replays the same request, with one event', async () => {
      const [id, key] = [await createdId(operator), randomUUID()]
      const answers = [await keyed(id, key), await keyed(id, key, { more: 1, reason: ` ${reason} ` })]
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

    it('is 422 for another reason, If-Match or time zone', async () => {
      const [id, key] = [await createdId(operator), randomUUID()]
      await keyed(id, key)
      for (const [body, headers] of [
        [{ reason: 'Another.' }, {}],
        [{ reason }, { 'if-match': '"1"' }],
        [{ reason }, { 'time-zone': 'Asia/Tokyo' }],
      ]) {
        assertProblem(await keyed(id, key, body, headers), 422, 'idempotency-key-reused')
      }
    })

    it('is another key for another order, and for another operation on it', async () => {
      const [first, second, key] = [await createdId(operator), await createdId(operator), randomUUID()]
      for (const id of [first, second]) {
        const { status: answered, headers } = await keyed(id, key)
        assert.deepEqual([answered, headers.get('idempotency-replayed')], [204, null])
      }
      const note = await caller.post(
        `/v1/orders/${first}/notes`,
        { text: reason },
        { 'idempotency-key': key },
      )
      assert.equal(note.status, 201)
    })
  })

  describe('rejects input', () => {
    for (const [what, json, code] of badWords) {
      it(`refuses a reason that is or has ${what}`, async () => {
        const id = await createdId(operator)
        const answer = await move(id, {}, `{"reason":${json}}`)
        assertProblem(answer, 400, 'validation-failed')
        assert.deepEqual(
          answer.body.errors.map((error: { pointer: string; code: string }) => [error.pointer, error.code]),
          [['#/reason', code]],
        )
        assert.equal((await read(id)).status, 0)
      })
    }

    const bodies: [status: number, code: string, body: string, headers?: Record<string, string>][] = [
      [415, 'unsupported-media-type', 'reason=x', { 'content-type': 'application/x-www-form-urlencoded' }],
      [415, 'unsupported-media-type', '{"reason":"x"}', { 'content-encoding': 'gzip' }],
      [400, 'malformed-json', '{'],
      [400, 'malformed-json', '{"reason":"x","__proto__":{"reason":"y"}}'],
      [400, 'malformed-json', '{"reason":"x","more":{"constructor":{}}}'],
      [400, 'validation-failed', 'null'],
      [400, 'validation-failed', '[]'],
      [400, 'validation-failed', '"x"'],
      [413, 'body-too-large', `{"reason":"${'x'.repeat(2 * 1024 * 1024)}"}`],
    ]
    for (const [answered, code, body, headers = {}] of bodies) {
      it(`is ${answered} ${code} for ${body.slice(0, 40)} ${Object.keys(headers)}, and moves nothing`, async () => {
        const id = await createdId(operator)
        assertProblem(await move(id, headers, body), answered, code)
        assert.equal((await read(id)).status, 0)
      })
    }

    it('is 400 for a faulty header or reason before 404, 412 and 409', async () => {
      const approved = await insert({ status: 1, version: 2, approvals_given: 1 })
      for (const id of [randomUUID(), 'x', approved]) {
        const stale = { 'if-match': '"9"' }
        assertProblem(await move(id, { ...stale, 'time-zone': 'Mars' }), 400, 'invalid-time-zone')
        assertProblem(await move(id, { ...stale, 'idempotency-key': '"' }), 400, 'invalid-idempotency-key')
        assertProblem(await move(id, stale, { reason: '' }), 400, 'validation-failed')
      }
    })

    for (const id of ['x', '%00', '019a9d2e5b7c7f3a9c416d2f8e0b1a57', randomUUID()]) {
      it(`is 404 for the id ${id.slice(0, 8)}`, async () => {
        assertProblem(await move(id), 404, 'order-not-found')
      })
    }
  })

  describe('requires access', () => {
    it(`is 403 naming the permission without ${permission}, before the order is looked up`, async () => {
      const pending = await createdId(operator)
      for (const outsider of outsiders) {
        const other = await service.bearer(outsider)
        for (const id of [pending, randomUUID(), 'x']) {
          const answer = await other.patch(`/v1/orders/${id}/${path}`, '{', { 'if-match': '"9"' })
          assertProblem(answer, 403, 'permission-denied')
          assert.equal(answer.body.permission, permission)
          assert.equal(answer.headers.get('etag'), null)
        }
      }
      assert.equal((await read(pending)).status, 0)
    })

    it(`needs ${permission} and no other permission`, async () => {
      const role = await addRole(service, `Only for ${path}`, [permission])
      const user = await newUser(service, { roles: [role] })
      const { accessToken } = await tokenPair(service, user)
      const own = service.client().withBearer(accessToken)
      const id = await insert({ created_by: user.userName, created_by_id: user.id })
      assert.equal((await own.patch(`/v1/orders/${id}/${path}`, { reason })).status, 204)
    })

    it('is 401 without a credential, and 403 for a session without its antiforgery token', async () => {
      const id = await createdId(operator)
      const anybody = await service.client().patch(`/v1/orders/${id}/${path}`, { reason })
      assertProblem(anybody, 401, 'authentication-required')
      const browser = await service.session(actor)
      delete browser.headers['x-xsrf-token']
      assertProblem(await browser.patch(`/v1/orders/${id}/${path}`, { reason }), 403, 'csrf-token-missing')
      assert.equal((await read(id)).status, 0)
    })
  })

  describe('conflicts', () => {
    for (const current of [1, 2, 3]) {
      it(`is 409 with the current status for an order of status ${current}`, async () => {
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

    it('fifty at once: one is answered 204, and there is one event', async () => {
      const id = await createdId(operator)
      const answers = await Promise.all(Array.from({ length: 50 }, () => move(id)))
      const statuses = answers.map((answer: Answer) => answer.status).sort()
      assert.deepEqual(statuses, [204, ...Array<number>(49).fill(409)])
      assert.deepEqual(
        (await eventsOf(id)).map((event) => event.kind),
        ['created', kind],
      )
    })

    it('approve, reject and withdraw at once: one of them, and its event alone', async () => {
      const admin = await service.bearer('admin')
      for (let round = 0; round < 10; round += 1) {
        const id = await createdId(operator)
        const answers = await Promise.all([
          admin.patch(`/v1/orders/${id}/approve`),
          admin.patch(`/v1/orders/${id}/reject`, { reason }),
          operator.patch(`/v1/orders/${id}/withdraw`),
        ])
        const index = answers.findIndex((answer) => answer.status === 204)
        assert.deepEqual(answers.map((answer) => answer.status).sort(), [204, 409, 409])
        assert.equal((await read(id)).status, index + 1)
        assert.deepEqual(
          (await eventsOf(id)).map((event) => event.kind),
          ['created', ['approved', 'rejected', 'withdrawn'][index]],
        )
      }
    })
  })

  describe('leaves no trace on failure', () => {
    it('writes neither to the order, nor to the log, nor a key', async () => {
      const pending = await createdId(operator)
      const approved = await insert({ status: 1, version: 2, approvals_given: 1 })
      const stateBefore = await storedState(service)
      const key = { 'idempotency-key': 'no-trace' }
      const outsider = await service.bearer('viewer')
      const refused = [
        await move(pending, { ...key, 'if-match': '"2"' }),
        await move(pending, { ...key, 'time-zone': 'Mars' }),
        await move(pending, key, { reason: '\u202e' }),
        await move(approved, key),
        await move(randomUUID(), key),
        await outsider.patch(`/v1/orders/${pending}/${path}`, { reason }, key),
        await service.client().patch(`/v1/orders/${pending}/${path}`, { reason }, key),
      ]
      assert.deepEqual(
        refused.map((answer) => answer.status),
        [412, 400, 400, 409, 404, 403, 401],
      )
      assert.deepEqual(await storedState(service), stateBefore)
    })
  })
}

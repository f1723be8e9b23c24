import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { newUser, tokenPair } from '../support/accounts.ts'
import type { Client } from '../support/client.ts'
import {
  createdId,
  insertOrders,
  orderRow,
  sendExactly,
  setTimeZone,
  storedState,
} from '../support/orders.ts'
import { assertProblem } from '../support/problem.ts'
import { addRole } from '../support/roles.ts'
import { passwordOf, type Service, startService } from '../support/service.ts'

describe('approveOrder', () => {
  let service: Service
  let admin: Client
  let operator: Client
  before(async () => {
    service = await startService()
    addRole(service, 'Approver', ['Orders.Approve'])
    admin = await service.bearer('admin')
    operator = await service.bearer('operator')
  })
  after(() => service.close())

  const approve = (id: string, headers?: Record<string, string>) =>
    admin.patch(`/v1/orders/${id}/approve`, undefined, headers)
  const read = async (id: string) => (await admin.get(`/v1/orders/${id}`)).body
  const insert = async (given: Parameters<typeof orderRow>[0]) => {
    const row = orderRow(given)
    await insertOrders(service, [row])
    return row.id
  }

  describe('succeeds', () => {
    it('answers 204 without body and with the new version', async () => {
      const answer = await approve(await createdId(operator))
      assert.deepEqual([answer.status, answer.text], [204, ''])
      assert.equal(answer.headers.get('etag'), '"2"')
      assert.equal(answer.headers.get('content-type'), null)
      assert.equal(answer.headers.get('location'), null)
      assert.equal(answer.headers.get('idempotency-replayed'), null)
    })

    it('moves the order to Approved and stamps who, when and where, and nothing else', async () => {
      const id = await createdId(operator, { customer: 'Müller', total: '12.3456' })
      const asCreated = await read(id)
      const earliest = service.now()
      await approve(id, { 'time-zone': 'Europe/Berlin' })
      const latest = service.now()
      const { updatedAtUtc, ...rest } = await read(id)
      const { updatedAtUtc: _, ...created } = asCreated
      assert.deepEqual(rest, {
        ...created,
        status: 1,
        updatedAtTimeZone: 'Europe/Berlin',
        modifiedBy: 'admin',
      })
      assert.match(updatedAtUtc, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      const updatedAt = Date.parse(updatedAtUtc)
      assert.ok(earliest <= updatedAt && updatedAt <= latest, updatedAtUtc)
    })

    it('increments the row version, wherever it stood', async () => {
      const id = await insert({ version: 41 })
      assert.equal((await approve(id)).headers.get('etag'), '"42"')
      assert.equal((await admin.get(`/v1/orders/${id}`)).headers.get('etag'), '"42"')
    })

    it('changes this order only', async () => {
      const bystander = await createdId(operator)
      const asItWas = await read(bystander)
      await approve(await createdId(operator))
      assert.deepEqual(await read(bystander), asItWas)
    })

    it('takes the id in any case, and a trailing slash', async () => {
      for (const write of [(id: string) => id.toUpperCase(), (id: string) => id.replace('-', '%2d')]) {
        assert.equal((await approve(write(await createdId(operator)))).status, 204)
      }
      const id = await createdId(operator)
      assert.equal((await admin.patch(`/v1/orders/${id}/approve/`)).status, 204)
    })

    it('ignores a JSON body and query parameters', async () => {
      const id = await createdId(operator)
      const answer = await admin.patch(`/v1/orders/${id}/approve?status=0&status=1`, {
        status: 0,
        version: 9,
      })
      assert.equal(answer.status, 204)
      assert.equal((await read(id)).status, 1)
    })

    it('names the user of a session as the one who modified', async () => {
      const browser = await service.session('admin')
      const id = await createdId(operator)
      assert.equal((await browser.patch(`/v1/orders/${id}/approve`)).status, 204)
      assert.equal((await read(id)).modifiedBy, 'admin')
    })
  })

  describe('takes the time zone of the audit stamp', () => {
    let elsewhere: Service
    before(async () => {
      elsewhere = await startService({ env: { DEFAULT_TIME_ZONE: 'Asia/Tokyo' } })
      await setTimeZone(elsewhere, passwordOf('admin').email, 'America/New_York')
    })
    after(() => elsewhere.close())
    const zonesOf = async (caller: Client, headers?: Record<string, string>) => {
      const id = await createdId(await elsewhere.bearer('operator'))
      await caller.patch(`/v1/orders/${id}/approve`, undefined, headers)
      const { body } = await caller.get(`/v1/orders/${id}`)
      return [body.createdAtTimeZone, body.updatedAtTimeZone]
    }

    it('from the Time-Zone header', async () => {
      const admin = await elsewhere.bearer('admin')
      assert.deepEqual(await zonesOf(admin, { 'time-zone': 'europe/paris' }), ['Asia/Tokyo', 'Europe/Paris'])
    })

    it('else from the user’s stored zone', async () => {
      assert.deepEqual(await zonesOf(await elsewhere.bearer('admin')), ['Asia/Tokyo', 'America/New_York'])
      assert.deepEqual(await zonesOf(await elsewhere.session('admin')), ['Asia/Tokyo', 'America/New_York'])
    })

    it('else from the configured default', async () => {
      const { accessToken } = await tokenPair(elsewhere, await newUser(elsewhere, { roles: ['Admin'] }))
      const zoneless = elsewhere.client().withBearer(accessToken)
      assert.deepEqual(await zonesOf(zoneless), ['Asia/Tokyo', 'Asia/Tokyo'])
    })

    it('else UTC', async () => {
      const id = await createdId(operator)
      await approve(id)
      assert.equal((await read(id)).updatedAtTimeZone, 'UTC')
    })
  })

  describe('honours If-Match', () => {
    for (const tags of [
      '"3"',
      '*',
      ' * ',
      '"1", "3"',
      '"1","3"',
      'W/"1", "3"',
      'W/"3"',
      ',"3",',
      '"a,b" , "3"',
    ]) {
      it(`approves version 3 with If-Match: ${tags}`, async () => {
        const answer = await approve(await insert({ version: 3 }), { 'if-match': tags })
        assert.deepEqual([answer.status, answer.headers.get('etag')], [204, '"4"'])
      })
    }

    it('reads If-Match over several lines as one list', async () => {
      const path = `/v1/orders/${await insert({ version: 3 })}/approve`
      const answer = await sendExactly(admin, 'PATCH', path, ['If-Match: "1"', 'If-Match: "3"'])
      assert.equal(answer.status, 204)
    })

    const others = [
      ...[
        '"2"',
        '"4"',
        '"2", "4"',
        'W/"2"',
        '"33"',
        '"03"',
        '"3.0"',
        '"+3"',
        '" 3"',
        '"*"',
        '""',
        '"4294967299"',
      ],
      ...['"18446744073709551619"', '"xyz"'],
    ]
    for (const tags of others) {
      it(`is 412 with the current version for version 3 with If-Match: ${tags}`, async () => {
        const id = await insert({ version: 3 })
        const asItWas = await read(id)
        const answer = await approve(id, { 'if-match': tags })
        assertProblem(answer, 412, 'precondition-failed')
        assert.equal(answer.headers.get('etag'), '"3"')
        assert.deepEqual(await read(id), asItWas)
      })
    }

    for (const tags of ['3', '"3', '3"', "'3'", 'w/"3"', '', '"3" x', '**']) {
      it(`never approves by the malformed If-Match: ${tags}`, async () => {
        const id = await insert({ version: 3 })
        const answer = await approve(id, { 'if-match': tags })
        assertProblem(answer, 412, 'precondition-failed')
        assert.equal((await read(id)).status, 0)
      })
    }

    it('after 404: an unknown order is not found, whatever the tags', async () => {
      for (const tags of ['"1"', '*', 'x']) {
        assertProblem(await approve(randomUUID(), { 'if-match': tags }), 404, 'order-not-found')
        assertProblem(await approve('x', { 'if-match': tags }), 404, 'order-not-found')
      }
    })

    it('before 409: an approved order is 412 for another version, 409 for its own', async () => {
      const id = await insert({ status: 1, version: 5 })
      const stale = await approve(id, { 'if-match': '"4"' })
      assertProblem(stale, 412, 'precondition-failed')
      assert.equal(stale.headers.get('etag'), '"5"')
      for (const tags of ['"5"', '*', '"4", "5"']) {
        assertProblem(await approve(id, { 'if-match': tags }), 409, 'order-not-pending')
      }
    })
  })

  describe('rejects input', () => {
    for (const zone of ['Mars/Olympus', '+01:00', '', 'Europe/Berlin, Europe/Paris']) {
      it(`refuses the time zone ${zone}`, async () => {
        const id = await createdId(operator)
        const answer = await approve(id, { 'time-zone': zone })
        assertProblem(answer, 400, 'invalid-time-zone')
        assert.equal(answer.body.errors[0].header, 'Time-Zone')
        assert.equal((await read(id)).status, 0)
      })
    }

    it('is 400 for a faulty header before 404, 412 and 409', async () => {
      const approved = await insert({ status: 1, version: 2 })
      for (const id of [randomUUID(), 'x', approved]) {
        const badZone = await approve(id, { 'time-zone': 'Mars', 'if-match': '"9"' })
        assertProblem(badZone, 400, 'invalid-time-zone')
        const badKey = await approve(id, { 'idempotency-key': '"', 'if-match': '"9"' })
        assertProblem(badKey, 400, 'invalid-idempotency-key')
      }
    })

    for (const id of [
      '1',
      'x',
      '%00',
      '019a9d2e5b7c7f3a9c416d2f8e0b1a57',
      '{019a9d2e-5b7c-7f3a-9c41-6d2f8e0b1a57}',
    ]) {
      it(`is 404 for the malformed id ${id}`, async () => {
        assertProblem(await approve(id), 404, 'order-not-found')
      })
    }

    for (const id of ['%zz', '%C3%28']) {
      it(`is a 404 problem for the undecodable path /v1/orders/${id}/approve`, async () => {
        const answer = await sendExactly(admin, 'PATCH', `/v1/orders/${id}/approve`)
        assert.equal(answer.status, 404)
        assert.equal(answer.headers.get('content-type'), 'application/problem+json')
      })
    }

    it('is 404 for an unknown id', async () => {
      assertProblem(await approve(randomUUID()), 404, 'order-not-found')
    })

    const bodies: [status: number, code: string, body: string, headers: Record<string, string>][] = [
      [415, 'unsupported-media-type', 'x', { 'content-type': 'text/plain' }],
      [415, 'unsupported-media-type', '{}', { 'content-encoding': 'gzip' }],
      [400, 'malformed-json', '{', {}],
      [413, 'body-too-large', `"${'x'.repeat(64 * 1024)}"`, {}],
    ]
    for (const [status, code, body, headers] of bodies) {
      it(`is ${status} ${code} for a body of that kind, and approves nothing`, async () => {
        const id = await createdId(operator)
        assertProblem(await admin.patch(`/v1/orders/${id}/approve`, body, headers), status, code)
        assert.equal((await read(id)).status, 0)
      })
    }
  })

  describe('requires access', () => {
    it('is 403 naming the permission without Orders.Approve, before the order is looked up', async () => {
      const pending = await createdId(operator)
      const approved = await insert({ status: 1, version: 2 })
      const callers = [operator, await service.bearer('viewer'), await service.bearer('demo-service')]
      for (const caller of callers) {
        for (const id of [pending, approved, randomUUID(), 'x']) {
          const headers = { 'if-match': '"9"', 'time-zone': 'Mars', 'idempotency-key': '"' }
          const answer = await caller.patch(`/v1/orders/${id}/approve`, undefined, headers)
          assertProblem(answer, 403, 'permission-denied')
          assert.equal(answer.body.permission, 'Orders.Approve')
          assert.equal(answer.headers.get('etag'), null)
        }
      }
      assert.equal((await read(pending)).status, 0)
    })

    it('needs Orders.Approve and no other permission', async () => {
      const { accessToken } = await tokenPair(service, await newUser(service, { roles: ['Approver'] }))
      const approver = service.client().withBearer(accessToken)
      assert.equal((await approver.patch(`/v1/orders/${await createdId(operator)}/approve`)).status, 204)
    })
  })

  describe('conflicts', () => {
    it('is 409 with the current status the second time, not a silent 204', async () => {
      const id = await createdId(operator)
      assert.equal((await approve(id)).status, 204)
      const asApproved = await read(id)
      service.advance(1_000)
      const second = await approve(id, { 'time-zone': 'Asia/Tokyo' })
      assertProblem(second, 409, 'order-not-pending')
      assert.equal(second.body.currentStatus, 1)
      assert.deepEqual(await read(id), asApproved)
    })
  })

  describe('leaves no trace on failure', () => {
    it('a refused approval writes neither to the order nor an idempotency key', async () => {
      const pending = await createdId(operator)
      const approved = await insert({ status: 1, version: 2 })
      const stateBefore = await storedState(service)
      const key = { 'idempotency-key': 'no-trace' }
      const refused = [
        await approve(pending, { ...key, 'if-match': '"2"' }),
        await approve(pending, { ...key, 'if-match': 'x' }),
        await approve(pending, { ...key, 'time-zone': 'Mars' }),
        await approve(approved, key),
        await approve(randomUUID(), key),
        await approve('x', key),
        await operator.patch(`/v1/orders/${pending}/approve`, undefined, key),
        await service.client().patch(`/v1/orders/${pending}/approve`, undefined, key),
      ]
      assert.deepEqual(
        refused.map(({ status }) => status),
        [412, 412, 400, 409, 404, 404, 403, 401],
      )
      assert.deepEqual(await storedState(service), stateBefore)
    })
  })
})

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { createdId, insertOrders, orderRow, sendExactly, storedState } from '../support/orders.ts'
import { assertProblem } from '../support/problem.ts'
import { assertRevalidates } from '../support/revalidation.ts'
import { setUp, testService } from '../support/service.ts'

const malformedIds = [
  ...['1', 'x', 'null', '%20', '019a9d2e5b7c7f3a9c416d2f8e0b1a57', '{019a9d2e-5b7c-7f3a-9c41-6d2f8e0b1a57}'],
  ...['urn:uuid:019a9d2e-5b7c-7f3a-9c41-6d2f8e0b1a57', '019a9d2e-5b7c-7f3a-9c41-6d2f8e0b1a5'],
  ...['019a9d2e-5b7c-7f3a-9c41-6d2f8e0b1a577', '019a9d2e-5b7c-7f3a-9c41-6d2f8e0b1a5g', '..%2Fhealth'],
  ...['%00', '%F0%9F%98%80', "019a9d2e-5b7c-7f3a-9c41-6d2f8e0b1a57'--", '%25', `${'0'.repeat(4_000)}`],
]

describe('getOrder', () => {
  const service = testService()
  const admin = setUp(() => service.bearer('admin'))
  const viewer = setUp(() => service.bearer('viewer'))

  const get = (id: string, headers?: Record<string, string>) => viewer.get(`/v1/orders/${id}`, headers)
  const insert = async (given: Parameters<typeof orderRow>[0]) => {
    const row = orderRow(given)
    await insertOrders(service, [row])
    return row
  }

  describe('succeeds', () => {
    it('answers exactly the ten fields of an order', async () => {
      const row = await insert({
        customer: 'Müller & Söhne 😀',
        total_e4: 123_456,
        status: 1,
        created_at: Date.UTC(2026, 1, 3, 4, 5, 6, 7),
        created_at_time_zone: 'Europe/Berlin',
        created_by: 'operator',
        updated_at: Date.UTC(2026, 1, 4),
        updated_at_time_zone: 'Asia/Tokyo',
        modified_by: 'admin',
        version: 2,
      })
      const answer = await get(row.id)
      assert.equal(answer.status, 200)
      assert.match(answer.headers.get('content-type') ?? '', /^application\/json/)
      assert.deepEqual(answer.body, {
        id: row.id,
        customer: 'Müller & Söhne 😀',
        total: 12.3456,
        status: 1,
        createdAtUtc: '2026-02-03T04:05:06.007Z',
        createdAtTimeZone: 'Europe/Berlin',
        updatedAtUtc: '2026-02-04T00:00:00.000Z',
        updatedAtTimeZone: 'Asia/Tokyo',
        createdBy: 'operator',
        modifiedBy: 'admin',
      })
    })

    it('sends every nullable field, as null if there is no value', async () => {
      const row = await insert({ created_at_time_zone: null, created_by: null })
      const { body } = await get(row.id)
      const { createdAtTimeZone, updatedAtUtc, updatedAtTimeZone, createdBy, modifiedBy } = body
      assert.deepEqual(
        [createdAtTimeZone, updatedAtUtc, updatedAtTimeZone, createdBy, modifiedBy],
        [null, null, null, null, null],
      )
    })

    it('shows the row version as a strong entity tag', async () => {
      assert.equal((await get((await insert({ version: 1 })).id)).headers.get('etag'), '"1"')
      assert.equal((await get((await insert({ version: 37 })).id)).headers.get('etag'), '"37"')
    })

    it('may be cached only by the caller, and must be revalidated at every use', async () => {
      const { headers } = await get((await insert({})).id)
      assert.equal(headers.get('cache-control'), 'private, no-cache')
      assert.match(headers.get('vary') ?? '', /\bCookie, Authorization\b/)
    })

    it('may be cached only by the caller under other spellings of its path, too', async () => {
      const { id } = await insert({})
      const { status, headers } = await viewer.get(`/%76%31/orders/${id}`)
      assert.equal(status, 200)
      assert.equal(headers.get('vary'), 'Cookie, Authorization')
    })

    it('accepts an id in upper or lower case, and answers it in lower case', async () => {
      const { id } = await insert({ id: '019a9d2e-5b7c-7f3a-9c41-6d2f8e0b1aff' })
      for (const written of [id, id.toUpperCase(), id.replace('a', 'A')]) {
        const answer = await get(written)
        assert.deepEqual([answer.status, answer.body.id], [200, id])
      }
    })

    it('answers 404 to a UUID of any version', async () => {
      for (const id of [
        '9b2d7e34-1c5a-1f00-8abc-0123456789ab',
        'deadbeef-0000-4000-8000-123456789abc',
        '5df41881-3aed-3515-88a7-2f4a814cf09e',
        '320c3d4d-cc00-875b-8ec9-32d5f69181c0',
        '00000000-0000-0000-0000-000000000000',
        'ffffffff-ffff-ffff-ffff-ffffffffffff',
      ]) {
        for (const written of [id, id.toUpperCase()]) {
          const answer = await get(written)
          assert.deepEqual([answer.status, answer.body.code], [404, 'order-not-found'])
        }
      }
    })

    it('accepts a trailing slash, an escaped id and unknown parameters', async () => {
      const { id } = await insert({})
      for (const path of [`${id}/`, id.replace('-', '%2D'), `${id}?id=x&id=y`, `${id}?%zz`]) {
        assert.equal((await get(path)).body.id, id, path)
      }
    })

    it('answers every caller with the permission to read', async () => {
      const { id } = await insert({})
      const callers = [admin, viewer, await service.bearer('operator'), await service.bearer('demo-service')]
      for (const caller of [...callers, await service.session('viewer')]) {
        assert.equal((await caller.get(`/v1/orders/${id}`)).status, 200)
      }
    })

    it('shows a change as soon as it is acknowledged', async () => {
      const id = await createdId(admin)
      await admin.patch(`/v1/orders/${id}/approve`)
      const { body, headers } = await get(id)
      assert.deepEqual([body.status, headers.get('etag')], [1, '"2"'])
    })
  })

  describe('revalidates', () => {
    // test/http/preconditions.test.ts tests the others.
    it('answers 304 without a body to its version, until the order changes', async () => {
      const id = await createdId(admin)
      await assertRevalidates(viewer, `/v1/orders/${id}`, () => admin.patch(`/v1/orders/${id}/approve`))
    })

    const other = ['"2"', '"03"', 'W/"4"', '3', '"3', '', '"*"']
    for (const tags of other) {
      it(`answers 200 to If-None-Match: ${tags}`, async () => {
        const { id } = await insert({ version: 3 })
        const answer = await get(id, { 'if-none-match': tags })
        assert.deepEqual([answer.status, answer.body.id], [200, id])
      })
    }

    it('reads If-None-Match over several lines as one list', async () => {
      const { id } = await insert({ version: 3 })
      const lines = ['If-None-Match: "1"', 'If-None-Match: "3"']
      assert.equal((await sendExactly(viewer, 'GET', `/v1/orders/${id}`, lines)).status, 304)
    })

    it('answers 404 for an unknown order whatever the tags', async () => {
      assertProblem(await get(randomUUID(), { 'if-none-match': '*' }), 404, 'order-not-found')
    })

    it('answers HEAD with 304 too', async () => {
      const { id } = await insert({ version: 3 })
      const answer = await viewer.send('HEAD', `/v1/orders/${id}`, undefined, { 'if-none-match': '"3"' })
      assert.equal(answer.status, 304)
    })
  })

  describe('rejects input', () => {
    it('answers 404 for an unknown id', async () => {
      assertProblem(await get(randomUUID()), 404, 'order-not-found')
    })

    for (const id of malformedIds) {
      it(`answers 404 for the malformed id ${id.slice(0, 50)}`, async () => {
        assertProblem(await get(id), 404, 'order-not-found')
      })
    }

    for (const id of ['%zz', '%', '%2', '%C3%28', '%ff', '%ED%A0%80']) {
      it(`answers 404 for the undecodable path /v1/orders/${id}`, async () => {
        const answer = await sendExactly(viewer, 'GET', `/v1/orders/${id}`)
        assert.equal(answer.status, 404)
        assert.equal(answer.headers.get('content-type'), 'application/problem+json')
        assert.equal(answer.body.status, 404)
      })
    }
  })

  it('changes nothing, whatever is asked', async () => {
    const { id } = await insert({})
    const stateBefore = await storedState(service)
    await get(id, { 'if-match': '"1"', 'idempotency-key': 'k', 'time-zone': 'Mars' })
    await get(randomUUID())
    await viewer.send('HEAD', `/v1/orders/${id}`)
    assert.deepEqual(await storedState(service), stateBefore)
  })
})

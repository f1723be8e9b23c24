// engine: both
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { bearerOf, newUser, revokeRoles } from '../support/accounts.ts'
import type { Answer, Client } from '../support/client.ts'
import { createdId, sendExactly, storedState } from '../support/orders.ts'
import { assertProblem } from '../support/problem.ts'
import { setUp, testService } from '../support/service.ts'

const hour = 3_600_000

/** Idempotency-Key on the two writes to orders. */
describe('idempotency', () => {
  const service = testService()
  const admin = setUp(() => service.bearer('admin'))
  const operator = setUp(() => service.bearer('operator'))

  const acme = { customer: 'Acme', total: 12.5 }
  const createBy = (
    caller: Client,
    key: string,
    body: unknown = acme,
    headers: Record<string, string> = {},
  ) => caller.post('/v1/orders', body, { 'idempotency-key': key, ...headers })
  const create = (key: string, body?: unknown, headers?: Record<string, string>) =>
    createBy(operator, key, body, headers)
  const approve = (id: string, key: string, headers: Record<string, string> = {}) =>
    admin.patch(`/v1/orders/${id}/approve`, undefined, { 'idempotency-key': key, ...headers })
  const countOrders = async () => (await storedState(service)).orders.length

  describe('replays', () => {
    it('a create, with the first answer, marked, and without a second order', async () => {
      const key = randomUUID()
      const first = await create(key)
      const count = await countOrders()
      service.advance(1_500)
      const second = await create(key)
      assert.deepEqual([first.status, first.headers.get('idempotency-replayed')], [201, null])
      assert.deepEqual([second.status, second.headers.get('idempotency-replayed')], [201, 'true'])
      assert.equal(second.text, first.text)
      for (const name of ['location', 'etag', 'content-type', 'cache-control', 'vary']) {
        assert.equal(second.headers.get(name), first.headers.get(name), name)
      }
      assert.equal(await countOrders(), count)
    })

    it('the original answer, as often as asked, even after the order has changed', async () => {
      const key = randomUUID()
      const { text, body } = await create(key)
      await admin.patch(`/v1/orders/${body.id}/approve`)
      for (const again of [await create(key), await create(key), await create(key)]) {
        assert.deepEqual([again.status, again.headers.get('etag'), again.text], [201, '"1"', text])
      }
    })

    it('by the same caller with another credential', async () => {
      const key = randomUUID()
      const first = await createBy(await service.bearer('operator'), key)
      const second = await createBy(await service.session('operator'), key)
      assert.deepEqual([second.headers.get('idempotency-replayed'), second.text], ['true', first.text])
    })

    it('nothing without a key', async () => {
      const [first, second] = [
        await operator.post('/v1/orders', acme),
        await operator.post('/v1/orders', acme),
      ]
      assert.notEqual(first.body.id, second.body.id)
    })
  })

  describe('treats as the same request', () => {
    const same: [what: string, body: unknown, headers?: Record<string, string>][] = [
      ['another spelling of the total', { customer: 'Acme', total: '12.5000' }],
      ['another notation of the total', '{"customer":"Acme","total":1.25e1}'],
      ['white space around the customer', { customer: '  Acme ', total: 12.5 }],
      ['another order of the members', '{ "total":12.5,\n "customer":"Acme" }'],
      ['members that are ignored', { ...acme, status: 1 }],
      ['another JSON media type', JSON.stringify(acme), { 'content-type': 'application/x+json' }],
    ]
    for (const [what, body, headers] of same) {
      it(what, async () => {
        const key = randomUUID()
        const { text } = await create(key)
        const again = await create(key, body, headers)
        assert.deepEqual([again.status, again.text], [201, text])
        assert.equal(again.headers.get('idempotency-replayed'), 'true')
      })
    }

    it('another Unicode composition of the customer', async () => {
      const key = randomUUID()
      const { text } = await create(key, { customer: 'M\u00fcller', total: 1 })
      assert.equal((await create(key, { customer: 'Mu\u0308ller', total: 1 })).text, text)
    })

    it('another case of the Time-Zone header', async () => {
      const key = randomUUID()
      const { text } = await create(key, acme, { 'time-zone': 'Europe/Berlin' })
      assert.equal((await create(key, acme, { 'time-zone': 'europe/berlin' })).text, text)
    })

    it('an If-Match that a proxy has made weak', async () => {
      const [id, key] = [await createdId(operator), randomUUID()]
      assert.equal((await approve(id, key, { 'if-match': 'W/"1"' })).status, 204)
      const again = await approve(id, key, { 'if-match': '"1"' })
      assert.deepEqual([again.status, again.headers.get('idempotency-replayed')], [204, 'true'])
    })

    it('another case of the order’s id, and a trailing slash', async () => {
      const [id, key] = [await createdId(operator), randomUUID()]
      await approve(id, key)
      assert.equal((await approve(id.toUpperCase(), key)).status, 204)
      const again = await admin.patch(`/v1/orders/${id}/approve/`, undefined, { 'idempotency-key': key })
      assert.deepEqual([again.status, again.headers.get('idempotency-replayed')], [204, 'true'])
    })
  })

  describe('refuses the key of another request with 422', () => {
    const others: [what: string, body: unknown, headers?: Record<string, string>][] = [
      ['another total', { customer: 'Acme', total: 12.5001 }],
      ['another customer', { customer: 'acme', total: 12.5 }],
      ['a Time-Zone that the first had not', acme, { 'time-zone': 'UTC' }],
      ['an If-Match that the first had not', acme, { 'if-match': '"1"' }],
    ]
    for (const [what, body, headers] of others) {
      it(`for ${what}, and neither creates nor forgets`, async () => {
        const key = randomUUID()
        const first = await create(key)
        const stateBefore = await storedState(service)
        const other = await create(key, body, headers)
        assertProblem(other, 422, 'idempotency-key-reused')
        assert.equal(other.headers.get('idempotency-replayed'), null)
        assert.equal(other.headers.get('location'), null)
        assert.deepEqual(await storedState(service), stateBefore)
        assert.equal((await create(key)).text, first.text)
      })
    }
  })

  describe('distinguishes', () => {
    it('callers', async () => {
      const key = randomUUID()
      const callers = [operator, admin, await service.bearer('demo-service')]
      const answers = await Promise.all(callers.map((caller) => createBy(caller, key)))
      assert.deepEqual(
        answers.map(({ status, headers }) => [status, headers.get('idempotency-replayed')]),
        callers.map(() => [201, null]),
      )
      assert.equal(new Set(answers.map(({ body }) => body.id)).size, callers.length)
    })

    it('keys that differ only in case', async () => {
      const key = `Key-${randomUUID()}`
      const [first, second] = [await create(key), await create(key.toLowerCase())]
      assert.notEqual(first.body.id, second.body.id)
    })
  })

  describe('the key', () => {
    const printable = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)).join('')
    const keys: [what: string, key: string][] = [
      ['one character', '0'],
      ['255 characters', 'k'.repeat(255)],
      ['all printable ASCII', `a${printable}z`],
      ['a quote inside', 'a"b'],
      ['a quote at its end', 'ab"'],
      ['commas and spaces', 'a, b'],
      ['255 characters in quotes', `"${'q'.repeat(255)}"`],
      ['escapes in quotes', '"a\\"b\\\\c"'],
      ['one space in quotes', '" "'],
    ]
    for (const [what, key] of keys) {
      it(`may have ${what}`, async () => {
        const first = await create(key)
        assert.equal(first.status, 201, first.text)
        const second = await create(key)
        assert.deepEqual([second.headers.get('idempotency-replayed'), second.text], ['true', first.text])
      })
    }

    it('is the same bare and in quotes', async () => {
      const key = randomUUID()
      const { text } = await create(key)
      const quoted = await create(`"${key}"`)
      assert.deepEqual([quoted.headers.get('idempotency-replayed'), quoted.text], ['true', text])
    })

    const malformed: [what: string, key: string][] = [
      ['empty', ''],
      ['empty in quotes', '""'],
      ['256 characters', 'k'.repeat(256)],
      ['256 characters in quotes', `"${'k'.repeat(256)}"`],
      ['a quote only', '"'],
      ['a quote that does not end', '"abc'],
      ['a quote that ends too early', '"ab"c'],
      ['followed by a parameter', '"abc";q=1'],
      ['an unknown escape', '"a\\nb"'],
      ['beyond ASCII', 'k\u00e9y'],
      ['beyond ASCII in quotes', '"k\u00e9y"'],
      ['with a tab', 'a\tb'],
    ]
    for (const [what, key] of malformed) {
      it(`is refused when it is ${what}`, async () => {
        const id = await createdId(operator)
        const stateBefore = await storedState(service)
        for (const answer of [await create(key), await approve(id, key)]) {
          assertProblem(answer, 400, 'invalid-idempotency-key')
          assert.equal(answer.body.errors[0].header, 'Idempotency-Key')
        }
        assert.deepEqual(await storedState(service), stateBefore)
      })
    }

    it('is refused if it comes on two lines', async () => {
      const body = JSON.stringify(acme)
      const lines = ['Content-Type: application/json', 'Idempotency-Key: a', 'Idempotency-Key: a']
      const answer = await sendExactly(operator, 'POST', '/v1/orders', lines, body)
      assertProblem({ ...answer, setCookies: [] }, 400, 'invalid-idempotency-key')
    })

    it('is not used up by a request that failed before it', async () => {
      const key = randomUUID()
      const viewer = await service.bearer('viewer')
      assertProblem(await create(key, { customer: 'Acme', total: 0 }), 400, 'validation-failed')
      assertProblem(await create(key, acme, { 'time-zone': 'Mars' }), 400, 'invalid-time-zone')
      assertProblem(await createBy(viewer, key), 403, 'permission-denied')
      const answer = await create(key)
      assert.deepEqual([answer.status, answer.headers.get('idempotency-replayed')], [201, null])
    })
  })

  describe('stores 2xx answers only', () => {
    it('so that after a 412 the same key approves with the right version', async () => {
      const [id, key] = [await createdId(operator), randomUUID()]
      assertProblem(await approve(id, key, { 'if-match': '"7"' }), 412, 'precondition-failed')
      const answer = await approve(id, key, { 'if-match': '"1"' })
      assert.deepEqual([answer.status, answer.headers.get('idempotency-replayed')], [204, null])
    })

    it('so that a 409 is found again every time', async () => {
      const [id, key] = [await createdId(operator), randomUUID()]
      await admin.patch(`/v1/orders/${id}/approve`)
      const answers: Answer[] = [await approve(id, key), await approve(id, key)]
      for (const answer of answers) {
        assertProblem(answer, 409, 'order-not-pending')
        assert.equal(answer.headers.get('idempotency-replayed'), null)
      }
    })

    it('so that a 404 leaves nothing behind', async () => {
      const stateBefore = await storedState(service)
      const [id, key] = [randomUUID(), randomUUID()]
      assertProblem(await approve(id, key), 404, 'order-not-found')
      assertProblem(await approve(id, key, { 'time-zone': 'UTC' }), 404, 'order-not-found')
      assert.deepEqual(await storedState(service), stateBefore)
    })
  })

  it('is checked before the state of the order: another request with the key answers 422, not 412 or 409', async () => {
    const [id, key] = [await createdId(operator), randomUUID()]
    await approve(id, key)
    assertProblem(await approve(id, key, { 'if-match': '"1"' }), 422, 'idempotency-key-reused')
  })

  it('replays nothing to a caller who has lost the permission', async () => {
    const [user, key] = [await newUser(service, { roles: ['Operator', 'Viewer'] }), randomUUID()]
    const bearer = async () => bearerOf(service, user)
    assert.equal((await createBy(await bearer(), key)).status, 201)
    await revokeRoles(service, user, ['Operator'])
    service.advance(5 * 60_000 + 1_000)
    assertProblem(await createBy(await bearer(), key), 403, 'permission-denied')
  })

  it('is forgotten after 24 hours: a repeat just before is replayed, one just after is new', async () => {
    const key = randomUUID()
    const createNow = async (body?: unknown) => createBy(await service.bearer('operator'), key, body)
    const first = await createNow()
    service.advance(24 * hour - 10_000)
    const replayed = await createNow()
    assert.deepEqual([replayed.headers.get('idempotency-replayed'), replayed.text], ['true', first.text])
    service.advance(10_000)
    const other = { customer: 'Other', total: 1 }
    const anew = await createNow(other)
    assert.deepEqual([anew.status, anew.headers.get('idempotency-replayed')], [201, null])
    assert.notEqual(anew.text, first.text)
    const again = await createNow(other)
    assert.deepEqual([again.headers.get('idempotency-replayed'), again.text], ['true', anew.text])
  })
})

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { instantOfId, newOrderedId } from '../../server/ids.ts'
import type { Answer } from '../support/client.ts'
import { storedState } from '../support/orders.ts'
import { assertInvalid, assertProblem } from '../support/problem.ts'
import { setUp, testService } from '../support/service.ts'

const uuidv7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

describe('createOrder', () => {
  const service = testService()
  const operator = setUp(() => service.bearer('operator'))

  const create = (body: unknown, headers?: Record<string, string>) =>
    operator.post('/v1/orders', body, headers)
  const stored = async (created: Answer) => {
    assert.equal(created.status, 201, created.text)
    return operator.get(`/v1/orders/${created.body.id}`)
  }
  const withTotal = (literal: string) => create(`{"customer":"Acme","total":${literal}}`)

  describe('succeeds', () => {
    it('makes ids that contain their instant, and that ascend even within it', () => {
      const ids = Array.from({ length: 1_000 }, () => newOrderedId(1_795_000_000_000))
      assert.deepEqual(ids, ids.toSorted())
      assert.equal(new Set(ids).size, ids.length)
      for (const id of ids) {
        assert.match(id, uuidv7)
        assert.equal(instantOfId(id), 1_795_000_000_000)
      }
    })

    it('stores a pending order and answers 201 with its id, address and version', async () => {
      const answer = await create({ customer: 'Acme', total: 12.5 })
      assert.equal(answer.status, 201)
      assert.deepEqual(Object.keys(answer.body), ['id'])
      assert.match(answer.body.id, uuidv7)
      assert.equal(answer.headers.get('location'), `/v1/orders/${answer.body.id}`)
      assert.equal(answer.headers.get('etag'), '"1"')
      assert.match(answer.headers.get('content-type') ?? '', /^application\/json/)
      assert.equal(answer.headers.get('idempotency-replayed'), null)
      const order = await operator.get(answer.headers.get('location') ?? '')
      assert.equal(order.body.status, 0)
    })

    it('stores creator, time zone and instant, and leaves the stamps of modification null', async () => {
      const earliest = service.now()
      const created = await create({ customer: 'Acme', total: 12.5 })
      const latest = service.now()
      const { createdAtUtc, ...rest } = (await stored(created)).body
      assert.deepEqual(rest, {
        id: created.body.id,
        customer: 'Acme',
        total: 12.5,
        status: 0,
        createdAtTimeZone: 'UTC',
        updatedAtUtc: null,
        updatedAtTimeZone: null,
        createdBy: 'operator',
        modifiedBy: null,
      })
      assert.match(createdAtUtc, instant)
      const createdAt = Date.parse(createdAtUtc)
      assert.ok(earliest <= createdAt && createdAt <= latest, createdAtUtc)
    })

    it('makes ids that carry the instant of creation', async () => {
      const { body } = await stored(await create({ customer: 'Acme', total: 1 }))
      const milliseconds = Number.parseInt(body.id.replace('-', '').slice(0, 12), 16)
      assert.equal(new Date(milliseconds).toISOString(), body.createdAtUtc)
    })

    // Literal as sent, number as sent back.
    const totals: [sent: string, returned: string][] = [
      ['12.5', '12.5'],
      ['"12.5"', '12.5'],
      ['12.50', '12.5'],
      ['"12.50"', '12.5'],
      ['"1.0000"', '1'],
      ['1.00000', '1'],
      ['1e2', '100'],
      ['1.5E+1', '15'],
      ['1e-4', '0.0001'],
      ['0.0001', '0.0001'],
      ['"0.0001"', '0.0001'],
      ['99999999999.9999', '99999999999.9999'],
      ['"99999999999.9999"', '99999999999.9999'],
      // Parses to the same double as the line above.
      ['99999999999.9999001', '99999999999.9999'],
      ['9.95e10', '99500000000'],
      ['0.1000000000000000055511151231257827', '0.1'],
    ]
    for (const [sent, returned] of totals) {
      it(`accepts the total ${sent} and returns the number ${returned}`, async () => {
        const { text } = await stored(await withTotal(sent))
        assert.equal(/"total":([^,}]*)/.exec(text)?.[1], returned)
      })
    }

    const customers: [what: string, sent: string, kept: string][] = [
      ['is trimmed of spaces', '  Acme & Co  ', 'Acme & Co'],
      ['is trimmed of every white space, line breaks included', '\u3000\t\u00a0Acme\u2003\r\n', 'Acme'],
      ['keeps its inner spaces', 'A  \u00a0 B', 'A  \u00a0 B'],
      ['is composed', 'Mu\u0308ller', 'M\u00fcller'],
      ['keeps compatibility forms', '\ufb01 \uff21 \u2460', '\ufb01 \uff21 \u2460'],
      ['keeps letter case', 'aCmE İ ß', 'aCmE İ ß'],
      ['may be one character', 'x', 'x'],
      ['may be one astral character', '😀', '😀'],
      ['may have 200 code points outside the basic plane', '😀'.repeat(200), '😀'.repeat(200)],
      ['may have 200 code points after trimming', `${' '.repeat(50)}${'y'.repeat(200)} `, 'y'.repeat(200)],
      ['is measured before it is composed', 'e\u0301'.repeat(100), '\u00e9'.repeat(100)],
      ['may grow beyond 200 by normalisation', '\u0958'.repeat(200), '\u0915\u093c'.repeat(200)],
      ...['a\u200db', 'شرکت می\u200cکنم', '👩\u200d🌾', '☎', '!', '٣', 'שלום Ltd.'].map(
        (name): [string, string, string] => [`may be ${name}`, name, name],
      ),
      ['may hold quotes, markup and SQL', `'; drop table orders --<b>"\\`, `'; drop table orders --<b>"\\`],
      ['may be a word of the protocol', 'constructor __proto__', 'constructor __proto__'],
    ]
    for (const [what, sent, kept] of customers) {
      it(`accepts a customer ${what}`, async () => {
        const { body } = await stored(await create({ customer: sent, total: 1 }))
        assert.equal(body.customer, kept)
      })
    }

    it('ignores unknown members, including those of an order', async () => {
      const foreign = {
        id: '00000000-0000-4000-8000-000000000000',
        status: 1,
        createdBy: 'mallory',
        createdAtUtc: '2000-01-01T00:00:00.000Z',
        createdAtTimeZone: 'Asia/Tokyo',
        updatedAtUtc: '2000-01-01T00:00:00.000Z',
        modifiedBy: 'mallory',
        version: 9,
        Customer: 'Other',
        nested: { total: 2 },
      }
      const created = await create({ customer: 'Acme', total: 1, ...foreign })
      const { body, headers } = await stored(created)
      assert.notEqual(body.id, foreign.id)
      assert.equal(body.customer, 'Acme')
      assert.equal(body.status, 0)
      assert.equal(body.createdBy, 'operator')
      assert.equal(body.createdAtTimeZone, 'UTC')
      assert.notEqual(body.createdAtUtc, foreign.createdAtUtc)
      assert.equal(body.updatedAtUtc, null)
      assert.equal(body.modifiedBy, null)
      assert.equal(headers.get('etag'), '"1"')
    })

    it('uses the last of duplicate members', async () => {
      const created = await create('{"customer":"A","total":true,"customer":"B","total":2}')
      const { body } = await stored(created)
      assert.deepEqual([body.customer, body.total], ['B', 2])
    })

    for (const account of ['admin', 'operator', 'demo-service'] as const) {
      it(`names the bearer ${account} as creator`, async () => {
        const caller = await service.bearer(account)
        const { body } = await stored(await caller.post('/v1/orders', { customer: 'Acme', total: 1 }))
        assert.equal(body.createdBy, account)
      })
    }

    it('names the user of a session as creator', async () => {
      const browser = await service.session('admin')
      const { body } = await stored(await browser.post('/v1/orders', { customer: 'Acme', total: 1 }))
      assert.equal(body.createdBy, 'admin')
    })
  })

  describe('reads the time zone of the audit stamp', () => {
    const zones: [sent: string, kept: string][] = [
      ['Europe/Berlin', 'Europe/Berlin'],
      ['europe/BERLIN', 'Europe/Berlin'],
      ['America/Argentina/Buenos_Aires', 'America/Argentina/Buenos_Aires'],
      ['Etc/GMT+5', 'Etc/GMT+5'],
      ['UTC', 'UTC'],
      ['US/Eastern', 'US/Eastern'],
      ['us/eastern', 'US/Eastern'],
    ]
    for (const [sent, kept] of zones) {
      it(`from the Time-Zone header: ${sent}`, async () => {
        const { body } = await stored(await create({ customer: 'A', total: 1 }, { 'time-zone': sent }))
        assert.equal(body.createdAtTimeZone, kept)
      })
    }
  })

  describe('rejects input', () => {
    const totals = [
      ...['true', 'false', 'null', '[]', '[1]', '{}', '""', '" "', '" 1"', '"1 "', '"1\\n"', '"+1"', '"01"'],
      ...['"00"', '"00.5"', '"-01"', '"1."', '".5"', '"1e2"', '"1E2"', '"1,5"', '"1_000"', '"0x10"', '"１"'],
      ...['"NaN"', '"Infinity"', '"null"', '"true"', '"1.2.3"', '"--1"', '"- 1"', '"1 000"'],
      ...'-1 "-1" -0.0001 0 -0 0.0 "0" "-0" "0.0" "0.0000" "0.00000" 1e-400'.split(' '),
      ...['1e-5', '0.00001', '"0.00001"', '1.00001', '"1.00001"', '"1.00000"', '5e-324', '1e-7'],
      ...['0.30000000000000004', '12345.67891', '99999999999.99991', '"99999999999.99990"'],
      ...['99999999999.99999'],
      ...['100000000000', '"100000000000"', '1e11', '1e21', '1e400', '-1e400', '1.7976931348623157e308'],
      ...['9'.repeat(400), `"${'9'.repeat(400)}"`, `"0.${'0'.repeat(400)}1"`, `"${'1'.repeat(60_000)}"`],
    ]
    for (const literal of totals) {
      it(`refuses the total ${literal.slice(0, 30)} (${literal.length} characters)`, async () => {
        assertInvalid(await withTotal(literal), ['#/total'])
      })
    }

    const customers: [what: string, literal: string][] = [
      ['null', 'null'],
      ['a number', '1'],
      ['a boolean', 'true'],
      ['an array', '["Acme"]'],
      ['an object', '{"length":1}'],
      ['an empty text', '""'],
      ['blank', '"   "'],
      ['blank by other white space', '"\\u3000\\u00a0\\t\\n\\ufeff"'],
      ['201 characters', JSON.stringify('x'.repeat(201))],
      ['201 code points outside the basic plane', JSON.stringify('😀'.repeat(201))],
      ['201 code points that would compose to fewer', JSON.stringify(`x${'e\u0301'.repeat(100)}`)],
      ['a NUL', '"A\\u0000b"'],
      ['a NUL at its end', '"Ab\\u0000"'],
      ['a line break', '"A\\nb"'],
      ['a tab', '"A\\tb"'],
      ['an escape', '"A\\u001bb"'],
      ['DEL', '"A\\u007fb"'],
      ['a next-line control at its end', '"Ab\\u0085"'],
      ['the last C1 control', '"A\\u009fb"'],
      ['a high surrogate alone', '"A\\ud83db"'],
      ['a high surrogate at its end', '"Ab\\ud83d"'],
      ['a low surrogate alone', '"\\ude00Ab"'],
      ['surrogates in the wrong order', '"A\\ude00\\ud83db"'],
      ...[0x61c, 0x200e, 0x200f, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069].map(
        (point): [string, string] => [
          `U+${point.toString(16)}, which reorders text`,
          JSON.stringify(`Acme ${String.fromCodePoint(point)}dtL`),
        ],
      ),
      ...[
        '\u200b',
        '\u2060 \u00ad',
        '\ufeff\u200d\ufeff',
        '\u3164',
        '\u2800',
        '\ufffc',
        '\u{13441}\u{13442}',
        '\u{1d159}',
        '\u115f\u1160',
        '\u0301',
        '\u{e0041}',
        '\ue000',
      ].map((text): [string, string] => [
        `only ${encodeURIComponent(text)}, which cannot be seen`,
        JSON.stringify(text),
      ]),
    ]
    for (const [what, literal] of customers) {
      it(`refuses a customer that is or holds ${what}`, async () => {
        assertInvalid(await create(`{"customer":${literal},"total":1}`), ['#/customer'])
      })
    }

    it('names every invalid and every missing field at once', async () => {
      assertInvalid(await create({ customer: '', total: '01' }), ['#/customer', '#/total'])
      assertInvalid(await create({ Customer: 'A', TOTAL: 1 }), ['#/customer', '#/total'])
    })

    it('says which rule each invalid field broke', async () => {
      const { body } = await create({ customer: '', total: '01' })
      for (const error of body.errors) {
        assert.deepEqual(Object.keys(error).sort(), ['code', 'detail', 'pointer'])
        assert.match(error.detail, /^(customer|total) must /)
      }
    })

    for (const zone of [
      ...['Mars/Olympus', '+01:00', '-05', 'UTC+1', 'Z', '', 'Europe', 'Europe/Berlin/', '../UTC', 'Local'],
      ...['Europe/Berlin, Europe/Paris', 'Europe/Berlin;x', `Europe/${'x'.repeat(300)}`, 'Europe/K\u00f6ln'],
    ]) {
      it(`refuses the time zone ${zone.slice(0, 30)}`, async () => {
        const answer = await create({ customer: 'A', total: 1 }, { 'time-zone': zone })
        assertProblem(answer, 400, 'invalid-time-zone')
        assert.deepEqual(
          answer.body.errors.map((error: { header: string }) => error.header),
          ['Time-Zone'],
        )
      })
    }
  })

  it('writes neither an order nor an idempotency key when it is refused', async () => {
    const stateBefore = await storedState(service)
    const viewer = await service.bearer('viewer')
    const key = { 'idempotency-key': 'no-trace' }
    const refused = [
      await create({ customer: '', total: 1 }, key),
      await create({ customer: 'A', total: 0 }, key),
      await create('{', key),
      await create({ customer: 'A', total: 1 }, { ...key, 'content-type': 'text/plain' }),
      await create({ customer: 'A', total: 1 }, { ...key, 'time-zone': 'Mars' }),
      await create({ customer: 'A', total: 1 }, { 'idempotency-key': '"' }),
      await viewer.post('/v1/orders', { customer: 'A', total: 1 }, key),
      await service.client().post('/v1/orders', { customer: 'A', total: 1 }, key),
    ]
    const statuses = refused.map(({ status }) => status)
    assert.deepEqual(statuses, [400, 400, 400, 415, 400, 400, 403, 401])
    assert.deepEqual(await storedState(service), stateBefore)
  })
})

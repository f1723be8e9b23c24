import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, it } from 'node:test'
import { type Event, eventRow } from '../../../server/audit/audit.ts'
import { machineStamp } from '../../../server/caller/stamp.ts'
import { withRawDatabase } from '../../support/database.ts'
import { storedEvents } from '../../support/kept-log.ts'
import { seal } from '../../support/log.ts'
import { createdId, insertOrders, orderRow, storedState } from '../../support/orders.ts'
import { assertFaults, assertProblem } from '../../support/problem.ts'
import { setUp, testService } from '../../support/service.ts'
import { badWords, goodWords } from '../../support/words.ts'

describe('addNote', () => {
  const service = testService()
  const admin = setUp(() => service.bearer('admin'))
  const operator = setUp(() => service.bearer('operator'))
  let id: string
  before(async () => {
    id = await createdId(operator, { total: '12.5' })
  })

  const text = 'Called the customer.'
  const note = (order: string, body: unknown = { text }, headers?: Record<string, string>) =>
    operator.post(`/v1/orders/${order}/notes`, body, headers)
  const read = async (order: string) => {
    const { headers, body } = await operator.get(`/v1/orders/${order}`)
    return { etag: headers.get('etag'), body }
  }
  const notesOf = async (order: string) =>
    (await storedEvents(service.db.read, order)).filter(({ kind }) => kind === 'noted')

  describe('succeeds', () => {
    it('answers 201 with the id of the event, and does not change the order', async () => {
      const asItWas = await read(id)
      const answer = await note(id, { text: ' Called\r\nthe customer. ' }, { 'time-zone': 'Asia/Tokyo' })
      assert.equal(answer.status, 201, answer.text)
      assert.deepEqual(Object.keys(answer.body), ['id'])
      assert.equal(answer.headers.get('cache-control'), 'private, no-cache')
      assert.deepEqual(await read(id), asItWas)
      const [event, ...others] = await notesOf(id)
      assert.deepEqual(others, [])
      assert.partialDeepStrictEqual(event, {
        id: answer.body.id,
        version: 1,
        by: 'operator',
        at_time_zone: 'Asia/Tokyo',
        text: 'Called\r\nthe customer.',
      })
      assert.deepEqual(JSON.parse(event?.data ?? ''), { total: '12.5' })
    })

    for (const status of [0, 1, 2, 3]) {
      it(`on an order of status ${status}, with its version`, async () => {
        const [row] = await insertOrders(service, [orderRow({ status, version: 7 })])
        const asItWas = await read(row?.id ?? '')
        assert.equal((await note(row?.id ?? '')).status, 201)
        assert.deepEqual(await read(row?.id ?? ''), asItWas)
        const versions = (await notesOf(row?.id ?? '')).map(({ version }) => version)
        assert.deepEqual(versions, [7])
      })
    }

    for (const [what, sent, kept] of goodWords) {
      it(`with ${what}`, async () => {
        const order = await createdId(operator)
        const answer = await note(order, { text: sent })
        assert.equal(answer.status, 201, answer.text)
        const texts = (await notesOf(order)).map((event) => event.text)
        assert.deepEqual(texts, [kept])
      })
    }

    it('any number of times, fifty at once, each with its own event', async () => {
      const order = await createdId(operator)
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, index) => note(order, { text: `Note ${index}` })),
      )
      const ids = answers.map(({ body }) => body.id).sort()
      assert.deepEqual((await notesOf(order)).map((event) => event.id).sort(), ids)
      assert.equal(new Set(ids).size, 50)
    })

    it('for a session, and for a service', async () => {
      const order = await createdId(operator)
      for (const caller of [await service.session('operator'), await service.bearer('demo-service')]) {
        assert.equal((await caller.post(`/v1/orders/${order}/notes`, { text })).status, 201)
      }
      const authors = (await notesOf(order)).map(({ by }) => by)
      assert.deepEqual(authors, ['operator', 'demo-service'])
    })
  })

  describe('conflicts', () => {
    /** Adds notes without a request for each. */
    const fill = (order: string, count: number) =>
      withRawDatabase(service.databaseUrl, async (db) => {
        const stamp = () => machineStamp(service.now())
        const event: Event = { kind: 'noted', subject: { kind: 'order', id: order }, version: 1, facts: {} }
        const rows = Array.from({ length: count }, () => eventRow(stamp(), event))
        await db.insertInto('unsealed_events').values(rows).execute()
      })

    it('leaves exactly 1,000 notes when fifty are added at once to an order that has 999, sealed or not', async () => {
      const order = await createdId(operator)
      await fill(order, 500)
      await seal(service.db)
      await fill(order, 499)
      const answers = await Promise.all(Array.from({ length: 50 }, () => note(order)))
      assert.equal(answers.filter(({ status }) => status === 201).length, 1)
      for (const answer of answers.filter(({ status }) => status !== 201)) {
        assertProblem(answer, 409, 'too-many-notes')
      }
      assert.equal((await notesOf(order)).length, 1_000)
      assert.equal((await note(await createdId(operator))).status, 201)
      assert.equal((await admin.patch(`/v1/orders/${order}/approve`)).status, 204)
    })
  })

  describe('honours Idempotency-Key', () => {
    it('replays the same note, which is stored once, and answers 422 to another', async () => {
      const [order, key] = [await createdId(operator), { 'idempotency-key': randomUUID() }]
      const answers = [await note(order, { text }, key), await note(order, { text: ` ${text}` }, key)]
      assert.deepEqual(
        answers.map(({ status, headers }) => [status, headers.get('idempotency-replayed')]),
        [
          [201, null],
          [201, 'true'],
        ],
      )
      assert.equal(answers[0]?.text, answers[1]?.text)
      assert.equal((await notesOf(order)).length, 1)
      assertProblem(await note(order, { text: 'Another.' }, key), 422, 'idempotency-key-reused')
    })

    it('adds one note for fifty requests under one key', async () => {
      const [order, key] = [await createdId(operator), { 'idempotency-key': randomUUID() }]
      const answers = await Promise.all(Array.from({ length: 50 }, () => note(order, { text }, key)))
      const codes = new Set(answers.map(({ status, body }) => `${status} ${body.code}`))
      assert.ok(
        codes.isSubsetOf(new Set(['201 undefined', '409 idempotency-in-progress'])),
        [...codes].join(),
      )
      assert.equal((await notesOf(order)).length, 1)
    })
  })

  describe('rejects input', () => {
    for (const [what, json, code] of badWords) {
      it(`refuses a note that is or has ${what}`, async () => {
        assertFaults(await note(id, `{"text":${json}}`), { '#/text': code })
      })
    }

    it('refuses a body without a note', async () => {
      for (const body of ['{}', '{"reason":"x"}'])
        assertProblem(await note(id, body), 400, 'validation-failed')
    })

    it('answers 400 to an invalid header before 404', async () => {
      for (const order of [randomUUID(), 'x']) {
        assertProblem(await note(order, { text }, { 'time-zone': 'Mars' }), 400, 'invalid-time-zone')
        assertProblem(await note(order, { text }, { 'idempotency-key': '"' }), 400, 'invalid-idempotency-key')
        assertProblem(await note(order), 404, 'order-not-found')
      }
    })
  })

  it('writes neither an event nor a key on failure', async () => {
    const stateBefore = await storedState(service)
    const key = { 'idempotency-key': 'no-trace' }
    const refused = [
      await note(id, { text: '' }, key),
      await note(id, { text }, { ...key, 'time-zone': 'Mars' }),
      await note(randomUUID(), { text }, key),
      await note('x', { text }, key),
      await (await service.bearer('viewer')).post(`/v1/orders/${id}/notes`, { text }, key),
      await service.client().post(`/v1/orders/${id}/notes`, { text }, key),
    ]
    const statuses = refused.map(({ status }) => status)
    assert.deepEqual(statuses, [400, 400, 404, 404, 403, 401])
    assert.deepEqual(await storedState(service), stateBefore)
  })

  describe('does not appear elsewhere:', () => {
    const word = 'Quokkaberry'

    it('not in a search, a list, an order, the figures or a line of the service’s log', async () => {
      const order = await createdId(operator)
      const rejected = await createdId(operator)
      await note(order, { text: `${word} note` })
      await admin.patch(`/v1/orders/${rejected}/reject`, { reason: `${word} reason` })
      await operator.patch(`/v1/orders/${order}/withdraw`, { reason: `${word} withdrawal` })
      for (const filter of [word, `customer:${word}`, `createdBy:${word}`, `modifiedBy:${word}`]) {
        const { body } = await operator.get(`/v1/orders?filter=${filter}`)
        assert.deepEqual([body.totalCount, body.items], [0, []], filter)
      }
      const unknown = await operator.get(`/v1/orders?filter=text:${word}`)
      assertProblem(unknown, 400, 'invalid-filter')
      const paths = ['', '/summary', `/${order}`, `/${rejected}`, `/${rejected}/approvals`]
      for (const path of paths) {
        const answer = await operator.get(`/v1/orders${path}`)
        assert.equal(answer.status, 200, path)
        assert.doesNotMatch(answer.text, new RegExp(word), path)
      }
      assert.doesNotMatch(JSON.stringify(await service.log()), new RegExp(word))
    })
  })
})

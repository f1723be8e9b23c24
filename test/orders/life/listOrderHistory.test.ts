import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { machineStamp } from '../../../server/caller/stamp.ts'
import { TooManyWaiting } from '../../../server/db/errors.ts'
import { seal } from '../../support/log.ts'
import { createdId, insertOrders, orderRow, sendExactly, storedState } from '../../support/orders.ts'
import { assertProblem } from '../../support/problem.ts'
import { assertRevalidates } from '../../support/revalidation.ts'
import { setUp, testService } from '../../support/service.ts'

const members =
  'atTimeZone atUtc by byId byName document erased for forId forName hash id kind sequence text version'.split(
    ' ',
  )

describe('listOrderHistory', () => {
  // The test decides what is sealed when: nothing is sealed by itself here.
  const service = testService({ inside: true })
  const admin = setUp(() => service.bearer('admin'))
  const operator = setUp(() => service.bearer('operator'))
  const viewer = setUp(() => service.bearer('viewer'))

  const history = (id: string, query = '') => viewer.get(`/v1/orders/${id}/history${query}`)
  const note = (id: string, text: string) => operator.post(`/v1/orders/${id}/notes`, { text })
  interface Item {
    kind: string
    text: string | null
    sequence: number | null
    hash: string | null
  }

  /** An order with as many notes, the first of which is `Note 1`. */
  async function withNotes(count: number): Promise<string> {
    const id = await createdId(operator)
    for (let number = 1; number <= count; number += 1) await note(id, `Note ${number}`)
    return id
  }

  describe('succeeds', () => {
    it('shows every event of the order and of no other, oldest first', async () => {
      const id = await createdId(operator, { customer: 'Müller', total: 2 })
      await createdId(operator)
      // A role may have any name.
      const stamp = machineStamp(service.now())
      await service.db.write('addRole', { role: id, permissions: [], stamp })
      const { body: noted } = await note(id, 'A note.')
      service.advance(60_000)
      await admin.patch(`/v1/orders/${id}/reject`, { reason: 'Twice.' }, { 'time-zone': 'Asia/Tokyo' })
      const answer = await history(id)
      assert.equal(answer.status, 200, answer.text)
      const { items, ...page } = answer.body
      assert.deepEqual(page, {
        pageNumber: 1,
        totalPages: 1,
        totalCount: 3,
        hasPreviousPage: false,
        hasNextPage: false,
      })
      for (const item of items) assert.deepEqual(Object.keys(item).sort(), members)
      const order = (await viewer.get(`/v1/orders/${id}`)).body
      const [by, rejecter] = [(await operator.get('/v1/auth/me')).body, (await admin.get('/v1/auth/me')).body]
      assert.partialDeepStrictEqual(items, [
        { kind: 'created', version: 1, atUtc: order.createdAtUtc, atTimeZone: 'UTC', text: null },
        { kind: 'noted', version: 1, id: noted.id, by: 'operator', byId: by.id, text: 'A note.' },
        {
          kind: 'rejected',
          version: 2,
          atUtc: order.updatedAtUtc,
          atTimeZone: 'Asia/Tokyo',
          by: 'admin',
          byId: rejecter.id,
          text: 'Twice.',
        },
      ])
    })

    it('shows the same events in the same order once they are sealed, with sequence and hash', async () => {
      const id = await withNotes(2)
      const before = (await history(id)).body.items
      for (const item of before) assert.deepEqual([item.sequence, item.hash], [null, null])
      await seal(service.db)
      await note(id, 'Later.')
      const after: Item[] = (await history(id)).body.items
      const sequences = after.map(({ sequence }) => sequence)
      assert.equal(sequences.pop(), null)
      assert.deepEqual(
        sequences,
        [0, 1, 2].map((index) => (sequences[0] ?? 0) + index),
      )
      assert.deepEqual(
        after.slice(0, 3).map((item) => ({ ...item, sequence: null, hash: null })),
        before,
      )
      for (const { hash } of after.slice(0, 3)) assert.match(hash ?? '', /^[0-9a-f]{64}$/)
    })

    it('is paged as the contract says, in either direction, sealed or not', async () => {
      const id = await withNotes(2)
      await seal(service.db)
      for (const text of ['Note 3', 'Note 4']) await note(id, text)
      const textsOf = (items: Item[]) => items.map(({ text }) => text)
      const all = [null, 'Note 1', 'Note 2', 'Note 3', 'Note 4']
      for (const [order, expected] of [
        ['asc', all],
        ['Desc', all.toReversed()],
        ['0', all],
        ['1', all.toReversed()],
      ] as const) {
        const found: (string | null)[] = []
        for (let page = 1; page <= 3; page += 1) {
          const { body } = await history(id, `?order=${order}&pageSize=2&pageNumber=${page}`)
          assert.deepEqual([body.totalCount, body.totalPages, body.pageNumber], [5, 3, page])
          assert.deepEqual([body.hasPreviousPage, body.hasNextPage], [page > 1, page < 3])
          found.push(...textsOf(body.items))
        }
        assert.deepEqual(found, expected, order)
      }
      const past = await history(id, '?pageNumber=9')
      assert.deepEqual([past.status, past.body.items, past.body.totalCount], [200, [], 5])
      const many = await withNotes(11)
      assert.equal((await history(many)).body.items.length, 10)
      assert.equal((await history(many, '?pageSize=1000')).body.items.length, 12)
    })

    it('links to the other pages', async () => {
      const id = await withNotes(2)
      const { headers } = await history(id.toUpperCase(), '?pageSize=1&pageNumber=2&order=Desc&x=1')
      const to = (page: number) => `</v1/orders/${id}/history?pageNumber=${page}&pageSize=1&order=Desc>`
      assert.equal(
        headers.get('link'),
        [
          `${to(1)}; rel="first"`,
          `${to(1)}; rel="prev"`,
          `${to(3)}; rel="next"`,
          `${to(3)}; rel="last"`,
        ].join(', '),
      )
    })

    it('is empty for an order from before there was a log', async () => {
      const [row] = await insertOrders(service, [orderRow()])
      const { status, body } = await history(row?.id ?? '')
      assert.deepEqual([status, body.items, body.totalCount, body.totalPages], [200, [], 0, 0])
    })

    it('shows an erased text as null, and everything else as it was', async () => {
      const id = await withNotes(1)
      await seal(service.db)
      const before = (await history(id)).body.items
      const { sequence } = before[1]
      await service.db.write('eraseFromLog', { sequence, name: 'text', stamp: machineStamp(service.now()) })
      const after = (await history(id)).body.items
      assert.deepEqual(after, [before[0], { ...before[1], text: null, erased: ['text'] }])
    })
  })

  it('answers 304 until something happens to the order', async () => {
    const id = await withNotes(1)
    await assertRevalidates(viewer, `/v1/orders/${id}/history`, () => note(id, 'More.'))
  })

  describe('rejects input', () => {
    for (const [query, parameter] of [
      ['pageSize=0', 'pageSize'],
      ['pageSize=x', 'pageSize'],
      ['pageNumber=0', 'pageNumber'],
      ['pageNumber=2147483648', 'pageNumber'],
      ['order=up', 'order'],
      ['order=2', 'order'],
      ['order=Asc&order=Desc', 'order'],
    ]) {
      it(`refuses ${query}, naming it`, async () => {
        const answer = await history(await createdId(operator), `?${query}`)
        assertProblem(answer, 400, 'validation-failed')
        const parameters = answer.body.errors.map((error: { parameter: string }) => error.parameter)
        assert.deepEqual(parameters, [parameter])
      })
    }

    it('ignores unknown parameters, and treats empty ones as absent', async () => {
      const id = await createdId(operator)
      const plain = (await history(id)).text
      for (const query of ['?pageSize=&order=', '?x=(', '?by=x&kind=noted&text=x']) {
        assert.equal((await history(id, query)).text, plain)
      }
    })

    it('answers 404 for an unknown order and for a malformed id', async () => {
      for (const id of [randomUUID(), 'x', '%00', '__proto__']) {
        assertProblem(await history(id), 404, 'order-not-found')
      }
      // Not even with the id of another subject of the log.
      for (const id of ['approval', 'Admin', '1']) assertProblem(await history(id), 404, 'order-not-found')
      const undecodable = await sendExactly(viewer, 'GET', '/v1/orders/%zz/history')
      assert.equal(undecodable.status, 404)
    })
  })

  it('is read off the event loop, in the caller’s turn, like the log and exports: 503 if too many wait', async (t) => {
    const id = await withNotes(1)
    const { query } = service.db
    t.after(() => {
      service.db.query = query
    })
    const asked: string[] = []
    service.db.query = (name, _input, { caller, limitMilliseconds, isLong = false }) => {
      asked.push(`${name} of ${caller}, ${limitMilliseconds} ms${isLong ? ', long' : ''}`)
      return Promise.reject(new TooManyWaiting('too many wait'))
    }
    const jsonl = { accept: 'application/jsonl' }
    const answers = [
      await history(id),
      await admin.get('/v1/log'),
      await admin.get('/v1/log?kind=noted'),
      await admin.get('/v1/log', jsonl),
      await viewer.get('/v1/orders', jsonl),
    ]
    for (const answer of answers) assertProblem(answer, 503, 'overloaded')
    const [me, them] = [(await viewer.get('/v1/auth/me')).body.id, (await admin.get('/v1/auth/me')).body.id]
    assert.deepEqual(asked, [
      `findEventsOf of ${me}, 2000 ms`,
      `findLogLines of ${them}, 2000 ms`,
      `findLogLines of ${them}, 2000 ms, long`,
      `findLogLines of ${them}, 2000 ms, long`,
      `findExportBatch of ${me}, 3000 ms, long`,
    ])
  })

  it('changes nothing', async () => {
    const id = await withNotes(1)
    const stateBefore = await storedState(service)
    await history(id)
    assert.deepEqual(await storedState(service), stateBefore)
  })
})

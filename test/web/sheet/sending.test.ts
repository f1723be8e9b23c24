import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { answerWith, problemWith, serviceIs } from '../../support/page.ts'

const { loadSession } = await import('../../../web/src/auth/session.ts')
const { judge } = await import('../../../web/src/orders/sheet/judging.ts')
const { begin, changeSheet, course, goOn, isDone, openSheet, results, rowInDoubt, sheet, stop } =
  await import('../../../web/src/orders/sheet/sending.ts')

const rows = judge(['Acme', 'Bolt', 'Coil'].map((customer, at) => ({ number: at + 2, customer, total: '7' })))
const day = 24 * 60 * 60 * 1000

describe('the rows of a sheet', () => {
  /** What was sent: customer and key. */
  const sent: [customer: string, key: string | null][] = []
  let answer = (_customer: string): Response => answerWith(201, { id: '7' })
  serviceIs(async (path, request) => {
    if (path === '/v1/auth/me') return answerWith(200, { id: 1, userName: 'mara', roles: [] })
    if (path === '/v1/auth/csrf') return answerWith(200, { token: 't' })
    if (path !== '/v1/orders') return answerWith(200, { permissions: [] })
    const { customer } = (await request.json()) as { customer: string }
    sent.push([customer, request.headers.get('idempotency-key')])
    return answer(customer)
  })
  beforeEach(async () => {
    await loadSession()
    openSheet(1)
    changeSheet('the text')
    sent.length = 0
    answer = () => answerWith(201, { id: '7' })
  })

  it('are sent one by one in their order, each under a key that the same sheet gives it again', async () => {
    await begin(rows, rows, 1)
    const first = [...sent]
    assert.deepEqual(
      first.map(([customer]) => customer),
      ['Acme', 'Bolt', 'Coil'],
    )
    assert.equal(new Set(first.map(([, key]) => key)).size, 3)
    assert.ok(isDone())
    changeSheet('the same, pasted again')
    answer = () => answerWith(201, { id: '7' }, { 'idempotency-replayed': 'true' })
    await begin(rows, rows.slice(1), 1)
    assert.deepEqual(sent.slice(3), first.slice(1))
    assert.deepEqual(results.get(), { 3: { kind: 'known' }, 4: { kind: 'known' } })
  })

  it('begin once, however often the button is pressed', async () => {
    await Promise.all([begin(rows, rows, 1), begin(rows, rows, 1)])
    await Promise.all([goOn(rows), goOn(rows)])
    assert.equal(sent.length, 3)
  })

  it('are not begun if the text changes while the sheet is named', async () => {
    const beginning = begin(rows, rows, 1)
    changeSheet('another text')
    await beginning
    assert.deepEqual(sent, [])
    assert.deepEqual(sheet.get(), { text: 'another text' })
  })

  it('go on after one that the service refuses, and stop at a failure that is not about a row', async () => {
    answer = (customer) =>
      customer === 'Acme' ? problemWith(422, 'idempotency-key-reused') : problemWith(403, 'permission-denied')
    await begin(rows, rows, 1)
    assert.deepEqual(results.get(), {
      2: {
        kind: 'failed',
        why: 'This row was sent before from another time zone. Look for its order in the list.',
      },
    })
    assert.equal(sent.length, 2)
    assert.equal(course.get().kind, 'still')
    answer = () => answerWith(201, { id: '7' })
    await goOn(rows)
    assert.equal(sent[2]?.[1], sent[1]?.[1])
    assert.ok(isDone())
  })

  it('wait once the person stops', async () => {
    answer = () => {
      stop()
      return answerWith(201, { id: '7' })
    }
    await begin(rows, rows, 1)
    assert.deepEqual(Object.keys(results.get()), ['2'])
    assert.deepEqual(course.get(), { kind: 'still' })
  })

  it('are in doubt once the service may have forgotten their keys', async () => {
    answer = (customer) =>
      customer === 'Acme' ? answerWith(201, { id: '7' }) : problemWith(500, 'internal-error')
    await begin(rows, rows, 1)
    const { at = 0 } = sheet.get().sent ?? {}
    assert.equal(rowInDoubt(at + day - 1), undefined)
    assert.equal(rowInDoubt(at + day), 3)
  })
})

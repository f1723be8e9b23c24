import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it, mock } from 'node:test'
import { answerWith, asksBeforeLeaving, problemWith, serviceIs, settled } from '../../support/page.ts'
import { keyedOrders } from '../keyed-orders.ts'

const { endSession, loadSession, signOut } = await import('../../../web/src/auth/session.ts')
const { judge } = await import('../../../web/src/orders/sheet/judging.ts')
const { unsent } = await import('../../../web/src/auth/unsent.ts')
const { silence, toasts } = await import('../../../web/src/ui/announce.ts')
const { begin, changeSheet, goOn, isDone, openSheet, results, rowInDoubt, sheet, stop } = await import(
  '../../../web/src/orders/sheet/sending.ts'
)

const rows = judge(['Acme', 'Bolt', 'Coil'].map((customer, at) => ({ number: at + 2, customer, total: '7' })))
const day = 24 * 60 * 60 * 1000

describe('the rows of a sheet', () => {
  /** What was sent: customer and key. */
  const sent: [customer: string, key: string | null][] = []
  let permissionsRead = 0
  let answer = (_customer: string): Response => answerWith(201, { id: '7' })
  serviceIs(async (path, request) => {
    if (path === '/v1/auth/me') return answerWith(200, { id: 1, userName: 'mara', roles: [] })
    if (path === '/v1/auth/csrf') return answerWith(200, { token: 't' })
    if (path === '/v1/auth/me/permissions') permissionsRead += 1
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
    const errors = [{ pointer: '#/customer', code: 'x', detail: 'customer must be a name.' }]
    const answers: Record<string, Response> = {
      Acme: problemWith(422, 'idempotency-key-reused'),
      Bolt: problemWith(400, 'validation-failed', {}, { errors }),
      Coil: problemWith(403, 'permission-denied'),
    }
    answer = (customer) => answers[customer] as Response
    permissionsRead = 0
    await begin(rows, rows, 1)
    await settled()
    assert.equal(permissionsRead, 1)
    assert.deepEqual(results.get(), {
      2: {
        kind: 'failed',
        why: 'This row was sent before from another time zone. Look for its order in the list.',
      },
      3: { kind: 'failed', why: 'The customer must be a name.' },
    })
    assert.equal(sent.length, 3)
    assert.equal(isDone(), false)
    answer = () => answerWith(201, { id: '7' })
    await goOn(rows)
    await settled()
    assert.equal(permissionsRead, 1)
    assert.equal(sent[3]?.[1], sent[2]?.[1])
    assert.ok(isDone())
  })

  it('wait once the person stops', async () => {
    answer = () => {
      stop()
      return answerWith(201, { id: '7' })
    }
    silence()
    await begin(rows, rows, 1)
    assert.deepEqual(Object.keys(results.get()), ['2'])
    assert.deepEqual([unsent.get().parts, toasts.get()], [[], []])
  })

  it('are in doubt once the service may have forgotten their keys', async (t) => {
    answer = (customer) =>
      customer === 'Acme' ? answerWith(201, { id: '7' }) : problemWith(500, 'internal-error')
    await begin(rows, rows, 1)
    const { at = 0 } = sheet.get().sent ?? {}
    assert.equal(rowInDoubt(at + day - 1), undefined)
    assert.equal(rowInDoubt(at + day), 3)
    t.mock.method(Date, 'now', () => at + day / 2)
    await goOn(rows)
    assert.equal(rowInDoubt(at + day), 3)
  })
})

describe('no row of a sheet is created twice', () => {
  let orders = keyedOrders()
  let userId = 1
  serviceIs((path, request) => {
    if (path === '/v1/auth/me') return answerWith(200, { id: userId, userName: 'mara', roles: [] })
    if (path === '/v1/auth/csrf') return answerWith(200, { token: 't' })
    if (path === '/v1/auth/session/logout') return answerWith(204)
    return path === '/v1/orders' ? orders.answer(request) : answerWith(200, { permissions: [] })
  })
  beforeEach(async () => {
    userId = 1
    await loadSession()
    mock.timers.enable({ apis: ['setTimeout'] })
    orders = keyedOrders()
    openSheet(1)
    changeSheet('the text')
  })
  afterEach(() => {
    for (const part of unsent.get().parts) part.discard()
    mock.timers.reset()
  })
  /** Waits for this many requests: to name the sheet takes as long as the machine likes. */
  async function sent(count: number): Promise<void> {
    while (orders.keys.length < count) await new Promise(setImmediate)
    await settled()
  }
  const pass = async (milliseconds: number) => {
    mock.timers.tick(milliseconds)
    await settled()
  }
  const all = ['Acme', 'Bolt', 'Coil']

  it('when answers are lost: each row is asked for again under its key', async () => {
    orders.fates.push('arrives', 'lost', 'unavailable', 'lost', 'arrives', 'lost')
    const beginning = begin(rows, rows, 1)
    await sent(2)
    for (const wait of [1_000, 2_000, 4_000, 1_000]) await pass(wait)
    await beginning
    assert.deepEqual(orders.customers, all)
    assert.deepEqual([orders.keys.length, new Set(orders.keys).size], [7, 3])
    assert.deepEqual(
      Object.values(results.get()).map(({ kind }) => kind),
      ['created', 'known', 'known'],
    )
  })

  it('when the sending is stopped after a lost answer, and goes on', async () => {
    orders.fates.push('arrives', 'lost')
    const beginning = begin(rows, rows, 1)
    await sent(2)
    assert.equal(asksBeforeLeaving(), true)
    stop()
    await beginning
    assert.deepEqual([Object.keys(results.get()), asksBeforeLeaving()], [['2'], false])
    await Promise.all([goOn(rows), goOn(rows)])
    assert.deepEqual([orders.customers, orders.keys.length], [all, 4])
    assert.ok(isDone())
  })

  it('when the session ends under way, and the person is back', async () => {
    orders.fates.push('arrives', 'lost')
    const beginning = begin(rows, rows, 1)
    await sent(2)
    endSession('expired')
    await beginning
    await pass(60_000)
    assert.deepEqual([orders.keys.length, results.get(), asksBeforeLeaving()], [2, {}, false])
    await loadSession()
    openSheet(1)
    assert.deepEqual(Object.keys(results.get()), ['2'])
    await goOn(rows)
    assert.deepEqual(orders.customers, all)
  })

  it('when the results are lost, and the same sheet is sent again', async () => {
    await begin(rows, rows, 1)
    changeSheet('the same, pasted again')
    await begin(rows, rows, 1)
    assert.deepEqual(orders.customers, all)
  })

  it('but rows that say the same are an order each', async () => {
    const twins = judge([2, 3].map((number) => ({ number, customer: 'Acme', total: '7' })))
    await begin(twins, twins, 1)
    assert.deepEqual(orders.customers, ['Acme', 'Acme'])
  })

  it('and nothing is sent for the next person', async () => {
    for (const fate of ['lost', 'arrives'] as const) {
      const { promise, resolve } = Promise.withResolvers<typeof fate>()
      orders = keyedOrders()
      orders.fates.push('arrives', promise)
      void begin(rows, rows, 1)
      await sent(2)
      await signOut()
      userId = 2
      await loadSession()
      openSheet(2)
      resolve(fate)
      await settled()
      await pass(60_000)
      assert.deepEqual([orders.customers, results.get(), sheet.get()], [['Acme', 'Bolt'], {}, { text: '' }])
      userId = 1
      await loadSession()
      openSheet(1)
      changeSheet('the text')
    }
  })
})

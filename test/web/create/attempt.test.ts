import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it, mock } from 'node:test'
import { answerWith, serviceIs, settled } from '../../support/page.ts'
import { keyedOrders } from '../keyed-orders.ts'

const { loadSession } = await import('../../../web/src/auth/session.ts')
const { arrive, prepareCreation } = await import('../../../web/src/orders/create/attempt.ts')
const { place, prepareSending } = await import('../../../web/src/orders/create/form.ts')
const { dropDraft, keepDraft, readDraft } = await import('../../../web/src/ui/draft.ts')
const { silence, toasts } = await import('../../../web/src/ui/announce.ts')

const draft = { customer: 'Acme', total: '7', note: '', replaces: '' }
const said = () => toasts.get().map(({ text }) => text)

describe('an order that was created', () => {
  let id = 1
  serviceIs((path) => {
    if (path === '/v1/auth/me') return answerWith(200, { id, userName: 'mara', roles: [] })
    return answerWith(200, { permissions: [] })
  })
  beforeEach(async () => {
    await isThere(1)
    silence()
    keepDraft(place, 1, draft)
  })

  async function isThere(userId: number): Promise<void> {
    id = userId
    await loadSession()
  }

  it('is announced once, and its draft is gone', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const order = prepareSending(1, draft, draft)
    arrive(order, '7')
    arrive(order, '7')
    const [words, ...others] = said()
    assert.match(words ?? '', /^Order for \u2068Acme\u2069 created$/)
    assert.deepEqual(others, [])
    assert.equal(readDraft(place, 1), undefined)
  })

  it('by a person who has left is not announced to the next person, but the next person’s own order is', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const order = prepareSending(1, draft, draft)
    await isThere(2)
    arrive(order, '7')
    assert.deepEqual(said(), [])
    arrive(prepareSending(2, draft, { ...draft, customer: 'Birch' }), '8')
    assert.match(said().join(), /^Order for \u2068Birch\u2069 created$/)
  })
})

describe('an order whose answer is lost', () => {
  let orders = keyedOrders()
  serviceIs((path, request) => {
    if (path === '/v1/auth/me') return answerWith(200, { id: 1, userName: 'mara', roles: [] })
    if (path === '/v1/auth/csrf') return answerWith(200, { token: 't' })
    return path === '/v1/orders' ? orders.answer(request) : answerWith(200, { permissions: [] })
  })
  beforeEach(async () => {
    await loadSession()
    mock.timers.enable({ apis: ['setTimeout'] })
    silence()
    orders = keyedOrders()
    dropDraft(place)
    keepDraft(place, 1, draft)
  })
  afterEach(() => {
    mock.timers.reset()
    silence()
  })
  const pass = async (milliseconds: number) => {
    mock.timers.tick(milliseconds)
    await settled()
  }
  /** As one press of the button does. */
  function press(creation = prepareCreation()) {
    const order = prepareSending(1, draft, draft)
    creation.load([{ subject: order, sent: order.sent }])
    creation.send()
    return creation
  }

  it('is created once, because each try has the same key', async () => {
    orders.fates.push('lost', 'unavailable', 'lost')
    press()
    await settled()
    for (const wait of [1_000, 2_000, 4_000]) await pass(wait)
    assert.deepEqual([orders.keys.length, new Set(orders.keys).size], [4, 1])
    assert.deepEqual(orders.customers, ['Acme'])
    assert.equal(said().length, 1)
    assert.equal(readDraft(place, 1), undefined)
  })

  it('is created once, however often it is stopped and sent again, also from another view', async () => {
    orders.fates.push('lost', 'lost', 'lost')
    const first = press()
    await settled()
    first.stop()
    await settled()
    assert.equal(first.snapshot.get().steps[0]?.progress.kind, 'unclear')
    press(first)
    await settled()
    first.stop()
    press()
    await settled()
    await pass(1_000)
    assert.deepEqual([orders.keys.length, new Set(orders.keys).size], [4, 1])
    assert.deepEqual(orders.customers, ['Acme'])
  })

  it('is another order once the first one is done, even if it is the same', async () => {
    press()
    await settled()
    keepDraft(place, 1, draft)
    press()
    await settled()
    assert.equal(new Set(orders.keys).size, 2)
    assert.deepEqual(orders.customers, ['Acme', 'Acme'])
  })
})

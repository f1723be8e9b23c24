import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { answerWith, serviceIs } from '../../support/page.ts'

const { loadSession } = await import('../../../web/src/auth/session.ts')
const { arrive } = await import('../../../web/src/orders/create/attempt.ts')
const { keepDraft, prepareSending, readDraft } = await import('../../../web/src/orders/create/draft.ts')
const { silence, toasts } = await import('../../../web/src/ui/announce.ts')

const draft = { customer: 'Acme', total: '7' }
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
    keepDraft(1, draft)
  })

  async function isThere(userId: number): Promise<void> {
    id = userId
    await loadSession()
  }

  it('is told once, and is no draft any more', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const order = prepareSending(1, draft)
    arrive(order, '7')
    arrive(order, '7')
    const [words, ...others] = said()
    assert.match(words ?? '', /^Order for \u2068Acme\u2069, 7.00 \(7, .*\) created$/)
    assert.deepEqual(others, [])
    assert.deepEqual(readDraft(1), { customer: '', total: '' })
  })

  it('for somebody who is gone is not told to who is there now, who hears of their own', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const order = prepareSending(1, draft)
    await isThere(2)
    arrive(order, '7')
    assert.deepEqual(said(), [])
    arrive(prepareSending(2, { ...draft, customer: 'Birch' }), '8')
    assert.match(said().join(), /^Order for \u2068Birch\u2069, .* created$/)
  })
})

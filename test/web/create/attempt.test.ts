import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { answerWith, serviceIs } from '../../support/page.ts'

const { loadSession } = await import('../../../web/src/auth/session.ts')
const { arrive } = await import('../../../web/src/orders/create/attempt.ts')
const { place, prepareSending } = await import('../../../web/src/orders/create/form.ts')
const { keepDraft, readDraft } = await import('../../../web/src/ui/draft.ts')
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
    assert.match(words ?? '', /^Order for \u2068Acme\u2069, 7.00 \(.*\) created$/)
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
    assert.match(said().join(), /^Order for \u2068Birch\u2069, .* created$/)
  })
})

import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it, mock } from 'node:test'
import { orderStates } from '../../../client/src/facts.ts'
import '../../support/page.ts'

const { hold, outbox, undo } = await import('../../../web/src/orders/decide/sending.ts')
const { orderQuery } = await import('../../../web/src/orders/queries.ts')
const { queries } = await import('../../../web/src/api/queries.ts')
const { announce, silence, toasts } = await import('../../../web/src/ui/announce.ts')

const order = {
  id: '019a9d2e-5b7c-7f3a-9c41-6d2f8e0b1a57',
  customer: 'Acme',
  total: 12.5,
  createdAtUtc: '2026-11-25T10:00:00Z',
  createdAtTimeZone: null,
  createdBy: 'jo',
  updatedAtUtc: null,
  updatedAtTimeZone: null,
  modifiedBy: null,
  status: orderStates.Pending,
}
const jo = { id: 1, userName: 'jo' }

describe('undoing a decision', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }))
  afterEach(() => {
    outbox.clear()
    mock.timers.reset()
    queries.clear()
    silence()
  })

  const said = () => toasts.get().map(({ text }) => text)

  it('says that the order is pending again', () => {
    hold(jo, 'approve', order)
    assert.equal(undo('last'), order.id)
    assert.match(said().join(), /^Undone\. Order for .*Acme.* is pending again\.$/)
  })

  it('says which state others have put it in since', () => {
    hold(jo, 'approve', order)
    queries.setQueryData(orderQuery(order.id).queryKey, {
      order: { ...order, status: orderStates.Rejected },
      documents: [],
    })
    undo('last')
    assert.match(said().join(), /^Undone\. Order for .*Acme.* is now rejected\.$/)
  })

  it('says of how many orders, and returns the first', () => {
    hold(jo, 'approve', order)
    hold(jo, 'reject', { ...order, id: 'b', reason: 'Too dear.' })
    assert.equal(undo('all'), order.id)
    assert.deepEqual(said(), ['Undone. 2 orders are pending again.'])
  })

  it('says that it is too late, and says it once', () => {
    assert.equal(undo('last'), undefined)
    announce('Something else.')
    undo('last')
    assert.deepEqual(said(), [
      'Something else.',
      'Too late to undo: the decision may already have been sent.',
    ])
  })
})

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import '../../support/page.ts'
import { orderStates } from '../../../client/src/facts.ts'
import type { OrderSummary } from '../../../web/src/orders/order.ts'

const { filterOf, othersOf, usualTotal } = await import('../../../web/src/orders/one/usual.ts')

const order = (total: number, status: OrderSummary['status'] = orderStates.Approved, id = String(total)) => ({
  ...{ id, customer: 'Acme', total, status },
  createdAtUtc: '2026-11-20T10:00:00.000Z',
})

describe('the usual total of a customer', () => {
  const { Pending, Rejected } = orderStates
  for (const [others, total, words] of [
    [[], undefined, 'This customer has no other orders.'],
    [[order(5, Pending)], undefined, 'The only other order was not approved.'],
    [[order(5, Pending), order(6, Rejected)], undefined, 'None of the last 2 other orders was approved.'],
    [[order(5)], 5, 'Total of the only other order.'],
    [[order(5), order(900, Rejected)], 5, 'Total of the only one approved among the last 2 other orders.'],
    [[order(9), order(9)], 9, 'Median of the 2 approved among the last 2 other orders.'],
    [[order(30), order(5)], 17.5, 'Median of the 2 approved among the last 2 other orders: 5.00 to 30.00.'],
    [
      [order(100), order(8), order(900, Pending), order(9.5)],
      9.5,
      'Median of the 3 approved among the last 4 other orders: 8.00 to 100.00.',
    ],
  ] as const) {
    it(`${total}. ${words}`, () => {
      assert.deepEqual(usualTotal(others), { ...(total !== undefined && { total }), words })
    })
  }

  it('is of at most 20 orders, and never of the one on the screen', () => {
    const orders = Array.from({ length: 21 }, (_, index) => order(index + 1))
    assert.deepEqual(
      othersOf('3', orders).map(({ total }) => total),
      [1, 2, ...Array.from({ length: 18 }, (_, index) => index + 4)],
    )
    assert.equal(othersOf('none of them', orders).length, 20)
  })
})

describe('the search for all orders of a customer', () => {
  it('takes every name literally', () => {
    assert.equal(filterOf('Acme'), 'customer=Acme')
    assert.equal(filterOf('*"A & B" \\ (OR)*'), 'customer="\\*\\"A & B\\" \\\\ (OR)\\*"')
  })
})

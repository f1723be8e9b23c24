import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fromInWords, warningInWords } from '../../../web/src/policy/words.ts'

describe('the policy in words', () => {
  it('name each row by its total, and the first as all other orders', () => {
    assert.equal(fromInWords({ from: 0 }, false), 'All other orders')
    assert.equal(fromInWords({ from: 0 }, true), 'All orders')
    assert.equal(fromInWords({ from: '10000' }, false), 'From 10,000.00')
    assert.equal(fromInWords({ from: '99999999999.9999' }, false), 'From 99,999,999,999.9999')
  })

  it('of a warning say where the row begins, why, and how many orders wait under the same rule', () => {
    const warning = { from: 0, detail: 'Nobody may.', pendingOrders: 0 }
    assert.equal(warningInWords(warning, true), 'All orders: Nobody may.')
    assert.equal(
      warningInWords({ ...warning, from: 10_000.5, pendingOrders: 1_200 }, false),
      'From 10,000.50: Nobody may. 1,200 pending orders have the same rule.',
    )
    assert.match(
      warningInWords({ ...warning, pendingOrders: 1 }, false),
      / 1 pending order has the same rule\.$/,
    )
  })
})

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fromInWords, outcomeInWords, warningInWords } from '../../../web/src/policy/words.ts'

const needing = (...approvals: number[]) => approvals.map((count) => ({ approvals: count }))

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

  const outcomes: [approvals: number[], counts: number[], words: string][] = [
    [[1], [80], 'Of the 80 orders of the last 30 days, all would have needed one approval.'],
    [[1, 2], [0, 1], 'The one order of the last 30 days would have needed two approvals.'],
    [[1, 2], [66, 14], 'Of the 80 orders of the last 30 days, 66 would have needed one approval and 14 two.'],
    [[1, 2], [0, 3], 'Of the 3 orders of the last 30 days, all would have needed two approvals.'],
    [
      [1, 3, 2, 3],
      [1_200, 3, 14, 2],
      'Of the 1,219 orders of the last 30 days, 1,200 would have needed one approval, 14 two and 5 three.',
    ],
    [[1, 2], [0, 0], 'There were no orders in the last 30 days.'],
  ]
  for (const [approvals, counts, words] of outcomes) {
    it(words, () => assert.equal(outcomeInWords(needing(...approvals), counts, 30), words))
  }
})

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fromInWords, outcomeInWords, ruleInWords } from '../../../web/src/policy/words.ts'

const needing = (...approvals: number[]) => approvals.map((count) => ({ approvals: count }))

describe('the policy in words', () => {
  it('names each row by its total, and the first as the rest', () => {
    assert.equal(fromInWords({ from: 0 }, false), 'All other orders')
    assert.equal(fromInWords({ from: 0 }, true), 'All orders')
    assert.equal(fromInWords({ from: '10000' }, false), 'From 10,000.00')
    assert.equal(fromInWords({ from: '99999999999.9999' }, false), 'From 99,999,999,999.9999')
  })

  it('says how many approvals, and from whom', () => {
    const row = { approvals: 1, selfApproval: true, services: true }
    assert.equal(ruleInWords(row), 'one approval; the creator and services may approve')
    const strict = { approvals: 5, selfApproval: false, services: false }
    assert.equal(ruleInWords(strict), 'five approvals, from people other than the creator')
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

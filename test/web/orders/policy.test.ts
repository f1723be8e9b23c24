import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type PolicyRow, rowFor, ruleInWords } from '../../../web/src/orders/policy.ts'

describe('the rules of a policy in words', () => {
  it('say how many approvals are needed, and from whom', () => {
    const row = { approvals: 1, selfApproval: true, services: true, role: null, passkey: false }
    assert.equal(ruleInWords(row), 'one approval. Anyone who may approve can give it, also the creator')
    const strict = { approvals: 5, selfApproval: false, services: false, role: null, passkey: false }
    assert.equal(ruleInWords(strict), 'five approvals, from people other than the creator')
    assert.equal(
      ruleInWords({ ...strict, role: 'Finance' }),
      'five approvals, from people other than the creator, at least one by someone with the role Finance',
    )
    assert.equal(
      ruleInWords({ ...row, role: 'Finance' }),
      'one approval, by someone with the role Finance. Anyone who may approve can give it, also the creator',
    )
  })
})

const row = (given: Partial<PolicyRow> = {}): PolicyRow => ({
  ...{ from: 0, approvals: 1, selfApproval: true, services: true, role: null, passkey: false },
  ...given,
})

describe('the row of the policy for a total', () => {
  const rows = [row(), row({ from: 100 }), row({ from: 99_999_999_999.9999 })]

  it('is the one with the greatest beginning that is not above it', () => {
    for (const [total, from] of [
      ['0.0001', 0],
      ['99.9999', 0],
      ['100', 100],
      ['99999999999.9998', 100],
      ['99999999999.9999', 99_999_999_999.9999],
    ] as const) {
      assert.equal(rowFor(rows, total)?.from, from)
    }
  })

  it('is the only row for a total that is not known yet', () => {
    assert.equal(rowFor([row()], undefined)?.from, 0)
    assert.equal(rowFor(rows, undefined), undefined)
  })
})

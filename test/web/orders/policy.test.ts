import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { nextInWords, type PolicyRow, rowFor, ruleInWords } from '../../../web/src/orders/policy.ts'

describe('the rules of a policy in words', () => {
  it('say how many approvals are needed, and from whom', () => {
    const row = { approvals: 1, selfApproval: true, services: true, role: null, passkey: false }
    assert.equal(ruleInWords(row), 'one approval; the creator and services may approve')
    const strict = { approvals: 5, selfApproval: false, services: false, role: null, passkey: false }
    assert.equal(ruleInWords(strict), 'five approvals, from people other than the creator')
    assert.equal(
      ruleInWords({ ...strict, role: 'Finance' }),
      'five approvals, from people other than the creator; one approver must have the role Finance',
    )
    assert.equal(
      ruleInWords({ ...row, role: 'Finance' }),
      'one approval; the creator and services may approve; the approver must have the role Finance',
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

describe('what an order will need', () => {
  const nobody = { mayApprove: false, roles: ['Operator'], absent: [] }
  const approver = { mayApprove: true, roles: ['Admin'], absent: [] }
  const deputy = { mayApprove: false, roles: [], absent: ['ann', 'bo'] }
  const strict = { approvals: 2, selfApproval: false, services: false }
  for (const [given, person, words] of [
    [{}, nobody, '1 approval'],
    [{}, approver, '1 approval, which you can give'],
    [{}, deputy, '1 approval, which you can give for \u2068ann\u2069 or \u2068bo\u2069'],
    [{ services: false }, nobody, '1 approval by a person'],
    [{ approvals: 3 }, approver, '3 approvals, one of which you can give'],
    [{ approvals: 3, services: false }, nobody, '3 approvals by people'],
    [{ approvals: 2, selfApproval: false }, approver, '2 approvals, not yours'],
    [strict, nobody, '2 approvals by people, not yours'],
    [strict, deputy, '2 approvals by people, not yours, not even for \u2068ann\u2069 or \u2068bo\u2069'],
    [{ role: 'Finance' }, approver, '1 approval by someone with the role Finance'],
    [{ role: 'Finance', services: false }, deputy, '1 approval by a person with the role Finance'],
    [{ role: 'Admin' }, approver, '1 approval by someone with the role Admin, which you can give'],
    [
      { approvals: 2, role: 'Finance' },
      approver,
      '2 approvals, one of which you can give; one approver must have the role Finance',
    ],
    [
      { ...strict, role: 'Finance' },
      approver,
      '2 approvals by people, not yours; one approver must have the role Finance',
    ],
  ] as const) {
    it(words, () => assert.equal(nextInWords(row(given), person), words))
  }
})

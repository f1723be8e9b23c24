import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { givenWords, missingOf, needWords } from '../../../web/src/orders/approvals.ts'
import type { OrderApprovals } from '../../../web/src/orders/order.ts'

/** `count` approvals of those `required` are given. */
function approvals(required: number, count: number, reason: string | null = null): OrderApprovals {
  const one = {
    by: 'mara',
    byId: 1,
    atUtc: '2026-11-20T10:00:00.000Z',
    for: null,
    byName: null,
    forName: null,
    forId: null,
    signed: false,
  }
  const given = Array.from({ length: count }, () => one)
  const may = { mayApprove: reason === null, mayApproveFor: null, reason }
  return {
    number: 1,
    proposedBy: null,
    replaces: null,
    replacedBy: null,
    required,
    given,
    selfApproval: true,
    services: true,
    role: null,
    passkey: false,
    ...may,
  }
}

describe('the approvals of an order', () => {
  it('are counted', () => {
    assert.equal(givenWords(approvals(2, 1)), '1 of 2')
    assert.equal(missingOf(approvals(5, 2)), 3)
    assert.equal(missingOf(approvals(1, 1)), 0)
  })

  const sentences: [OrderApprovals, string][] = [
    [approvals(1, 0), 'Needs your approval.'],
    [approvals(2, 1), 'Needs your approval.'],
    [
      { ...approvals(1, 0), mayApproveFor: { id: 4, name: 'ann' } },
      'Needs your approval. You approve for \u2068ann\u2069.',
    ],
    [approvals(5, 1), 'Needs 4 more approvals, one of them yours.'],
    [
      approvals(1, 0, 'self-approval'),
      'Needs one approval. You or one of your services created this order, so someone else must approve it.',
    ],
    [approvals(2, 1, 'already-approved-by-you'), 'Needs one more approval. You already approved it.'],
    [
      { ...approvals(2, 1, 'role-needed'), role: 'Finance' },
      'Needs one more approval, from someone with the role Finance.',
    ],
    [approvals(2, 0, 'permission-denied'), 'Needs 2 approvals. Your role does not include approving orders.'],
    [approvals(2, 0, 'a-reason-to-come'), 'Needs 2 approvals. You cannot approve it.'],
  ]
  for (const [given, words] of sentences)
    it(`${givenWords(given)}: ${words}`, () => assert.equal(needWords(given), words))
})

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  areSame,
  type DraftRow,
  draftOf,
  readFroms,
  rowAfter,
  wireRowsOf,
} from '../../../web/src/policy/rows.ts'

const rule = { approvals: 1, selfApproval: true, services: true, role: null, passkey: false }
const row = (text: string, given: Partial<DraftRow> = {}): DraftRow => ({
  ...rule,
  key: text,
  text,
  ...given,
})
const first = row('')

describe('the rows of the policy form', () => {
  it('use the person’s notation, and can be read back', () => {
    const policy = [0, 0.0001, 1_250.5, 99_999_999_999.9999].map((from) => ({ from, ...rule }))
    const drafts = draftOf(policy)
    const texts = drafts.map(({ text }) => text)
    assert.deepEqual(texts, ['', '0.0001', '1,250.50', '99,999,999,999.9999'])
    const wire = wireRowsOf(drafts) ?? []
    const starts = wire.map(({ from }) => from)
    assert.deepEqual(starts, ['0', '0.0001', '1250.5', '99999999999.9999'])
    assert.ok(areSame(wire, policy))
  })

  it('are sent in ascending order, in whatever order they were typed', () => {
    const wire = wireRowsOf([first, row('900', { approvals: 3 }), row('20', { approvals: 2 })])
    assert.deepEqual(
      wire?.map(({ from, approvals }) => [from, approvals]),
      [
        ['0', 1],
        ['20', 2],
        ['900', 3],
      ],
    )
  })

  it('are not sent while a total is invalid or repeated', () => {
    for (const text of ['', 'x', '-1', '0', '1.00001', '100000000000', '5', '5,00', '5.00']) {
      const rows = [first, row('5'), row(text)]
      const faults = readFroms(rows).map((reading) => reading.ok)
      assert.deepEqual([faults, wireRowsOf(rows)], [[true, true, false], undefined], text)
    }
  })

  it('ask for one more approval, by people only, when one is added', () => {
    assert.partialDeepStrictEqual(rowAfter([first]), { approvals: 2, selfApproval: false, services: false })
    assert.equal(rowAfter([row('', { approvals: 5 })]).approvals, 5)
  })

  it('are equal only if all their fields are', () => {
    const wire = wireRowsOf([first, row('5')]) ?? []
    const policy = [
      { from: 0, ...rule },
      { from: 5, ...rule },
    ]
    assert.ok(areSame(wire, policy))
    assert.ok(!areSame(wire, policy.slice(0, 1)))
    assert.ok(
      !areSame(wire, [
        { from: 0, ...rule },
        { from: 5, ...rule, services: false },
      ]),
    )
    assert.ok(
      !areSame(wire, [
        { from: 0, ...rule },
        { from: 5.0001, ...rule },
      ]),
    )
  })
})

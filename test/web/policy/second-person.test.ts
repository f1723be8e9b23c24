import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { PolicyRow } from '../../../web/src/orders/policy.ts'
import { needsNobodyElse, withSecondPerson } from '../../../web/src/policy/second-person.ts'

const row = (given: Partial<PolicyRow> = {}): PolicyRow => ({
  from: 0,
  approvals: 1,
  selfApproval: true,
  services: true,
  role: null,
  passkey: false,
  ...given,
})

describe('a policy under which one person can create and approve any order', () => {
  it('is one in which every row lets its creator give the only approval', () => {
    assert.ok(needsNobodyElse([row(), row({ from: 5, services: false, role: 'Admin' })]))
    assert.ok(!needsNobodyElse([row(), row({ from: 5, approvals: 2 })]))
    assert.ok(!needsNobodyElse([row({ selfApproval: false })]))
  })

  it('can get a second person from 1,000 on', () => {
    const strict = { approvals: 2, selfApproval: false, services: false }
    const [below, role] = [row({ from: 500, role: 'Boss' }), 'Boss']
    for (const [before, after] of [
      [[row()], [row(), row({ from: 1_000, ...strict })]],
      [
        [row(), below],
        [row(), below, row({ from: 1_000, role, ...strict })],
      ],
      [
        [row(), row({ from: 1_000 }), row({ from: 9_000, role })],
        [row(), row({ from: 1_000, ...strict }), row({ from: 9_000, role, ...strict })],
      ],
    ] as const) {
      const rows = withSecondPerson(before).map(({ from, ...rules }) => ({ from: Number(from), ...rules }))
      assert.deepEqual(rows, after)
      assert.ok(!needsNobodyElse(rows))
    }
  })
})

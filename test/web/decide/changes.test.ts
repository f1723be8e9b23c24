import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { changesOf } from '../../../web/src/orders/decide/changes.ts'

const before = { customer: 'Northwind', total: 42.5, status: 0 } as const

describe('changesOf', () => {
  it('names the differences', () => {
    assert.deepEqual(changesOf(before, { ...before, status: 1 }), ['status'])
    assert.deepEqual(changesOf(before, { customer: 'Southwind', total: 43, status: 0 }), [
      'customer',
      'total',
    ])
  })

  it('is empty if nothing differs', () => {
    assert.deepEqual(changesOf(before, { ...before }), [])
  })
})

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { changesOf } from '../../../web/src/orders/decide/dialog/changes.ts'

const before = { customer: 'Northwind', total: 42.5, status: 0 } as const

describe('changesOf', () => {
  it('names what is different, before and now', () => {
    assert.deepEqual(changesOf(before, { ...before, status: 1 }), [{ field: 'status', before: 0, now: 1 }])
    assert.deepEqual(changesOf(before, { customer: 'Southwind', total: 43, status: 0 }), [
      { field: 'customer', before: 'Northwind', now: 'Southwind' },
      { field: 'total', before: 42.5, now: 43 },
    ])
  })

  it('is empty for what is the same', () => {
    assert.deepEqual(changesOf(before, { ...before }), [])
  })
})

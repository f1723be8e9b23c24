import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { changesOf, countInWords } from '../../../web/src/orders/decide/changes.ts'
import type { Order, OrderDocument } from '../../../web/src/orders/order.ts'

const before = { customer: 'Northwind', total: 42.5, status: 0 } as const
const version = (order: Partial<Order>, ...documents: string[]) => ({
  order: { ...before, ...order } as Order,
  documents: documents.map((sha256) => ({ sha256, name: `${sha256}.pdf` }) as OrderDocument),
})

describe('changesOf', () => {
  it('names the differences', () => {
    assert.deepEqual(changesOf(before, version({ status: 1 })), ['status'])
    assert.deepEqual(changesOf(before, version({ customer: 'Southwind', total: 43 })), ['customer', 'total'])
  })

  it('is empty if nothing differs', () => {
    assert.deepEqual(changesOf(before, version({})), [])
    const documents = [
      { name: 'a.pdf', sha256: 'a' },
      { name: 'b.pdf', sha256: 'b' },
    ]
    assert.deepEqual(changesOf({ ...before, documents }, version({}, 'b', 'a')), [])
    assert.deepEqual(changesOf({ ...before, documents: 0 }, version({})), [])
  })

  it('names documents that came, went or were swapped', () => {
    const documents = [{ name: 'a.pdf', sha256: 'a' }]
    for (const now of [[], ['b'], ['a', 'a'], ['a', 'b']]) {
      assert.deepEqual(changesOf({ ...before, documents }, version({}, ...now)), ['documents'], String(now))
    }
    assert.deepEqual(changesOf({ ...before, documents: 0 }, version({}, 'a')), ['documents'])
  })

  it('takes counted documents for others, because their number does not say which they were', () => {
    assert.deepEqual(changesOf({ ...before, documents: 1 }, version({}, 'a')), ['documents'])
  })

  it('compares no documents with a service that does not list them', () => {
    assert.deepEqual(changesOf(before, version({}, 'a')), [])
  })
})

describe('countInWords', () => {
  it('is empty for none', () => {
    assert.deepEqual([undefined, 0, [], 1, 2].map(countInWords), ['', '', '', '1 document', '2 documents'])
  })
})

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseReviewSearch, questionOfSelected } from '../../../web/src/orders/address/question.ts'

const id = (number: number) => `01a20647-49ed-76ee-800b-${String(number).padStart(12, '0')}`
const orderOf = (number: number, customer: string, total: number) => ({
  id: id(number),
  customer,
  total,
  createdAtUtc: '2026-11-20T09:30:00.000Z',
})
const none = { filter: undefined, orderBy: undefined, order: undefined, ids: undefined, at: undefined }

describe('the address of a review', () => {
  it('is read as a search and a place in its list', () => {
    const search = { filter: 'status=Pending', orderBy: 'total', order: 'Asc', at: id(1), pageNumber: 3 }
    assert.deepEqual(parseReviewSearch(search), {
      ...none,
      filter: 'status=Pending',
      orderBy: 'total',
      at: id(1),
    })
    assert.deepEqual(parseReviewSearch({ at: 'end' }), { ...none, at: 'end' })
  })

  it('ignores values that make no sense', () => {
    assert.deepEqual(parseReviewSearch({ at: 'nowhere', ids: 'x,y', orderBy: 'colour' }), none)
    assert.deepEqual(parseReviewSearch({ ids: `x,${id(1)}` }), { ...none, ids: id(1) })
  })
})

describe('the question about selected orders', () => {
  const selected = [orderOf(2, 'Ätna', 10), orderOf(3, 'basil', 9), orderOf(1, 'Acme', 100)]
  const idsBy = (orderBy?: 'total' | 'customer' | 'status', order?: 'Asc' | 'Desc') =>
    questionOfSelected({ orderBy, order }, selected).ids

  it('has the orders as the list sorts them, not as they were selected', () => {
    assert.equal(idsBy(), [id(3), id(2), id(1)].join())
    assert.equal(idsBy('total'), [id(3), id(2), id(1)].join())
    assert.equal(idsBy('total', 'Desc'), [id(1), id(2), id(3)].join())
    assert.equal(idsBy('customer'), [id(1), id(3), id(2)].join())
    assert.equal(idsBy('status', 'Desc'), [id(3), id(2), id(1)].join())
  })

  it('has the first hundred orders if there are more', () => {
    const many = Array.from({ length: 120 }, (_, number) => orderOf(number, 'Acme', 1))
    assert.equal(questionOfSelected({ orderBy: 'total' }, many).ids?.split(',').length, 100)
  })
})

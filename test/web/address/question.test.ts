import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  parseReviewSearch,
  questionOfList,
  questionOfSelected,
} from '../../../web/src/orders/address/question.ts'

const id = (number: number) => `01a20647-49ed-76ee-800b-${String(number).padStart(12, '0')}`
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

it('a review of selected orders goes through the first hundred', () => {
  const many = Array.from({ length: 120 }, (_, number) => id(number))
  const { ids } = questionOfSelected({ orderBy: 'total' }, many)
  assert.equal(ids, many.slice(0, 100).join())
})

it('a review of a list goes through what waits for the person, unless the search says which orders', () => {
  const filterOf = (filter?: string) => questionOfList({ filter }).filter
  assert.equal(filterOf(), 'waits:me')
  assert.equal(filterOf('Acme OR Bolt'), 'Acme OR Bolt waits:me')
  for (const filter of ['status=Approved', '(status=Pending OR Acme)', 'waits:nobody', 'number=7', 'total>'])
    assert.equal(filterOf(filter), filter)
})

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  filteredBy,
  type ListSearch,
  parametersOf,
  parseListSearch,
  sortedBy,
  sortOf,
} from '../../../web/src/orders/address/address.ts'
import { captionOf } from '../../../web/src/orders/list/words.ts'
import { onPage, rowsOf, withPageSize } from '../../../web/src/ui/paging.ts'

/** What the router makes of an address: it keeps its own value for every name that is not parsed. */
const inRouter = (address: Record<string, unknown>) => ({ ...address, ...parseListSearch(address) })

const stated = (search: object) =>
  Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined))

const read = (address: Record<string, unknown>) => stated(parseListSearch(address))

describe('the address of the list', () => {
  it('holds no defaults, so each view has one address', () => {
    assert.deepEqual(read({}), {})
    assert.deepEqual(read({ filter: '', pageNumber: '1', pageSize: '25' }), {})
    assert.deepEqual(read({ orderBy: 'createdAtUtc', order: 'Desc' }), {})
    assert.deepEqual(read({ order: 'Desc' }), {})
    assert.deepEqual(read({ order: 'Asc' }), { orderBy: 'createdAtUtc' })
    assert.deepEqual(read({ orderBy: 'customer', order: 'Asc' }), { orderBy: 'customer' })
    assert.deepEqual(read({ filter: ' acme ' }), { filter: 'acme' })
  })

  it('ignores values that make no sense', () => {
    const nonsense = { filter: 1, pageNumber: '-3', pageSize: '26', orderBy: 'id; drop', order: 'up' }
    assert.deepEqual(read(nonsense), {})
    for (const pageNumber of ['0', '1.5', '2147483648', 'Infinity', '', 'two']) {
      assert.deepEqual(read({ pageNumber }), {}, pageNumber)
    }
  })

  it('keeps everything but defaults', () => {
    const search = { filter: 'total>5', pageNumber: 3, pageSize: 50, orderBy: 'total', order: 'Desc' }
    assert.deepEqual(read({ ...search, pageNumber: '3', pageSize: '50' }), search)
  })

  for (const address of [
    { orderBy: 'createdBy' },
    { orderBy: '__proto__' },
    { orderBy: 'constructor', order: 'Desc' },
    { order: 'asc' },
    { paginated: 'false' },
    { pageSize: '10000', pageNumber: '0' },
    Object.fromEntries(new URLSearchParams('__proto__=1&constructor=2&hasOwnProperty=3')),
  ]) {
    it(`leads to a request for exactly that: ${new URLSearchParams(Object.entries(address))}`, () => {
      const parsed = parseListSearch(inRouter(address))
      assert.deepEqual(stated(parsed), {})
      assert.deepEqual(parametersOf(parsed), { pageSize: 25, columns: 'number' })
      assert.equal(captionOf(parsed, 25, 25, 250), 'Orders: 1–25 of 250, newest first')
    })
  }

  it('leads to a request for what it says, and is read back unchanged', () => {
    const address = { filter: 'acme', pageNumber: '2', orderBy: 'total', order: 'Desc', paginated: 'false' }
    const parsed = parseListSearch(inRouter(address))
    assert.deepEqual(parseListSearch(parsed), parsed)
    const asked = { pageSize: 25, filter: 'acme', pageNumber: 2, orderBy: 'total', order: 'Desc' }
    assert.deepEqual(parametersOf(parsed), { ...asked, columns: 'number' })
  })
})

describe('sorting', () => {
  it('begins in the natural direction of the field, then reverses', () => {
    assert.deepEqual(sortedBy({}, 'customer'), { orderBy: 'customer' })
    assert.deepEqual(sortedBy({ orderBy: 'customer' }, 'customer'), { orderBy: 'customer', order: 'Desc' })
    assert.deepEqual(sortedBy({}, 'total'), { orderBy: 'total', order: 'Desc' })
    assert.deepEqual(sortedBy({ orderBy: 'total', order: 'Desc' }, 'total'), { orderBy: 'total' })
    assert.deepEqual(sortedBy({}, 'createdAtUtc'), { orderBy: 'createdAtUtc' })
    assert.deepEqual(sortedBy({ orderBy: 'createdAtUtc' }, 'createdAtUtc'), {})
  })

  it('keeps the search and the page size, and goes to the first page', () => {
    const before = { filter: 'a', pageNumber: 4, pageSize: 100 }
    assert.deepEqual(sortedBy(before, 'status'), { filter: 'a', pageSize: 100, orderBy: 'status' })
  })

  it('defaults as the API does', () => {
    assert.deepEqual(sortOf({}), { orderBy: 'createdAtUtc', order: 'Desc' })
    assert.deepEqual(sortOf({ orderBy: 'createdAtUtc' }), { orderBy: 'createdAtUtc', order: 'Asc' })
  })
})

describe('another search, page or page size', () => {
  it('searches from the first page', () => {
    const before = { filter: 'a', pageNumber: 4, pageSize: 50, orderBy: 'total', order: 'Desc' } as const
    assert.deepEqual(filteredBy(before, 'b'), { filter: 'b', pageSize: 50, orderBy: 'total', order: 'Desc' })
    assert.deepEqual(filteredBy({ filter: 'a' }, ''), {})
  })

  it('leaves out page 1', () => {
    assert.deepEqual(onPage({ filter: 'a', pageNumber: 2 }, 1), { filter: 'a' })
    assert.deepEqual(onPage<ListSearch>({ filter: 'a' }, 2), { filter: 'a', pageNumber: 2 })
  })

  it('keeps the first row in view when the page size changes', () => {
    assert.deepEqual(withPageSize({ pageNumber: 5 }, 50), { pageSize: 50, pageNumber: 3 })
    assert.deepEqual(withPageSize({ pageNumber: 3, pageSize: 50 }, 25), { pageNumber: 5 })
    assert.deepEqual(withPageSize({ pageNumber: 2 }, 100), { pageSize: 100 })
  })

  it('counts rows from 1', () => {
    assert.deepEqual(rowsOf({ pageNumber: 2, pageSize: 25, count: 25 }), { first: 26, last: 50 })
    assert.deepEqual(rowsOf({ pageNumber: 3, pageSize: 25, count: 3 }), { first: 51, last: 53 })
    assert.equal(rowsOf({ pageNumber: 9, pageSize: 25, count: 0 }), undefined)
  })
})

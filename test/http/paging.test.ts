import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { describePage, pageRequest } from '../../server/http/paging.ts'
import { forAll } from '../support/for-all.ts'
import { setUp, testService } from '../support/service.ts'

const maximum = 2_147_483_647

describe('a page', () => {
  it('is the first with ten items by default, and has at most 100', () => {
    assert.deepEqual(pageRequest(), { pageNumber: 1, pageSize: 10, offset: 0 })
    assert.deepEqual(pageRequest(3, 101), { pageNumber: 3, pageSize: 100, offset: 200 })
    const last = pageRequest(maximum, maximum)
    assert.deepEqual(last, { pageNumber: maximum, pageSize: 100, offset: (maximum - 1) * 100 })
    assert.ok(Number.isSafeInteger(last.offset))
  })

  it('covers every match exactly once together with the other pages, and says whether there are any', () => {
    forAll(100, fc.nat(1_000), fc.integer({ min: 1, max: 150 }), (totalCount, pageSize) => {
      const all = Array.from({ length: totalCount }, (_, index) => index)
      const seen: number[] = []
      let hasNext = totalCount > 0
      for (let number = 1; hasNext; number += 1) {
        const request = pageRequest(number, pageSize)
        const page = describePage(totalCount, request)
        assert.equal(page.hasPreviousPage, number > 1)
        assert.equal(page.totalPages, Math.ceil(totalCount / Math.min(pageSize, 100)))
        seen.push(...all.slice(request.offset, request.offset + request.pageSize))
        hasNext = page.hasNextPage
      }
      assert.deepEqual(seen, all)
    })
  })
})

describe('the Link header', () => {
  const service = testService({ orders: true })
  const viewer = setUp(() => service.bearer('viewer'))

  async function linksOf(path: string): Promise<Record<string, string>> {
    const { headers } = await viewer.get(path)
    const links = (headers.get('link') ?? '').matchAll(/<([^>]*)>; rel="(\w+)"/g)
    return Object.fromEntries([...links].map(([, target, rel]) => [rel, target]))
  }

  it('names the first, prev, next and last pages that exist, and each link works', async () => {
    const relations = async (query: string) => Object.keys(await linksOf(`/v1/orders?${query}`)).sort()
    assert.deepEqual(await relations(''), ['first', 'last', 'next'])
    assert.deepEqual(await relations('pageNumber=2'), ['first', 'last', 'next', 'prev'])
    assert.deepEqual(await relations('pageNumber=25'), ['first', 'last', 'prev'])
    assert.deepEqual(await relations('pageNumber=26'), ['first', 'last', 'prev'])
    assert.deepEqual(await relations('pageSize=100&filter=customer%3Dnone-such'), ['first', 'last'])
    const seen = new Set<string>()
    let next: string | undefined = '/v1/orders?pageSize=60&orderBy=total'
    while (next !== undefined) {
      const page = await viewer.get(next)
      for (const { id } of page.body.items) seen.add(id)
      next = (await linksOf(next)).next
    }
    assert.equal(seen.size, 250)
    const last = await viewer.get((await linksOf('/v1/orders?pageNumber=99')).prev ?? '')
    assert.equal(last.body.pageNumber, 25)
  })
})

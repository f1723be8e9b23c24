// engine: SQLite
import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { createdId, onlyOrders, sendExactly, variedOrders } from '../support/orders.ts'
import { testService } from '../support/service.ts'

describe('the answer to a list', () => {
  const service = testService()
  onlyOrders(service, variedOrders(100))
  let viewer: Client
  before(async () => {
    viewer = await service.bearer('viewer')
  })

  const list = async (query: string) => {
    const answer = await viewer.get(`/v1/orders?${query}`)
    assert.equal(answer.status, 200, answer.text)
    return answer
  }

  describe('links', () => {
    it('keep the other parameters of the request', async () => {
      const filters = [
        'a?b',
        '"a&b=c"',
        'customer:a',
        '"<>|^`{}"',
        'Müller 😀',
        '"100%"',
        "'#'",
        '"1+1"',
        'a,b',
      ]
      for (const filter of filters) {
        const query = `orderBy=Total&filter=${encodeURIComponent(filter)}&pageSize=7&pageNumber=1`
        for (const [rel, url] of await linksOf(query)) {
          const { pageNumber: _, ...kept } = Object.fromEntries(url.searchParams)
          assert.deepEqual(kept, { orderBy: 'Total', filter, pageSize: '7' }, rel)
          assert.equal(url.searchParams.getAll('pageNumber').length, 1)
        }
      }
    })

    for (const query of [
      ...'filter=a?b&pageSize=7 filter=%22a?b?c%22&pageSize=7 page%4Eumber=2&pageSize=7'.split(' '),
      ...'page%53ize=7&pageSize2=8 %70ageNumber=2&pageSize=7&x=1 ?pageSize=7&pageSize=7'.split(' '),
    ]) {
      it(`repeat the query as it was understood: ${query}`, async () => {
        const { headers } = await sendExactly(viewer, 'GET', `/v1/orders?${query}`)
        for (const [, url] of parseLinks(headers)) {
          assert.equal(url.searchParams.getAll('pageNumber').length, 1)
          assert.equal(url.searchParams.get('pageSize'), '7')
        }
        assert.notEqual(parseLinks(headers).size, 0)
      })
    }

    const linksOf = async (query: string) => parseLinks((await list(query)).headers)
  })

  describe('revalidates', () => {
    it('answers 304 without body to the entity tag of the same page, weakly compared', async () => {
      const { headers } = await list('pageSize=3')
      const etag = headers.get('etag') ?? ''
      assert.match(etag, /^(?:W\/)?"[\x21\x23-\x7e]+"$/)
      const opaque = etag.replace(/^W\//, '')
      assert.equal(headers.get('cache-control'), 'private, no-cache')
      assert.match(headers.get('vary') ?? '', /\bCookie, Authorization\b/)
      for (const tags of [etag, `W/${opaque}`, opaque, `"x", ${etag}`, '*']) {
        const answer = await viewer.get('/v1/orders?pageSize=3', { 'if-none-match': tags })
        assert.deepEqual([answer.status, answer.text], [304, ''])
        assert.equal(answer.headers.get('etag'), etag)
        assert.equal(answer.headers.get('content-type'), null)
      }
    })

    it('answers 200 to other tags, and to the tag of another page', async () => {
      const other = (await list('pageSize=4')).headers.get('etag') ?? ''
      for (const tags of [other, '"1"', 'x', '']) {
        const answer = await viewer.get('/v1/orders?pageSize=3', { 'if-none-match': tags })
        assert.equal(answer.status, 200)
      }
    })

    it('answers 200 once an order of the page has changed', async () => {
      const admin = await service.bearer('admin')
      const id = await createdId(admin, { customer: 'Changing' })
      const { headers } = await list('filter=Changing')
      const ifNoneMatch = { 'if-none-match': headers.get('etag') ?? '' }
      assert.equal((await viewer.get('/v1/orders?filter=Changing', ifNoneMatch)).status, 304)
      await admin.patch(`/v1/orders/${id}/approve`)
      assert.equal((await viewer.get('/v1/orders?filter=Changing', ifNoneMatch)).status, 200)
    })
  })
})

function parseLinks(headers: Headers): Map<string, URL> {
  const matches = (headers.get('link') ?? '').matchAll(/<([^<>\s"]*)>; rel="(\w+)"(?:, |$)/g)
  return new Map([...matches].map(([, target = '', rel = '']) => [rel, new URL(target, 'http://localhost')]))
}

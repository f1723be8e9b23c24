import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createdId, onlyOrders, sendExactly, variedOrders } from '../support/orders.ts'
import { assertRevalidates } from '../support/revalidation.ts'
import { setUp, testService } from '../support/service.ts'

describe('the answer to a list', () => {
  const service = testService()
  onlyOrders(service, variedOrders(100))
  const viewer = setUp(() => service.bearer('viewer'))

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
      it(`repeat the query as the service understood it: ${query}`, async () => {
        const { headers } = await sendExactly(viewer, 'GET', `/v1/orders?${query}`)
        for (const [, url] of parseLinks(headers)) {
          assert.equal(url.searchParams.getAll('pageNumber').length, 1)
          assert.equal(url.searchParams.get('pageSize'), '7')
        }
        assert.notEqual(parseLinks(headers).size, 0)
      })
    }

    it('cannot be escaped from by an unknown parameter', async () => {
      const { headers } = await list('x=%3E%3B&y=>;rel="next",<https://evil.example>;rel="last"')
      assert.doesNotMatch(headers.get('link') ?? '', /<https:|;rel=/)
    })

    const linksOf = async (query: string) => parseLinks((await list(query)).headers)
  })

  it('answers 304 to the entity tag of the same page, until one of its orders changes', async () => {
    const admin = await service.bearer('admin')
    const id = await createdId(admin, { customer: 'Changing' })
    const other = (await list('pageSize=4')).headers.get('etag') ?? ''
    const page = await viewer.get('/v1/orders?pageSize=3', { 'if-none-match': other })
    assert.equal(page.status, 200)
    const path = '/v1/orders?filter=Changing'
    await assertRevalidates(viewer, path, () => admin.patch(`/v1/orders/${id}/approve`))
  })
})

function parseLinks(headers: Headers): Map<string, URL> {
  const matches = (headers.get('link') ?? '').matchAll(/<([^<>\s"]*)>; rel="(\w+)"(?:, |$)/g)
  return new Map([...matches].map(([, target = '', rel = '']) => [rel, new URL(target, 'http://localhost')]))
}

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { answerWith, serviceIs } from '../../support/page.ts'
import { beginInUtc, inZone } from '../filter/zone.ts'

const { queries } = await import('../../../web/src/api/queries.ts')
const { countQuery } = await import('../../../web/src/orders/address/queries.ts')
const { approveOrder, rejectOrder, withdrawOrder } = await import('../../../web/src/orders/decide/queries.ts')
const { orderQuery } = await import('../../../web/src/orders/queries.ts')

describe('the version of an order that was read', () => {
  let tag: string
  const sent: Request[] = []
  serviceIs((path, request) => {
    if (path === '/v1/auth/csrf') return answerWith(200, { token: 'token' })
    sent.push(request)
    return request.method === 'GET' ? answerWith(200, { id: '1' }, tag ? { etag: tag } : {}) : answerWith(204)
  })

  for (const [name, given, etag] of [
    ['as the service sends it', '"7"', '"7"'],
    ['weakened by a proxy, which the service allows for', 'W/"7"', 'W/"7"'],
    ['taken off by a proxy', '', undefined],
  ] as const) {
    it(`${name} is the one that an approval names`, async () => {
      tag = given
      const read = await queries.fetchQuery({ ...orderQuery('1'), staleTime: 0 })
      assert.equal(read.etag, etag)
      await approveOrder({ id: '1', etag: read.etag, idempotencyKey: 'key' })
      assert.equal(sent.at(-1)?.headers.get('if-match') ?? undefined, etag)
    })
  }
})

describe('a request', () => {
  const sent: Request[] = []
  serviceIs((path, request) => {
    if (path === '/v1/auth/csrf') return answerWith(200, { token: 'token' })
    sent.push(request)
    return answerWith(request.method === 'GET' ? 200 : 204, { id: '2' })
  })

  it('about a decision goes on when its page goes, and one that only reads does not', async () => {
    const decision = { id: '2', idempotencyKey: 'key' }
    await approveOrder(decision)
    await rejectOrder({ ...decision, reason: 'Twice.' })
    await withdrawOrder(decision)
    await queries.fetchQuery(orderQuery('2'))
    assert.deepEqual(
      sent.map(({ method, keepalive }) => [method, keepalive]),
      [
        ['PATCH', true],
        ['PATCH', true],
        ['PATCH', true],
        ['GET', false],
      ],
    )
  })
})

describe('how many orders a search finds', () => {
  beginInUtc()
  const asked: (string | null)[] = []
  serviceIs((_, request) => {
    asked.push(new URL(request.url).searchParams.get('filter'))
    return answerWith(200, { items: [], totalCount: 3 })
  })

  it('is asked with the days of the person, like the list', async () => {
    inZone('Asia/Tokyo')
    const typed = '(customer:Acme createdAtUtc=2026-03-05) createdAtUtc>="2026-03-05T01:00:00.000Z"'
    assert.equal(await queries.fetchQuery(countQuery(typed)), 3)
    assert.deepEqual(asked, [
      '(customer:Acme (createdAtUtc>=2026-03-04T15:00:00Z createdAtUtc<2026-03-05T15:00:00Z)) createdAtUtc>="2026-03-05T01:00:00.000Z"',
    ])
  })
})

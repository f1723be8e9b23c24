import assert from 'node:assert/strict'
import { describe, it, mock } from 'node:test'
import { QueryObserver } from '@tanstack/react-query'
import { answerWith, problemWith, serviceIs, settled } from '../../support/page.ts'
import { beginInUtc, inZone } from '../filter/zone.ts'

const { queries } = await import('../../../web/src/api/queries.ts')
const { countQuery } = await import('../../../web/src/orders/address/queries.ts')
const { actions } = await import('../../../web/src/orders/decide/actions.ts')
const { prepareDecisions } = await import('../../../web/src/orders/decide/decisions.ts')
const { serviceFor } = await import('../../../web/src/orders/decide/service.ts')
const { subjectOf } = await import('../../../web/src/orders/decide/sign.ts')
const { failureOf } = await import('../../../web/src/orders/outbox.ts')
const { endInWords } = await import('../../../web/src/ui/describe.ts')
const { orderQuery, ordersChanged, prefetchOrder } = await import('../../../web/src/orders/queries.ts')

describe('the version of an order that was read', () => {
  let tag: string
  const sent: Request[] = []
  serviceIs((path, request) => {
    if (path === '/v1/auth/csrf') return answerWith(200, { token: 'token' })
    sent.push(request)
    return request.method === 'GET' ? answerWith(200, { id: '1' }, tag ? { etag: tag } : {}) : answerWith(204)
  })

  for (const [name, given, etag, words] of [
    ['as the service sends it', '"7"', '"7"', undefined],
    ['weakened by a proxy, which the service allows for', 'W/"7"', 'W/"7"', undefined],
    [
      'taken off by a proxy, which ends in no approval',
      '',
      undefined,
      'Nothing was saved. The version of the order is missing, probably because a proxy removes the ETag header: ask your administrator.',
    ],
  ] as const) {
    it(`${name} is the version that an approval names`, async () => {
      tag = given
      const read = await queries.fetchQuery({ ...orderQuery('1'), staleTime: 0 })
      assert.equal(read.etag, etag)
      sent.length = 0
      const subject = { ...subjectOf(read, { isSigned: false }), id: '1' }
      const decisions = prepareDecisions([subject], serviceFor('approve', 'mara', [subject]))
      await decisions.start()
      const tags = sent
        .filter(({ method }) => method === 'PATCH')
        .map(({ headers }) => headers.get('if-match'))
      assert.deepEqual(tags, etag === undefined ? [] : [etag])
      const failure = decisions.snapshot.get().steps.map(({ progress }) => failureOf(progress))[0]
      assert.equal(failure === undefined ? undefined : endInWords(failure), words)
    })
  }
})

describe('the documents of an order', () => {
  const sent: string[] = []
  serviceIs((path) => {
    sent.push(path)
    if (path.endsWith('/documents')) return answerWith(200, { items: [{ name: 'Offer.pdf' }] })
    return answerWith(200, { id: '3' }, { etag: path.endsWith('new') ? '"1"' : '"2"' })
  })

  it('are read after it, so that its tag is never newer than they are; a new order has none', async () => {
    const read = await queries.fetchQuery(orderQuery('full'))
    assert.deepEqual([read.etag, read.documents], ['"2"', [{ name: 'Offer.pdf' }]])
    assert.deepEqual((await queries.fetchQuery(orderQuery('new'))).documents, [])
    assert.deepEqual(sent, ['/v1/orders/full', '/v1/orders/full/documents', '/v1/orders/new'])
  })
})

describe('changes that overtake the first answer of an order', () => {
  let etag: string
  let asked: string[]
  let held: PromiseWithResolvers<void>
  serviceIs(async (path) => {
    if (path.endsWith('/documents')) return answerWith(200, { items: [{ name: 'Offer.pdf' }] })
    asked.push(path)
    const answer = answerWith(200, { id: path }, { etag })
    await held.promise
    return answer
  })
  const namesOf = (id: string) => queries.getQueryData(orderQuery(id).queryKey)?.documents

  for (const [id, where, begin] of [
    ['shown', 'on the screen', () => new QueryObserver(queries, orderQuery('shown')).subscribe(() => {})],
    ['early', 'that is fetched before it is opened', () => prefetchOrder('early')],
  ] as const) {
    it(`have it read once more, ${where}`, async () => {
      etag = '"1"'
      asked = []
      held = Promise.withResolvers()
      const leave = begin()
      await settled()
      etag = '"2"'
      const changes = Array.from({ length: 3 }, () => ordersChanged(id))
      held.resolve()
      await Promise.all(changes)
      await queries.fetchQuery(orderQuery(id))
      assert.deepEqual(namesOf(id), [{ name: 'Offer.pdf' }])
      assert.equal(asked.filter((path) => path.endsWith(id)).length, 2)
      leave?.()
    })
  }
})

describe('a request', () => {
  const sent: Request[] = []
  serviceIs((path, request) => {
    if (path === '/v1/auth/csrf') return answerWith(200, { token: 'token' })
    sent.push(request)
    return request.method === 'GET' ? answerWith(200, { id: '2' }, { etag: '"1"' }) : answerWith(204)
  })

  it('that sends a decision continues when its page goes away; one that only reads does not', async () => {
    const decision = { id: '2', etag: '"1"', idempotencyKey: 'key' }
    await actions.approve.send(decision)
    await actions.reject.send({ ...decision, reason: 'Twice.' })
    await actions.withdraw.send(decision)
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

describe('an order that is fetched before it is opened', () => {
  const sent: string[] = []
  serviceIs((path) => {
    sent.push(path)
    return problemWith(503, 'overloaded')
  })

  it('is asked for with its approvals and its history, once', async () => {
    mock.timers.enable({ apis: ['setTimeout', 'Date'] })
    prefetchOrder('3')
    await settled()
    mock.timers.tick(60_000)
    await settled()
    mock.timers.reset()
    assert.deepEqual(sent, ['/v1/orders/3', '/v1/orders/3/approvals', '/v1/orders/3/history'])
  })
})

describe('the number of orders that a search finds', () => {
  beginInUtc()
  const asked: (string | null)[] = []
  serviceIs((_, request) => {
    asked.push(new URL(request.url).searchParams.get('filter'))
    return answerWith(200, { items: [], totalCount: 3 })
  })

  it('is requested with the days of the person, like the list', async () => {
    inZone('Asia/Tokyo')
    const typed = '(customer:Acme createdAtUtc=2026-03-05) createdAtUtc>="2026-03-05T01:00:00.000Z"'
    assert.equal(await queries.fetchQuery(countQuery(typed)), 3)
    assert.deepEqual(asked, [
      '(customer:Acme (createdAtUtc>=2026-03-04T15:00:00Z createdAtUtc<2026-03-05T15:00:00Z)) createdAtUtc>="2026-03-05T01:00:00.000Z"',
    ])
  })
})

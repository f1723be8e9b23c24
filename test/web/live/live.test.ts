import assert from 'node:assert/strict'
import { describe, it, mock } from 'node:test'
import { InfiniteQueryObserver } from '@tanstack/react-query'
import type { OrderSummary } from '../../../web/src/orders/order.ts'
import { hear, problemWith, settled, told } from '../../support/page.ts'
import {
  aPersonListens,
  approval,
  happens,
  heard,
  knows,
  page,
  pathsAsked,
  row,
  said,
  shown,
  tab,
} from './tab.ts'

const { queries } = await import('../../../web/src/api/queries.ts')
const { endSession } = await import('../../../web/src/auth/session.ts')
const { listen } = await import('../../../web/src/live/live.ts')
const { isCrowded } = await import('../../../web/src/orders/arrivals.ts')
const { listQuery } = await import('../../../web/src/orders/address/queries.ts')
const { approvalsQuery, historyQuery, orderQuery } = await import('../../../web/src/orders/queries.ts')

const rowsOf = (query: ReturnType<typeof listQuery>) =>
  (queries.getQueryData(query.queryKey) as { items: OrderSummary[] } | undefined)?.items

describe('the live list of a browser', () => {
  aPersonListens()

  it('is read by one tab, which passes everything on', async () => {
    const batch = { place: '1.5', changes: [approval('a')], isReset: false }
    queries.setQueryData(listQuery({}).queryKey, page(row('a')))
    told.length = 0
    const { send } = await tab.service.next()
    await send(`id: 1.5\ndata: ${JSON.stringify(approval('a'))}\n\n`)
    assert.deepEqual(told, [batch])
    assert.deepEqual(rowsOf(listQuery({})), [heard('a')])
  })

  it('says that it is not live while the account has too many streams, and asks again a minute later', async () => {
    await tab.service.next()
    tab.stop()
    await settled()
    tab.service.refuses = () => problemWith(429, 'too-many-streams')
    told.length = 0
    tab.stop = listen()
    // Node passes a lock on in another thread.
    for (let turn = 0; turn < 1_000 && !isCrowded.get(); turn += 1) await settled()
    assert.deepEqual([isCrowded.get(), told], [true, [{ isCrowded: true }]])
    mock.timers.tick(59_999)
    assert.equal(await tab.service.connection(), undefined)
    tab.service.refuses = undefined
    mock.timers.tick(1)
    const { send } = await tab.service.next()
    await send('id: 1.5\n\n')
    assert.equal(isCrowded.get(), false)
    hear('countersign-live', { isCrowded: true })
    assert.equal(isCrowded.get(), true)
  })

  it('is read on by the next tab from the place that the last one had reached, until its person leaves', async () => {
    await tab.service.next()
    await happens(approval('a'))
    await happens()
    const reached = `1.${tab.place}`
    tab.stop()
    await settled()
    tab.stop = listen()
    assert.equal((await tab.service.next()).headers.get('last-event-id'), reached)
    tab.stop()
    endSession('signed-out')
    await settled()
    tab.stop = listen()
    assert.equal((await tab.service.next()).headers.get('last-event-id'), null)
  })

  it('begins where a list was read, here or in another tab, if that is further back', async () => {
    await tab.service.next()
    const placeOf = async () => (await tab.service.next()).headers.get('last-event-id')
    tab.place += 10
    const [first, second, third] = [-1, -2, -3].map((away) => `1.${tab.place + away}`)
    tab.readAt = `1.${tab.place + 1}`
    let leave = shown(listQuery({}))
    assert.equal(await placeOf(), tab.readAt)
    leave()
    told.length = 0
    tab.readAt = first
    leave = shown(listQuery({ pageNumber: 2 }))
    assert.equal(await placeOf(), first)
    assert.deepEqual(told, [{ listReadAt: first }])
    hear('countersign-live', { listReadAt: tab.readAt })
    assert.equal(await tab.service.connection(), undefined)
    hear('countersign-live', { listReadAt: '2.0' })
    assert.equal(await tab.service.connection(), undefined)
    hear('countersign-live', { listReadAt: second })
    assert.equal(await placeOf(), second)
    leave()
    tab.stop()
    queries.setQueryData(listQuery({}).queryKey, { ...page(), place: third ?? null })
    tab.stop = listen()
    assert.equal(await placeOf(), third)
    queries.setQueryData(listQuery({}).queryKey, { ...page(), place: '1.0' })
    assert.equal(await tab.service.connection(), undefined)
  })

  it('is not heard by a tab that has left', async () => {
    queries.setQueryData(listQuery({}).queryKey, page(row('a')))
    tab.stop()
    await happens(approval('a'))
    assert.deepEqual(rowsOf(listQuery({})), [row('a')])
  })
})

describe('a change in a list', () => {
  aPersonListens()

  it('is shown in its row, and makes the list no fresher', async () => {
    const { queryKey } = listQuery({})
    queries.setQueryData(queryKey, page(row('a'), row('b')), { updatedAt: 7 })
    await happens(approval('b'), approval('c'))
    assert.deepEqual(queries.getQueryData(queryKey), page(row('a'), heard('b')))
    assert.equal(queries.getQueryState(queryKey)?.dataUpdatedAt, 7)
  })

  it('that the row already includes does nothing', async () => {
    queries.setQueryData(listQuery({}).queryKey, page(row('a', 1)))
    await happens(approval('a', { kind: 'created', version: 1, status: 0 }))
    assert.deepEqual(rowsOf(listQuery({})), [row('a', 1)])
  })

  it('is in an answer that was read before it, as soon as that arrives', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    tab.items = [row('a')]
    tab.held = { path: '/v1/orders', answers: promise }
    const leave = shown(listQuery({ filter: 'status=Pending' }))
    await happens(approval('a'))
    resolve()
    await settled()
    assert.deepEqual(rowsOf(listQuery({ filter: 'status=Pending' })), [heard('a')])
    leave()
  })

  it('has the further columns of its rows read again, if the list is on the screen', async () => {
    const list = listQuery({ columns: 'customer,createdBy,approvedBy' })
    queries.setQueryData(list.queryKey, page(row('a'), row('b')), { updatedAt: Date.now() - 1_000 })
    const { dataUpdatedAt } = queries.getQueryState(list.queryKey) ?? {}
    await happens(approval('b'))
    assert.deepEqual(tab.asked.map(String), [])
    const leave = shown(list)
    const changed = { ...row('b', 1), createdBy: 'jo' }
    tab.items = [changed]
    await happens(approval('a', { id: 'b', version: 3 }), approval('c'))
    const [query, ...others] = tab.asked
    assert.deepEqual(others, [])
    assert.deepEqual(Object.fromEntries(query?.searchParams ?? []), {
      filter: 'id=b',
      columns: 'number,createdBy,approvedBy,mayApprove,passkey,version,documents',
      pageSize: '25',
    })
    assert.deepEqual(queries.getQueryData(list.queryKey), page(row('a'), changed))
    assert.equal(queries.getQueryState(list.queryKey)?.dataUpdatedAt, dataUpdatedAt)
    leave()
  })

  it('reads again, of rows with the usual columns, only those that the person may approve', async () => {
    const [mine, other] = [
      { ...row('a'), mayApprove: true },
      { ...row('b'), mayApprove: false },
    ]
    queries.setQueryData(listQuery({}).queryKey, page(mine, other))
    const leave = shown(listQuery({}))
    tab.items = [{ ...mine, mayApprove: false }]
    await happens(approval('a', { kind: 'approval-given', status: 0 }), approval('b', { status: 0 }))
    assert.deepEqual(
      tab.asked.map(({ searchParams }) => searchParams.get('filter')),
      ['id=a'],
    )
    const now = [
      { ...mine, mayApprove: false },
      { ...other, newest: 2 },
    ]
    assert.deepEqual(rowsOf(listQuery({})), now)
    leave()
  })

  it('asks nothing for a decided row of the usual columns, or without the order', async () => {
    queries.setQueryData(listQuery({}).queryKey, page(row('a')))
    queries.setQueryData(listQuery({ columns: 'createdBy' }).queryKey, page(row('b')))
    const leave = [shown(listQuery({})), shown(listQuery({ columns: 'createdBy' }))]
    await happens(approval('a'))
    assert.deepEqual(pathsAsked(), [])
    for (const each of leave) each()
  })
})

describe('a change of an order', () => {
  aPersonListens()

  it('on the screen is read again, and who made it is announced', async () => {
    knows('a', 1)
    const leave = shown(orderQuery('a'))
    tab.items = [{ ...row('a', 1), modifiedBy: 'jo' }]
    tab.etag = '"2"'
    await happens(approval('a'))
    assert.deepEqual(pathsAsked(), ['/v1/orders/a', '/v1/orders/a/documents'])
    assert.deepEqual(said(), ['\u2068jo\u2069 has approved this order.'])
    leave()
  })

  it('by a deputy is announced with the absent person', async () => {
    knows('a', 1)
    const updatedAtUtc = '2026-11-20T10:00:00.000Z'
    tab.events = [{ kind: 'approved', atUtc: updatedAtUtc, for: 'ann' }]
    const history = new InfiniteQueryObserver(queries, historyQuery('a'))
    const leave = [shown(orderQuery('a')), history.subscribe(() => undefined)]
    tab.items = [{ ...row('a', 1), modifiedBy: 'jo', updatedAtUtc }]
    tab.etag = '"2"'
    await happens(approval('a'))
    assert.deepEqual(said(), ['\u2068jo\u2069 for \u2068ann\u2069 has approved this order.'])
    for (const each of leave) each()
  })

  it('is read again while another order is on its way', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    knows('a', 1)
    tab.items = [{ ...row('b'), modifiedBy: null }]
    tab.held = { path: '/v1/orders/b', answers: promise }
    const leave = [shown(orderQuery('a')), shown(orderQuery('b'))]
    await happens(approval('a'))
    assert.deepEqual(pathsAsked(), ['/v1/orders/b', '/v1/orders/a'])
    resolve()
    await settled()
    for (const each of leave) each()
  })

  it('that leaves it pending is announced as an approval given', async () => {
    knows('a', 1)
    const leave = shown(orderQuery('a'))
    tab.items = [{ ...row('a'), modifiedBy: 'jo' }]
    tab.etag = '"2"'
    await happens(approval('a', { kind: 'approval-given', status: 0 }))
    assert.deepEqual(said(), ['\u2068jo\u2069 has given approval to this order.'])
    leave()
  })

  it('by the person at this tab is not announced', async () => {
    knows('a', 1)
    const leave = shown(orderQuery('a'))
    tab.items = [{ ...row('a', 1), modifiedBy: 'mara' }]
    await happens(approval('a'))
    assert.deepEqual([pathsAsked(), said()], [['/v1/orders/a'], []])
    leave()
  })

  it('that is known is not read again, a note is', async () => {
    knows('a', 2)
    const leave = shown(orderQuery('a'))
    tab.items = [{ ...row('a'), modifiedBy: 'jo' }]
    await happens(approval('a'))
    assert.deepEqual(pathsAsked(), [])
    await happens(approval('a', { kind: 'noted' }), approval('b'))
    assert.deepEqual([pathsAsked(), said()], [['/v1/orders/a'], []])
    leave()
  })

  it('that is not on the screen is forgotten with all its parts, other orders are not', async () => {
    knows('a', 1)
    knows('b', 1)
    queries.setQueryData(approvalsQuery('a').queryKey, {
      ...{
        number: 1,
        proposedBy: null,
        replaces: null,
        replacedBy: null,
        required: 2,
        given: [],
        selfApproval: true,
        services: true,
      },
      ...{ mayApprove: true, mayApproveFor: null, role: null, passkey: false, reason: null },
    })
    await happens(approval('a'))
    assert.equal(queries.getQueryData(orderQuery('a').queryKey), undefined)
    assert.equal(queries.getQueryData(approvalsQuery('a').queryKey), undefined)
    assert.notEqual(queries.getQueryData(orderQuery('b').queryKey), undefined)
    assert.deepEqual([pathsAsked(), said()], [[], []])
  })

  it('is shown after an answer that was read before it', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    tab.items = [{ ...row('a'), modifiedBy: null }]
    tab.held = { path: '/v1/orders/a', answers: promise }
    const leave = shown(orderQuery('a'))
    await settled()
    tab.items = [{ ...row('a', 1), modifiedBy: 'jo' }]
    tab.etag = '"2"'
    await happens(approval('a'))
    assert.deepEqual(pathsAsked(), ['/v1/orders/a'])
    resolve()
    await settled()
    assert.equal(queries.getQueryData(orderQuery('a').queryKey)?.order.status, 1)
    leave()
  })
})

import assert from 'node:assert/strict'
import { describe, it, mock } from 'node:test'
import { hear, settled } from '../../support/page.ts'
import { aPersonListens, approval, happens, knows, page, pathsAsked, row, shown, tab } from './tab.ts'

const { queries } = await import('../../../web/src/api/queries.ts')
const { loadSession } = await import('../../../web/src/auth/session.ts')
const { arrived, isMadeHere } = await import('../../../web/src/orders/arrivals.ts')
const { listQuery } = await import('../../../web/src/orders/address/queries.ts')
const { orderQuery } = await import('../../../web/src/orders/queries.ts')
const { waiting } = await import('../../../web/src/ui/waiting.ts')

describe('new orders', () => {
  aPersonListens()
  const created = (id: string) => approval(id, { kind: 'created', version: 1, status: 0 })

  it('are counted until a list that was asked for after them is loaded, except those made here', async () => {
    isMadeHere('mine')
    queries.setQueryData(listQuery({ pageNumber: 2 }).queryKey, page(row('listed')))
    await happens(created('a'), created('mine'), created('listed'), approval('b'))
    await happens(created('a'))
    assert.deepEqual(arrived.get(), ['a'])
    const { promise, resolve } = Promise.withResolvers<void>()
    tab.held = { path: '/v1/orders', answers: promise }
    const leave = shown(listQuery({}))
    await happens(created('c'))
    resolve()
    await settled()
    assert.deepEqual(arrived.get(), ['c'])
    leave()
  })

  it('stay new when rows are changed, or when another list is fetched for later', async () => {
    const leave = shown(listQuery({}))
    await settled()
    await happens(created('a'))
    queries.setQueryData(listQuery({}).queryKey, page())
    await queries.prefetchQuery(listQuery({ pageNumber: 2 }))
    assert.deepEqual(arrived.get(), ['a'])
    leave()
  })
})

describe('the figures', () => {
  aPersonListens()

  async function pass(milliseconds: number): Promise<void> {
    mock.timers.tick(milliseconds)
    await settled()
  }

  async function mayApprove(): Promise<void> {
    tab.permissions = ['Orders.Read', 'Orders.Approve']
    await loadSession()
    await pass(3_000)
    tab.asked = []
  }

  it('are read at once, then every three seconds while something happens', async () => {
    await mayApprove()
    await happens()
    assert.equal(tab.asked.length, 0)
    await happens(approval('a'))
    assert.deepEqual([tab.asked.length, waiting.get()], [1, 3])
    tab.count = 5
    await happens(approval('b'))
    await happens(approval('c'))
    await pass(2_999)
    assert.deepEqual([tab.asked.length, waiting.get()], [1, 3])
    await pass(1)
    assert.deepEqual([tab.asked.length, waiting.get()], [2, 5])
    await pass(30_000)
    assert.equal(tab.asked.length, 2)
    assert.equal(tab.asked[0]?.searchParams.get('filter'), 'waits:me')
  })

  it('are not counted for a person who does not approve, and the overview is read again', async () => {
    await pass(3_000)
    const overview = shown({
      queryKey: ['orders', 'overview'],
      queryFn: () => tab.asked.push(new URL('x:/y')),
    })
    await settled()
    await happens(approval('a'))
    assert.deepEqual(pathsAsked(), ['/y', '/y'])
    assert.equal(waiting.get(), 0)
    overview()
  })

  it('and everything else are read again when more was missed than is sent again', async () => {
    await mayApprove()
    knows('a', 1)
    const leave = shown(orderQuery('a'))
    await settled()
    hear('countersign-live', { place: '1.1', changes: [], isReset: true })
    await settled()
    assert.deepEqual(pathsAsked().sort(), ['/v1/orders', '/v1/orders/a'])
    leave()
  })

  it('of a person who left are not shown to the next', async () => {
    await mayApprove()
    await happens(approval('a'))
    const { promise, resolve } = Promise.withResolvers<void>()
    tab.held = { path: '/v1/orders', answers: promise }
    await pass(3_000)
    await happens(approval('b'))
    tab.userId = 2
    tab.permissions = []
    await loadSession()
    assert.equal(waiting.get(), 0)
    resolve()
    await settled()
    assert.equal(waiting.get(), 0)
  })
})

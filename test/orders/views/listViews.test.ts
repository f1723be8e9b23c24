import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, beforeEach, describe, it } from 'node:test'
import { bearerOf, newCaller, newUser, setEnabled } from '../../support/accounts.ts'
import type { Client } from '../../support/client.ts'
import { assertProblem } from '../../support/problem.ts'
import { assertRevalidates } from '../../support/revalidation.ts'
import { addRole } from '../../support/roles.ts'
import { setUp, testService } from '../../support/service.ts'
import { keptView, putView, viewOf } from '../../support/views.ts'

interface Told {
  name: string
  isOwn: boolean
  shared: boolean
}

describe('listViews', () => {
  const service = testService()
  const user = setUp(() => newUser(service, { roles: ['Viewer'] }), beforeEach)
  const own = setUp(() => bearerOf(service, user), beforeEach)
  before(async () => {
    await addRole(service, 'Sharing of lists', ['Orders.Read', 'Views.Share'])
  })

  const list = async (caller: Client): Promise<Told[]> =>
    (await caller.get('/v1/views?pageSize=100')).body.items

  it('lists the caller’s own and all shared ones, each with its owner, by name', async () => {
    const sharer = await newCaller(service, ['Sharing of lists'])
    const content = viewOf({ name: 'beta', shared: true })
    const id = await keptView(sharer, content)
    await keptView(sharer, { name: 'kept to myself' })
    await keptView(own, { name: 'Alpha' })
    await keptView(own, { name: 'GAMMA' })
    const { status, body } = await own.get('/v1/views')
    assert.equal(status, 200)
    const told = body.items.filter((view: Told & { id: string }) => view.isOwn || view.id === id)
    assert.deepEqual(
      told.map(({ name, isOwn, shared }: Told) => [name, isOwn, shared]),
      [
        ['Alpha', true, false],
        ['beta', false, true],
        ['GAMMA', true, false],
      ],
    )
    const { owner, ...shared } = told[1]
    assert.deepEqual(shared, { id, ...content, isOwn: false })
    assert.match(owner, /^user-/)
    assert.ok(!(await list(own)).some(({ name }) => name === 'kept to myself'))
  })

  it('lists views of one name by id', async () => {
    const prefix = randomUUID().slice(0, 8)
    const ids = ['2', '1', '3'].map((digit) => `${prefix}-0000-4000-8000-00000000000${digit}`)
    for (const [index, id] of ids.entries()) {
      const caller = index === 0 ? own : await newCaller(service, ['Sharing of lists'])
      await putView(caller, viewOf({ name: prefix, shared: index > 0 }), { id })
    }
    const views: (Told & { id: string })[] = (await own.get('/v1/views?pageSize=100')).body.items
    const found = views.filter(({ name }) => name === prefix).map(({ id }) => id)
    assert.deepEqual(found, ids.toSorted())
  })

  it('is paged like every list', async () => {
    for (const name of ['a', 'b', 'c']) await keptView(own, { name })
    const others = (await list(own)).filter(({ isOwn }) => !isOwn).length
    const first = await own.get('/v1/views?pageSize=2')
    const { items, ...page } = first.body
    assert.equal(items.length, 2)
    assert.deepEqual(page, {
      pageNumber: 1,
      totalPages: Math.ceil((3 + others) / 2),
      totalCount: 3 + others,
      hasPreviousPage: false,
      hasNextPage: true,
    })
    assert.match(first.headers.get('link') ?? '', /<\/v1\/views\?pageNumber=2&pageSize=2>; rel="next"/)
    const past = await own.get('/v1/views?pageNumber=99')
    assert.deepEqual([past.status, past.body.items, past.body.totalCount], [200, [], 3 + others])
    assertProblem(await own.get('/v1/views?pageNumber=0'), 400, 'validation-failed')
    assertProblem(await own.get('/v1/views?pageSize=2147483648'), 400, 'validation-failed')
  })

  it('answers 304 until a view changes', async () => {
    await assertRevalidates(own, '/v1/views', () => keptView(own))
  })

  it('keeps shared views of a disabled account, and private ones until it is enabled again', async () => {
    const sharer = await newUser(service, { roles: ['Sharing of lists'] })
    const caller = await bearerOf(service, sharer)
    await keptView(caller, { name: 'left behind', shared: true })
    await keptView(caller, { name: 'put away' })
    await setEnabled(service, sharer, false)
    assert.ok((await list(own)).some(({ name }) => name === 'left behind'))
    await setEnabled(service, sharer, true)
    service.advance(1_000)
    const again = await list(await bearerOf(service, sharer))
    assert.ok(again.some(({ name, isOwn }) => name === 'put away' && isOwn))
  })
})

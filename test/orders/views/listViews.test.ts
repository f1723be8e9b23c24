import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { bearerOf, newUser, setEnabled } from '../../support/accounts.ts'
import type { Client } from '../../support/client.ts'
import { assertProblem } from '../../support/problem.ts'
import { assertRevalidates } from '../../support/revalidation.ts'
import { setUp, testService } from '../../support/service.ts'
import { keptView, viewOf } from '../../support/views.ts'

describe('listViews', () => {
  const service = testService()
  const user = setUp(() => newUser(service, { roles: ['Viewer'] }), beforeEach)
  const own = setUp(() => bearerOf(service, user), beforeEach)
  const other = setUp(() => service.bearer('admin'))

  const namesOf = async (caller: Client): Promise<string[]> =>
    (await caller.get('/v1/views')).body.items.map(({ name }: { name: string }) => name)

  it('lists the caller’s own by name, and nobody else’s', async () => {
    const content = viewOf({ name: 'beta' })
    const id = await keptView(own, content)
    await keptView(other, { name: 'Another’s' })
    await keptView(own, { name: 'Alpha' })
    await keptView(own, { name: 'GAMMA' })
    const { status, body } = await own.get('/v1/views')
    assert.equal(status, 200)
    assert.deepEqual(body.items[1], { id, ...content })
    assert.deepEqual(await namesOf(own), ['Alpha', 'beta', 'GAMMA'])
  })

  it('is paged like every list', async () => {
    for (const name of ['a', 'b', 'c']) await keptView(own, { name })
    const first = await own.get('/v1/views?pageSize=2')
    const { items, ...page } = first.body
    assert.deepEqual([items[0].name, items[1].name, items.length], ['a', 'b', 2])
    assert.deepEqual(page, {
      pageNumber: 1,
      totalPages: 2,
      totalCount: 3,
      hasPreviousPage: false,
      hasNextPage: true,
    })
    assert.match(first.headers.get('link') ?? '', /<\/v1\/views\?pageNumber=2&pageSize=2>; rel="next"/)
    const past = await own.get('/v1/views?pageNumber=99')
    assert.deepEqual([past.status, past.body.items, past.body.totalCount], [200, [], 3])
    assertProblem(await own.get('/v1/views?pageNumber=0'), 400, 'validation-failed')
    assertProblem(await own.get('/v1/views?pageSize=2147483648'), 400, 'validation-failed')
  })

  it('answers 304 until a view changes', async () => {
    await assertRevalidates(own, '/v1/views', () => keptView(own))
  })

  it('keeps the views of a disabled account until it is enabled again', async () => {
    await keptView(own, { name: 'put away' })
    await setEnabled(service, user, false)
    await setEnabled(service, user, true)
    service.advance(1_000)
    assert.deepEqual(await namesOf(await bearerOf(service, user)), ['put away'])
  })
})

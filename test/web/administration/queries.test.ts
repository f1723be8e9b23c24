import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { answerWith, serviceIs } from '../../support/page.ts'

const { allow, ownerIdOf } = await import('../../../web/src/administration/queries.ts')

describe('an owner', () => {
  const users = [
    { id: 1, userName: 'anna', email: 'anna@example.com' },
    { id: 2, userName: 'Ann', email: 'ann@example.com' },
  ]
  serviceIs((_path, request) => {
    const page = Number(new URL(request.url).searchParams.get('pageNumber') ?? 1)
    return answerWith(200, { items: users.slice(page - 1, page), hasNextPage: page < 2 })
  })

  it('is the user with exactly this name or email, on whatever page', async () => {
    assert.deepEqual([await ownerIdOf(' ann '), await ownerIdOf('ANN@example.com')], [2, 2])
    assert.equal(await ownerIdOf(' '), null)
    await assert.rejects(ownerIdOf('an'), /There is no user an\./)
  })
})

describe('a permission', () => {
  let tag: string | null = null
  serviceIs((path, request) => {
    if (path === '/v1/auth/csrf') return answerWith(200, { token: 'token' })
    if (request.method === 'GET') return answerWith(200, { name: 'A', permissions: [] }, { etag: '"7"' })
    tag = request.headers.get('if-match')
    return answerWith(204)
  })

  it('is given to the role as it was read', async () => {
    await allow({ role: 'A', permission: 'Orders.Read', isAllowed: true })
    assert.equal(tag, '"7"')
  })
})

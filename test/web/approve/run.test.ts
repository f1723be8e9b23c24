import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import type { VersionedOrder } from '../../../web/src/orders/order.ts'
import { answerWith, asPage, problemWith } from '../../support/page.ts'

let approval: () => Response | Promise<Response>
let userId = 1
let refreshes = 0
const page = asPage((path) => {
  if (path === '/v1/auth/csrf') return answerWith(200, { token: 'token' })
  if (path === '/v1/auth/me') return answerWith(200, { id: userId, userName: 'mara', roles: [] })
  if (path === '/v1/auth/me/permissions') return answerWith(200, { permissions: [] })
  if (path === '/v1/auth/session/refresh') refreshes += 1
  return path.endsWith('/approve') ? approval() : answerWith(200, { roles: [] })
})
const { queries } = await import('../../../web/src/api/queries.ts')
const { loadSession } = await import('../../../web/src/auth/session.ts')
const { prepareApprovals } = await import('../../../web/src/orders/approve/approvals.ts')
const { serviceFor, settle } = await import('../../../web/src/orders/approve/run.ts')
const { orderQuery } = await import('../../../web/src/orders/queries.ts')

const subject = { id: '1', customer: 'Acme', total: 1 }
const { queryKey } = orderQuery('1')
const prepare = () => prepareApprovals([subject], serviceFor('mara'))

function known(): unknown {
  const { status, modifiedBy } = queries.getQueryData(queryKey)?.order ?? {}
  return { status, modifiedBy }
}

async function isThere(id: number): Promise<void> {
  userId = id
  await loadSession()
  queries.setQueryData(queryKey, { order: { ...subject, status: 0, modifiedBy: null } } as VersionedOrder)
  page.told.length = 0
}

beforeEach(async () => {
  refreshes = 0
  await isThere(1)
})

describe('an approval', () => {
  it('is shown at once, and told to the other tabs', async () => {
    approval = () => answerWith(204)
    assert.equal(await settle(prepare()), true)
    assert.deepEqual(known(), { status: 1, modifiedBy: 'mara' })
    assert.deepEqual(page.told, [{ kind: 'changed' }])
    assert.equal(refreshes, 0)
  })

  it('of somebody who is gone by then is not told to who is there now', async () => {
    const { promise, resolve } = Promise.withResolvers<Response>()
    approval = () => promise
    const telling = settle(prepare())
    await isThere(2)
    resolve(answerWith(204))
    assert.equal(await telling, false)
    assert.deepEqual(known(), { status: 0, modifiedBy: null })
    assert.deepEqual(page.told, [])
  })

  it('that is refused for want of a permission has the permissions read again', async () => {
    approval = () => problemWith(403, 'permission-denied')
    await settle(prepare())
    assert.deepEqual(known(), { status: 0, modifiedBy: null })
    assert.equal(refreshes, 1)
  })
})

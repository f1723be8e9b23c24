import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, it } from 'node:test'
import type { Client } from '../../support/client.ts'
import { assertProblem } from '../../support/problem.ts'
import { testService } from '../../support/service.ts'
import { keptView, viewOf } from '../../support/views.ts'

describe('getView', () => {
  const service = testService()
  let admin: Client
  let viewer: Client
  before(async () => {
    admin = await service.bearer('admin')
    viewer = await service.bearer('viewer')
  })

  describe('succeeds', () => {
    it('with the view and its version, for its owner', async () => {
      const content = viewOf()
      const id = await keptView(viewer, content)
      const answer = await viewer.get(`/v1/views/${id}`)
      assert.equal(answer.status, 200)
      assert.deepEqual(answer.body, { id, ...content, isOwn: true, owner: 'viewer' })
      assert.equal(answer.headers.get('etag'), '"1"')
      assert.equal(answer.headers.get('cache-control'), 'private, no-cache')
    })

    it('for everybody if it is shared, ignoring the case of the id', async () => {
      const content = viewOf({ shared: true })
      const id = await keptView(admin, content)
      const { body } = await viewer.get(`/v1/views/${id.toUpperCase()}`)
      assert.deepEqual(body, { id, ...content, isOwn: false, owner: 'admin' })
    })

    it('with 304 for the version that the caller has', async () => {
      const path = `/v1/views/${await keptView(viewer)}`
      for (const tag of ['"1"', 'W/"1"', '"9", "1"', '*']) {
        const answer = await viewer.get(path, { 'if-none-match': tag })
        assert.deepEqual([answer.status, answer.text, answer.headers.get('etag')], [304, '', '"1"'], tag)
      }
      assert.equal((await viewer.get(path, { 'if-none-match': '"2"' })).status, 200)
    })
  })

  describe('rejects input', () => {
    for (const id of [randomUUID(), 'none', '%00', '1']) {
      it(`is 404 for ${id}`, async () => {
        assertProblem(await viewer.get(`/v1/views/${id}`), 404, 'view-not-found')
      })
    }
  })

  it('is 404 for a view that another has and does not share, whatever the caller may do', async () => {
    const path = `/v1/views/${await keptView(viewer)}`
    const answer = await admin.get(path)
    assertProblem(answer, 404, 'view-not-found')
    const { body } = await admin.get(`/v1/views/${randomUUID()}`)
    assert.equal(body.detail, answer.body.detail)
  })
})

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { assertProblem } from '../../support/problem.ts'
import { assertRevalidates } from '../../support/revalidation.ts'
import { setUp, testService } from '../../support/service.ts'
import { keptView, putView, viewOf } from '../../support/views.ts'

describe('getView', () => {
  const service = testService()
  const admin = setUp(() => service.bearer('admin'))
  const viewer = setUp(() => service.bearer('viewer'))

  describe('succeeds', () => {
    it('answers its owner with the view and its version, ignoring the case of the id', async () => {
      const content = viewOf()
      const id = await keptView(viewer, content)
      const answer = await viewer.get(`/v1/views/${id.toUpperCase()}`)
      assert.equal(answer.status, 200)
      assert.deepEqual(answer.body, { id, ...content })
      assert.equal(answer.headers.get('etag'), '"1"')
      assert.equal(answer.headers.get('cache-control'), 'private, no-cache')
    })

    it('answers 304 for the version that the caller has, until it changes', async () => {
      const id = await keptView(viewer)
      await assertRevalidates(viewer, `/v1/views/${id}`, () => putView(viewer, viewOf(), { id }))
    })
  })

  describe('rejects input', () => {
    for (const id of [randomUUID(), 'none', '%00', '1']) {
      it(`answers 404 for ${id}`, async () => {
        assertProblem(await viewer.get(`/v1/views/${id}`), 404, 'view-not-found')
      })
    }
  })

  it('answers 404 for another user’s view, whatever the caller may do', async () => {
    const path = `/v1/views/${await keptView(viewer)}`
    const answer = await admin.get(path)
    assertProblem(answer, 404, 'view-not-found')
    const { body } = await admin.get(`/v1/views/${randomUUID()}`)
    assert.equal(body.detail, answer.body.detail)
  })
})

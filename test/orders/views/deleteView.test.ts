import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import type { Client } from '../../support/client.ts'
import { assertProblem } from '../../support/problem.ts'
import { setUp, testService } from '../../support/service.ts'
import { keptView, putView, storedViews, viewOf } from '../../support/views.ts'

describe('deleteView', () => {
  const service = testService()
  const admin = setUp(() => service.bearer('admin'))
  const viewer = setUp(() => service.bearer('viewer'))

  const remove = (caller: Client, id: string, headers: Record<string, string> = {}) =>
    caller.send('DELETE', `/v1/views/${id}`, undefined, headers)

  describe('succeeds', () => {
    it('answers 204 without a body, and then there is no such view', async () => {
      const id = await keptView(viewer)
      const answer = await remove(viewer, id.toUpperCase())
      assert.deepEqual([answer.status, answer.text], [204, ''])
      assertProblem(await viewer.get(`/v1/views/${id}`), 404, 'view-not-found')
      assertProblem(await remove(viewer, id), 404, 'view-not-found')
    })

    it('frees the name and the id', async () => {
      const id = await keptView(viewer, { name: 'Again' })
      await remove(viewer, id)
      const answer = await putView(admin, viewOf({ name: 'Again' }), { id })
      assert.deepEqual([answer.status, answer.headers.get('etag')], [201, '"1"'])
    })

    it('deletes the version that If-Match names', async () => {
      for (const tag of ['"1"', 'W/"1"', '*']) {
        assert.equal((await remove(viewer, await keptView(viewer), { 'if-match': tag })).status, 204, tag)
      }
    })
  })

  describe('rejects input', () => {
    for (const id of [randomUUID(), 'none', '%00']) {
      it(`answers 404 for ${id}`, async () => {
        assertProblem(await remove(admin, id), 404, 'view-not-found')
      })
    }
  })

  describe('requires access', () => {
    it('answers 404 for another user’s view', async () => {
      const id = await keptView(viewer)
      assertProblem(await remove(admin, id), 404, 'view-not-found')
      assert.equal((await viewer.get(`/v1/views/${id}`)).status, 200)
    })
  })

  describe('conflicts', () => {
    it('answers 412 with the current version if If-Match names another one', async () => {
      const id = await keptView(viewer)
      await putView(viewer, viewOf(), { id })
      const answer = await remove(viewer, id, { 'if-match': '"1"' })
      assertProblem(answer, 412, 'precondition-failed')
      assert.equal(answer.headers.get('etag'), '"2"')
    })

    it('answers exactly one of 20 simultaneous requests with 204', async () => {
      const id = await keptView(viewer)
      const answers = await Promise.all(Array.from({ length: 20 }, () => remove(viewer, id)))
      assert.equal(answers.filter(({ status }) => status === 204).length, 1)
      for (const answer of answers) if (answer.status !== 204) assertProblem(answer, 404, 'view-not-found')
    })

    it('lets either a delete or a change of the same version succeed, not both', async () => {
      const id = await keptView(viewer)
      const headers = { 'if-match': '"1"' }
      const answers = await Promise.all([
        remove(viewer, id, headers),
        putView(viewer, viewOf(), { id, headers }),
      ])
      const statuses = String(answers.map(({ status }) => status))
      assert.ok(['204,404', '412,200'].includes(statuses), statuses)
    })
  })

  it('leaves no trace on failure, and no event on success', async () => {
    const id = await keptView(viewer)
    const state = await storedViews(service)
    await remove(admin, id)
    await remove(viewer, id, { 'if-match': '"2"' })
    assert.deepEqual(await storedViews(service), state)
    await remove(viewer, id)
    assert.equal((await storedViews(service)).events, state.events)
  })
})

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createdId } from '../../support/orders.ts'
import { assertProblem } from '../../support/problem.ts'
import { describeTransition } from './transition.ts'

describe('rejectOrder', () => {
  const service = describeTransition({
    path: 'reject',
    status: 2,
    kind: 'rejected',
    actor: 'admin',
    reason: 'Ordered twice.',
    facts: { documents: [] },
  })

  describe('needs a reason', () => {
    it('and refuses a request without a body or a reason, leaving the order unchanged', async () => {
      const admin = await service.bearer('admin')
      const id = await createdId(admin)
      const path = `/v1/orders/${id}/reject`
      assertProblem(await admin.patch(path), 415, 'unsupported-media-type')
      assertProblem(await admin.patch(path, ''), 400, 'malformed-json')
      const answer = await admin.patch(path, {})
      assertProblem(answer, 400, 'validation-failed')
      assert.deepEqual(answer.body.errors, [
        { pointer: '#/reason', code: 'required', detail: 'reason is required.' },
      ])
      assert.equal((await admin.get(`/v1/orders/${id}`)).body.status, 0)
    })

    it('even from the creator, who may reject it too', async () => {
      const admin = await service.bearer('admin')
      const id = await createdId(admin)
      assert.equal((await admin.patch(`/v1/orders/${id}/reject`, { reason: 'My mistake.' })).status, 204)
    })
  })
})

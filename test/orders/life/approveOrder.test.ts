import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { bearerOf, newUser } from '../../support/accounts.ts'
import { createdId } from '../../support/orders.ts'
import { assertProblem } from '../../support/problem.ts'
import { setUp } from '../../support/service.ts'
import { describeTransition } from './transition.ts'

describe('approveOrder', () => {
  const service = describeTransition({
    path: 'approve',
    status: 1,
    kind: 'approved',
    actor: 'admin',
    reason: undefined,
    facts: { documents: [] },
  })

  describe('needs no body', () => {
    const admin = setUp(() => service.bearer('admin'))

    const bodies: [status: number, code: string, body: string, headers: Record<string, string>][] = [
      [415, 'unsupported-media-type', 'x', { 'content-type': 'text/plain' }],
      [415, 'unsupported-media-type', '{}', { 'content-encoding': 'gzip' }],
      [400, 'malformed-json', '{', {}],
      [413, 'body-too-large', `"${'x'.repeat(64 * 1024)}"`, {}],
    ]
    for (const [status, code, body, headers] of bodies) {
      it(`answers ${status} ${code} to such a body, and approves nothing`, async () => {
        const id = await createdId(admin)
        assertProblem(await admin.patch(`/v1/orders/${id}/approve`, body, headers), status, code)
        assert.equal((await admin.get(`/v1/orders/${id}`)).body.status, 0)
      })
    }

    it('ignores one, and records no reason', async () => {
      const id = await createdId(admin)
      const body = { reason: 'Nobody\u0000checked this', words: 'either', by: 'nobody' }
      assert.equal((await admin.patch(`/v1/orders/${id}/approve`, body)).status, 204)
      const { items } = (await admin.get(`/v1/orders/${id}/history`)).body
      const { text, by } = items.at(-1)
      assert.deepEqual({ text, by }, { text: null, by: 'admin' })
    })

    it('answers 409 with the current status the second time, not a silent 204', async () => {
      const id = await createdId(admin)
      assert.equal((await admin.patch(`/v1/orders/${id}/approve`)).status, 204)
      const { body: asApproved } = await admin.get(`/v1/orders/${id}`)
      service.advance(1_000)
      const second = await admin.patch(`/v1/orders/${id}/approve`)
      assertProblem(second, 409, 'order-not-pending')
      assert.equal(second.body.currentStatus, 1)
      assert.match(second.body.detail, /You are the one who approved it/)
      const other = await bearerOf(service, await newUser(service, { roles: ['Admin'] }))
      const byOther = await other.patch(`/v1/orders/${id}/approve`)
      assert.doesNotMatch(byOther.body.detail, /You/)
      assert.deepEqual((await admin.get(`/v1/orders/${id}`)).body, asApproved)
    })
  })
})

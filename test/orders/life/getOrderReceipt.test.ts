import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose'
import type { Answer, Client } from '../../support/client.ts'
import { assertChained, storedEvents } from '../../support/kept-log.ts'
import { createdId, insertOrders, orderRow, storedState } from '../../support/orders.ts'
import { newApprover, policyRow, putPolicy } from '../../support/policy.ts'
import { assertProblem } from '../../support/problem.ts'
import { publicUrl, testService } from '../../support/service.ts'

describe('getOrderReceipt', () => {
  const service = testService()
  let admin: Client
  let operator: Client
  let viewer: Client
  before(async () => {
    admin = await service.bearer('admin')
    operator = await service.bearer('operator')
    viewer = await service.bearer('viewer')
  })

  const ask = (id: string) => viewer.get(`/v1/orders/${id}/receipt`)
  /** Asks again while the service is sealing by itself. */
  async function get(id: string): Promise<Answer> {
    const answer = await ask(id)
    if (answer.body.code !== 'receipt-not-ready') return answer
    await pause(20)
    return get(id)
  }
  async function approved(values: Record<string, unknown> = {}): Promise<string> {
    const id = await createdId(operator, values)
    assert.equal((await admin.patch(`/v1/orders/${id}/approve`)).status, 204)
    return id
  }

  describe('succeeds', () => {
    it('with a JWS of a distinct type, which the JWKS verifies and no clock ages', async () => {
      const answer = await get(await approved())
      assert.equal(answer.status, 200, answer.text)
      assert.deepEqual(Object.keys(answer.body), ['receipt'])
      const { receipt } = answer.body
      const keys = createRemoteJWKSet(new URL(`${service.baseUrl}/.well-known/jwks.json`))
      const { payload, protectedHeader } = await jwtVerify(receipt, keys, {
        issuer: publicUrl,
        typ: 'countersign-receipt+jwt',
        currentDate: new Date(Date.now() + 100 * 365 * 86_400_000),
      })
      assert.equal(protectedHeader.alg, 'RS256')
      assert.deepEqual(Object.keys(payload).sort(), [
        'approvals',
        'checkpoint',
        'event',
        'iat',
        'iss',
        'order',
      ])
    })

    it('over what was approved, by whom and when, and where the log has it', async () => {
      const id = await approved({ customer: 'Müller & Söhne', total: '1250.5000' })
      const { body: order } = await viewer.get(`/v1/orders/${id}`)
      const [creator, approver] = [
        (await operator.get('/v1/auth/me')).body,
        (await admin.get('/v1/auth/me')).body,
      ]
      const claims = decodeJwt((await get(id)).body.receipt)
      const { items } = (await viewer.get(`/v1/orders/${id}/history`)).body
      const [, event] = items
      assert.deepEqual(claims.order, {
        id,
        version: 2,
        customer: 'Müller & Söhne',
        total: '1250.5',
        createdBy: 'operator',
        createdById: creator.id,
        createdAtUtc: order.createdAtUtc,
      })
      assert.deepEqual(claims.approvals, [{ by: 'admin', byId: approver.id, atUtc: order.updatedAtUtc }])
      assert.deepEqual(claims.event, { sequence: event.sequence, hash: event.hash })
      await assertChained(service.db.read)
    })

    it('with the head of the log at that moment, which covers the event', async () => {
      const id = await approved()
      await get(id)
      await get(await approved())
      const claims = decodeJwt((await get(id)).body.receipt) as {
        event: { sequence: number }
        checkpoint: { size: number; hash: string }
      }
      assert.ok(claims.checkpoint.size > claims.event.sequence)
      const last = (await storedEvents(service.db.read))[claims.checkpoint.size - 1]
      assert.deepEqual([last?.sequence, last?.hash], [claims.checkpoint.size, claims.checkpoint.hash])
    })

    it('at once, also of fifty orders approved just now', async () => {
      const ids = await Promise.all(Array.from({ length: 50 }, () => approved()))
      const answers = await Promise.all(ids.map(ask))
      const codes = answers.map(({ status, body }) => `${status} ${body.code}`)
      // If several seal at the same moment, all but one may have to ask again.
      assert.deepEqual(
        codes.filter((code) => !['200 undefined', '503 receipt-not-ready'].includes(code)),
        [],
      )
      const again = await Promise.all(ids.map(get))
      assert.ok(again.every(({ status }) => status === 200))
      await assertChained(service.db.read)
    })

    it('with everybody who approved, in the order of the log', async () => {
      await putPolicy(admin, [policyRow({ approvals: 3 })])
      const id = await createdId(operator)
      const names: string[] = []
      for (let number = 0; number < 3; number += 1) {
        const { user, caller } = await newApprover(service)
        await caller.patch(`/v1/orders/${id}/approve`)
        names.push(user.userName)
      }
      await putPolicy(admin, [policyRow()])
      const { order, approvals } = decodeJwt((await get(id)).body.receipt) as {
        order: { version: number }
        approvals: { by: string }[]
      }
      assert.deepEqual(
        approvals.map(({ by }) => by),
        names,
      )
      assert.equal(order.version, 4)
    })

    it('for the version that was approved, whatever is noted later', async () => {
      const id = await approved()
      const { order, event } = decodeJwt((await get(id)).body.receipt)
      await operator.post(`/v1/orders/${id}/notes`, { text: 'Later.' })
      const later = decodeJwt((await get(id)).body.receipt)
      assert.deepEqual([later.order, later.event], [order, event])
    })
  })

  describe('conflicts', () => {
    for (const status of [0, 2, 3]) {
      it(`is 409 with the current status for an order of status ${status}`, async () => {
        const [row] = await insertOrders(service, [orderRow({ status })])
        const answer = await get(row?.id ?? '')
        assertProblem(answer, 409, 'order-not-approved')
        assert.equal(answer.body.currentStatus, status)
      })
    }

    it('is 409 for an order that was made approved past the service, of which the log knows nothing', async () => {
      const [row] = await insertOrders(service, [orderRow({ status: 1, approvals_given: 1 })])
      const answer = await get(row?.id ?? '')
      assertProblem(answer, 409, 'order-not-approved')
      assert.equal(answer.body.detail, 'The log has no approval of this order.')
    })

    it('is 409 while an approval is missing', async () => {
      await putPolicy(admin, [policyRow({ approvals: 2 })])
      const id = await approved()
      await putPolicy(admin, [policyRow()])
      const answer = await get(id)
      assertProblem(answer, 409, 'order-not-approved')
      assert.equal(answer.body.currentStatus, 0)
    })
  })

  it('rejects input: 404 for an unknown order and a malformed id', async () => {
    for (const id of [randomUUID(), 'x', '%00', '__proto__']) {
      assertProblem(await get(id), 404, 'order-not-found')
    }
  })

  it('changes nothing but that what waited is sealed', async () => {
    const id = await approved()
    const stateBefore = await storedState(service)
    assert.equal((await get(id)).status, 200)
    assert.deepEqual(await storedState(service), stateBefore)
  })
})

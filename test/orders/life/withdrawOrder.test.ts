import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { bearerOf, machineOf, newClient, newUser } from '../../support/accounts.ts'
import type { Client } from '../../support/client.ts'
import { storedEvents } from '../../support/kept-log.ts'
import { createdId, insertOrders, orderRow, sendExactly, storedState } from '../../support/orders.ts'
import { assertProblem } from '../../support/problem.ts'
import { setUp } from '../../support/service.ts'
import { describeTransition } from './transition.ts'

describe('withdrawOrder', () => {
  const service = describeTransition({
    path: 'withdraw',
    status: 3,
    kind: 'withdrawn',
    actor: 'operator',
    reason: 'No longer needed.',
    facts: {},
  })

  const operator = setUp(() => service.bearer('operator'))

  const withdraw = (caller: Client, id: string, body?: unknown, headers?: Record<string, string>) =>
    caller.patch(`/v1/orders/${id}/withdraw`, body, headers)
  const lastEvent = async (id: string) => (await storedEvents(service.db.read, id)).at(-1)

  describe('needs no reason', () => {
    for (const [what, lines, body] of [
      ['no body', [], ''],
      ['a body of no length', ['Content-Length: 0'], ''],
      ['an empty object', ['Content-Type: application/json'], '{}'],
      ['other members', ['Content-Type: application/json'], '{"reasons":1}'],
    ] as const) {
      it(`takes ${what}`, async () => {
        const id = await createdId(operator)
        const answer = await sendExactly(operator, 'PATCH', `/v1/orders/${id}/withdraw`, [...lines], body)
        assert.equal(answer.status, 204, answer.text)
        const event = await lastEvent(id)
        assert.deepEqual(
          [event?.kind, event?.text, Object.keys(JSON.parse(event?.hashes ?? ''))],
          ['withdrawn', null, ['by', 'customer']],
        )
      })
    }

    it('but refuses null and an empty JSON body', async () => {
      const id = await createdId(operator)
      assertProblem(await withdraw(operator, id, 'null'), 400, 'validation-failed')
      assertProblem(await withdraw(operator, id, ''), 400, 'malformed-json')
      assert.equal((await operator.get(`/v1/orders/${id}`)).body.status, 0)
    })

    it('and treats a reason as another request under the same key', async () => {
      const [id, key] = [await createdId(operator), { 'idempotency-key': randomUUID() }]
      assert.equal((await withdraw(operator, id, undefined, key)).status, 204)
      assert.equal((await withdraw(operator, id, {}, key)).headers.get('idempotency-replayed'), 'true')
      assertProblem(await withdraw(operator, id, { reason: 'x' }, key), 422, 'idempotency-key-reused')
    })
  })

  describe('is for the creator alone', () => {
    it('answers 403 to everyone else, even an administrator, whatever the state of the order', async () => {
      const admin = await service.bearer('admin')
      const id = await createdId(operator)
      const stateBefore = await storedState(service)
      for (const caller of [admin, await service.bearer('demo-service')]) {
        const answer = await withdraw(caller, id)
        assertProblem(answer, 403, 'not-the-creator')
        assert.equal(answer.headers.get('etag'), '"1"')
      }
      assert.deepEqual(await storedState(service), stateBefore)
      await admin.patch(`/v1/orders/${id}/approve`)
      assertProblem(await withdraw(admin, id), 403, 'not-the-creator')
      assertProblem(await withdraw(operator, id), 409, 'order-not-pending')
    })

    it('goes by id, not by name: an account that took the creator’s name is not the creator', async () => {
      const namesake = await newUser(service, { roles: ['Operator'] })
      const [row] = await insertOrders(service, [
        orderRow({ created_by: namesake.userName, created_by_id: namesake.id + 1_000 }),
      ])
      const caller = await bearerOf(service, namesake)
      assertProblem(await withdraw(caller, row?.id ?? ''), 403, 'not-the-creator')
    })

    it('answers 403 for an order that no account created', async () => {
      const [row] = await insertOrders(service, [orderRow({ created_by: 'operator', created_by_id: null })])
      assertProblem(await withdraw(operator, row?.id ?? ''), 403, 'not-the-creator')
    })

    it('lets a service withdraw what it created itself', async () => {
      const client = await newClient(service)
      const caller = await machineOf(service, client)
      const id = await createdId(caller)
      assertProblem(await withdraw(operator, id), 403, 'not-the-creator')
      assert.equal((await withdraw(caller, id)).status, 204)
      assert.equal((await lastEvent(id))?.by, client.clientId)
    })
  })
})

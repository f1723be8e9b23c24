import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { bearerOf, newUser } from '../../support/accounts.ts'
import type { Client } from '../../support/client.ts'
import { createdId } from '../../support/orders.ts'
import { approvalState, approve, policyRow, putPolicy } from '../../support/policy.ts'
import { assertProblem } from '../../support/problem.ts'
import { addRole } from '../../support/roles.ts'
import { startService, testService } from '../../support/service.ts'

/** Whatever is remembered for five minutes, an absence of one millisecond is exact. */
describe('the clock at both ends of an absence', () => {
  const service = testService({ inside: true })

  it('turns at two instances at once, for people in three time zones', async (t) => {
    const other = await startService({ instanceOf: service, until: t })
    const zones = ['Pacific/Kiritimati', 'America/St_Johns', 'Pacific/Pago_Pago']
    const [day, until] = [24 * 3_600_000, Date.UTC(2027, 2, 28, 1)]
    // The ends lie in the hours in which clocks are put forward and back.
    service.advance(until - day - service.now())
    const pairs = await Promise.all(
      zones.map(async (zone) => {
        const [ann, bo] = [
          await newUser(service, { roles: ['Admin'] }),
          await newUser(service, { roles: ['Viewer'] }),
        ]
        const caller = await bearerOf(service, ann)
        const ends = { from: new Date(until - 1).toISOString(), until: new Date(until).toISOString() }
        const body = { ...ends, deputyId: bo.id }
        const answer = await caller.send('PUT', '/v1/auth/absence', body, { 'time-zone': zone })
        assert.equal(answer.status, 204, answer.text)
        return { zone, ann, bo }
      }),
    )
    service.advance(day - 2)
    const deputies = await Promise.all(
      pairs.map(async ({ zone, ann, bo }) => {
        const { authorization = '' } = (await bearerOf(service, bo)).headers
        const callers = [service, other].map((instance) =>
          instance.client().withBearer(authorization.replace('Bearer ', '')),
        )
        return { zone, ann, callers }
      }),
    )
    const operator = await service.bearer('operator')
    const attempts = async (
      check: (caller: Client, id: string, zone: string, name: string) => Promise<void>,
    ) => {
      for (const { zone, ann, callers } of deputies) {
        for (const caller of callers) await check(caller, await createdId(operator), zone, ann.userName)
      }
    }
    const refused = () =>
      attempts(async (caller, id, zone) => {
        const { body } = await caller.get(`/v1/orders/${id}/approvals`)
        assert.deepEqual([body.mayApprove, body.reason], [false, 'permission-denied'])
        assert.deepEqual((await caller.get('/v1/orders?filter=waits:me')).body.items, [])
        assertProblem(await approve(caller, id, { 'time-zone': zone }), 403, 'permission-denied')
      })
    await refused()
    service.advance(1)
    await attempts(async (caller, id, zone, name) => {
      const { body } = await caller.get(`/v1/orders/${id}/approvals`)
      assert.deepEqual([body.mayApprove, body.mayApproveFor.name], [true, name])
      assert.equal((await approve(caller, id, { 'time-zone': zone })).status, 204)
    })
    service.advance(1)
    await refused()
  })
  it('changes nothing for a repeated key, which gets the stored answer', async () => {
    const role = await addRole(service, 'Finance', [])
    await putPolicy(service, [policyRow({ role })])
    const [ann, bo, carl] = [
      await newUser(service, { roles: ['Admin', role] }),
      await newUser(service, { roles: ['Admin'] }),
      await newUser(service, { roles: ['Admin'] }),
    ]
    const [absent, deputy, other] = await Promise.all([ann, bo, carl].map((user) => bearerOf(service, user)))
    const absence = {
      from: new Date(service.now()).toISOString(),
      until: new Date(service.now() + 1_000).toISOString(),
      deputyId: bo.id,
    }
    assert.equal((await absent?.send('PUT', '/v1/auth/absence', absence))?.status, 204)
    const operator = await service.bearer('operator')
    const [id, next] = [await createdId(operator), await createdId(operator)]
    const attempt = (caller: Client = assert.fail(), order = id) =>
      approve(caller, order, { 'idempotency-key': 'one key' })
    assert.equal((await attempt(deputy)).status, 204)
    const state = await approvalState(service, id)
    assert.deepEqual([state.status, state.approvers], [1, [ann.id, bo.id]])
    service.advance(1_000)
    const again = await attempt(deputy)
    assert.deepEqual([again.status, again.headers.get('idempotency-replayed')], [204, 'true'])
    assertProblem(await attempt(deputy, next), 403, 'role-needed')
    assertProblem(await attempt(other), 409, 'order-not-pending')
    assertProblem(await attempt(other, next), 403, 'role-needed')
    assert.deepEqual(await approvalState(service, id), state)
    assert.equal((await approvalState(service, next)).approvals_given, 0)
  })
})

// engine: both
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { newUser, type TestUser } from '../../support/accounts.ts'
import type { Answer, Client } from '../../support/client.ts'
import { createdId } from '../../support/orders.ts'
import { newPasskey } from '../../support/passkeys.ts'
import { firstPolicy, policyRow, putPolicy } from '../../support/policy.ts'
import { addRole } from '../../support/roles.ts'
import { testService } from '../../support/service.ts'

describe('the answer to a change says how many pending orders nobody could approve after it:', () => {
  const service = testService({})
  let admin: Client
  const waiting = ({ status, headers, text }: Answer) => {
    assert.ok(status === 200 || status === 204, text)
    return headers.get('waits-for-nobody')
  }
  let count = 0
  /** An order that only the holder of a role can approve, who has a passkey. */
  async function orderFor(row: { passkey?: boolean }) {
    count += 1
    const [role, may] = [
      await addRole(service, `Needed${count}`, []),
      await addRole(service, `May${count}`, ['Orders.Approve', 'Orders.Read']),
    ]
    const holder = await newUser(service, { roles: [role, may] })
    await newPasskey(service, holder)
    await putPolicy(service, [policyRow({ ...row, role })])
    const id = await createdId(await service.bearer('operator'))
    // Adding a passkey moved the clock, and a change needs a recent sign-in.
    admin = await service.session('admin')
    await putPolicy(service, firstPolicy)
    return { holder, role, may, decide: () => admin.patch(`/v1/orders/${id}/reject`, { reason: 'x' }) }
  }
  const patch = ({ id }: TestUser, changes: object) => admin.patch(`/v1/users/${id}`, changes)
  const any = { 'if-match': '*' }
  const putRows = () => admin.send('PUT', '/v1/approval-policy', { rows: firstPolicy }, any)

  it('of a user, a role, and the policy', async () => {
    const { holder, role, may, decide } = await orderFor({})
    assert.equal(waiting(await putRows()), null)
    assert.equal(waiting(await patch(holder, { roles: [may] })), '1')
    assert.equal(waiting(await putRows()), '1')
    assert.equal(waiting(await patch(holder, { roles: [may, role] })), null)
    assert.equal(waiting(await patch(holder, { enabled: false })), '1')
    assert.equal(waiting(await patch(holder, { enabled: true })), null)
    const permissions = { permissions: ['Orders.Read'] }
    assert.equal(waiting(await admin.send('PUT', `/v1/roles/${may}`, permissions)), '1')
    await decide()
    assert.equal(waiting(await putRows()), null)
  })

  it('of passkeys', async () => {
    const { holder, decide } = await orderFor({ passkey: true })
    const { body } = await admin.get(`/v1/users/${holder.id}/passkeys`)
    const removed = await admin.send('DELETE', `/v1/users/${holder.id}/passkeys/${body.items[0].id}`)
    assert.equal(waiting(removed), '1')
    await decide()
  })
})

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { bearerOf, newCaller, newUser, signIn } from '../support/accounts.ts'
import type { Client } from '../support/client.ts'
import { createdId, setTimeZone } from '../support/orders.ts'
import { policyEvents, policyRow, putPolicy } from '../support/policy.ts'
import { testService } from '../support/service.ts'

describe('the time zone of a stamp', () => {
  const service = testService({ env: { DEFAULT_TIME_ZONE: 'Asia/Tokyo' } })

  type Headers = Record<string, string>
  const move = (path: string) => async (caller: Client, headers: Headers) => {
    const order = `/v1/orders/${await createdId(caller)}`
    assert.equal((await caller.patch(`${order}/${path}`, { reason: 'x' }, headers)).status, 204)
    return (await caller.get(order)).body.updatedAtTimeZone
  }
  /** Writes by a caller, each with the zone that is stored. */
  const writes: Record<string, (caller: Client, headers: Headers) => Promise<string>> = {
    async createOrder(caller, headers) {
      const { body } = await caller.post('/v1/orders', { customer: 'A', total: 1 }, headers)
      return (await caller.get(`/v1/orders/${body.id}`)).body.createdAtTimeZone
    },
    approveOrder: move('approve'),
    rejectOrder: move('reject'),
    withdrawOrder: move('withdraw'),
    async addNote(caller, headers) {
      const order = `/v1/orders/${await createdId(caller)}`
      await caller.post(`${order}/notes`, { text: 'x' }, headers)
      return (await caller.get(`${order}/history`)).body.items[1].atTimeZone
    },
    async setApprovalPolicy(caller, headers) {
      await putPolicy(service, [policyRow(), policyRow({ from: 1 })])
      const rows = [policyRow()]
      await caller.send('PUT', '/v1/approval-policy', { rows }, { ...headers, 'if-match': '*' })
      return (await policyEvents(service)).at(-1)?.at_time_zone ?? ''
    },
  }
  for (const [operation, zoneOf] of Object.entries(writes)) {
    it(`of ${operation} comes from the header, else from the user, else from the setting`, async () => {
      const traveller = await newUser(service, { roles: ['Admin'] })
      await setTimeZone(service, traveller.email, 'America/New_York')
      for (const caller of [await bearerOf(service, traveller), await signIn(service, traveller)]) {
        assert.equal(await zoneOf(caller, {}), 'America/New_York')
        assert.equal(await zoneOf(caller, { 'time-zone': 'europe/paris' }), 'Europe/Paris')
      }
      assert.equal(await zoneOf(await newCaller(service, ['Admin']), {}), 'Asia/Tokyo')
    })
  }

  it('of a service comes from the setting', async () => {
    assert.equal(await writes.createOrder?.(await service.bearer('demo-service'), {}), 'Asia/Tokyo')
  })
})

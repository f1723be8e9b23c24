import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { type Service, startService } from '../support/service.ts'

describe('createOrder', () => {
  let service: Service
  let operator: Client
  before(async () => {
    service = await startService()
    operator = await service.bearer('operator')
  })
  after(() => service.close())

  it('stores a pending order and answers 201 with its id, address and version', async () => {
    const answer = await operator.post('/v1/orders', { customer: 'Acme', total: 12.5 })
    assert.equal(answer.status, 201)
    assert.deepEqual(Object.keys(answer.body), ['id'])
    assert.equal(answer.headers.get('location'), `/v1/orders/${answer.body.id}`)
    assert.equal(answer.headers.get('etag'), '"1"')
    const order = await operator.get(`/v1/orders/${answer.body.id}`)
    assert.equal(order.body.status, 0)
  })
})

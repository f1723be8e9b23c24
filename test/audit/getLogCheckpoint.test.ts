import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { readCheckpoint } from '../../server/audit/statements.ts'
import type { Client } from '../support/client.ts'
import { decode, parts, verifyElsewhere } from '../support/forge.ts'
import { addEvents } from '../support/log.ts'
import { publicUrl, testService } from '../support/service.ts'

describe('getLogCheckpoint', () => {
  const service = testService()
  let admin: Client
  before(async () => {
    await addEvents(service, 3)
    admin = await service.bearer('admin')
  })

  it('is signed by a published key, and covers the log up to its newest event', async () => {
    const { status, body, headers } = await admin.get('/v1/log/checkpoint')
    assert.equal(status, 200)
    assert.deepEqual(Object.keys(body), ['checkpoint'])
    assert.equal(headers.get('cache-control'), 'no-store')
    const { body: page } = await admin.get('/v1/log?order=Desc&pageSize=1')
    const [{ sequence, hash }] = page.items
    const { iat, ...claims } = decode(parts(body.checkpoint)[1])
    assert.deepEqual(claims, { iss: publicUrl, size: sequence, hash })
    assert.equal(iat, Math.floor(service.now() / 1000))
    const { body: jwks } = await service.client().get('/.well-known/jwks.json')
    assert.deepEqual(await readCheckpoint(body.checkpoint, jwks), { size: sequence, hash })
  })

  it('does not pass where an access token is verified by audience, as other services do', async () => {
    const { body } = await admin.get('/v1/log/checkpoint')
    await assert.rejects(verifyElsewhere(body.checkpoint, service.baseUrl, 'RS256'), /audience/)
  })
})

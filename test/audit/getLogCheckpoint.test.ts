import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { startCheckpoints } from '../../server/audit/checkpoints.ts'
import { readCheckpoint } from '../../server/audit/statements.ts'
import { headOfLog } from '../../server/audit/store.ts'
import { makeLog } from '../../server/log.ts'
import { decode, parts, verifyElsewhere } from '../support/forge.ts'
import { addEvents, headOf } from '../support/log.ts'
import { publicUrl, setUp, testService } from '../support/service.ts'

describe('getLogCheckpoint', () => {
  const service = testService()
  before(() => addEvents(service, 3))
  const admin = setUp(() => service.bearer('admin'))

  it('is signed by a published key, and covers the log up to its newest event', async () => {
    const { status, body, headers } = await admin.get('/v1/log/checkpoint')
    assert.equal(status, 200)
    assert.deepEqual(Object.keys(body), ['checkpoint'])
    assert.equal(headers.get('cache-control'), 'no-store')
    const { body: page } = await admin.get('/v1/log?pageSize=100')
    const { size, root } = headOf(page.items)
    const { iat, ...claims } = decode(parts(body.checkpoint)[1])
    assert.deepEqual(claims, { iss: publicUrl, size, root })
    assert.equal(iat, Math.floor(service.now() / 1000))
    const { body: jwks } = await service.client().get('/.well-known/jwks.json')
    assert.deepEqual(await readCheckpoint(body.checkpoint, jwks), { size, root })
  })

  it('is refused as an access token by services that check the audience', async () => {
    const { body } = await admin.get('/v1/log/checkpoint')
    await assert.rejects(verifyElsewhere(body.checkpoint, service.baseUrl, 'RS256'), /audience/)
  })
  it('is in the service’s own log at the start and once an hour', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] })
    const lines: Record<string, unknown>[] = []
    const log = makeLog({ level: 'info' }, { write: (line) => void lines.push(JSON.parse(line)) })
    const { db, keys, now: clock } = service
    t.after(startCheckpoints({ db, clock, log, keys, publicUrl }))
    for (const count of [1, 2]) {
      for (let tries = 0; lines.length < count; tries += 1) {
        assert.ok(tries < 200, 'there is no checkpoint')
        await wait(10)
      }
      const head = await headOfLog(db.read)
      const { event, size, root, checkpoint } = lines.at(-1) ?? {}
      assert.deepEqual({ event, size, root }, { event: 'checkpoint', ...head })
      assert.deepEqual(await readCheckpoint(String(checkpoint), keys.jwks), head)
      await addEvents(service, 1)
      t.mock.timers.tick(3_599_999)
      await wait(10)
      assert.equal(lines.length, count)
      t.mock.timers.tick(1)
    }
  })
})

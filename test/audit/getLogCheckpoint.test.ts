import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { readCheckpoint, readNote, readVerifierKey, type VerifierKey, verifyNote } from '../../proof/note.ts'
import {
  loadLogKeys,
  originOf,
  publishedKeys,
  signCheckpoint,
} from '../../server/audit/checkpoints/checkpoints.ts'
import { startCheckpoints } from '../../server/audit/checkpoints/hourly.ts'
import { headOfLog } from '../../server/audit/lines/store.ts'
import { makeLog } from '../../server/log.ts'
import { addEvents, headOf, testLogKeys } from '../support/log.ts'
import { publicUrl, setUp, testService } from '../support/service.ts'

describe('getLogCheckpoint', () => {
  const service = testService()
  before(() => addEvents(service, 3))
  const admin = setUp(() => service.bearer('admin'))

  const headOfExport = async () => {
    const { text } = await admin.get('/v1/log', { accept: 'application/jsonl' })
    const lines = text.trimEnd().split('\n')
    return headOf(lines.map((line) => JSON.parse(line)))
  }
  const publishedKey = async (): Promise<VerifierKey> => {
    const { body } = await service.client().get('/v1/log/key')
    return readVerifierKey(body.keys[0].verifierKey)
  }
  const inHex = (note: string) => {
    const { origin, size, root } = readCheckpoint(readNote(note).text)
    return { origin, size, root: Buffer.from(root).toString('hex') }
  }

  it('is a note signed by the published key, and covers the log up to its newest event', async () => {
    const { status, text, headers } = await admin.get('/v1/log/checkpoint')
    assert.equal(status, 200)
    assert.equal(headers.get('content-type'), 'text/plain; charset=utf-8')
    assert.equal(headers.get('cache-control'), 'no-store')
    assert.deepEqual(inHex(text), { origin: 'orders.example.com/log', ...(await headOfExport()) })
    const key = await publishedKey()
    assert.equal(await verifyNote(readNote(text), [key]), true)
    const altered = readNote(text.replace(/\n(\d+)\n/, '\n1$1\n'))
    assert.equal(await verifyNote(altered, [key]), false)
  })

  it('has the signature of each key, so that one can be replaced', async () => {
    const keys = [...testLogKeys(), ...loadLogKeys([])]
    const origin = 'orders.example.com/log'
    const note = readNote(await signCheckpoint(keys, origin, await headOfExport()))
    const published = await publishedKeys(keys, origin)
    assert.deepEqual(note.signatures.length, 2)
    for (const { verifierKey, jwk } of published) {
      const key = await readVerifierKey(verifierKey)
      assert.equal(await verifyNote(note, [key]), true)
      assert.deepEqual(jwk, {
        kty: 'OKP',
        crv: 'Ed25519',
        x: Buffer.from(key.publicKey).toString('base64url'),
      })
    }
  })

  it('names the host and port of the service, and the era', () => {
    assert.equal(originOf('https://orders.example.com', 1), 'orders.example.com/log')
    assert.equal(originOf('http://localhost:8080', 2), 'localhost:8080/log/2')
  })

  it('has a separate key, which signs no token', async () => {
    const { body } = await service.client().get('/.well-known/jwks.json')
    assert.deepEqual(
      body.keys.map(({ kty }: { kty: string }) => kty),
      ['RSA'],
    )
  })

  it('is in the service’s own log at the start and once an hour', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] })
    const lines: Record<string, unknown>[] = []
    const log = makeLog({ level: 'info' }, { write: (line) => void lines.push(JSON.parse(line)) })
    const { db, logKeys: keys } = service
    t.after(startCheckpoints(log, { db, keys, publicUrl: () => publicUrl }))
    for (const count of [1, 2]) {
      for (let tries = 0; lines.length < count; tries += 1) {
        assert.ok(tries < 200, 'there is no checkpoint')
        await wait(10)
      }
      const { era, ...head } = await headOfLog(db.read)
      const { event, size, root, checkpoint } = lines.at(-1) ?? {}
      assert.deepEqual({ event, size, root }, { event: 'checkpoint', ...head })
      assert.deepEqual(inHex(String(checkpoint)), { origin: originOf(publicUrl, era), ...head })
      await addEvents(service, 1)
      t.mock.timers.tick(3_599_999)
      await wait(10)
      assert.equal(lines.length, count)
      t.mock.timers.tick(1)
    }
  })
})

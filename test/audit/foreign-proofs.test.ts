import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { newOrderedId } from '../../server/ids.ts'
import { newActor } from '../support/accounts.ts'
import { rootsOf, seal } from '../support/log.ts'
import { stamp } from '../support/orders.ts'
import { setUp, testService } from '../support/service.ts'

const script = fileURLToPath(new URL('../../witness/test/verify.py', import.meta.url))
const skip = spawnSync('python3', ['--version']).status === 0 ? false : 'needs Python'
/** Enough to alter each kind of line in several places, and for a full tile of the log. */
const orders = 150

/** Fifty at a time: they share a commit. */
async function inTurns<Result>(ids: string[], work: (id: string) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = []
  for (let at = 0; at < ids.length; at += 50) {
    results.push(...(await Promise.all(ids.slice(at, at + 50).map(work))))
  }
  return results
}

/** The verdicts of a program that shares nothing with this one. */
function verdicts(cases: object[]): unknown[] {
  const { stdout, stderr } = spawnSync('python3', [script], {
    input: JSON.stringify(cases),
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  })
  assert.equal(stderr, '')
  return JSON.parse(stdout)
}

describe('a program in Python that shares nothing with this one', { skip }, () => {
  const service = testService()
  const admin = setUp(() => service.bearer('admin'))
  let logKeys: string[]
  let receipts: string[]
  before(async () => {
    const actor = await newActor(service.db)
    const ids = Array.from({ length: orders }, () => newOrderedId(service.now()))
    await inTurns(ids, (id) => {
      const order = { id, customer: 'Müller & Söhne', total: 12_500 }
      return service.db.write('createOrder', { order, stamp: stamp(), idempotency: null })
    })
    await inTurns(ids, (id) =>
      service.db.write('approveOrder', {
        id,
        acceptedVersions: null,
        actor: { ...actor, eventId: newOrderedId(service.now()) },
        text: null,
        signature: null,
        idempotency: null,
      }),
    )
    await seal(service.db)
    receipts = await inTurns(ids, async (id) => {
      return (await admin.get(`/v1/orders/${id}/receipt`, { accept: 'text/plain' })).text
    })
    const { body } = await service.client().get('/v1/log/key')
    logKeys = body.keys.map(({ verifierKey }: { verifierKey: string }) => verifierKey)
  })

  const refusedOf = (cases: object[]) => verdicts(cases).map((verdict) => verdict === 'refused')

  it('accepts every receipt, and none of them altered', () => {
    const asked = (receipt: string) => ({ receipt, logKeys, witnessKeys: [] })
    const isRefused = refusedOf(receipts.map(asked))
    assert.deepEqual(isRefused, Array(orders).fill(false))
    const altered = receipts.map((receipt, number) => {
      const lines = receipt.split('\n')
      // Not the empty lines, nor the name of the log within the lines of its signatures.
      const places = [...lines.keys()].filter((at) => lines[at] !== '')
      const at = places[number % places.length] ?? 0
      const line = lines[at] ?? ''
      const place = line.length - 3 - (number % 20)
      const other = line[place] === 'A' ? 'B' : 'A'
      return lines.with(at, line.slice(0, place) + other + line.slice(place + 1)).join('\n')
    })
    assert.ok(altered.every((receipt, number) => receipt !== receipts[number]))
    assert.deepEqual(refusedOf(altered.map(asked)), Array(orders).fill(true))
  })

  it('accepts that the log of fifty sizes only grew', async () => {
    const note = (await admin.get('/v1/log/checkpoint')).text
    const size = Number(note.split('\n')[1])
    const { text } = await admin.get('/v1/log', { accept: 'application/jsonl' })
    const lines = text
      .split('\n')
      .slice(0, size)
      .map((line) => JSON.parse(line))
    const base64 = (hex: string) => Buffer.from(hex, 'hex').toString('base64')
    const cases = []
    const rootOver = rootsOf(lines)
    for (let pair = 1; pair <= 50; pair += 1) {
      const from = Math.ceil((pair * size) / 50)
      const { hashes } = (await admin.get(`/v1/log/proof?from=${from}&size=${size}`)).body
      const root = base64(rootOver(0, from))
      cases.push({ note, logKeys, witnessKeys: [], proof: { from, root, hashes } })
    }
    assert.deepEqual(refusedOf(cases), Array(50).fill(false))
    const others = cases.map((one) => ({ ...one, proof: { ...one.proof, root: base64('00'.repeat(32)) } }))
    assert.deepEqual(refusedOf(others), Array(50).fill(true))
  })
})

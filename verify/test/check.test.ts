import assert from 'node:assert/strict'
import { generateKeyPairSync, sign } from 'node:crypto'
import { before, describe, it } from 'node:test'
import { bytesOf } from '../../proof/bytes.ts'
import { hashesOf, hashOf, spellLine } from '../../proof/line.ts'
import { LogTree } from '../../proof/log-tree.ts'
import { spellCheckpoint, spellNote, spellVerifierKey, verifierKey } from '../../proof/note.ts'
import { check } from '../check.ts'
import { verdictOn } from '../finding.ts'
import { recognise } from '../given.ts'

const origin = 'orders.example/log'

const rules = { approvals: 1, passkey: false, role: null, selfApproval: true, services: true }

function lineNumber(sequence: number): string {
  const salt = '00'.repeat(16)
  const clear = { by: { salt, value: 'operator' }, customer: { salt, value: 'Acme' } }
  const line = {
    sequence,
    id: `e${sequence}`,
    kind: 'created',
    subject: { kind: 'order', id: `o${sequence}` },
    version: 1,
    atUtc: '2026-11-28T10:00:00.000Z',
    atTimeZone: 'UTC',
    byId: 2,
    forId: null,
    data: { number: sequence, ownerId: null, rules, total: '1250.5' },
    hashes: hashesOf(clear),
  }
  return spellLine({ ...line, clear, hash: hashOf(line) })
}

async function verdict(...texts: string[]) {
  const given = await Promise.all(texts.map((text, at) => recognise(`file ${at}`, new Blob([text]))))
  const vouched = given.flat().map((one) => ('from' in one ? { ...one, from: 'person' as const } : one))
  return verdictOn((await check(vouched, () => undefined)).findings)
}

describe('a log on the page that verifies', () => {
  const lines = [1, 2, 3].map(lineNumber)
  const log = `${lines.join('\n')}\n`
  let checkpoint: string
  let key: string
  before(async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519')
    const { x = '' } = publicKey.export({ format: 'jwk' })
    const named = await verifierKey(origin, 'ed25519', Uint8Array.from(Buffer.from(x, 'base64url')))
    const tree = new LogTree()
    for (const line of lines) tree.add(JSON.parse(line).hash)
    const text = spellCheckpoint({
      origin,
      size: tree.size,
      root: Uint8Array.from(Buffer.from(tree.head.root, 'hex')),
    })
    const signature = Uint8Array.from(sign(null, bytesOf(text), privateKey))
    checkpoint = spellNote({ text, signatures: [{ name: named.name, id: named.id, signature }] })
    key = spellVerifierKey(named)
  })

  it('is valid by a checkpoint and the key that signed it', async () => {
    assert.equal(await verdict(log, checkpoint, key), 'valid')
  })

  it('is not checked past its checkpoint, or by a key that nobody vouches for', async () => {
    assert.equal(await verdict(`${log}${lineNumber(4)}\n`, checkpoint, key), 'not checked yet')
    const given = await Promise.all([log, checkpoint, key].map((text) => recognise('file', new Blob([text]))))
    assert.equal(verdictOn((await check(given.flat(), () => undefined)).findings), 'not checked yet')
  })

  it('is not checked without the key, or without the checkpoint', async () => {
    assert.equal(await verdict(log, checkpoint), 'not checked yet')
    assert.equal(await verdict(log, key), 'not checked yet')
  })

  it('is not valid if a line was changed, removed or added', async () => {
    const changed = { ...JSON.parse(lines[1] ?? ''), byId: 3 }
    const { hash: _, clear: __, ...hashed } = changed
    const rehashed = spellLine({ ...changed, hash: hashOf(hashed) })
    for (const wrong of [
      log.replace('"operator"', '"somebody"'),
      `${[lines[0], rehashed, lines[2]].join('\n')}\n`,
      `${lines.slice(0, 2).join('\n')}\n`,
      `${[lines[0], lines[2]].join('\n')}\n`,
    ]) {
      assert.equal(await verdict(wrong, checkpoint, key), 'not valid')
    }
  })
})

import assert from 'node:assert/strict'
import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import { describe, it } from 'node:test'
import { bytesOf } from '../../proof/bytes.ts'
import { canonicalJson } from '../../proof/canonical.ts'
import { hashesOf, hashOf, spellLine } from '../../proof/line.ts'
import { LogTree } from '../../proof/log-tree.ts'
import { spellCheckpoint, spellNote, spellProof, spellVerifierKey, verifierKey } from '../../proof/note.ts'
import { check } from '../check.ts'
import { verdictOn } from '../finding.ts'
import { recognise } from '../given.ts'

const origin = 'orders.example/log'

const rules = { approvals: 1, passkey: false, role: null, selfApproval: true, services: true }

function lineNumber(sequence: number, change: object = {}): string {
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
    ...change,
  }
  return spellLine({ ...line, clear, hash: hashOf(line) })
}

async function verdict(...texts: string[]) {
  const given = await Promise.all(texts.map((text, at) => recognise(`file ${at}`, new Blob([text]))))
  const vouched = given.flat().map((one) => ('from' in one ? { ...one, from: 'person' as const } : one))
  return verdictOn((await check(vouched, () => undefined)).findings)
}

const { privateKey, publicKey } = generateKeyPairSync('ed25519')
const { x = '' } = publicKey.export({ format: 'jwk' })
const named = await verifierKey(origin, 'ed25519', Uint8Array.from(Buffer.from(x, 'base64url')))
const key = spellVerifierKey(named)

function checkpointOf(lines: readonly string[]): string {
  const tree = new LogTree()
  for (const line of lines) tree.add(JSON.parse(line).hash)
  const root = Uint8Array.from(Buffer.from(tree.head.root, 'hex'))
  const text = spellCheckpoint({ origin, size: tree.size, root })
  const signature = Uint8Array.from(sign(null, bytesOf(text), privateKey))
  return spellNote({ text, signatures: [{ name: named.name, id: named.id, signature }] })
}

describe('a log on the page that verifies', () => {
  const lines = [1, 2, 3].map((sequence) => lineNumber(sequence))
  const log = `${lines.join('\n')}\n`
  const checkpoint = checkpointOf(lines)

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

describe('a file with the proof of a line', () => {
  const offer = 'Eight chairs'
  const documents = [createHash('sha256').update(offer).digest('hex')]
  function proofOf(kind: string): string {
    const line = lineNumber(1, { kind, data: { documents, total: '1250.5' } })
    const { hash: _, clear: __, ...hashed } = JSON.parse(line)
    const extra = bytesOf(canonicalJson(hashed))
    return spellProof({ extra, index: 0, path: [], checkpoint: checkpointOf([line]) })
  }

  it('is a document of the order that the line approves, or not valid', async () => {
    assert.equal(await verdict(proofOf('approved'), key, offer), 'valid')
    assert.equal(await verdict(proofOf('approved'), offer), 'not checked yet')
    assert.equal(await verdict(proofOf('approved'), key, `${offer}!`), 'not valid')
  })

  it('is not checked yet by a line that approves nothing', async () => {
    assert.equal(await verdict(proofOf('noted'), key, offer), 'not checked yet')
  })
})

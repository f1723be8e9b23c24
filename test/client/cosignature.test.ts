// engine: none
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import {
  cosignature,
  cosignedMessage,
  readNote,
  readVerifierKey,
  spellVerifierKey,
  verifierKey,
  verifyCosignature,
} from '../../proof/note.ts'
import { vouchedBy } from '../../proof/proof.ts'
import { judgeCheckpoint } from '../../proof/verdict.ts'
import { cosignatureBy, newSigner } from '../../witness/test/signed-log.ts'

const hash = Uint8Array.from({ length: 32 }, (_, index) => index)
const base64 = Buffer.from(hash).toString('base64')

describe('a cosignature by ML-DSA-44', () => {
  const text = `log.example/a\n42\n${base64}\nan extension\n`
  const cosigner = newSigner('witness.example/pq', 'subtree/v1')

  it('signs name, time, origin, size and root, byte by byte as tlog-cosignature says', async () => {
    const number = (hex: string) => Buffer.from(hex.padStart(16, '0'), 'hex')
    const message = Buffer.concat([
      Buffer.from('subtree/v1\n\0'),
      Buffer.from('\x12witness.example/pq'),
      number('6b49d200'),
      Buffer.from('\rlog.example/a'),
      number('0'),
      number('2a'),
      hash,
    ])
    const { key } = await cosigner
    assert.deepEqual(Buffer.from(cosignedMessage(key, text, 1_800_000_000)), message)
    assert.throws(() => cosignedMessage(key, text.replace('log', 'l'.repeat(256)), 1), /at most 255 bytes/)
  })

  it('is verified if another program made it', async () => {
    // By pyca/cryptography, from the seed 01 02 ... 20: its key, a line feed, and the note.
    const [spelled = '', ...lines] = readFileSync(new URL('ml-dsa-44.txt', import.meta.url), 'utf8').split(
      '\n',
    )
    const key = await readVerifierKey(spelled)
    assert.deepEqual([key.name, key.type], ['oid/32473.9', 'subtree/v1'])
    assert.equal(await verifyCosignature(readNote(lines.join('\n')), key), 1_679_315_147)
  })

  it('has a key of type 6, which is spelled and read like others', async () => {
    const { key } = await cosigner
    const spelled = spellVerifierKey(key)
    assert.deepEqual(await readVerifierKey(spelled), key)
    const id = createHash('sha256')
      .update(`${key.name}\n\x06`)
      .update(key.publicKey)
      .digest('hex')
      .slice(0, 8)
    assert.equal(key.id, id)
    await assert.rejects(verifierKey('w', 'subtree/v1', key.publicKey.subarray(1)), /must have 1312 bytes/)
    await assert.rejects(verifierKey('é'.repeat(128), 'subtree/v1', key.publicKey), /at most 255 bytes/)
  })

  it('says when it was made, and does not cover extension lines', async () => {
    const made = cosignatureBy(await cosigner, text, 1_800_000_000)
    const { key } = await cosigner
    const timeOf = (signed: string, ...signatures: (typeof made)[]) =>
      verifyCosignature({ text: signed, signatures }, key)
    assert.equal(await timeOf(text, made), 1_800_000_000)
    assert.equal(await timeOf(text.replace('an ext', 'another ext'), made), 1_800_000_000)
    for (const altered of [
      text.replace('42', '43'),
      text.replace('log', 'lot'),
      text.replace('AAEC', 'AAED'),
    ]) {
      assert.equal(await timeOf(altered, made), undefined, altered)
    }
    const other = { ...made, signature: cosignature(1_800_000_001, made.signature.subarray(8)) }
    assert.equal(await timeOf(text, other), undefined)
    assert.equal(await timeOf(text, { ...made, signature: made.signature.slice(0, 72) }), undefined)
    const asOther = await newSigner('witness.example/pr', 'subtree/v1', (await cosigner).privateKey)
    const renamed = { ...made, name: asOther.key.name, id: asOther.key.id }
    assert.equal(await verifyCosignature({ text, signatures: [renamed] }, asOther.key), undefined)
  })

  it('counts for nothing without a time', async () => {
    const { key } = await cosigner
    const signer = await cosigner
    const note = { text, signatures: [cosignatureBy(signer, text, 0)] }
    assert.equal(await verifyCosignature(note, key), undefined)
    assert.deepEqual((await vouchedBy(note, [key])).forged, [])
    const both = { text, signatures: [...note.signatures, cosignatureBy(signer, text, 1_800_000_000)] }
    assert.equal(await verifyCosignature(both, key), 1_800_000_000)
  })

  it('is neither true nor false where Web Crypto does not have it', async (t) => {
    const signers = [await cosigner, await newSigner('witness.example/ed', 'cosignature/v1')]
    const keys = signers.map(({ key }) => key)
    const note = { text, signatures: signers.map((signer) => cosignatureBy(signer, text, 1_800_000_000)) }
    const { importKey } = crypto.subtle
    t.mock.method(crypto.subtle, 'importKey', (...given: Parameters<typeof importKey>) => {
      if (given[0] === 'raw') return importKey.apply(crypto.subtle, given)
      // Firefox 153 does not know the format either.
      return Promise.reject(new DOMException('', 'SyntaxError'))
    })
    const vouched = await vouchedBy(note, keys)
    const { unchecked, cosigned, forged } = vouched
    assert.deepEqual([unchecked, cosigned.map(({ key }) => key), forged], [[keys[0]], [keys[1]], []])
    assert.deepEqual(judgeCheckpoint(vouched, keys).missing, [])
    const alone = judgeCheckpoint(await vouchedBy(note, keys.slice(0, 1)), keys.slice(0, 1))
    assert.deepEqual(alone, {
      faults: [],
      missing: ['the signature of witness.example/pq cannot be checked here: use a newer browser or Node'],
      restsOn: [],
    })
  })
})

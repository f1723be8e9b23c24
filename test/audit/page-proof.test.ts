// engine: none
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, it } from 'node:test'
import { type Bytes, bytesOf } from '../../proof/bytes.ts'
import { canonicalJson } from '../../proof/canonical.ts'
import type { LogLine } from '../../proof/line.ts'
import { spellNote, spellProof } from '../../proof/note.ts'
import { pathOf } from '../../proof/tree.ts'
import {
  checkpointBy,
  cosignatureBy,
  newSigner,
  type Signer,
  signatureBy,
} from '../../witness/test/signed-log.ts'
import { approvedOrder, logAround, origin, receiptOver, spellReceipt } from '../support/approved-order.ts'
import { type Added, judge, keysOf } from '../support/judged-page.ts'
import { exportOf, headOf, makeLog, orderEvent } from '../support/log.ts'

const log = await newSigner(origin)
const witness = await newSigner('witness.example.org', 'cosignature/v1')
const other = await newSigner('other.example.com/log')
const stranger = await newSigner('stranger.example.org', 'cosignature/v1')

const contents = Array.from({ length: 300 }, (_, index) => ({
  ...orderEvent,
  data: { total: `${index}` },
}))
const lines = makeLog(contents)
const checkpoint = checkpointBy([log, witness], origin, headOf(lines))

const join = (left: Bytes, right: Bytes): Bytes =>
  Uint8Array.from(createHash('sha256').update(Uint8Array.of(1)).update(left).update(right).digest())
const leaves = lines.map(({ hash }) => Uint8Array.from(Buffer.from(hash, 'hex')))

/** The tlog-proof of line 257, or of one that is changed. */
function proofWith(note = checkpoint, change: Partial<LogLine> = {}): string {
  const { hash: _, clear: __, ...hashed } = { ...lines[256], ...change }
  const extra = bytesOf(canonicalJson(hashed))
  return spellProof({ extra, index: 256, path: pathOf(leaves, 256, join), checkpoint: note })
}
const proof: Added = ['approval.tlog-proof', proofWith()]

describe('the proof of a line on the page that verifies', () => {
  it('says what the line is, in which log, and by which keys', async () => {
    const { verdict, titles, proven, beyond } = await judge(proof, keysOf(log, witness))
    assert.equal(verdict, 'valid')
    assert.deepEqual(titles, ['Line 257 of orders.example.com/log (approval.tlog-proof)'])
    assert.match(
      proven,
      /Line 257 of the log orders\.example\.com\/log, which had 300 lines, says “noted” by account 3 on .*2026 .* It is about order 019a0000-\S+, with a total of 256\.00\./,
    )
    assert.match(beyond, /when the witness witness\.example\.org cosigned the checkpoint/)
    assert.match(beyond, /The names and texts of the line\. The proof has only their hashes\./)
  })

  const uncosigned = checkpointBy([log], origin, headOf(lines))
  const text = `${checkpoint.slice(0, checkpoint.indexOf('\n\n'))}\n`
  const byLog = signatureBy(log, text)
  const falselySigned = spellNote({ text, signatures: [signatureBy(log, 'other\n')] })
  const falselyCosigned = spellNote({ text, signatures: [byLog, cosignatureBy(witness, 'other\n', 1)] })
  const shorter = checkpointBy([log], origin, headOf(lines.slice(0, 299)))
  const uncosignedWords = /None of the given witnesses cosigned the checkpoint/
  const falseOf = (name: string) =>
    new RegExp(`The signature of ${RegExp.escape(name)} on the checkpoint is false`)
  const nobody = /Nobody vouches for the checkpoint: .* says “noted” by account 3 /
  const elsewhere = /Line 257 is not in the log that the checkpoint is about/
  const withoutLine = proofWith().replace(/extra \S+\n/, '')
  const malformed = proofWith().replace('index 256', 'index 0256')
  const cases: Record<string, Record<string, [string, Signer[], RegExp]>> = {
    'not checked yet': {
      'without the key of the log': [proofWith(), [stranger], nobody],
      'with the key of another log': [proofWith(), [other], nobody],
      'that a witness has not cosigned': [proofWith(uncosigned), [log, witness], uncosignedWords],
      'that another witness has cosigned': [proofWith(), [log, stranger], uncosignedWords],
      'that is malformed': [malformed, [log], /the index must be a whole number/],
    },
    'not valid': {
      'with a false signature': [proofWith(falselySigned), [log], falseOf(origin)],
      'with a false cosignature': [proofWith(falselyCosigned), [log, witness], falseOf(witness.key.name)],
      'of another line': [proofWith(checkpoint, { byId: 99 }), [log], elsewhere],
      'without a line': [withoutLine, [log], /The proof does not say what the line is/],
      'for a log of another size': [proofWith(shorter), [log], elsewhere],
    },
  }
  for (const [verdict, all] of Object.entries(cases)) {
    for (const [name, [given, signers, words]] of Object.entries(all)) {
      it(`is not valid as one ${name}`, async () => {
        const proof: Added = ['approval.tlog-proof', given]
        const { wrong, missing, said, ...judged } = await judge(proof, keysOf(...signers))
        assert.deepEqual([judged.verdict, judged.proven], [verdict, ''])
        assert.match(`${wrong} ${missing} ${said}`, words)
      })
    }
  }

  it('is looked up in a log', async () => {
    const same = await judge(proof, keysOf(log), ['day.txt', checkpoint], ['log.jsonl', exportOf(lines)])
    assert.equal(same.verdict, 'valid')
    assert.match(same.proven, /In log\.jsonl, line 257 is this line\./)
    const rewritten = makeLog(
      contents.map((content, at) => (at === 256 ? { ...content, byId: 99 } : content)),
    )
    const note = checkpointBy([log], origin, headOf(rewritten))
    const differs = await judge(proof, keysOf(log), ['day.txt', note], ['log.jsonl', exportOf(rewritten)])
    assert.equal(differs.verdict, 'not valid')
    assert.match(differs.wrong, /In log\.jsonl, line 257 is something else than this line\./)
  })
})

describe('a file on the page that verifies', async () => {
  const receipt = spellReceipt(receiptOver(logAround(await approvedOrder()), [log]))

  /** The receipt with other claims. */
  function altered(change: (text: string) => string): string {
    const [header, claims = '', signature] = receipt.split('.')
    const said = change(Buffer.from(claims, 'base64url').toString())
    return [header, Buffer.from(said).toString('base64url'), signature].join('.')
  }

  it('says nothing of a receipt that was altered', async () => {
    const total = altered((text) => text.replaceAll('1250.5', '9250.5'))
    const { verdict, wrong, proven, said } = await judge(['receipt.jwt', total], keysOf(log))
    assert.deepEqual([verdict, proven, said], ['not valid', '', ''])
    assert.match(wrong, /Line \d+ does not fit: its hash is not that of its content/)
  })

  it('is known by its content, or is one that cannot be checked, which keeps no other from it', async () => {
    const deep = '['.repeat(500_000)
    const lists = (text: string) => altered((said) => said.replace(/"lines":.*"checkpoint"/, text))
    const strange: Added[] = [
      ['empty', ''],
      ['large.jwt', Buffer.alloc(6_000_000)],
      ['binary', Buffer.from([0xff, 0xfe, 0x00, 0x80])],
      ['deep.json', deep],
      ['deeper.json', `{"keys":${deep}${']'.repeat(500_000)}}`],
      ['proto.json', '{"__proto__":{"receipt":"a.b.c","keys":[]},"constructor":{"keys":[]}}'],
      ['null.json', 'null'],
      ['page.html', '<script>document.title=1</script>'],
      ['token.jwt', 'a.b.c'],
      ['empty.jwt', altered(() => '{}')],
      ['types.jwt', lists('"lines":[null],"checkpoint"')],
      ['many.jwt', lists('"lines":{"length":1e9},"checkpoint"')],
      ['instant.jwt', altered((said) => said.replaceAll(/"[^"]*Z"/g, '"soon"'))],
      ['keys.json', JSON.stringify({ keys: [null, 1, {}, { __proto__: null, kid: 'x' }, { kid: {} }] })],
    ]
    for (const one of strange) {
      const { verdict, proven } = await judge(one, keysOf(log))
      assert.notEqual(verdict, 'valid', one[0])
      assert.equal(proven, '', one[0])
    }
    assert.equal(({} as { receipt?: string }).receipt, undefined)
    const good = await judge(...strange, ['receipt.jwt', receipt], keysOf(log))
    assert.equal(good.verdict, 'not valid')
    assert.match(good.wrong, /it is larger than any receipt, key or checkpoint/)
    assert.match(good.proven, /for Müller & Söhne/)
  })
})

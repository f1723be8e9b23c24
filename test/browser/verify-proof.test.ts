import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, describe, it, type TestContext } from 'node:test'
import { type Bytes, bytesOf } from '../../proof/bytes.ts'
import { canonicalJson } from '../../proof/canonical.ts'
import type { LogLine } from '../../proof/line.ts'
import { spellNote, spellProof, spellVerifierKey } from '../../proof/note.ts'
import { pathOf } from '../../proof/tree.ts'
import {
  checkpointBy,
  cosignatureBy,
  newSigner,
  type Signer,
  signatureBy,
} from '../../witness/test/signed-log.ts'
import { openBrowser, screenshot, sideBySide } from '../support/browser/person.ts'
import { type Checker, checker } from '../support/browser/verify-page.ts'
import { exportOf, headOf, makeLog, orderEvent } from '../support/log.ts'
import { createdId } from '../support/orders.ts'
import { startService } from '../support/service.ts'

const browser = openBrowser()
const service = await startService({ clockRuns: true, until: { after } })
const origin = 'orders.example.com/log'
const log = await newSigner(origin, 'ed25519', service.logKeys[0])
const witness = await newSigner('witness.example.org', 'cosignature/v1')
const other = await newSigner('other.example.com/log')
const stranger = await newSigner('stranger.example.org', 'cosignature/v1')
const keys = (...signers: Signer[]): [string, string] => [
  'keys.txt',
  signers.map(({ key }) => spellVerifierKey(key)).join('\n'),
]

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
const proof: [string, string] = ['approval.tlog-proof', proofWith()]

const open = (t: TestContext) => checker(t, { browser, service })

describe('the page that checks the proof of a line', sideBySide, () => {
  it('says what the line is, in which log, and by which keys', async (t) => {
    const { page, requests, give, says, said } = await open(t)
    await give(proof, keys(log, witness))
    await says('holds')
    const title = 'Line 257 of orders.example.com/log (approval.tlog-proof)'
    await page.getByRole('heading', { name: title }).waitFor()
    const proven = await said('Proven')
    assert.match(
      proven,
      /Line 257 of the log orders\.example\.com\/log, which had 300 lines, says “noted” by account 3 on .*2026 .* It is about order 019a0000-\S+, with a total of 256\.00\./,
    )
    assert.match(proven, /The key orders\.example\.com\/log\+[0-9a-f]{8} signed this checkpoint/)
    assert.match(proven, /The witness witness\.example\.org cosigned it on .*2026/)
    const beyond = await said('What this does not prove')
    assert.match(beyond, /That the keys belong to the log and its witnesses/)
    assert.match(beyond, /The names and texts of the line\. The proof has only their hashes\./)
    assert.deepEqual(requests, [])
    await screenshot(page, 'verify-proof')
  })

  it('takes the one that the service gives for an approval, saved or pasted', async (t) => {
    const id = await createdId(await service.bearer('operator'), { customer: 'Müller', total: 12.5 })
    const admin = await service.bearer('admin')
    assert.equal((await admin.patch(`/v1/orders/${id}/approve`)).status, 204)
    const { text } = await admin.get(`/v1/orders/${id}/receipt`, { accept: 'text/plain' })
    const { page, give, giveOnly, says, said } = await open(t)
    await give(['receipt.tlog-proof', text], keys(log))
    await says('holds')
    assert.match(
      await said('Proven'),
      /says “approved” by account 1 on .* It is about order \S+, with a total of 12\.50\./,
    )
    await giveOnly(keys(log))
    await page.getByLabel('Or paste').fill(text.trim())
    await page.getByRole('button', { name: 'Add this text' }).click()
    await says('holds')
  })

  const uncosigned = checkpointBy([log], origin, headOf(lines))
  const text = `${checkpoint.slice(0, checkpoint.indexOf('\n\n'))}\n`
  const byLog = signatureBy(log, text)
  const falselySigned = spellNote({ text, signatures: [signatureBy(log, 'other\n')] })
  const falselyCosigned = spellNote({ text, signatures: [byLog, cosignatureBy(witness, 'other\n', 1)] })
  const shorter = checkpointBy([log], origin, headOf(lines.slice(0, 299)))
  const cases: Record<string, [string, Signer[], Parameters<Checker['says']>[0], RegExp]> = {
    'without the key of the log': [
      proofWith(),
      [witness],
      'unproven',
      /says “noted” by account 3 .*None of this is proven yet\. Add the key of the log\./,
    ],
    'with the key of another log': [proofWith(), [other], 'fails', /They are not those of orders/],
    'that a witness has not cosigned': [
      proofWith(uncosigned),
      [log, witness],
      'unproven',
      /The witness witness\.example\.org has not cosigned it\./,
    ],
    'that another witness has cosigned': [
      proofWith(),
      [log, witness, stranger],
      'unproven',
      /The witness stranger\.example\.org has not cosigned it\./,
    ],
    'with a false signature': [
      proofWith(falselySigned),
      [log],
      'fails',
      /the signature of orders\.example\.com\/log is false/,
    ],
    'with a false cosignature': [
      proofWith(falselyCosigned),
      [log, witness],
      'fails',
      /the signature of witness\.example\.org is false/,
    ],
    'of another line': [
      proofWith(checkpoint, { byId: 99 }),
      [log],
      'fails',
      /line 257 is not in the log that the checkpoint is about/,
    ],
    'without a line': [
      proofWith().replace(/extra \S+\n/, ''),
      [log],
      'fails',
      /the proof does not say what the line is/,
    ],
    'for a log of another size': [proofWith(shorter), [log], 'fails', /line 257 is not in the log/],
    'that is malformed': [
      proofWith().replace('index 256', 'index 0256'),
      [log],
      'unproven',
      /the index must be a whole number/,
    ],
  }
  for (const [name, [given, signers, verdict, words]] of Object.entries(cases)) {
    it(`is not green for a proof ${name}`, async (t) => {
      const { page, give, says, said } = await open(t)
      await give(['approval.tlog-proof', given], keys(...signers))
      await says(verdict)
      assert.match((await said()).replaceAll('\n', ' '), words)
      assert.equal(await page.locator('.verdict.tone-good').count(), 0)
    })
  }

  it('looks the line up in a log', async (t) => {
    const { giveOnly, says, said } = await open(t)
    await giveOnly(proof, keys(log), ['day.txt', checkpoint], ['log.jsonl', exportOf(lines)])
    await says('holds')
    assert.match(await said('Proven'), /In log\.jsonl, line 257 is this line\./)
    const rewritten = makeLog(
      contents.map((content, at) => (at === 256 ? { ...content, byId: 99 } : content)),
    )
    const note = checkpointBy([log], origin, headOf(rewritten))
    await giveOnly(proof, keys(log), ['day.txt', note], ['log.jsonl', exportOf(rewritten)])
    await says('fails')
    assert.match(await said('Does not hold'), /In log\.jsonl, line 257 is something else than this line\./)
  })
})

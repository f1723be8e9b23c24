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
    const beyond = await said('What this does not prove')
    assert.match(beyond, /when the witness witness\.example\.org cosigned the checkpoint/)
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
    await says('unproven')
    await page.getByRole('button', { name: /^I have the key in / }).click()
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
      [stranger],
      'unproven',
      /Nobody vouches for the checkpoint: .* says “noted” by account 3 /,
    ],
    'with the key of another log': [proofWith(), [other], 'unproven', /Nobody vouches/],
    'that a witness has not cosigned': [
      proofWith(uncosigned),
      [log, witness],
      'unproven',
      /None of the given witnesses cosigned the checkpoint/,
    ],
    'that another witness has cosigned': [
      proofWith(),
      [log, stranger],
      'unproven',
      /None of the given witnesses cosigned the checkpoint/,
    ],
    'with a false signature': [
      proofWith(falselySigned),
      [log],
      'fails',
      /The signature of orders\.example\.com\/log on the checkpoint is false/,
    ],
    'with a false cosignature': [
      proofWith(falselyCosigned),
      [log, witness],
      'fails',
      /The signature of witness\.example\.org on the checkpoint is false/,
    ],
    'of another line': [
      proofWith(checkpoint, { byId: 99 }),
      [log],
      'fails',
      /Line 257 is not in the log that the checkpoint is about/,
    ],
    'without a line': [
      proofWith().replace(/extra \S+\n/, ''),
      [log],
      'fails',
      /The proof does not say what the line is/,
    ],
    'for a log of another size': [proofWith(shorter), [log], 'fails', /Line 257 is not in the log/],
    'that is malformed': [
      proofWith().replace('index 256', 'index 0256'),
      [log],
      'unproven',
      /the index must be a whole number/,
    ],
  }
  it('is not green for a proof that does not hold', async (t) => {
    const { page, giveOnly, says, said } = await open(t)
    for (const [name, [given, signers, verdict, words]] of Object.entries(cases)) {
      await giveOnly(['approval.tlog-proof', given], keys(...signers))
      await says(verdict)
      assert.match((await said()).replaceAll('\n', ' '), words, name)
      assert.equal(await page.locator('.verdict.tone-good').count(), 0)
    }
  })

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

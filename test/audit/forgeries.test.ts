// engine: none
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { LogLine } from '../../proof/line.ts'
import { spellVerifierKey } from '../../proof/note.ts'
import type { Receipt } from '../../proof/receipt.ts'
import { judgeReceipt, verdictOf } from '../../proof/verdict.ts'
import { Refused } from '../../server/cli/failures.ts'
import { readReceipts } from '../../server/cli/verify/receipts.ts'
import { check } from '../../verify/check.ts'
import { verdictOn } from '../../verify/finding.ts'
import { recognise } from '../../verify/given.ts'
import { checkpointBy, newSigner } from '../../witness/test/signed-log.ts'
import { approvedOrder, logAround, origin, receiptOver, spellReceipt } from '../support/approved-order.ts'
import { isLong } from '../support/faults.ts'
import { forgeryOf, numbersFrom } from '../support/forgeries.ts'
import { headOf, type LogContent, makeLog, renamed } from '../support/log.ts'

const [log, stranger] = [await newSigner(origin), await newSigner(origin)]
const approvers = [
  { by: 'ann', byId: 5, signs: true },
  { by: 'bo', byId: 6, for: { name: 'dee', id: 7 }, role: 'Finance', signs: true },
  { by: 'cy', byId: 8 },
]
const rules = { role: 'Finance', selfApproval: false, services: false }
const contents = await approvedOrder({ approvers, rules, documents: ['ab'.repeat(32), '0d'.repeat(32)] })
const receipt = receiptOver(logAround(contents), [log])
/** Another order in the same log, the same order in another log, and a log that goes on. */
const others = [
  receiptOver(logAround(await approvedOrder({ approvers, rules })), [log]),
  receiptOver(logAround(contents), [stranger]),
  receiptOver([...logAround(contents), ...makeLog(contents.slice(0, 3), 99)], [log]),
]
const verdict = async (given: unknown, keys = [log.key]) =>
  verdictOf([await judgeReceipt(spellReceipt(given as Receipt), keys)])

describe('a receipt that somebody forges', () => {
  it('is never valid, whatever is changed in it without the key of the log', async () => {
    const random = numbersFrom(42)
    assert.equal(await verdict(receipt), 'valid')
    const missed: string[] = []
    let judged = 0
    while (judged < (isLong ? 20_000 : 5_000)) {
      const forgery = forgeryOf(receipt, others, random)
      if (forgery === undefined) continue
      judged += 1
      if ((await verdict(forgery.receipt)) === 'valid') missed.push(forgery.name)
    }
    assert.deepEqual(missed, [])
  })

  it('has the same verdict on the page and at the command line', async (t) => {
    const random = numbersFrom(7)
    const folder = await mkdtemp(join(tmpdir(), 'countersign-forged-'))
    t.after(() => rm(folder, { recursive: true }))
    const path = join(folder, 'receipt.jwt')
    const keys = { logs: [log.key], witnesses: [], services: [], used: new Set<never>() }
    const { key } = log
    for (let judged = 0; judged < 200; ) {
      const forgery = forgeryOf(receipt, others, random)
      if (forgery === undefined) continue
      judged += 1
      const file = new Blob([spellReceipt(forgery.receipt as Receipt)])
      const given = [
        ...(await recognise('receipt', file)),
        { name: 'key', kind: 'logKey', key, from: 'person' } as const,
      ]
      const shown = verdictOn((await check(given, () => undefined)).findings)
      const expected = await verdict(forgery.receipt)
      assert.equal(shown, expected, forgery.name)
      await writeFile(path, file.stream())
      const refused = await readReceipts([path], keys).catch((error: Refused) => error)
      const code = refused instanceof Refused ? refused.code : 'valid'
      assert.equal(code, expected === 'not valid' ? 'bad-receipt' : 'not-checked', forgery.name)
    }
  })

  it('is not checked yet with a checkpoint of a stranger, of another log or without a signature', async () => {
    const lines = logAround(contents)
    const unsigned = { ...receipt, checkpoint: checkpointBy([], origin, headOf(lines)) }
    assert.equal(await verdict({ ...receipt, checkpoint: others[1]?.checkpoint }), 'not checked yet')
    const verdicts = [
      await verdict(unsigned),
      await verdict(receipt, [stranger.key]),
      await verdict(receipt, []),
    ]
    assert.deepEqual(verdicts, ['not valid', 'not checked yet', 'not checked yet'])
    const later = await newSigner(`${origin}/2`)
    const era = { ...receipt, checkpoint: checkpointBy([later], later.key.name, headOf(lines)) }
    assert.equal(await verdict(era), 'not checked yet', spellVerifierKey(later.key))
  })

  it('is not valid with the key of the log, if it changes anything that a passkey signed', async () => {
    const signedLines = contents.filter(({ data }) => 'signature' in data)
    assert.equal(signedLines.length, 2)
    const changed: Record<string, (line: LogContent) => object> = {
      customer: (line) => renamed(line, { customer: 'Other' }),
      by: (line) => renamed(line, { by: 'eve' }),
      byId: () => ({ byId: 9 }),
      forId: () => ({ forId: 9 }),
      version: ({ version }) => ({ version: Number(version) + 10 }),
      total: ({ data }) => ({ data: { ...data, total: '1' } }),
      documents: ({ data }) => ({ data: { ...data, documents: [] } }),
      order: () => ({ subject: { kind: 'order', id: 'other' } }),
    }
    for (const [name, change] of Object.entries(changed)) {
      const all = contents.map((line) => (line === signedLines[0] ? { ...line, ...change(line) } : line))
      const forged = receiptOver(logAround(all), [log], (line: LogLine) => !line.id.startsWith('other'))
      assert.equal(await verdict(forged), 'not valid', name)
    }
  })
})

// engine: none
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { LogLine } from '../../proof/line.ts'
import { spellNote, spellVerifierKey } from '../../proof/note.ts'
import { conditionOf } from '../../proof/words.ts'
import { checkpointBy, newSigner, type Signer, signatureBy } from '../../witness/test/signed-log.ts'
import { approvedOrder, logAround, origin, receiptOver, spellReceipt } from '../support/approved-order.ts'
import { type Added, judge, keysOf } from '../support/judged-page.ts'
import { exportOf, headOf, makeLog, orderEvent, renamed, withoutValue } from '../support/log.ts'

/** The checkpoint of these lines, signed by each. */
const checkpointOf = (lines: LogLine[], signers: Signer[]) => checkpointBy(signers, origin, headOf(lines))

const [log, other] = [await newSigner(origin), await newSigner(origin)]
const elsewhere = await newSigner('other.example.com/log')
const witness = await newSigner('witness.example.org', 'cosignature/v1')
const lines = makeLog(
  Array.from({ length: 300 }, (_, index) => ({
    ...orderEvent,
    data: { total: `${index}` },
  })),
)
const file: Added = ['log.jsonl', exportOf(lines)]
const checkpoint = checkpointOf(lines, [log, witness])

/** The log with something else in one line, and hashes that fit. */
const changed = (all: LogLine[], at: number, content: Partial<LogLine> = { byId: 99 }) =>
  makeLog(
    all.map(({ sequence: _, hashes: __, hash: ___, ...line }, index) =>
      index === at ? { ...line, ...content } : line,
    ),
  )

describe('a log on the page that verifies', () => {
  it('has a signature that the browser cannot check, where it has no ML-DSA-44', async (t) => {
    const quantum = await newSigner('quantum.example.org', 'subtree/v1')
    const { importKey } = crypto.subtle
    t.mock.method(crypto.subtle, 'importKey', (...given: unknown[]) =>
      given[0] === 'raw'
        ? Reflect.apply(importKey, crypto.subtle, given)
        : Promise.reject(new DOMException('', 'NotSupportedError')),
    )
    const day = checkpointOf(lines, [log, witness, quantum])
    const { verdict, beyond } = await judge(file, ['day.txt', day], keysOf(log, witness, quantum))
    assert.equal(verdict, 'valid')
    const words =
      /quantum\.example\.org\+.* stands behind the checkpoint: this browser cannot check its kind of/
    assert.match(beyond, words)
  })

  it('is whole, by which checkpoint and key, and who cosigned it', async () => {
    const { verdict, proven, beyond, restsOn } = await judge(
      file,
      ['day.txt', checkpoint],
      keysOf(log, witness),
    )
    assert.equal(verdict, 'valid')
    assert.match(proven, /Each of the 300 lines fits its hash/)
    assert.match(proven, /None of the first 300 was changed, removed or added since day\.txt was signed/)
    assert.equal(
      conditionOf(restsOn, ({ type }) => type),
      'if ed25519 is the key of the log of orders.example.com and cosignature/v1 is the key of the witness witness.example.org',
    )
    assert.match(beyond, /after .*2026.*, when the witness witness\.example\.org cosigned/)
  })

  it('takes the keys as the service publishes them, and a checkpoint in a line of what it logs', async () => {
    const { verdict } = await judge(
      file,
      ['key.json', JSON.stringify({ keys: [{ verifierKey: spellVerifierKey(log.key), jwk: {} }] })],
      ['journal.json', JSON.stringify({ level: 30, event: 'checkpoint', size: 300, checkpoint })],
    )
    assert.equal(verdict, 'valid')
  })

  it('has lines that nothing binds without a checkpoint, or without its key', async () => {
    const alone = await judge(file)
    assert.deepEqual([alone.verdict, alone.proven], ['not checked yet', ''])
    assert.match(alone.missing, /Nothing binds them to each other/)
    const unvouched = await judge(file, ['day.txt', checkpoint])
    assert.deepEqual([unvouched.verdict, unvouched.proven], ['not checked yet', ''])
    assert.match(unvouched.missing, /Nobody vouches for the checkpoint: add the key of the log/)
    const byOther = await judge(file, ['day.txt', checkpoint], keysOf(other))
    assert.deepEqual([byOther.verdict, byOther.proven], ['not checked yet', ''])
    assert.match(byOther.missing, /None of the keys given for .* signed the checkpoint/)
  })

  const change = (at: number, content: Partial<LogLine>) =>
    lines.map((line, index) => (index === at ? { ...line, ...content } : line))
  const middle = checkpointOf(lines.slice(0, 120), [log])
  const faults: Record<string, [LogLine[] | Buffer, RegExp]> = {
    'a changed line': [change(7, { byId: 99 }), /Line 8 does not fit: its hash is not that of its content/],
    'a changed text': [
      lines.with(7, renamed(lines[7] as LogLine, { text: 'Delivered.' })),
      /Line 8 does not fit: its clear\.text does not match/,
    ],
    'a removed line': [lines.toSpliced(7, 1), /Line 8 does not fit: .* one is missing or out of place/],
    'two swapped lines': [
      lines.with(7, lines[8] as LogLine).with(8, lines[7] as LogLine),
      /Line 8 does not fit/,
    ],
    'a cut end': [lines.slice(0, 299), /The end is missing: day\.txt covers 300 lines, and 299 are here/],
    'a rewritten log': [changed(lines, 150), /One of the lines 121 to 300 is not as day\.txt has it/],
    'a second spelling': [
      Buffer.from(exportOf(lines).toString().replace('"sequence":1,', '"sequence":1,"sequence":1,')),
      /Line 1 does not fit: it is not written as an export writes it/,
    ],
    'a text that is gone': [
      lines.with(7, withoutValue(lines[7] as LogLine, 'text')),
      /text of line 8 is gone/,
    ],
    'deep nesting': [
      Buffer.from(`{"sequence":${'['.repeat(400_000)}${']'.repeat(400_000)}}\n`),
      /Line 1 does not fit/,
    ],
    'a line without end': [Buffer.from(`{"sequence":"${'x'.repeat(9_000_000)}`), /Line 1 does not fit/],
    'line ends of a mail program': [
      Buffer.from(exportOf(lines).toString().replaceAll('\n', '\r\n')),
      /Line 1 does not fit: a mail program or an editor has changed its line ends.* Get the original/,
    ],
    'a member of another prototype': [
      Buffer.from('{"sequence":1,"__proto__":{"id":"x"}}\n'),
      /Line 1 does not fit: its member id is missing/,
    ],
  }
  for (const [name, [content, fault]] of Object.entries(faults)) {
    it(`does not hold with ${name}`, async () => {
      const bytes = Buffer.isBuffer(content) ? content : exportOf(content)
      const given: Added[] = [
        ['log.jsonl', bytes],
        ['day.txt', checkpoint],
        ['noon.txt', middle],
      ]
      const { verdict, wrong } = await judge(...given, keysOf(log))
      assert.equal(verdict, 'not valid')
      assert.match(wrong, fault)
    })
  }

  it('has lines that no checkpoint covers', async () => {
    const noon = checkpointOf(lines.slice(0, 257), [log])
    const { verdict, proven, missing } = await judge(file, ['noon.txt', noon], keysOf(log))
    assert.equal(verdict, 'not checked yet')
    assert.match(proven, /None of the first 257 was changed/)
    assert.match(missing, /Lines 258 to 300 are newer than every checkpoint here/)
  })

  it('is read over several steps', async () => {
    const many = makeLog(Array.from({ length: 1_200 }, () => orderEvent))
    const bytes = exportOf(many)
    assert.ok(bytes.length > 2 * 262_144)
    const day = checkpointOf(many, [log])
    const { verdict, proven } = await judge(['long.jsonl', bytes], ['day.txt', day], keysOf(log))
    assert.equal(verdict, 'valid')
    assert.match(proven, /Each of the 1,200 lines fits its hash/)
  })
})

describe('a checkpoint on the page that verifies', () => {
  const forged = checkpointOf(lines.slice(0, 9), [witness]).split('\n').at(-2)
  const note = spellNote({ text: 'hello\n', signatures: [signatureBy(log, 'hello\n')] })
  const uncosigned = checkpointOf(lines, [log])
  const falseOf = (name: string) =>
    new RegExp(`The signature of ${RegExp.escape(name)} on the checkpoint is false`)
  const nobody = /Nobody vouches for the checkpoint: add the key of the log orders\.example\.com\/log/
  const cases: Record<string, Record<string, [string, Signer[], RegExp]>> = {
    'not valid': {
      'was altered': [checkpoint.replace('\n300\n', '\n299\n'), [log], falseOf(origin)],
      'has a false cosignature': [`${uncosigned}${forged}\n`, [log, witness], falseOf(witness.key.name)],
      'is none': [note, [log], /a checkpoint must have three lines/],
    },
    'not checked yet': {
      'is not of the log of the keys': [checkpoint, [elsewhere], nobody],
      'was not cosigned by the witness': [
        uncosigned,
        [log, witness],
        /None of the given witnesses cosigned the checkpoint/,
      ],
      'is malformed': [checkpoint.replaceAll('=', ''), [log], /base64/],
    },
    valid: { 'needs no witness': [checkpoint, [log], /That everybody is shown the same log/] },
  }
  for (const [verdict, all] of Object.entries(cases)) {
    for (const [name, [given, signers, words]] of Object.entries(all)) {
      it(name, async () => {
        const judged = await judge(['day.txt', given], keysOf(...signers))
        assert.equal(judged.verdict, verdict)
        assert.match(`${judged.wrong}\n${judged.missing}\n${judged.beyond}`, words)
      })
    }
  }
})

describe('a receipt with the log on the page that verifies', async () => {
  const all = logAround(await approvedOrder())
  const receipt: Added = ['receipt.jwt', spellReceipt(receiptOver(all, [log]))]
  const sequence = 1 + all.findIndex(({ kind }) => kind === 'approved')

  /** Checks it with a log of these lines, and a checkpoint of the first of them. */
  const judgeWith = (lines: LogLine[], covered = lines.length) =>
    judge(
      receipt,
      ['log.jsonl', exportOf(lines)],
      ['day.txt', checkpointOf(lines.slice(0, covered), [log])],
      keysOf(log),
    )

  it('has its approval in its line', async () => {
    const { verdict, proven } = await judgeWith(all)
    assert.equal(verdict, 'valid')
    assert.match(proven, new RegExp(`The approval is line ${sequence} of the log ${origin}, which had`))
    assert.match(proven, new RegExp(`In log\\.jsonl, line ${sequence} is the one of the receipt\\.`))
  })

  it('was not cosigned by the witness', async () => {
    const { verdict, missing } = await judge(receipt, keysOf(log, witness))
    assert.equal(verdict, 'not checked yet')
    assert.match(missing, /None of the given witnesses cosigned the checkpoint/)
  })

  for (const content of [{ byId: 99 }, { atTimeZone: 'Asia/Tokyo' }]) {
    it(`has another line in the log, by ${Object.keys(content)}`, async () => {
      const { verdict, wrong } = await judgeWith(changed(all, sequence - 1, content))
      assert.equal(verdict, 'not valid')
      assert.match(wrong, /is something else than the one of the receipt/)
    })
  }

  it('has a log that ends before its line, or no checkpoint that covers its line', async () => {
    const ends = await judgeWith(all.slice(0, sequence - 1))
    assert.equal(ends.verdict, 'not checked yet')
    assert.match(ends.missing, new RegExp(`log\\.jsonl ends before line ${sequence}`))
    const uncovered = await judgeWith(all, sequence - 1)
    assert.equal(uncovered.verdict, 'not checked yet')
    assert.match(uncovered.missing, /but no checkpoint covers that line/)
  })
})

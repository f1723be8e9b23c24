import assert from 'node:assert/strict'
import { after, before, describe, it, type TestContext } from 'node:test'
import type { LogLine } from '../../proof/line.ts'
import { spellNote, spellVerifierKey } from '../../proof/note.ts'
import { readReceipt } from '../../proof/receipt.ts'
import { checkpointBy, newSigner, type Signer, signatureBy } from '../../witness/test/signed-log.ts'
import { openBrowser, screenshot, sideBySide } from '../support/browser/person.ts'
import { type Checker, checker } from '../support/browser/verify-page.ts'
import { exportOf, headOf, makeLog, orderEvent, renamed, withoutValue } from '../support/log.ts'
import { createdId } from '../support/orders.ts'
import { startService } from '../support/service.ts'

const browser = openBrowser()
const service = await startService({ clockRuns: true, until: { after } })
const origin = 'orders.example.com/log'

/** The checkpoint of these lines, signed by each. */
const checkpointOf = (lines: LogLine[], signers: Signer[]) => checkpointBy(signers, origin, headOf(lines))

const log = await newSigner(origin, 'ed25519', service.logKeys[0])
const witness = await newSigner('witness.example.org', 'cosignature/v1')
const lines = makeLog(
  Array.from({ length: 300 }, (_, index) => ({
    ...orderEvent,
    data: { total: `${index}` },
  })),
)
const checkpoint = checkpointOf(lines, [log, witness])

/** The log with something else in one line, and hashes that fit. */
const changed = (all: LogLine[], at: number, other: Partial<LogLine> = { byId: 99 }) =>
  makeLog(
    all.map(({ sequence: _, hashes: __, hash: ___, ...content }, index) =>
      index === at ? { ...content, ...other } : content,
    ),
  )

const open = (t: TestContext) => checker(t, { browser, service })

describe('the page that checks a log', sideBySide, () => {
  it('says whose signature it cannot check, where the browser has no ML-DSA-44', async (t) => {
    const quantum = await newSigner('quantum.example.org', 'subtree/v1')
    const { page, give, says, said } = await open(t)
    await page.evaluate(() => {
      const { importKey } = crypto.subtle
      crypto.subtle.importKey = (...given: unknown[]) =>
        given[0] === 'raw'
          ? Reflect.apply(importKey, crypto.subtle, given)
          : Promise.reject(new DOMException('', 'NotSupportedError'))
    })
    await give(
      ['log.jsonl', exportOf(lines)],
      ['day.txt', checkpointOf(lines, [log, witness, quantum])],
      ['keys.txt', [log, witness, quantum].map(({ key }) => spellVerifierKey(key)).join('\n')],
    )
    await says('holds')
    assert.match(
      await said('What this does not prove'),
      /quantum\.example\.org\+.* stands behind the checkpoint: this browser cannot check its kind of signature/,
    )
  })

  it('says that it is whole, by which checkpoint and key, and who cosigned it', async (t) => {
    const { page, requests, give, says, said } = await open(t)
    await give(
      ['log.jsonl', exportOf(lines)],
      ['day.txt', checkpoint],
      ['keys.txt', `${spellVerifierKey(log.key)}\n${spellVerifierKey(witness.key)}\n`],
    )
    await says('holds')
    const proven = await said('Proven')
    assert.match(proven, /Each of the 300 lines fits its hash/)
    assert.match(proven, /None of the first 300 was changed, removed or added since day\.txt was signed/)
    const condition =
      'Valid, if the key in keys.txt is the key of the log of orders.example.com and the key in keys.txt is the key of the witness witness.example.org.'
    const verdict = await page.getByRole('status').textContent()
    assert.equal(verdict?.replaceAll(/[\u2068\u2069]/g, ''), condition)
    assert.match(
      await said('What this does not prove'),
      /after .*2026.*, when the witness witness\.example\.org cosigned/,
    )
    assert.deepEqual(requests, [])
    await screenshot(page, 'verify-log')
  })

  it('takes the keys as the service publishes them, and a checkpoint in a line of what it logs', async (t) => {
    const { give, says } = await open(t)
    await give(
      ['log.jsonl', exportOf(lines)],
      ['key.json', JSON.stringify({ keys: [{ verifierKey: spellVerifierKey(log.key), jwk: {} }] })],
      ['journal.json', JSON.stringify({ level: 30, event: 'checkpoint', size: 300, checkpoint })],
    )
    await says('holds')
  })

  it('says that nothing binds the lines without a checkpoint, or without its key', async (t) => {
    const { giveOnly, says, said } = await open(t)
    const file: [string, Buffer] = ['log.jsonl', exportOf(lines)]
    await giveOnly(file)
    await says('unproven')
    assert.match(await said('Still needed'), /Nothing binds them to each other/)
    await giveOnly(file, ['day.txt', checkpoint])
    await says('unproven')
    assert.match(await said('Still needed'), /Nobody vouches for the checkpoint: add the key of the log/)
    assert.equal(await said('Proven'), '')
    const other = await newSigner(origin)
    await giveOnly(file, ['day.txt', checkpoint], ['key.txt', spellVerifierKey(other.key)])
    await says('unproven')
    assert.match(await said('Still needed'), /None of the keys given for .* signed the checkpoint/)
    assert.match(await said('Still needed'), /publishes another key of its log than/)
    assert.equal(await said('Proven'), '')
  })

  describe('finds', () => {
    const change = (at: number, content: Partial<LogLine>) =>
      lines.map((line, index) => (index === at ? { ...line, ...content } : line))
    const rewritten = changed(lines, 150)
    const middle = checkpointOf(lines.slice(0, 120), [log])
    const cases: Record<string, [LogLine[] | Buffer, RegExp]> = {
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
      'a rewritten log': [rewritten, /One of the lines 121 to 300 is not as day\.txt has it/],
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
    it('each, in one page', async (t) => {
      const { giveOnly, says, said } = await open(t)
      for (const [name, [content, fault]] of Object.entries(cases)) {
        const bytes = Buffer.isBuffer(content) ? content : exportOf(content)
        await giveOnly(
          ['log.jsonl', bytes],
          ['day.txt', checkpoint],
          ['noon.txt', middle],
          ['key.txt', spellVerifierKey(log.key)],
        )
        await says('fails')
        assert.match(await said('Does not hold'), fault, name)
      }
    })
  })

  it('says which lines no checkpoint covers', async (t) => {
    const { give, says, said } = await open(t)
    const noon = checkpointOf(lines.slice(0, 257), [log])
    await give(['log.jsonl', exportOf(lines)], ['noon.txt', noon], ['key.txt', spellVerifierKey(log.key)])
    await says('unproven')
    assert.match(await said('Proven'), /None of the first 257 was changed/)
    assert.match(await said('Still needed'), /Lines 258 to 300 are newer than every checkpoint here/)
  })

  describe('says of a checkpoint', () => {
    const size = (note: string) => note.replace('\n300\n', '\n299\n')
    const cases: Record<string, [() => Promise<[string, string]>, Parameters<Checker['says']>[0], RegExp]> = {
      'that it was altered': [
        async () => [size(checkpoint), spellVerifierKey(log.key)],
        'fails',
        /The signature of orders\.example\.com\/log on the checkpoint is false/,
      ],
      'that the keys are those of another log': [
        async () => [checkpoint, spellVerifierKey((await newSigner('other.example.com/log')).key)],
        'unproven',
        /Nobody vouches for the checkpoint: add the key of the log orders\.example\.com\/log/,
      ],
      'that a witness did not cosign it': [
        async () => [
          checkpointOf(lines, [log]),
          `${spellVerifierKey(log.key)}\n${spellVerifierKey(witness.key)}`,
        ],
        'unproven',
        /None of the given witnesses cosigned the checkpoint/,
      ],
      'that a cosignature is false': [
        async () => {
          const forged = checkpointOf(lines.slice(0, 9), [witness]).split('\n').at(-2)
          return [
            `${checkpointOf(lines, [log])}${forged}\n`,
            `${spellVerifierKey(log.key)}\n${spellVerifierKey(witness.key)}`,
          ]
        },
        'fails',
        /The signature of witness\.example\.org on the checkpoint is false/,
      ],
      'that it is none': [
        async () => [
          spellNote({ text: 'hello\n', signatures: [signatureBy(log, 'hello\n')] }),
          spellVerifierKey(log.key),
        ],
        'fails',
        /a checkpoint must have three lines/,
      ],
      'that it is malformed': [
        async () => [checkpoint.replaceAll('=', ''), spellVerifierKey(log.key)],
        'unproven',
        /base64/,
      ],
    }
    it('each, in one page', async (t) => {
      const { giveOnly, says, said } = await open(t)
      for (const [name, [files, verdict, words]] of Object.entries(cases)) {
        const [note, keys] = await files()
        await giveOnly(['day.txt', note], ['keys.txt', keys])
        await says(verdict)
        assert.match(await said(), words, name)
      }
    })

    it('that it needs no witness, and what one would show', async (t) => {
      const { give, says, said } = await open(t)
      await give(['day.txt', checkpoint], ['keys.txt', spellVerifierKey(log.key)])
      await says('holds')
      assert.match(await said('What this does not prove'), /That everybody is shown the same log/)
    })
  })

  it('reads a long log in steps, and starts again when something is added meanwhile', async (t) => {
    const { give, says, said } = await open(t)
    const many = makeLog(Array.from({ length: 20_000 }, () => orderEvent))
    await give(['long.jsonl', exportOf(many)])
    await give(['day.txt', checkpointOf(many, [log])])
    await give(['key.txt', spellVerifierKey(log.key)])
    await says('holds')
    assert.match(await said('Proven'), /Each of the 20,000 lines fits its hash/)
  })
})

describe('the page that checks a receipt with the log', sideBySide, () => {
  let files: { receipt: string; keys: string; lines: LogLine[] }
  let sequence: number
  before(async () => {
    const admin = await service.bearer('admin')
    const approve = async (customer: string) => {
      const id = await createdId(await service.bearer('operator'), { customer, total: 12.5 })
      assert.equal((await admin.patch(`/v1/orders/${id}/approve`)).status, 204)
      return (await admin.get(`/v1/orders/${id}/receipt`)).body.receipt as string
    }
    const receipt = await approve('Acme')
    await approve('Later')
    const { text } = await admin.get('/v1/log', { accept: 'application/jsonl' })
    const exported = text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as LogLine)
    const keys = (await admin.get('/.well-known/jwks.json')).text
    files = { receipt, keys, lines: exported }
    sequence = readReceipt(receipt).lines.at(-1)?.line.sequence ?? 0
  })

  /** Gives everything, with the log as it is made from the lines, and a checkpoint of the first of them. */
  async function check(t: TestContext, all: LogLine[], covered = all.length): Promise<Checker> {
    const one = await open(t)
    await one.give(
      ['receipt.jwt', files.receipt],
      ['jwks.json', files.keys],
      ['log.jsonl', exportOf(all)],
      ['day.txt', checkpointOf(all.slice(0, covered), [log])],
      ['key.txt', spellVerifierKey(log.key)],
    )
    return one
  }

  it('finds the approval in its line, with the checkpoint and the keys of the service itself', async (t) => {
    const { page, giveOnly, says, said } = await check(t, files.lines)
    await says('holds')
    const admin = await service.bearer('admin')
    await giveOnly(
      ['receipt.jwt', files.receipt],
      ['jwks.json', files.keys],
      ['log.jsonl', exportOf(files.lines)],
      ['day.txt', (await admin.get('/v1/log/checkpoint')).text],
      ['key.json', (await service.client().get('/v1/log/key')).text],
    )
    await says('holds')
    await screenshot(page, 'verify-receipt-and-log')
    const placed = `The approval is line ${sequence} of the log orders.example.com/log, which had`
    assert.ok((await said('Proven')).includes(placed))
    assert.ok((await said('Proven')).includes(`In log.jsonl, line ${sequence} is the one of the receipt.`))
    await giveOnly(['receipt.jwt', files.receipt], ['key.txt', spellVerifierKey(log.key)])
    await says('holds')
    assert.ok((await said('Proven')).includes(placed))
    assert.match(await said('What this does not prove'), /no passkey signed it/)
    const two = `${spellVerifierKey(log.key)}\n${spellVerifierKey(witness.key)}`
    await giveOnly(['receipt.jwt', files.receipt], ['keys.txt', two])
    await says('unproven')
    assert.match(await said('Still needed'), /None of the given witnesses cosigned the checkpoint/)
  })

  for (const other of [{ byId: 99 }, { atTimeZone: 'Asia/Tokyo' }]) {
    it(`says that the line is another one, by ${Object.keys(other)}`, async (t) => {
      const { says, said } = await check(t, changed(files.lines, sequence - 1, other))
      await says('fails')
      assert.match(await said('Does not hold'), /is something else than the one of the receipt/)
    })
  }

  it('says that the log ends before it, or that no checkpoint covers its line', async (t) => {
    const { says, said } = await check(t, files.lines.slice(0, sequence - 1))
    await says('unproven')
    assert.match(await said('Still needed'), new RegExp(`log\\.jsonl ends before line ${sequence}`))
    const later = await check(t, files.lines, sequence - 1)
    await later.says('unproven')
    assert.match(await later.said('Still needed'), /but no checkpoint covers that line/)
  })
})

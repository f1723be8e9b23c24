// engine: none
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { DocumentSearch } from '../../proof/document.ts'
import { spellVerifierKey } from '../../proof/note.ts'
import { judgeReceipt, verdictOf } from '../../proof/verdict.ts'
import { check } from '../../verify/check.ts'
import { verdictOn } from '../../verify/finding.ts'
import { type Given, recognise } from '../../verify/given.ts'
import { checkpointBy, newSigner } from '../../witness/test/signed-log.ts'
import { commandLine } from '../cli/command-line.ts'
import { approvedOrder, logAround, origin, receiptOver, spellReceipt } from '../support/approved-order.ts'
import { digestOf, files } from '../support/documents.ts'
import { exportOf, headOf, type LogContent } from '../support/log.ts'

const log = await newSigner(origin)
const key = spellVerifierKey(log.key)
const [offer, plan, other] = [files.pdf, files.png, Buffer.from('Another offer.')]
const approvers = [
  { by: 'ann', byId: 5, signs: true },
  { by: 'kim', byId: 4, signs: true },
]
const contents = await approvedOrder({ approvers, documents: [digestOf(offer), digestOf(plan)] })

type Change = (documents: string[]) => string[]

/** The log of somebody who has every key but the passkeys, and makes the order's documents others. */
function forged(change: Change): LogContent[] {
  const [first, second] = contents.filter(({ kind }) => kind === 'document-added')
  const wanted = change([digestOf(offer), digestOf(plan)])
  const added = wanted.map((sha256, at): LogContent => {
    const { document } = (second ?? assert.fail()).data as { document: object }
    const line = at === 0 ? (first ?? assert.fail()) : { ...second, version: 2 + at }
    return {
      ...line,
      data: { ...line.data, document: { ...document, id: `document-${at}`, sha256 } },
    } as LogContent
  })
  return contents.flatMap((line) => {
    if (line === first) return added
    if (line === second) return []
    if (!['approval-given', 'approved'].includes(line.kind)) return line
    return { ...line, data: { ...line.data, documents: wanted.toSorted() } }
  })
}

const script = /```python\n(# python3 signatures\.py[\s\S]*?)```/.exec(
  readFileSync(new URL('../../docs/auditing.md', import.meta.url), 'utf8'),
)?.[1]
const lacksPython = spawnSync('python3', ['-c', 'import cryptography']).status !== 0

const pageOn = (given: Given[]) => check(given, () => undefined)

/** The verdicts of the client, the page, the command and Python on a log, its receipt, and files. */
async function verdictsOn(t: TestContext, made: LogContent[], given: Record<string, Buffer> = {}) {
  const lines = logAround(made)
  const receipt = spellReceipt(receiptOver(lines, [log]))
  const kept = { 'log.jsonl': exportOf(lines), 'kept.txt': checkpointBy([log], origin, headOf(lines)) }
  const cli = commandLine(t)
  const all = { ...kept, 'receipt.jwt': receipt, 'signatures.py': script ?? '', ...given }
  for (const [name, content] of Object.entries(all)) writeFileSync(join(cli.folder, name), content)
  const names = Object.keys(given)
  const onPage = async (...shown: (keyof typeof all)[]) => {
    const read = await Promise.all(
      [...shown, ...names].map((name) =>
        recognise(name, new Blob([all[name as keyof typeof all] as string])),
      ),
    )
    const logKey = { name: 'key', kind: 'logKey', key: log.key, from: 'person' } as const
    const added = [...read.flat(), logKey]
    const [{ findings }, other] = [await pageOn(added), await pageOn(added.toReversed())]
    assert.equal(verdictOn(other.findings), verdictOn(findings))
    return { verdict: verdictOn(findings), findings }
  }
  const documents = names.map((name) => ` --document ${name}`).join('')
  const atCommandLine = (what: string) => cli.run(`log verify ${what} --log-key ${key}${documents}`, '', {})
  const python = spawnSync('python3', ['signatures.py', 'log.jsonl', 'receipt.jwt', ...names], {
    cwd: cli.folder,
    encoding: 'utf8',
  })
  return {
    client: verdictOf([await judgeReceipt(receipt, [log.key])]),
    page: await onPage('receipt.jwt'),
    pageOfLog: await onPage('log.jsonl', 'kept.txt'),
    command: await atCommandLine('--receipt receipt.jwt'),
    commandOfLog: await atCommandLine('--export log.jsonl --checkpoint kept.txt'),
    python,
  }
}

describe('a signed approval of two documents', () => {
  it('is about these files, whatever they are called', async (t) => {
    const given = { 'offer,final.bin': offer, 'b.txt': plan }
    const { client, page, pageOfLog, command, commandOfLog, python } = await verdictsOn(t, contents, given)
    assert.deepEqual([client, page.verdict, pageOfLog.verdict], ['valid', 'valid', 'valid'])
    const instant = '2026-11-22T12:00:00.000Z'
    const said = [
      'offer,final.bin is a document of order #1042, which was approved.',
      `jo added the document “offer 0.pdf” (7 bytes, SHA-256 ${digestOf(offer)}) on ${instant}.`,
      `ann approved it on ${instant}. A passkey signed the approval, this document included.`,
      `kim approved it on ${instant}. A passkey signed the approval, this document included.`,
      'b.txt is a document of order #1042, which was approved.',
    ].join('\n')
    for (const { status, stdout, stderr } of [command, commandOfLog]) {
      assert.deepEqual([status, stderr], [0, ''])
      assert.ok(stdout.includes(said), stdout)
    }
    for (const { findings } of [page, pageOfLog]) {
      const proven = findings.find(({ title }) => title === 'offer,final.bin')?.proven ?? []
      assert.equal(proven[0], 'It is a document of order #1042, which was approved.')
      assert.equal(proven.filter((words) => words.includes('A passkey signed the approval')).length, 2)
    }
    if (!lacksPython) assert.deepEqual([python.status, python.stdout], [0, '4 signatures hold\n'])
  })

  for (const [what, file] of Object.entries({
    'another file': other,
    'a file that was cut': offer.subarray(0, -1),
    'a file that grew': Buffer.concat([offer, Buffer.of(0)]),
    'an empty file': Buffer.alloc(0),
  })) {
    it(`is not about ${what}`, async (t) => {
      const all = await verdictsOn(t, contents, { 'offer.pdf': offer, 'file.pdf': file })
      const { client, page, pageOfLog, command, commandOfLog, python } = all
      assert.deepEqual([client, page.verdict, pageOfLog.verdict], ['valid', 'not valid', 'not valid'])
      for (const { status, stderr } of [command, commandOfLog]) {
        assert.equal(status, 1)
        assert.match(stderr, /file\.pdf is not valid: no approval in what was given is about it/)
      }
      if (!lacksPython) assert.match(python.stderr, /^file\.pdf is no document of the receipt/)
    })
  }

  const forgeries: Record<string, Change> = {
    'is swapped': ([one]) => [one ?? '', digestOf(other)],
    'is removed': ([one]) => [one ?? ''],
    'is added': (both) => [...both, digestOf(other)],
    'is all that is left': () => [digestOf(other)],
  }
  for (const [what, change] of Object.entries(forgeries)) {
    it(`is not valid if a document ${what} afterwards, by someone with the key of the log`, async (t) => {
      const all = await verdictsOn(t, forged(change))
      const { client, page, pageOfLog, command, commandOfLog, python } = all
      assert.deepEqual(
        [client, page.verdict, pageOfLog.verdict, command.status, commandOfLog.status],
        ['not valid', 'not valid', 'not valid', 1, 1],
      )
      if (!lacksPython)
        assert.match(
          python.stderr,
          /^event \d+ of the log does not hold: ValueError\('(?:something else was signed|another order)'\)/,
        )
    })
  }

  it('is not checked without a receipt or a log', async () => {
    const { findings } = await pageOn(await recognise('offer.pdf', new Blob([Uint8Array.from(offer)])))
    assert.equal(verdictOn(findings), 'not checked yet')
  })

  it('is not proven by a receipt without a key, or by a log whose checkpoints end before it', async () => {
    const lines = logAround(contents)
    const before = lines.slice(
      0,
      lines.findIndex(({ kind }) => kind === 'approved'),
    )
    const ofLog = await Promise.all([
      recognise('log.jsonl', new Blob([Uint8Array.from(exportOf(lines))])),
      recognise('kept.txt', new Blob([checkpointBy([log], origin, headOf(before))])),
    ])
    const logKey = { name: 'key', kind: 'logKey', key: log.key, from: 'person' } as const
    const ofReceipt = await recognise('receipt.jwt', new Blob([spellReceipt(receiptOver(lines, [log]))]))
    const file = await recognise('offer.pdf', new Blob([Uint8Array.from(offer)]))
    for (const given of [ofReceipt, [...ofLog.flat(), logKey]]) {
      const { findings } = await pageOn([...file, ...given])
      assert.deepEqual([findings[0]?.proven, findings[0]?.said.length === 0], [[], false])
    }
  })
})

it('an approved document is nothing else, whatever it looks like', async (t) => {
  const texts = {
    'letter.txt': 'Dear all,\n\nas agreed.\n— John Smith\n',
    'name.txt': 'contract.signed.pdf',
    'page.html': '<p>Offer</p><template id="receipt">a.b.c</template>',
    'steps.json': '{"sequence":1}\n',
    'keys.json': '{"keys":[{"kid":"key"}]}',
    'game.json': '{"checkpoint":"level 4"}',
    'code.txt': 'code+12345678+x',
  }
  const given = Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, Buffer.from(text)]))
  const made = await approvedOrder({ documents: Object.values(given).map(digestOf) })
  const { page, pageOfLog, command, commandOfLog } = await verdictsOn(t, made, given)
  assert.deepEqual([page.verdict, pageOfLog.verdict], ['valid', 'valid'])
  assert.deepEqual([command.status, commandOfLog.status], [0, 0])
  for (const { findings } of [page, pageOfLog]) {
    const proven = findings.filter(({ title }) => title in texts).map((one) => one.proven[0])
    assert.deepEqual(
      proven,
      Object.keys(texts).map(() => 'It is a document of order #1042, which was approved.'),
    )
  }
})

it('a document is found by an approval of its order alone, signed or not', async () => {
  const both = await approvedOrder({
    approvers: [...approvers.slice(0, 1), { by: 'lee', byId: 6 }],
    documents: [digestOf(offer)],
  })
  const foundIn = (made: LogContent[]) => {
    const search = new DocumentSearch([digestOf(offer)])
    for (const line of logAround(made)) search.see(line)
    return search.found.map((one) => one.approvals.map(({ isSigned }) => isSigned))
  }
  assert.deepEqual(foundIn(both), [[true, false]])
  const rejected = both.map((line) => (line.kind === 'approved' ? { ...line, kind: 'rejected' } : line))
  assert.deepEqual(foundIn(rejected), [])
})

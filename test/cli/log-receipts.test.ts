import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it, type TestContext } from 'node:test'
import type { LogLine } from '../../proof/line.ts'
import { spellCheckpoint, spellNote, spellVerifierKey } from '../../proof/note.ts'
import { spellLineProof } from '../../proof/proof.ts'
import type { Receipt } from '../../proof/receipt.ts'
import { signReceipt } from '../../server/audit/checkpoints/receipt.ts'
import type { SigningKeys } from '../../server/auth/credentials/tokens/keys.ts'
import {
  checkpointBy,
  cosignatureBy,
  newSigner,
  type Signer,
  signatureBy,
} from '../../witness/test/signed-log.ts'
import { approvedOrder, logAround, origin, receiptOver } from '../support/approved-order.ts'
import { exportOf, headOf, makeLog, makeSigningKeys, plainEvent, renamed } from '../support/log.ts'
import { publicUrl } from '../support/service.ts'
import { commandLine, refusal } from './command-line.ts'

const log = await newSigner(origin)
const near = await newSigner('near.example.org', 'cosignature/v1')
const far = await newSigner('far.example.org', 'cosignature/v1')
const cosignedAt = '2026-11-18T11:06:40.000Z'
const keyOf = ({ key }: Signer) => spellVerifierKey(key)
const shortKeyOf = ({ key: { name, id } }: Signer) => `${name}+${id}`

const approvers = [
  { by: 'ann', byId: 5, for: { name: 'bo', id: 6 } },
  { by: 'kim', byId: 4 },
]
const contents = [...(await approvedOrder({ approvers }))]
const lines = logAround(contents)
const approval = lines.findLast(({ kind }) => kind === 'approved') ?? assert.fail()
const { sequence } = approval

const proofOfLast = ({ lines: all, checkpoint }: Receipt) =>
  all
    .slice(-1)
    .map((last) => spellLineProof(last, checkpoint))
    .join('')

/** The path of the approval, under another line. */
const moved = receiptOver(lines, [log])
  .lines.slice(-1)
  .map(({ proof }) => ({ line: lines[0] as LogLine, proof }))

describe('log verify of receipts', () => {
  let keys: SigningKeys
  let others: SigningKeys
  before(async () => {
    keys = await makeSigningKeys()
    others = await makeSigningKeys()
  })

  /** A folder with a receipt of each kind, and a runner without any database. */
  async function folderOf(t: TestContext, receipt = receiptOver(lines, [log, near])) {
    const cli = commandLine(t)
    const write = (name: string, text: string | Buffer) => writeFileSync(join(cli.folder, name), text)
    const jws = await signReceipt(keys, publicUrl, receipt, 1_795_000_000_000)
    write('receipt.jwt', jws)
    write('receipt.tlog-proof', proofOfLast(receipt))
    write('certificate.html', `<!doctype html>\n<template id="receipt">${jws}</template>`)
    write('jwks.json', JSON.stringify(keys.jwks))
    write('others.json', JSON.stringify(others.jwks))
    write('log.jsonl', exportOf(lines))
    write('kept.txt', checkpointBy([log, near], origin, headOf(lines)))
    const verify = (options: string) => cli.run(`log verify ${options}`, '', {})
    return { write, jws, verify }
  }

  const underKey = (...signers: Signer[]) =>
    `if ${signers.map((one) => `${shortKeyOf(one)} is the key of ${one === log ? 'the log of orders.example.com' : `the witness ${one.key.name}`}`).join(' and ')}`
  const holds = (...signers: Signer[]) => [
    `receipt.jwt is valid, ${underKey(...signers)}.`,
    'Order #1042 for Müller & Söhne has a total of 1250.5.',
    'jo created it on 2026-11-22T12:00:00.000Z.',
    'Rule: two approvals from people or services, also from the creator.',
    'Approval 1 of 2: ann approved it in the place of bo on 2026-11-22T12:00:00.000Z.',
    'Approval 2 of 2: kim approved it on 2026-11-22T12:00:00.000Z.',
    `The approval is line ${sequence} of orders.example.com/log, which had ${lines.length} events.`,
  ]
  const proofHolds = [
    `The line says approved by account 4 on ${approval.atUtc}, about order ${approval.subject.id}.`,
    `It is line ${sequence} of orders.example.com/log, which had ${lines.length} events.`,
  ]
  const said = (...sentences: string[]) => sentences.map((sentence) => `${sentence}\n`).join('')

  it('says what a receipt proves, by which keys, without a log', async (t) => {
    const { verify } = await folderOf(t)
    const alone = await verify(`--receipt receipt.jwt --log-key ${keyOf(log)}`)
    assert.deepEqual(alone, { status: 0, stdout: said(...holds(log)), stderr: '' })
    const all = await verify(
      `--receipt receipt.jwt --jwks jwks.json --log-key ${keyOf(log)} --witness ${keyOf(near)}`,
    )
    const cosigned = `1 of 1 witness cosigned its checkpoint: near.example.org (${cosignedAt}).`
    assert.deepEqual(all, { status: 0, stdout: said(...holds(log, near), cosigned), stderr: '' })
    const byWitness = await verify(`--receipt receipt.jwt --witness ${keyOf(near)}`)
    assert.deepEqual(byWitness, { status: 0, stdout: said(...holds(near), cosigned), stderr: '' })
  })

  it('says what a tlog-proof proves, and names the witnesses', async (t) => {
    const { verify } = await folderOf(t, receiptOver(lines, [log, near, far]))
    const given = `--log-key ${keyOf(log)} --witness ${keyOf(far)},${keyOf(near)}`
    const cosigned = `2 of 2 witnesses cosigned its checkpoint: far.example.org (${cosignedAt}), near.example.org (${cosignedAt}).`
    const result = await verify(`--receipt receipt.tlog-proof ${given}`)
    const valid = `receipt.tlog-proof is valid, ${underKey(log, far, near)}.`
    assert.deepEqual(result, { status: 0, stdout: said(valid, ...proofHolds, cosigned), stderr: '' })
  })

  it('takes the answer of the service, and several receipts', async (t) => {
    const { write, jws, verify } = await folderOf(t)
    write('answer.json', JSON.stringify({ receipt: jws }))
    const given = `--jwks others.json --jwks jwks.json --log-key ${keyOf(log)}`
    const { status, stdout } = await verify(
      `--receipt answer.json --receipt certificate.html --receipt receipt.tlog-proof ${given}`,
    )
    assert.deepEqual(
      [status, stdout.match(/^\S+ is valid/gm)],
      [0, ['answer.json is valid', 'certificate.html is valid', 'receipt.tlog-proof is valid']],
    )
  })

  it('says which given keys it did not use', async (t) => {
    const { verify } = await folderOf(t)
    const other = await newSigner('other.example.com/log')
    const given = `--jwks jwks.json --jwks others.json --log-key ${keyOf(log)},${keyOf(other)} --witness ${keyOf(near)},${keyOf(far)}`
    const { status, stdout, stderr } = await verify(`--receipt receipt.jwt ${given}`)
    assert.equal(status, 0)
    assert.match(stdout, /\n1 of 2 witnesses cosigned its checkpoint: near\.example\.org \(/)
    const unused = [`--log-key ${shortKeyOf(other)}`, `--witness ${shortKeyOf(far)}`, '--jwks others.json']
    const sentences = unused.map((key) => `Not used: ${key} signed nothing here.`)
    assert.equal(stderr, said(...sentences))
    const { stdout: json } = await verify(`--receipt receipt.jwt ${given} --json`)
    const receipt = {
      file: 'receipt.jwt',
      order: approval.subject.id,
      sequence,
      origin,
      size: lines.length,
      issuer: publicUrl,
      cosigned: ['near.example.org'],
    }
    assert.deepEqual(JSON.parse(json), { receipts: [receipt], unused })
  })

  it('finds its line in an export, which its checkpoint binds', async (t) => {
    const { write, verify } = await folderOf(t)
    const { root } = headOf(lines)
    const given = `--export log.jsonl --receipt receipt.jwt --jwks jwks.json --log-key ${keyOf(log)}`
    const whole = `The log is intact: ${lines.length} events, with the root ${root}.`
    const shows = `Line ${sequence} is the one in receipt.jwt.`
    const expected = { status: 0, stdout: said(whole, shows, ...holds(log)), stderr: '' }
    assert.deepEqual(await verify(given), expected)
    const eve = logAround(contents.with(-1, renamed(contents.at(-1) ?? assert.fail(), { by: 'eve' })))
    write('log.jsonl', exportOf(eve))
    const rewritten = `receipt.jwt disagrees: one of the events 1 to ${lines.length} was rewritten`
    assert.deepEqual(await verify(given), refusal(rewritten))
    write('log.jsonl', exportOf(lines.slice(0, -1)))
    const cut = `the end is missing: receipt.jwt covers ${lines.length} events, but the log has ${lines.length - 1}`
    assert.deepEqual(await verify(given), refusal(cut))
  })

  it('is valid after a restore only if the log still has what the receipt shows', async (t) => {
    const { write, verify } = await folderOf(t)
    const later = await newSigner(`${origin}/2`)
    const other = logAround(contents.with(-1, renamed(contents.at(-1) ?? assert.fail(), { by: 'eve' })))
    const goBack = (left: number, former = lines) => [
      ...former.slice(0, left),
      ...makeLog(
        [
          {
            ...plainEvent,
            kind: 'log-restored',
            subject: { kind: 'log', id: String(left) },
            version: null,
            data: { era: 2, last: { hash: former[left - 1]?.hash, sequence: left } },
          },
        ],
        left + 1,
      ),
    ]
    const verifyAfter = (all: LogLine[]) => {
      write('log.jsonl', exportOf(all))
      write('kept.txt', checkpointBy([later], later.key.name, headOf(all)))
      const given = `--receipt receipt.jwt --log-key ${keyOf(log)},${keyOf(later)}`
      return verify(`--export log.jsonl --checkpoint kept.txt ${given}`)
    }
    const { status, stdout } = await verifyAfter(goBack(sequence))
    const lost = `receipt.jwt covers ${lines.length} events; the restore in line ${sequence + 1} lost the last ones.`
    const shows = `Line ${sequence} is the one in receipt.jwt.`
    assert.deepEqual(
      [status, stdout.split('\n').slice(1, -8)],
      [0, ['It agrees with the checkpoint.', lost, shows]],
    )
    const first = receiptOver(lines, [log]).lines[0]?.line.sequence
    const gone = `receipt.jwt is not checked yet: line ${first} was lost by the restore of line 6`
    assert.deepEqual(await verifyAfter(goBack(5)), refusal(gone))
    const unlike = `receipt.jwt is not valid: line ${sequence} of the log is something else`
    assert.deepEqual(await verifyAfter(goBack(sequence, other)), refusal(unlike))
  })

  it('counts and names the witnesses of checkpoints', async (t) => {
    const { write, verify } = await folderOf(t)
    write('june.txt', checkpointBy([log, near], origin, headOf(lines.slice(0, 3))))
    const given = `--export log.jsonl --log-key ${keyOf(log)} --witness ${keyOf(near)},${keyOf(far)}`
    const { status, stdout, stderr } = await verify(`${given} --checkpoint june.txt --checkpoint kept.txt`)
    const cosigned = `1 of 2 witnesses cosigned checkpoints: near.example.org (${cosignedAt}).`
    assert.deepEqual(
      [status, stdout.split('\n').slice(1, -1)],
      [0, ['It agrees with all 2 checkpoints.', cosigned]],
    )
    assert.equal(stderr, said(`Not used: --witness ${shortKeyOf(far)} signed nothing here.`))
    write('june.txt', checkpointBy([log], origin, headOf(lines.slice(0, 3))))
    const none = 'june.txt is not checked yet: none of the given witnesses cosigned the checkpoint'
    assert.deepEqual(await verify(`${given} --checkpoint june.txt --checkpoint kept.txt`), refusal(none))
  })

  it('says that two checkpoints of one size contradict each other', async (t) => {
    const { write, verify } = await folderOf(t)
    write('kept.txt', checkpointBy([log], origin, { size: lines.length, root: 'ab'.repeat(32) }))
    const given = `--export log.jsonl --checkpoint kept.txt --receipt receipt.jwt --log-key ${keyOf(log)}`
    const reason = `two checkpoints of ${origin}, ${lines.length} lines have different roots`
    assert.deepEqual(await verify(given), refusal(reason))
  })

  const parts = (jws: string) => jws.split('.') as [string, string, string]
  const cases: Record<
    string,
    [string, (given: { jws: string; write(name: string, text: string): void }) => void, RegExp]
  > = {
    'without any key': [
      '--receipt receipt.jwt',
      () => undefined,
      /receipt\.jwt is not checked yet: nobody vouches for the checkpoint: add the key of the log orders\.example\.com\/log, from https:\/\/orders\.example\.com\/v1\/log\/key\n$/,
    ],
    'with the keys of the service alone': [
      '--receipt receipt.jwt --jwks jwks.json',
      () => undefined,
      /receipt\.jwt is not checked yet: nobody vouches/,
    ],
    'as a tlog-proof without the key of the log': [
      '--receipt receipt.tlog-proof --jwks jwks.json',
      () => undefined,
      /receipt\.tlog-proof is not checked yet: nobody vouches/,
    ],
    'that was altered': [
      '--receipt receipt.jwt LOG',
      ({ jws, write }) => {
        const [head, claims, signature] = parts(jws)
        const said = Buffer.from(claims, 'base64url').toString().replaceAll('kim', 'eve')
        write('receipt.jwt', [head, Buffer.from(said).toString('base64url'), signature].join('.'))
      },
      /receipt\.jwt is not valid: line \d+ does not fit: its clear\.by does not match its hash\n$/,
    ],
    'that a given key of the service did not sign': [
      '--receipt receipt.jwt LOG --jwks jwks.json',
      ({ jws, write }) => write('receipt.jwt', jws.replace(/[^.]*$/, 'AAAA')),
      /receipt\.jwt is not valid: the key \S+ did not sign it: it was altered\n$/,
    ],
    'that is something else': [
      '--receipt receipt.jwt --jwks jwks.json',
      ({ write }) => write('receipt.jwt', 'hello'),
      /receipt\.jwt is neither a receipt nor a tlog-proof\n$/,
    ],
    'that is an object of something else': [
      '--receipt receipt.jwt --jwks jwks.json',
      ({ write }) => write('receipt.jwt', '{"receipt":7}'),
      /receipt\.jwt is neither a receipt nor a tlog-proof\n$/,
    ],
    'of which nothing can be read': [
      '--receipt receipt.jwt --jwks jwks.json',
      ({ write }) => write('receipt.jwt', 'a.b.c'),
      /receipt\.jwt is not valid: /,
    ],
    'that is malformed': [
      '--receipt receipt.tlog-proof LOG',
      ({ write }) => write('receipt.tlog-proof', 'c2sp.org/tlog-proof@v1\nindex 1\n'),
      /receipt\.tlog-proof is not valid: a proof must have an empty line before its checkpoint\n$/,
    ],
    'whose path leads elsewhere': [
      '--receipt receipt.tlog-proof LOG',
      ({ write }) => write('receipt.tlog-proof', proofOfLast({ ...receiptOver(lines, [log]), lines: moved })),
      /receipt\.tlog-proof is not valid: line 1 is not in the log that the checkpoint is about\n$/,
    ],
    'of another log than that of the key': [
      '--receipt receipt.jwt --jwks jwks.json OTHER',
      () => undefined,
      /receipt\.jwt is not checked yet: nobody vouches/,
    ],
    'by another key of the log': [
      '--receipt receipt.tlog-proof SAME',
      () => undefined,
      /receipt\.tlog-proof is not checked yet: none of the keys given for orders\.example\.com\/log signed the checkpoint/,
    ],
    'whose checkpoint no given witness cosigned': [
      '--receipt receipt.jwt --jwks jwks.json FAR',
      () => undefined,
      /receipt\.jwt is not checked yet: none of the given witnesses cosigned the checkpoint/,
    ],
    'with a key set that is none': [
      '--receipt receipt.jwt --jwks receipt.jwt',
      () => undefined,
      /receipt\.jwt is not a key set: it must be the answer of \/\.well-known\/jwks\.json\n$/,
    ],
    'with the key of a witness as that of the log': [
      '--receipt receipt.tlog-proof WITNESS',
      () => undefined,
      /--log-key near\.example\.org\+\S+: this is the key of a witness\n$/,
    ],
    'with the key of the log as that of a witness': [
      '--receipt receipt.jwt --jwks jwks.json LOG-AS-WITNESS',
      () => undefined,
      /--witness orders\.example\.com\/log\+\S+: this is the key of a log\n$/,
    ],
  }
  for (const [what, [options, change, reason]] of Object.entries(cases)) {
    it(`fails for a receipt ${what}`, async (t) => {
      const { write, jws, verify } = await folderOf(t)
      change({ jws, write })
      const [other, same] = [await newSigner('other.example.com/log'), await newSigner(origin)]
      const given = options
        .replace('LOG-AS-WITNESS', `--witness ${keyOf(log)}`)
        .replace('OTHER', `--log-key ${keyOf(other)}`)
        .replace('SAME', `--log-key ${keyOf(same)}`)
        .replace('FAR', `--witness ${keyOf(far)}`)
        .replace('WITNESS', `--log-key ${keyOf(near)}`)
        .replace('LOG', `--log-key ${keyOf(log)}`)
      const { status, stdout, stderr } = await verify(given)
      assert.deepEqual([status, stdout], [1, ''])
      assert.match(stderr, reason)
    })
  }

  it('gives the seconds of a cosignature at a time that no calendar has', async (t) => {
    const text = spellCheckpoint({ ...headOf(lines), origin, root: Buffer.from(headOf(lines).root, 'hex') })
    const signatures = [signatureBy(log, text), cosignatureBy(near, text, 8_640_000_000_001)]
    const checkpoint = spellNote({ text, signatures })
    const { verify } = await folderOf(t, { ...receiptOver(lines, [log]), checkpoint })
    const given = `--receipt receipt.jwt --log-key ${keyOf(log)} --witness ${keyOf(near)}`
    const { status, stdout } = await verify(given)
    assert.equal(status, 0)
    assert.match(stdout, /cosigned its checkpoint: near\.example\.org \(8640000000001 s after 1970\)\.\n$/)
  })

  it('fails for a false cosignature', async (t) => {
    const { checkpoint, ...receipt } = receiptOver(lines, [log])
    const forged = checkpointBy([near], origin, headOf(lines.slice(0, 3)))
      .split('\n')
      .at(-2)
    const { verify } = await folderOf(t, { ...receipt, checkpoint: `${checkpoint}${forged}\n` })
    const given = `--receipt receipt.jwt --log-key ${keyOf(log)} --witness ${keyOf(near)}`
    const reason = 'the signature of near.example.org on the checkpoint is false'
    assert.deepEqual(await verify(given), refusal(`receipt.jwt is not valid: ${reason}`))
  })

  it('shows no control character of a name', async (t) => {
    const strange = logAround(
      contents.map((line) => renamed(line, { customer: 'Acme\u001b[2K\u0007\nreceipt' })),
    )
    const { verify } = await folderOf(t, receiptOver(strange, [log]))
    const { status, stdout } = await verify(`--receipt receipt.jwt --log-key ${keyOf(log)}`)
    assert.equal(status, 0)
    assert.match(stdout, /Order #1042 for Acme\ufffd\[2K\ufffd\ufffdreceipt has/)
  })

  it('asks for the export that checkpoints and orders are compared with', async (t) => {
    const { verify } = await folderOf(t)
    for (const more of ['--checkpoint kept.txt', '--orders orders.jsonl']) {
      const { status, stderr } = await verify(`--receipt receipt.jwt --jwks jwks.json ${more}`)
      assert.equal(status, 2)
      assert.match(stderr, /checkpoints and orders are compared with a log: give --export FILE too/)
    }
  })
})

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it, type TestContext } from 'node:test'
import { type Bytes, toBase64 } from '../../proof/bytes.ts'
import type { LogLine } from '../../proof/line.ts'
import { spellVerifierKey } from '../../proof/note.ts'
import { spellLineProof } from '../../proof/proof.ts'
import { pathOf } from '../../proof/tree.ts'
import { type Receipt, signReceipt } from '../../server/audit/checkpoints/receipt.ts'
import type { SigningKeys } from '../../server/auth/credentials/tokens/keys.ts'
import { checkpointBy, newSigner, type Signer } from '../../witness/test/signed-log.ts'
import { exportOf, headOf, makeLog, makeSigningKeys, plainEvent, renamed } from '../support/log.ts'
import { publicUrl } from '../support/service.ts'
import { commandLine, refusal } from './command-line.ts'

const origin = 'orders.example.com/log'
const log = await newSigner(origin)
const near = await newSigner('near.example.org', 'cosignature/v1')
const far = await newSigner('far.example.org', 'cosignature/v1')
const cosignedAt = '2026-11-18T11:06:40.000Z'
const keyOf = ({ key }: Signer) => spellVerifierKey(key)
const shortKeyOf = ({ key: { name, id } }: Signer) => `${name}+${id}`

const approval = { ...renamed(plainEvent, { by: 'kim' }), kind: 'approved', byId: 4 }
const contents = Array.from({ length: 12 }, (_, index) => (index === 6 ? approval : plainEvent))
const lines = makeLog(contents)

const node = (left: Bytes, right: Bytes): Bytes =>
  Uint8Array.from(createHash('sha256').update(Uint8Array.of(1)).update(left).update(right).digest())

/** The receipt of line 7, with its proof in the log of `size` lines. */
function receiptOver(signers: Signer[], size = lines.length, all: LogLine[] = lines): Receipt {
  const leaves = all.slice(0, size).map(({ hash }) => Uint8Array.from(Buffer.from(hash, 'hex')))
  return {
    organisation: null,
    order: {
      id: approval.subject.id,
      number: 1042,
      version: 2,
      customer: 'Acme',
      total: '12.5',
      createdBy: 'jo',
      createdById: 3,
      createdAtUtc: '2026-11-22T11:00:00.000Z',
    },
    approvals: [
      { by: 'ann', byId: 5, atUtc: '2026-11-22T11:30:00.000Z', for: 'bo', forId: 6, signature: null },
      { by: 'kim', byId: 4, atUtc: approval.atUtc, for: null, forId: null, signature: null },
    ],
    line: all[6] as LogLine,
    proof: pathOf(leaves, 6, node).map(toBase64),
    checkpoint: checkpointBy(signers, origin, headOf(all.slice(0, size))),
  }
}

describe('log verify of receipts', () => {
  let keys: SigningKeys
  let others: SigningKeys
  before(async () => {
    keys = await makeSigningKeys()
    others = await makeSigningKeys()
  })

  /** A folder with a receipt of each kind, and a runner without any database. */
  async function folderOf(t: TestContext, receipt = receiptOver([log, near])) {
    const cli = commandLine(t)
    const write = (name: string, text: string | Buffer) => writeFileSync(join(cli.folder, name), text)
    const jws = await signReceipt(keys, publicUrl, receipt, 1_795_000_000_000)
    write('receipt.jwt', jws)
    write('receipt.tlog-proof', spellLineProof(receipt))
    write('jwks.json', JSON.stringify(keys.jwks))
    write('others.json', JSON.stringify(others.jwks))
    write('log.jsonl', exportOf(lines))
    write('kept.txt', checkpointBy([log, near], origin, headOf(lines)))
    const verify = (options: string) => cli.run(`log verify ${options}`, '', {})
    return { write, jws, verify }
  }

  const holds = (keyId: string) => [
    'receipt.jwt is valid: order #1042 for Acme has a total of 12.5.',
    'ann approved it in the place of bo on 2026-11-22T11:30:00.000Z.',
    'kim approved it on 2026-11-22T12:00:00.000Z.',
    `The key ${keyId} of jwks.json signed this for ${publicUrl}.`,
    'The approval is line 7 of orders.example.com/log, which had 12 events.',
  ]
  const proofHolds = `receipt.tlog-proof is valid: line 7 of orders.example.com/log, which had 12 events, says approved by account 4 on ${approval.atUtc}, about order ${approval.subject.id}.`
  const unchecked = 'The signatures of the checkpoints were not checked (--log-key KEY).'
  const said = (...sentences: string[]) => sentences.map((sentence) => `${sentence}\n`).join('')

  it('says what a receipt proves, by which keys, without a log', async (t) => {
    const { verify } = await folderOf(t)
    const alone = await verify('--receipt receipt.jwt --jwks jwks.json')
    assert.deepEqual(alone, { status: 0, stdout: said(...holds(keys.kid)), stderr: said(unchecked) })
    const all = await verify(
      `--receipt receipt.jwt --jwks jwks.json --log-key ${keyOf(log)} --witness ${keyOf(near)}`,
    )
    const cosigned = `1 of 1 witness cosigned its checkpoint: near.example.org (${cosignedAt}).`
    assert.deepEqual(all, { status: 0, stdout: said(...holds(keys.kid), cosigned), stderr: '' })
  })

  it('says what a tlog-proof proves, and names the witnesses', async (t) => {
    const { verify } = await folderOf(t, receiptOver([log, near, far]))
    const given = `--log-key ${keyOf(log)} --witness ${keyOf(far)},${keyOf(near)}`
    const cosigned = `2 of 2 witnesses cosigned its checkpoint: far.example.org (${cosignedAt}), near.example.org (${cosignedAt}).`
    const result = await verify(`--receipt receipt.tlog-proof ${given}`)
    assert.deepEqual(result, { status: 0, stdout: said(proofHolds, cosigned), stderr: '' })
  })

  it('takes the answer of the service, and several receipts', async (t) => {
    const { write, jws, verify } = await folderOf(t)
    write('answer.json', JSON.stringify({ receipt: jws }))
    const given = `--jwks others.json,jwks.json --log-key ${keyOf(log)}`
    const { status, stdout } = await verify(`--receipt answer.json,receipt.tlog-proof ${given}`)
    assert.deepEqual(
      [status, stdout.match(/^\S+ is valid/gm)],
      [0, ['answer.json is valid', 'receipt.tlog-proof is valid']],
    )
  })

  it('says which given keys it did not use', async (t) => {
    const { verify } = await folderOf(t)
    const other = await newSigner('other.example.com/log')
    const given = `--jwks jwks.json,others.json --log-key ${keyOf(log)},${keyOf(other)} --witness ${keyOf(near)},${keyOf(far)}`
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
      sequence: 7,
      origin,
      size: 12,
      issuer: publicUrl,
      cosigned: ['near.example.org'],
    }
    assert.deepEqual(JSON.parse(json), { receipts: [receipt], signatures: 'checked', unused })
  })

  it('finds its line in an export, which its checkpoint binds', async (t) => {
    const { write, verify } = await folderOf(t)
    const { root } = headOf(lines)
    const given = `--export log.jsonl --receipt receipt.jwt --jwks jwks.json --log-key ${keyOf(log)}`
    const whole = `The log is intact: 12 events, with the root ${root}.`
    const shows = 'Line 7 is the one in receipt.jwt.'
    const expected = { status: 0, stdout: said(whole, shows, ...holds(keys.kid)), stderr: '' }
    assert.deepEqual(await verify(given), expected)
    const eve = makeLog(contents.with(6, renamed(approval, { by: 'eve' })))
    write('log.jsonl', exportOf(eve))
    const rewritten = 'receipt.jwt disagrees: one of the events 1 to 12 was rewritten'
    assert.deepEqual(await verify(given), refusal(rewritten))
    write('log.jsonl', exportOf(lines.slice(0, 11)))
    const cut = 'the end is missing: receipt.jwt covers 12 events, but the log has 11'
    assert.deepEqual(await verify(given), refusal(cut))
  })

  it('says that a restore lost what the receipt shows, and that the line is left if it is', async (t) => {
    const { write, verify } = await folderOf(t)
    const goBack = (left: number) =>
      makeLog([
        ...contents.slice(0, left),
        {
          ...plainEvent,
          kind: 'log-restored',
          subject: { kind: 'log', id: String(left) },
          version: null,
          data: { era: 2, last: { hash: lines[left - 1]?.hash, sequence: left } },
        },
      ])
    for (const [left, shown] of [
      [5, []],
      [8, ['Line 7 is the one in receipt.jwt.']],
    ] as const) {
      write('log.jsonl', exportOf(goBack(left)))
      write('kept.txt', checkpointBy([log], origin, headOf(lines.slice(0, left))))
      const { status, stdout } = await verify(
        `--export log.jsonl --checkpoint kept.txt --receipt receipt.jwt --jwks jwks.json`,
      )
      const lost = `receipt.jwt covers 12 events; the restore in line ${left + 1} lost the last ones.`
      assert.deepEqual(
        [status, stdout.split('\n').slice(1, -6)],
        [0, ['It agrees with the checkpoint.', lost, ...shown]],
      )
    }
  })

  it('counts and names the witnesses of checkpoints', async (t) => {
    const { write, verify } = await folderOf(t)
    write('june.txt', checkpointBy([log], origin, headOf(lines.slice(0, 3))))
    const given = `--export log.jsonl --log-key ${keyOf(log)} --witness ${keyOf(near)},${keyOf(far)}`
    const { status, stdout, stderr } = await verify(`${given} --checkpoint june.txt,kept.txt`)
    const cosigned = `1 of 2 witnesses cosigned checkpoints: near.example.org (${cosignedAt}).`
    assert.deepEqual(
      [status, stdout.split('\n').slice(1, -1)],
      [0, ['It agrees with all 2 checkpoints.', cosigned]],
    )
    assert.equal(stderr, said(`Not used: --witness ${shortKeyOf(far)} signed nothing here.`))
    const none = 'none of the given witnesses cosigned the checkpoint'
    assert.deepEqual(await verify(`${given} --checkpoint june.txt`), refusal(none))
  })

  const parts = (jws: string) => jws.split('.') as [string, string, string]
  const cases: Record<
    string,
    [string, (given: { jws: string; write(name: string, text: string): void }) => void, RegExp]
  > = {
    'without the keys of the service': [
      '--receipt receipt.jwt',
      () => undefined,
      /receipt\.jwt cannot be checked without the keys of the service \(--jwks FILE\)\n$/,
    ],
    'as a tlog-proof without the key of the log': [
      '--receipt receipt.tlog-proof --jwks jwks.json',
      () => undefined,
      /receipt\.tlog-proof cannot be checked without the key of the log \(--log-key KEY\)\n$/,
    ],
    'by the keys of another service': [
      '--receipt receipt.jwt --jwks others.json',
      () => undefined,
      /receipt\.jwt is not valid: none of the keys is \S+, which signed the receipt\n$/,
    ],
    'that was altered': [
      '--receipt receipt.jwt --jwks jwks.json',
      ({ jws, write }) => {
        const [head, claims, signature] = parts(jws)
        const said = Buffer.from(claims, 'base64url').toString().replaceAll('kim', 'eve')
        write('receipt.jwt', [head, Buffer.from(said).toString('base64url'), signature].join('.'))
      },
      /receipt\.jwt is not valid: the receipt was altered: its signature does not match\n$/,
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
      ({ write }) =>
        write('receipt.tlog-proof', spellLineProof({ ...receiptOver([log]), line: lines[5] as LogLine })),
      /receipt\.tlog-proof is not valid: line 6 is not in the log that the checkpoint is about\n$/,
    ],
    'of another log than that of the key': [
      '--receipt receipt.jwt --jwks jwks.json OTHER',
      () => undefined,
      /receipt\.jwt is not valid: none of the keys is for orders\.example\.com\/log\n$/,
    ],
    'by another key of the log': [
      '--receipt receipt.tlog-proof SAME',
      () => undefined,
      /receipt\.tlog-proof is not valid: none of the keys signed it\n$/,
    ],
    'whose checkpoint no given witness cosigned': [
      '--receipt receipt.jwt --jwks jwks.json FAR',
      () => undefined,
      /none of the given witnesses cosigned the checkpoint of receipt\.jwt\n$/,
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

  it('fails for a false cosignature, and for a line that is not the approval of the receipt', async (t) => {
    const { checkpoint, ...receipt } = receiptOver([log])
    const forged = checkpointBy([near], origin, headOf(lines.slice(0, 3)))
      .split('\n')
      .at(-2)
    const { verify, write } = await folderOf(t, { ...receipt, checkpoint: `${checkpoint}${forged}\n` })
    const given = `--receipt receipt.jwt --jwks jwks.json --witness ${keyOf(near)}`
    const fails = (reason: string) => refusal(`receipt.jwt is not valid: ${reason}`)
    assert.deepEqual(await verify(given), fails('the signature of near.example.org is false'))
    for (const other of [
      { order: { ...receipt.order, total: '9.5' as const } },
      { line: { ...receipt.line, hash: '0'.repeat(64) } },
    ]) {
      const jws = await signReceipt(keys, publicUrl, { ...receipt, checkpoint, ...other }, 1_795_000_000_000)
      write('receipt.jwt', jws)
      const something = 'line 7 of the log is something else than this approval'
      assert.deepEqual(await verify('--receipt receipt.jwt --jwks jwks.json'), fails(something))
    }
  })

  it('shows no control character of a name', async (t) => {
    const receipt = receiptOver([log])
    const name = 'Acme\u001b[2K\u0007\nreceipt'
    const line = makeLog([renamed(approval, { customer: name })])[0] as LogLine
    const checkpoint = checkpointBy([log], origin, headOf([line]))
    const order = { ...receipt.order, customer: name }
    const { verify } = await folderOf(t, { ...receipt, order, line, proof: [], checkpoint })
    const { status, stdout } = await verify('--receipt receipt.jwt --jwks jwks.json')
    assert.equal(status, 0)
    assert.match(stdout, /order #1042 for Acme\ufffd\[2K\ufffd\ufffdreceipt has/)
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

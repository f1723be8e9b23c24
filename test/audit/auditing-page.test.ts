import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { LogLine } from '../../proof/line.ts'
import type { Receipt } from '../../proof/receipt.ts'
import { headOfLog } from '../../server/audit/audit.ts'
import {
  type LogKeys,
  loadLogKeys,
  originOf,
  publishedKeys,
} from '../../server/audit/checkpoints/checkpoints.ts'
import { bearerOf, newUser } from '../support/accounts.ts'
import { decide, sign } from '../support/decisions.ts'
import {
  addEvents,
  checkpointOver,
  headOf,
  renamed,
  seal,
  testLogKeys,
  withoutValue,
} from '../support/log.ts'
import { createdId, stamp } from '../support/orders.ts'
import { newPasskey } from '../support/passkeys.ts'
import { publicUrl, testService } from '../support/service.ts'

/** The scripts in the order of the page: the program that runs each, and its arguments. KEY is not a file. */
const scripts = {
  'check.mjs': [process.execPath, 'log.jsonl', 'checkpoint.txt', 'KEY'],
  'tree.py': ['python3'],
  'checkpoint.py': ['python3', 'checkpoint.txt', 'KEY'],
  'signatures.py': ['python3', 'log.jsonl', 'receipt.json'],
} as const
/** Runs signatures.py over each altered log, and prints the numbers of those that it accepts. */
const runOverAll = `
import json, runpy, sys
missed = []
for number, log in enumerate(json.load(open("altered.json"))):
    open("altered.jsonl", "w").write(log)
    sys.argv = ["signatures.py", "altered.jsonl", "receipt.json"]
    try:
        runpy.run_path("signatures.py")
        missed.append(number)
    except (SystemExit, ValueError):
        pass
    finally:
        sys.stdout.flush()
print(missed)
`

const lacks = (modules: string) => spawnSync('python3', ['-c', `import ${modules}`]).status !== 0

describe('docs/auditing.md', () => {
  const service = testService({ orders: true })
  let folder: string
  const files = {
    'log.jsonl': '',
    'checkpoint.txt': '',
    'receipt.json': '',
    'orders.jsonl': '',
    KEY: '',
  }
  let commands: string[]
  let lines: string[]
  before(async () => {
    await addEvents(service, 200)
    const { size: sequence } = await headOfLog(service.db.read)
    await service.db.write('eraseFromLog', { sequence, name: 'text', stamp: stamp() })
    folder = await mkdtemp(join(tmpdir(), 'countersign-auditing-'))
    const page = await readFile(new URL('../../docs/auditing.md', import.meta.url), 'utf8')
    const onPage = [...page.matchAll(/<!-- script:.*-->\n```\w+\n([\s\S]*?)```/g)]
    assert.equal(onPage.length, Object.keys(scripts).length)
    const recipes = page.matchAll(
      /<!-- commands: run by test\/audit\/auditing-page.*-->\n```sh\n([\s\S]*?)```/g,
    )
    commands = [...recipes].map(([, recipe = '']) => recipe)
    for (const [index, name] of Object.keys(scripts).entries()) {
      await writeFile(join(folder, name), onPage[index]?.[1] ?? '')
    }
    const admin = await service.bearer('admin')
    const id = await createdId(admin)
    const signer = await newUser(service, { roles: ['Admin'] })
    const passkey = await newPasskey(service, signer)
    const caller = await bearerOf(service, signer)
    const [signed] = await sign(caller, passkey, { orders: [id] })
    assert.equal((await decide(caller, id, signed)).status, 204)
    await seal(service.db)
    files['receipt.json'] = (await admin.get(`/v1/orders/${id}/receipt`)).text
    files['orders.jsonl'] = (await admin.get('/v1/orders', { accept: 'application/jsonl' })).text
    files['log.jsonl'] = (await admin.get('/v1/log', { accept: 'application/jsonl' })).text
    files['checkpoint.txt'] = (await admin.get('/v1/log/checkpoint')).text
    files.KEY = (await admin.get('/v1/log/key')).body.keys[0].verifierKey
    lines = files['log.jsonl'].trimEnd().split('\n')
  })
  after(() => rm(folder, { recursive: true }))

  /** The output of a script of the page about these files. */
  async function check(given: Partial<typeof files> = {}, script: keyof typeof scripts = 'check.mjs') {
    const { KEY, ...texts } = { ...files, ...given }
    for (const [name, text] of Object.entries(texts)) await writeFile(join(folder, name), text)
    return new Promise<{ ok: boolean; said: string }>((resolve) => {
      const [program, ...names] = scripts[script]
      const given = names.map((name) => (name === 'KEY' ? KEY : name))
      execFile(program, [script, ...given], { cwd: folder }, (error, stdout, stderr) => {
        const failure = /^Error: (.*)$/m.exec(stderr)?.[1] ?? stderr.trim()
        resolve({ ok: error === null, said: error === null ? stdout.trim() : failure })
      })
    })
  }

  /** The sequence of the note, and the log with its line changed. */
  function changed(note: number, change: (line: LogLine) => object): { sequence: number; log: string } {
    const index = lines.findIndex((line) => line.includes(`"value":"Note ${note}:`))
    const line = JSON.stringify(change(JSON.parse(lines[index] ?? '')))
    return { sequence: index + 1, log: `${lines.with(index, line).join('\n')}\n` }
  }

  async function signedBy(keys: LogKeys): Promise<Partial<typeof files>> {
    const head = headOf(lines.map((line) => JSON.parse(line)))
    const [key] = await publishedKeys(keys, originOf(publicUrl, 1))
    return { 'checkpoint.txt': await checkpointOver(head, keys), KEY: String(key?.verifierKey) }
  }

  it('has commands that answer each question', async () => {
    await check()
    await symlink(new URL('../../server', import.meta.url), join(folder, 'server'))
    await writeFile(
      join(folder, 'june.txt'),
      await checkpointOver(headOf(lines.slice(0, 100).map((line) => JSON.parse(line)))),
    )
    const env = { PATH: process.env.PATH, KEY: files.KEY }
    const said = commands.map((command) => {
      const { status, stdout, stderr } = spawnSync('sh', ['-e', '-c', command], { cwd: folder, env })
      return `${status} ${stdout}${stderr}`
    })
    const whole = `0 The log is intact: ${lines.length} events, with the root \\S+\\.\n`
    const expected = [
      /^0 receipt\.json is valid, if \S+ is the key of the log of orders\.example\.com\.\nOrder #\d+ for .*\n.*\n.*\n.* signed exactly this at /,
      new RegExp(`^${whole}It agrees with the checkpoint\\.\nAll signatures are valid: 1\\.\n`),
      // The log of this test has notes about orders that do not exist.
      /^1 countersign: order \S+ is missing: event \d+ \(noted\) is about it\n$/,
      new RegExp(`^${whole}It agrees with all 2 checkpoints\\.\n`),
    ]
    assert.equal(said.length, expected.length)
    for (const [index, text] of said.entries()) assert.match(text, expected[index] as RegExp)
  })

  it('has a script that accepts a real export, down to the root of the checkpoint', async () => {
    const whole = { ok: true, said: `${lines.length} events fit, and the checkpoint agrees` }
    assert.ok(lines.length > 600)
    assert.deepEqual(await check(), whole)
    assert.deepEqual(await check(await signedBy([...testLogKeys(), ...loadLogKeys([])])), whole)
  })

  it('has a script that names the fault in a changed export', async () => {
    const { 'checkpoint.txt': foreign = '' } = await signedBy(loadLogKeys([]))
    const other = changed(7, (line) => renamed(line, { text: 'Note 8' }))
    const gone = changed(7, (line) => withoutValue(line, 'text'))
    const twice = lines.with(4, (lines[4] ?? '').replace('"byId":', '"byId":9,"byId":'))
    const cases: [Partial<typeof files>, string][] = [
      [
        { 'log.jsonl': lines.with(4, (lines[4] ?? '').replace('"value":"', '"value":"e')).join('\n') },
        'event 5 does not fit',
      ],
      [{ 'log.jsonl': twice.join('\n') }, 'event 5 does not fit'],
      [{ 'log.jsonl': lines.toSpliced(6, 1).join('\n') }, 'event 7 does not fit'],
      [{ 'log.jsonl': other.log }, `event ${other.sequence} does not fit`],
      [{ 'log.jsonl': gone.log }, `text of event ${gone.sequence} is gone, and no event says so`],
      [{ 'log.jsonl': lines.slice(0, -1).join('\n') }, `the checkpoint of ${lines.length} events disagrees`],
      [{ 'checkpoint.txt': files['checkpoint.txt'].replace('\n', '\n1') }, 'no checkpoint of this log'],
      [{ 'checkpoint.txt': foreign }, 'no checkpoint of this log'],
      [{ 'checkpoint.txt': files['receipt.json'] }, 'no checkpoint of this log'],
    ]
    for (const [given, said] of cases) assert.deepEqual(await check(given), { ok: false, said })
  })

  it('has a script in Python that does the same without a checkpoint', {
    skip: lacks('hashlib') && 'needs Python',
  }, async () => {
    const { root } = headOf(lines.map((line) => JSON.parse(line)))
    const run = (log: string) => check({ 'log.jsonl': log }, 'tree.py')
    assert.deepEqual(await run(files['log.jsonl']), { ok: true, said: `${lines.length} ${root}` })
    const other = changed(7, (line) => renamed(line, { text: 'Note 8' }))
    assert.deepEqual(await run(other.log), { ok: false, said: `event ${other.sequence} does not fit` })
    const gone = changed(7, (line) => withoutValue(line, 'text'))
    const said = `text of event ${gone.sequence} is gone, and no event says so`
    assert.deepEqual(await run(gone.log), { ok: false, said })
  })

  it('has a script for the signatures of a log and a receipt, which notices every altered byte', {
    skip: lacks('cryptography') && 'needs cryptography',
  }, async () => {
    assert.deepEqual(await check({}, 'signatures.py'), { ok: true, said: '2 signatures hold' })
    const at = lines.findIndex((line) => line.includes('"signature":{'))
    const enrolment = lines.findIndex((line) => line.includes('"passkey-added"'))
    const { subject } = JSON.parse(lines[at] ?? '')
    const creation = lines.findIndex((line) => line.includes('"kind":"created"') && line.includes(subject.id))
    const few = [lines[enrolment] ?? '', lines[at] ?? '']
    const { data } = JSON.parse(few[1] ?? '')
    const { id, response } = data.signature.credential
    const { x, y } = JSON.parse(few[0] ?? '').data.passkey.publicKey
    const statement = JSON.stringify(data.signature.statement).slice(1, -1)
    const keys = [x, y].map((part) => [0, part])
    const signed = [statement, id, ...Object.values<string>(response)].map((part) => [1, part])
    const logs = [...keys, ...signed].flatMap(([index, part]) =>
      Array.from({ length: part.length }, (_, place) => {
        const other = part[place] === 'A' ? 'B' : 'A'
        const altered = part.slice(0, place) + other + part.slice(place + 1)
        const [first, last] = few.map((line, at) => (at === index ? line.replace(part, altered) : line))
        return [first, lines[creation], last]
      }),
    )
    assert.ok(logs.length > 800, String(logs.length))
    await writeFile(join(folder, 'altered.json'), JSON.stringify(logs.map((log) => `${log.join('\n')}\n`)))
    await writeFile(join(folder, 'all.py'), runOverAll)
    const { stdout, stderr } = spawnSync('python3', ['all.py'], { cwd: folder, encoding: 'utf8' })
    assert.deepEqual([stdout.trim(), stderr], ['[]', ''])
  })

  it('has a script that notices a receipt which is not the whole approval of one order', {
    skip: lacks('cryptography') && 'needs cryptography',
  }, async () => {
    const [header, claims = '', signature] = JSON.parse(files['receipt.json']).receipt.split('.')
    const receipt = JSON.parse(Buffer.from(claims, 'base64url').toString())
    const { lines: placed, checkpoint } = receipt as Receipt
    const last = placed.at(-1) ?? assert.fail()
    const changes: Partial<Receipt>[] = [
      ...placed.map((_, at) => ({ lines: placed.toSpliced(at, 1) })),
      { lines: placed.toReversed() },
      { lines: [...placed, last] },
      { lines: placed.with(-1, { ...last, line: { ...last.line, byId: 1 } }) },
      { lines: placed.with(-1, { ...last, line: renamed(last.line, { by: 'eve' }) }) },
      { lines: placed.with(-1, { ...last, proof: last.proof.slice(1) }) },
      { checkpoint: checkpoint.replace(/\n\d+\n/, '\n9\n') },
      { iss: 'https://other.example.com' },
      { iss: `https://other.example.com@${new URL(publicUrl).host}` },
    ]
    for (const change of changes) {
      const forged = Buffer.from(JSON.stringify({ ...receipt, ...change })).toString('base64url')
      const given = { 'receipt.json': JSON.stringify({ receipt: [header, forged, signature].join('.') }) }
      const { ok, said } = await check(given, 'signatures.py')
      assert.deepEqual([ok, /receipt/.test(said)], [false, true], said)
    }
  })

  it('has a script that verifies a checkpoint, and nothing else', {
    skip: lacks('cryptography') && 'needs cryptography',
  }, async () => {
    const run = (given: Partial<typeof files>) => check(given, 'checkpoint.py')
    const { root } = headOf(lines.map((line) => JSON.parse(line)))
    const whole = { ok: true, said: `${lines.length} ${root}` }
    assert.deepEqual(await run({}), whole)
    const altered = files['checkpoint.txt'].replace('\n', '\n1')
    assert.deepEqual(await run({ 'checkpoint.txt': altered }), { ok: false, said: 'a signature is false' })
    const { 'checkpoint.txt': foreign = '' } = await signedBy(loadLogKeys([]))
    const none = { ok: false, said: 'no checkpoint of this log' }
    assert.deepEqual(await run({ 'checkpoint.txt': foreign }), none)
    const { stdout } = spawnSync('python3', ['checkpoint.py', 'receipt.json', files.KEY], { cwd: folder })
    assert.match(String(stdout), /^\d+ [0-9a-f]{64}\n$/)
  })
})

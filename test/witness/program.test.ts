// engine: SQLite
import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import {
  readNote,
  readVerifierKey,
  spellNote,
  spellVerifierKey,
  verifyCosignature,
} from '../../proof/note.ts'
import { commandLine, refusal } from '../cli/command-line.ts'
import { startProgram } from '../support/process.ts'
import { newSigner, SignedLog } from '../support/signed-log.ts'
import { postTo } from '../support/witness.ts'

/** A folder with a key, and the options of a witness of the log. */
async function prepared(t: { after(hook: () => void): void }) {
  const cli = commandLine(t)
  const log = await SignedLog.named('orders.example/log', 3)
  const logKey = spellVerifierKey(log.signer.key)
  const file = (name: string) => join(cli.folder, name)
  await cli.run(`key generate --log --out ${file('key.pem')}`)
  const options = { key: file('key.pem'), name: 'witness.example', log: logKey, state: file('state.json') }
  const spelled = (changed: Partial<typeof options> = {}) =>
    Object.entries({ ...options, ...changed }).flatMap(([name, value]) => [`--${name}`, value])
  return { cli, file, log, logKey, spelled }
}

describe('countersign witness', () => {
  it('shows its verifier key, cosigns, ends on a signal, and goes on from its state', async (t) => {
    const { log, logKey, spelled, file } = await prepared(t)
    const options = [...spelled(), '--port', '0']
    const first = await startProgram('witness', [...options, '--new-state'])
    const line = JSON.parse(first.output())
    assert.deepEqual([line.logs, line.level], [[logKey], 30])
    const key = await readVerifierKey(line.verifierKey)
    assert.deepEqual([key.name, key.type], ['witness.example', 'cosignature/v1'])
    const { status, text } = await postTo(first.baseUrl, log.request(0))
    assert.equal(status, 200)
    const seconds = (await verifyCosignature(readNote(spellNote(log.note()) + text), key)) ?? 0
    assert.ok(Math.abs(seconds - Date.now() / 1_000) < 60)
    assert.equal(await first.stop(), 0)
    assert.match(
      first.output(),
      /"origin":"orders.example\/log","from":0,"size":3,"msg":"cosigned a checkpoint"/,
    )
    assert.match(first.output(), /"signal":"SIGTERM","msg":"shutting down"/)
    assert.ok(existsSync(file('state.json')))
    const second = await startProgram('witness', options)
    assert.deepEqual((await postTo(second.baseUrl, log.request(0))).text, '3\n')
    assert.equal(await second.stop(), 0)
  })

  it('refuses a state that is missing, damaged or already there', async (t) => {
    const { cli, file, spelled } = await prepared(t)
    const run = (more = '') => cli.run(`witness ${spelled().join(' ')}${more}`)
    const state = file('state.json')
    const ifLost =
      'a witness that forgot what it cosigned could cosign a contradiction. Only a witness with a new key may begin with --new-state'
    assert.deepEqual(await run(), refusal(`${state} is missing: ${ifLost}`))
    assert.equal(existsSync(state), false)
    writeFileSync(state, '[\n')
    const damaged = `${state} is damaged (it was not written by this program): ${ifLost}`
    assert.deepEqual(await run(), refusal(damaged))
    assert.deepEqual(await run(' --new-state'), refusal(`${state} already exists: leave out --new-state`))
  })

  it('refuses keys of another kind, and files that are no keys', async (t) => {
    const { cli, file, spelled } = await prepared(t)
    const run = (changed: Parameters<typeof spelled>[0]) => cli.run(`witness ${spelled(changed).join(' ')}`)
    const cannotStart = (fault: string) => ({
      status: 1,
      stdout: '',
      stderr: `Countersign cannot start:\n  - --key: ${fault}\n`,
    })
    assert.deepEqual(await run({ key: file('none.pem') }), cannotStart('the file cannot be read (ENOENT)'))
    await cli.run(`key generate --bits 2048 --out ${file('rsa.pem')}`)
    const rsa = cannotStart(`${file('rsa.pem')} is not an Ed25519 key but rsa`)
    assert.deepEqual(await run({ key: file('rsa.pem') }), rsa)
    const witness = await newSigner('witness.example', 'cosignature/v1')
    for (const [changed, fault] of [
      [
        { log: spellVerifierKey(witness.key) },
        '--log: this is the key of a witness; that of a log is needed',
      ],
      [{ log: 'x' }, '--log: a verifier key must be spelled NAME+ID+KEY'],
      [
        { name: 'a+b' },
        '--name: the name of a key must not be empty, nor have white space, control characters or +',
      ],
    ] as const) {
      const stderr = `countersign: witness: ${fault} (see: node server/main.ts witness --help)\n`
      assert.deepEqual(await run(changed), { status: 2, stdout: '', stderr })
    }
    for (const [missing, name] of [
      [['--key', 'k'], 'state'],
      [['--state', 's'], 'log'],
      [['--state', 's', '--log', spelled()[5]], 'key'],
      [['--state', 's', '--port', '65536'], undefined],
    ] as const) {
      const fault = name === undefined ? '--port takes a number from 0 to 65535' : `--${name} is missing`
      const stderr = `countersign: witness: ${fault} (see: node server/main.ts witness --help)\n`
      assert.deepEqual(await cli.run(`witness ${missing.join(' ')}`), { status: 2, stdout: '', stderr })
    }
  })
})

// engine: none
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { chmodSync, existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import {
  readNote,
  readVerifierKey,
  spellNote,
  spellVerifierKey,
  verifyCosignature,
} from '../../proof/note.ts'
import { run, startProgram } from './program.ts'
import { postTo } from './running.ts'
import { newSigner, SignedLog } from './signed-log.ts'

/** A folder, and the options of a witness of the log that makes its key and its state there. */
async function prepared(t: { after(hook: () => void): void }) {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-witness-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const log = await SignedLog.named('orders.example/log', 3)
  const file = (name: string) => join(folder, name)
  const options = {
    key: file('key.pem'),
    name: 'witness.example',
    log: spellVerifierKey(log.signer.key),
    state: file('state.json'),
  }
  const spelled = (changed: Partial<typeof options> = {}) =>
    Object.entries({ ...options, ...changed }).flatMap(([name, value]) => [`--${name}`, value])
  return { folder, file, log, spelled }
}

const refusal = (message: string) => ({ status: 1, stdout: '', stderr: `countersign-witness: ${message}\n` })
const misuse = (message: string) => ({ status: 2, stdout: '', stderr: `countersign-witness: ${message}\n` })

describe('countersign-witness', () => {
  it('makes its key, cosigns, ends on a signal, and goes on from its state', async (t) => {
    const { log, spelled, file } = await prepared(t)
    const options = [...spelled(), '--port', '0']
    const first = await startProgram([...options, '--new-key', '--new-state'])
    assert.equal(statSync(file('key.pem')).mode & 0o777, 0o600)
    const line = JSON.parse(first.output())
    assert.deepEqual([line.logs, line.level], [[spellVerifierKey(log.signer.key)], 30])
    const key = await readVerifierKey(line.verifierKey)
    assert.deepEqual([key.name, key.type], ['witness.example', 'cosignature/v1'])
    const { status, text } = await postTo(first.url, log.request(0))
    assert.equal(status, 200)
    const seconds = (await verifyCosignature(readNote(spellNote(log.note()) + text), key)) ?? 0
    assert.ok(Math.abs(seconds - Date.now() / 1_000) < 60)
    assert.equal(await first.stop(), 0)
    assert.match(
      first.output(),
      /"origin":"orders.example\/log","from":0,"size":3,"msg":"cosigned a checkpoint"/,
    )
    assert.match(first.output(), /"signal":"SIGTERM","msg":"shutting down"/)
    const second = await startProgram(options)
    assert.deepEqual((await postTo(second.url, log.request(0))).text, '3\n')
    assert.equal(await second.stop(), 0)
  })

  it('cosigns with a key of ML-DSA-44', async (t) => {
    const { log, spelled, file } = await prepared(t)
    const { privateKey } = generateKeyPairSync('ml-dsa-44')
    writeFileSync(file('key.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
    const witness = await startProgram([...spelled(), '--port', '0', '--new-state'])
    const key = await readVerifierKey(JSON.parse(witness.output()).verifierKey)
    assert.deepEqual([key.name, key.type], ['witness.example', 'subtree/v1'])
    const { status, text } = await postTo(witness.url, log.request(0))
    assert.equal(status, 200)
    const seconds = (await verifyCosignature(readNote(spellNote(log.note()) + text), key)) ?? 0
    assert.ok(Math.abs(seconds - Date.now() / 1_000) < 60)
    assert.equal(await witness.stop(), 0)
    const second = await startProgram([...spelled(), '--port', '0'])
    assert.deepEqual((await postTo(second.url, log.request(0))).text, '3\n')
    assert.equal(await second.stop(), 0)
  })

  it('warns of a key that others may read', async (t) => {
    const { spelled, file } = await prepared(t)
    const options = [...spelled(), '--port', '0']
    const closed = await startProgram([...options, '--new-key', '--new-state'])
    assert.equal(await closed.stop(), 0)
    assert.doesNotMatch(closed.output(), /open-key/)
    chmodSync(file('key.pem'), 0o644)
    const open = await startProgram(options)
    assert.equal(await open.stop(), 0)
    assert.match(open.output(), /"event":"open-key","msg":"every account of this machine may read or write/)
  })

  it('refuses a key or a state that is missing, damaged or already there', async (t) => {
    const { file, spelled } = await prepared(t)
    const [key, state] = [file('key.pem'), file('state.json')]
    const ifLost =
      'a witness that forgot what it cosigned could cosign a contradiction. Only a witness with a new key may begin with --new-state'
    assert.deepEqual(await run(...spelled()), refusal(`--key: ${key} cannot be read (ENOENT)`))
    assert.deepEqual(await run(...spelled(), '--new-key'), refusal(`${state} is missing: ${ifLost}`))
    assert.equal(existsSync(state), false)
    assert.deepEqual(
      await run(...spelled(), '--new-key'),
      refusal(`${key} already exists: leave out --new-key`),
    )
    writeFileSync(state, '[\n')
    const damaged = `${state} is damaged (it was not written by this program): ${ifLost}`
    assert.deepEqual(await run(...spelled()), refusal(damaged))
    assert.deepEqual(
      await run(...spelled(), '--new-state'),
      refusal(`${state} already exists: leave out --new-state`),
    )
  })

  it('refuses keys of another kind, files that are no keys, and wrong use', async (t) => {
    const { file, spelled } = await prepared(t)
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    writeFileSync(file('rsa.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }))
    const rsa = `--key: ${file('rsa.pem')} is not an Ed25519 or ML-DSA-44 key but rsa`
    assert.deepEqual(await run(...spelled({ key: file('rsa.pem') })), refusal(rsa))
    writeFileSync(file('none.pem'), 'x')
    const none = `--key: ${file('none.pem')} is not an unencrypted private key in PEM form`
    assert.deepEqual(await run(...spelled({ key: file('none.pem') })), refusal(none))
    const { key } = await newSigner('witness.example', 'cosignature/v1')
    const ofWitness = '--log: this is the key of a witness; that of a log is needed'
    assert.deepEqual(await run(...spelled({ log: spellVerifierKey(key) })), misuse(ofWitness))
    assert.deepEqual(
      await run(...spelled({ log: 'x' })),
      misuse('--log: a verifier key must be spelled NAME+ID+KEY'),
    )
    assert.deepEqual(
      await run(...spelled({ name: 'a+b' }), '--new-key'),
      misuse('--name: the name of a key must not be empty, nor have white space, control characters or +'),
    )
    const missing = (name: string) => misuse(`--${name} is missing (see --help)`)
    assert.deepEqual(await run('--key', 'k'), missing('state'))
    assert.deepEqual(await run('--state', 's'), missing('log'))
    assert.deepEqual(await run(...spelled().slice(4)), missing('key'))
    assert.deepEqual(
      await run('--state', 's', '--port', '65536'),
      misuse('--port takes a number from 0 to 65535'),
    )
    const unknown = await run('--prot', '1')
    assert.deepEqual([unknown.status, unknown.stdout], [2, ''])
    assert.match(unknown.stderr, /^countersign-witness: .*'--prot'.* \(see --help\)\n$/)
  })

  it('works as npm installs it from its package, without the service, in at most 5 MB', async (t) => {
    const { folder, file, log, spelled } = await prepared(t)
    const npm = (options: string[], cwd: string) => execFileSync('npm', options, { cwd, encoding: 'utf8' })
    const packed = npm(
      ['pack', '--json', '--ignore-scripts=false', '--pack-destination', folder],
      fileURLToPath(new URL('..', import.meta.url)),
    )
    const [{ filename, unpackedSize }] = JSON.parse(packed.slice(packed.indexOf('[\n')))
    assert.ok(unpackedSize < 5_000_000)
    writeFileSync(file('package.json'), '{}')
    npm(['install', '--offline', '--no-audit', '--no-fund', `./${filename}`], folder)
    const installed = file('node_modules/.bin/countersign-witness')
    assert.equal(npm(['ls', '--all', '--parseable'], folder).trim().split('\n').length, 2)
    const options = [...spelled(), '--port', '0', '--new-key', '--new-state']
    const witness = await startProgram(options, {}, installed)
    assert.equal((await postTo(witness.url, log.request(0))).status, 200)
    assert.equal(await witness.stop(), 0)
  })
})

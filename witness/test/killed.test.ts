// engine: none
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { spellVerifierKey } from '../../proof/note.ts'
import { startProgram } from './program.ts'
import { postTo } from './running.ts'
import { SignedLog } from './signed-log.ts'

const preload = new URL('./kill-preload.ts', import.meta.url).href
/** Each write flushes twice: the file, then the folder. */
const steps = ['opened', 'half written', 'written', 'flushed', 'before the rename', 'after the rename']

let seed = Number.parseInt(process.env.FAULT_SEED ?? '1', 16)
/** From 0 up to 1; the same FAULT_SEED gives the same numbers. */
const random = () => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
  return seed / 2 ** 32
}

describe('a witness that is killed while it writes its state', () => {
  let folder: string
  let options: string[]
  let log: SignedLog
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'countersign-witness-'))
    log = await SignedLog.named('orders.example/log', 1)
    const { privateKey } = generateKeyPairSync('ed25519')
    await writeFile(join(folder, 'key.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }))
    const files = ['--key', join(folder, 'key.pem'), '--state', join(folder, 'state.json')]
    options = [
      ...files,
      '--name',
      'witness.example',
      '--log',
      spellVerifierKey(log.signer.key),
      '--port',
      '0',
    ]
    const first = await startProgram([...options, '--new-state'])
    assert.equal((await postTo(first.url, log.request(0))).status, 200)
    await first.stop()
  })
  after(() => rm(folder, { recursive: true }))

  it('remembers every checkpoint that it cosigned, and cosigns no other of that size', async () => {
    /** The size of the newest checkpoint whose cosignature arrived. */
    let cosigned = 1
    for (let round = 0; round < 20; round += 1) {
      const [KILL_AT = '', KILL_COUNT] = [steps[round % steps.length], String(1 + Math.floor(random() * 4))]
      const env = { NODE_OPTIONS: `--import=${preload}`, KILL_AT, KILL_COUNT }
      const doomed = await startProgram(options, env)
      let known = cosigned
      for (let tries = 0; tries < 50; tries += 1) {
        log.grow(1 + Math.floor(random() * 5))
        const answer = await postTo(doomed.url, log.request(known)).catch(() => undefined)
        if (answer === undefined) break
        if (answer.status === 409) known = Number(answer.text)
        else {
          assert.equal(answer.status, 200, answer.text)
          known = cosigned = log.leaves.length
        }
      }
      await doomed.stop()
      assert.equal(doomed.process.signalCode, 'SIGKILL')

      // It would wait until the file of the killed one is old.
      const left = join(folder, 'state.json.new')
      if (existsSync(left)) await utimes(left, 0, 0)
      const witness = await startProgram(options)
      const { status, text } = await postTo(witness.url, log.request(0))
      assert.equal(status, 409)
      const remembered = Number(text)
      assert.ok(remembered >= cosigned, `${KILL_AT}: ${remembered} of ${cosigned}`)
      for (const [more, refusal] of [
        [0, 409],
        [1, 422],
        [4, 422],
      ] as const) {
        const fork = log.forkAt(remembered - 1, more + 1)
        assert.equal((await postTo(witness.url, fork.request(remembered))).status, refusal)
      }
      log.grow(Math.max(0, remembered + 1 - log.leaves.length))
      assert.equal((await postTo(witness.url, log.request(remembered))).status, 200)
      cosigned = log.leaves.length
      await witness.stop()
    }
  })
})

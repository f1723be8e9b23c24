import assert from 'node:assert/strict'
import { lstat, readFile, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { State } from '../state.ts'
import { startWitness } from './running.ts'
import { newSigner, SignedLog } from './signed-log.ts'

const origins = ['orders.example/log', 'orders.example/log/2']

/** A witness that cosigned a checkpoint of each of two logs. */
async function witnessOfTwo(t: { after(hook: () => unknown): void }) {
  const logs = await Promise.all(origins.map((origin) => SignedLog.named(origin, 5)))
  const witness = await startWitness(
    t,
    logs.map(({ signer }) => signer.key),
  )
  for (const log of logs) assert.equal((await witness.post(log.request(0))).status, 200)
  return { witness, log: logs[0] as SignedLog }
}

describe('the state of a witness', () => {
  it('is read as it was written', async (t) => {
    const { witness } = await witnessOfTwo(t)
    const state = await State.open(witness.stateFile, witness.signer.key)
    assert.deepEqual(state.origins, origins)
    const notes = origins.map((origin) => state.checkpointOf(origin))
    assert.deepEqual(JSON.parse(await witness.state()), notes)
  })

  it('is made only where there is no file', async (t) => {
    const { witness } = await witnessOfTwo(t)
    const before = await witness.state()
    await assert.rejects(State.create(witness.stateFile), { code: 'EEXIST' })
    assert.equal(await witness.state(), before)
    await rm(witness.stateFile)
    await assert.rejects(State.open(witness.stateFile, witness.signer.key), { code: 'ENOENT' })
  })

  it('is written where a link leads, so that both names remember the same', async (t) => {
    const { witness, log } = await witnessOfTwo(t)
    const link = `${witness.stateFile}.link`
    await symlink(witness.stateFile, link)
    const state = await State.open(link, witness.signer.key)
    const note = String(state.checkpointOf(log.origin))
    await state.keep('moved.example/log', note.replace(log.origin, 'moved.example/log'))
    assert.ok((await lstat(link)).isSymbolicLink())
    assert.match(await witness.state(), /moved\.example/)
  })

  it('is opened only when no other process is writing it', async (t) => {
    const { witness } = await witnessOfTwo(t)
    const next = `${witness.stateFile}.new`
    await writeFile(next, '')
    const opening = State.open(witness.stateFile, witness.signer.key)
    await wait(300)
    assert.equal(await readFile(next, 'utf8'), '')
    await rm(next)
    await opening
    await writeFile(next, '')
    await utimes(next, 0, 0)
    await State.open(witness.stateFile, witness.signer.key)
    await assert.rejects(readFile(next), { code: 'ENOENT' })
  })

  it('is refused if anything is cut off, added or repeated', async (t) => {
    const { witness } = await witnessOfTwo(t)
    const text = await witness.state()
    const [first, second] = JSON.parse(text)
    const spelled = (notes: unknown) => `${JSON.stringify(notes, null, 2)}\n`
    const others = [
      ...Array.from({ length: text.length }, (_, length) => text.slice(0, length)),
      `${text}\n`,
      ` ${text}`,
      JSON.stringify([first, second]),
      spelled([first, first]),
      spelled([first, second, first]),
      spelled([first, 5]),
      spelled([null]),
      spelled({ first }),
      spelled('text'),
    ]
    for (const other of others) {
      await writeFile(witness.stateFile, other)
      await assert.rejects(State.open(witness.stateFile, witness.signer.key), Error, other)
    }
  })

  it('is refused with any character of a checkpoint or its cosignature changed', async (t) => {
    const { witness } = await witnessOfTwo(t)
    const text = await witness.state()
    const covered = [/orders\.example.*?\\n\\n/.exec(text), /— witness[^\\]*/.exec(text)]
    const places = covered.flatMap((part) => Array.from(part?.[0] ?? '', (_, at) => (part?.index ?? 0) + at))
    assert.ok(places.length > 150, String(places.length))
    for (const at of places) {
      const changed = `${text.slice(0, at)}${text[at] === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`
      await writeFile(witness.stateFile, changed)
      await assert.rejects(State.open(witness.stateFile, witness.signer.key), Error, changed)
    }
  })

  it('is refused by a witness with another key', async (t) => {
    const { witness } = await witnessOfTwo(t)
    const { key } = await newSigner(witness.signer.key.name, 'cosignature/v1')
    await assert.rejects(
      State.open(witness.stateFile, key),
      /orders.example\/log has no cosignature by this key/,
    )
  })

  it('keeps a witness from cosigning if another process changed it', async (t) => {
    const { witness, log } = await witnessOfTwo(t)
    const before = await witness.state()
    log.grow(3)
    await writeFile(witness.stateFile, '[]\n')
    assert.equal((await witness.post(log.request(5))).status, 500)
    assert.match(
      String(witness.errors.pop()),
      /another process changed .*: two witnesses must not share a state/,
    )
    assert.equal(await witness.state(), '[]\n')
    await writeFile(witness.stateFile, before)
    assert.equal((await witness.post(log.request(5))).status, 200)
  })

  it('keeps a witness from cosigning while another process writes it', async (t) => {
    const { witness, log } = await witnessOfTwo(t)
    const before = await witness.state()
    log.grow(3)
    await writeFile(`${witness.stateFile}.new`, '')
    assert.equal((await witness.post(log.request(5))).status, 500)
    assert.equal((witness.errors.pop() as NodeJS.ErrnoException).code, 'EEXIST')
    assert.deepEqual(
      [await witness.state(), await readFile(`${witness.stateFile}.new`, 'utf8')],
      [before, ''],
    )
    // A start removes what a killed process left behind.
    await State.open(witness.stateFile, witness.signer.key)
    assert.equal((await witness.post(log.request(5))).status, 200)
  })

  it('keeps a witness from cosigning while it cannot be written', async (t) => {
    const { witness, log } = await witnessOfTwo(t)
    const folder = dirname(witness.stateFile)
    log.grow(3)
    await rename(folder, `${folder}-away`)
    assert.equal((await witness.post(log.request(5))).status, 500)
    assert.equal((witness.errors.pop() as NodeJS.ErrnoException).code, 'ENOENT')
    await rename(`${folder}-away`, folder)
    const fork = log.forkAt(5, 4)
    assert.equal((await witness.post(fork.request(5))).status, 200)
    assert.equal((await witness.post(log.request(5))).status, 409)
  })
})

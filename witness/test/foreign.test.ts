import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { spellNote, spellVerifierKey } from '../../proof/note.ts'
import { startWitness } from './running.ts'
import { newSigner, SignedLog } from './signed-log.ts'

const script = fileURLToPath(new URL('./verify.py', import.meta.url))
const skip = spawnSync('python3', ['--version']).status === 0 ? false : 'needs Python'

interface Case {
  note: string
  logKeys: string[]
  witnessKeys: string[]
  proof?: { from: number; root: string; hashes: string[] }
}

/** The verdicts of a program that shares nothing with this one. */
function verdicts(cases: Case[]): (number[] | 'refused')[] {
  const { stdout, stderr } = spawnSync('python3', [script], {
    input: JSON.stringify(cases),
    encoding: 'utf8',
  })
  assert.equal(stderr, '')
  return JSON.parse(stdout)
}

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')

describe('a program in Python that shares nothing with this one', { skip }, () => {
  it('accepts a published checkpoint', () => {
    const note = `arche2025h1.staging.ct.transparency.dev
1432088532
U7WM79jrzyhGZ5/GUBTpM7NzwdyfFx61t3RovgcC4Ro=

— arche2025h1.staging.ct.transparency.dev ui8GwCF1+kWqZrxGdhj4aX3gcw7XUlXQQabg/27lefwhUkzbC3NygNI75MdhL1bfTW9g8Ei59RA23oHP7Ry1k3ZFWwQ=
— remora.n621.de 2net5wAAAABqEiEgPlfF3V06o0Y+fHM+J5J9s27wgxxcOVSpZ/2g/KSiXCg9DEZI+aVCIobWX9sXTynk5XeU/zZ0WBxtqB0DrAWfBw==
`
    const logKeys = [
      'arche2025h1.staging.ct.transparency.dev+ba2f06c0+AU0vHmlGCS/PdN8b2OaGmKprLI8HKM+dJ472xgFYh15f',
    ]
    const witnessKeys = ['remora.n621.de+da77ade7+BOvN63jn/bLvkieywe8R6UYAtVtNbZpXh34x7onlmtw2']
    assert.deepEqual(verdicts([{ note, logKeys, witnessKeys }]), [[0x6a122120]])
  })

  it('accepts checkpoints, proofs and cosignatures, and refuses them altered', async (t) => {
    const log = await SignedLog.named('orders.example/log', 1)
    const second = await newSigner(log.origin, 'ed25519')
    const witnesses = await Promise.all([1, 2].map(() => startWitness(t, [log.signer.key])))
    const logKeys = [log.signer.key, second.key].map(spellVerifierKey)
    const [witnessKey = '', ...others] = witnesses.map(({ signer }) => spellVerifierKey(signer.key))
    const cases: Case[] = []
    let from = 0
    for (const size of [1, 2, 3, 4, 6, 8, 15, 16, 17, 100, 255, 256, 257, 300]) {
      log.grow(size - log.leaves.length)
      const answers = await Promise.all(witnesses.map((witness) => witness.post(log.request(from))))
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
      const note = spellNote(log.note(size, [log.signer, second])) + answers.map(({ text }) => text).join('')
      const proof = { from, root: base64(log.rootAt(from)), hashes: log.path(from).map(base64) }
      cases.push({ note, logKeys, witnessKeys: [witnessKey, ...others], ...(from > 0 && { proof }) })
      from = size
    }
    const at = witnesses.map(({ now }) => now / 1_000)
    assert.deepEqual(
      verdicts(cases),
      cases.map(() => at),
    )
    const [last = cases[0] as Case] = cases.slice(-1)
    const [text = '', signatures = ''] = last.note.split('\n\n')
    const lines = signatures.trimEnd().split('\n')
    const altered = lines.map((line) => {
      const place = line.length - 20
      return last.note.replace(
        line,
        `${line.slice(0, place)}${line[place] === 'A' ? 'B' : 'A'}${line.slice(place + 1)}`,
      )
    })
    const notes = [
      ...altered,
      last.note.replace('\n300\n', '\n301\n'),
      `x${last.note}`,
      `${text}x\n\n${signatures}`,
    ]
    const proofs =
      last.proof?.hashes.map((_, index, hashes) => hashes.with(index, base64(new Uint8Array(32)))) ?? []
    const refused = [
      ...notes.map((note) => ({ ...last, note })),
      ...proofs.map((hashes) => ({
        ...last,
        proof: { ...(last.proof as NonNullable<Case['proof']>), hashes },
      })),
    ]
    assert.deepEqual(
      verdicts(refused),
      refused.map(() => 'refused'),
    )
  })
})

// engine: both
import assert from 'node:assert/strict'
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { readNote, readVerifierKey, spellVerifierKey, verifyCosignature } from '../../../proof/note.ts'
import { openAppDatabase } from '../../../server/operations.ts'
import { startProgram } from '../../../witness/test/program.ts'
import { startWitness } from '../../../witness/test/running.ts'
import { Client } from '../../support/client.ts'
import { seal } from '../../support/log.ts'
import { freePort } from '../../support/process.ts'
import { bearerOf, testProduction } from '../../support/production.ts'
import { until } from '../../support/stream.ts'
import { startScripted } from '../../support/witness.ts'
import { logKey, settingOf } from '../../support/witnessed.ts'

describe('a service with witnesses', () => {
  const production = testProduction()
  before(async () => {
    const db = await openAppDatabase({ databaseUrl: production.databaseUrl })
    await seal(db)
    await db.close()
  })

  it('has its log cosigned at the start, and its metrics say so', async (t) => {
    const others = [await startWitness(t, [await logKey()]), await startWitness(t, [])] as const
    for (const other of others) other.now = Date.now()
    const port = await freePort()
    const env = { LOG_WITNESSES: settingOf(others), LOG_WITNESS_QUORUM: '1', METRICS_PORT: String(port) }
    const server = await production.serve(env)
    const metrics = async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
    await until(async () => /^countersign_log_quorum_age_seconds \d/m.test(await metrics()))
    const [cosigned, text] = [JSON.parse(await others[0].state()), await metrics()]
    assert.match(cosigned[0], /^orders\.example\.com\/log\n2\n/)
    assert.match(text, /^countersign_log_uncosigned_events 0$/m)
    assert.match(text, /^countersign_witness_age_seconds\{witness="witness.example\/one"\} \d/m)
    assert.match(text, /^countersign_witness_contradicts\{witness="witness.example\/one"\} 0$/m)
    await server.printed('it answered 404: this witness does not know the log')
    assert.equal(await server.stop(), 0)
  })

  it('has it cosigned by keys of both kinds, and a quorum needs them both', async (t) => {
    const log = spellVerifierKey(await logKey())
    const folder = mkdtempSync(join(tmpdir(), 'countersign-witnesses-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const start = async (name: string, { privateKey }: { privateKey: KeyObject }) => {
      const key = join(folder, `${name}.pem`)
      writeFileSync(key, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
      const options = ['--key', key, '--name', `${name}.example`, '--log', log, '--port', '0']
      const program = await startProgram([...options, '--state', join(folder, name), '--new-state'])
      t.after(() => program.stop())
      const { verifierKey } = JSON.parse(program.output())
      return { key: await readVerifierKey(verifierKey), setting: `${verifierKey} ${program.url}` }
    }
    const known = await start('known', generateKeyPairSync('ed25519'))
    const quantum = await start('quantum', generateKeyPairSync('ml-dsa-44'))
    const later = `later+00000000+${Buffer.from(`\x07${'k'.repeat(32)}`).toString('base64')} https://later.example`
    const LOG_WITNESSES = [known.setting, quantum.setting, later].join(',')
    const server = await production.serve({ LOG_WITNESSES, LOG_WITNESS_QUORUM: '2' })
    const admin = await bearerOf(server.baseUrl, 'admin')
    const checkpoint = async () => (await admin.get('/v1/log/checkpoint')).text
    const timesIn = async (note: string) =>
      Promise.all([known, quantum].map(({ key }) => verifyCosignature(readNote(note), key)))
    await until(async () => (await timesIn(await checkpoint())).every((time) => time !== undefined))
    assert.match(server.output(), /"event":"witness-skipped".*witness 3 of 3: the key must be of type 1/)
    assert.equal(await server.stop(), 0)
  })

  it('starts, works and ends while a witness does not answer', async (t) => {
    const silent = await startScripted(t, () => undefined)
    const server = await production.serve({ LOG_WITNESSES: settingOf([silent]) })
    await until(() => silent.asked.length > 0)
    const admin = await bearerOf(server.baseUrl, 'admin')
    assert.equal((await admin.post('/v1/orders', { customer: 'Acme', total: 12.5 })).status, 201)
    assert.equal((await new Client(server.baseUrl).get('/health/ready')).status, 200)
    assert.equal(await server.stop(), 0)
    assert.doesNotMatch(server.output(), /a witness did not cosign/)
  })

  it('does not start with a setting that is wrong', async () => {
    await assert.rejects(production.serve({ LOG_WITNESSES: 'x', LOG_WITNESS_QUORUM: '2' }), {
      message:
        /Countersign cannot start:\n {2}- LOG_WITNESSES: witness 1 of 1: must be a verifier key.*\n {2}- LOG_WITNESS_QUORUM: must be at most 1/,
    })
  })
})

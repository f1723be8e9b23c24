// engine: both
import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { machineStamp } from '../../server/caller/stamp.ts'
import { startMetrics } from '../../server/metrics.ts'
import { openAppDatabase } from '../../server/operations.ts'
import { Client } from '../support/client.ts'
import { testEngine } from '../support/database.ts'
import { freePort, type RunningServer } from '../support/process.ts'
import { bearerOf, credentialsOf, testProduction } from '../support/production.ts'
import { startService } from '../support/service.ts'
import { openStream, until } from '../support/stream.ts'

describe('the metrics', () => {
  const production = testProduction()
  let server: RunningServer
  let url: string
  before(async () => {
    const port = await freePort()
    url = `http://127.0.0.1:${port}/metrics`
    server = await production.serve({ METRICS_PORT: String(port) })
  })

  const scrape = async () => (await fetch(url)).text()

  /** The values of a metric by its labels. */
  async function valuesOf(name: string): Promise<Record<string, number>> {
    const samples = (await scrape()).matchAll(new RegExp(`^${name}\\{(.*)\\} (\\S+)$`, 'gm'))
    return Object.fromEntries([...samples].map(([, labels = '', value]) => [labels, Number(value)]))
  }

  /** The value of a metric without labels. */
  const numberOf = async (name: string) =>
    Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(await scrape())?.[1])

  it('are named as Prometheus expects: `promtool check metrics` finds nothing', async () => {
    const text = await scrape()
    const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type]) => [name, type])
    assert.ok(types.length > 25)
    for (const [name = '', type] of types) {
      assert.equal(name.endsWith('_total'), type === 'counter', name)
      assert.match(name, /^[a-z][a-z0-9_]*$/)
      assert.match(text, new RegExp(`^# HELP ${name} \\S`, 'm'))
    }
  })

  it('report the build and the run', async () => {
    const [labels = ''] = Object.keys(await valuesOf('countersign_build_info'))
    assert.match(
      labels,
      new RegExp(`^version="\\d+.*",node="${process.versions.node}",engine="${testEngine}"$`),
    )
  })

  it('report the length of the log, and how long an event has waited to be sealed', async () => {
    const value = (name: string) => numberOf(`countersign_events_${name}`)
    await until(async () => (await value('seal_lag_seconds')) === 0)
    const sealed = await value('sealed')
    assert.ok(sealed > 0)
    const atOnce = await Promise.all(Array.from({ length: 10 }, () => value('sealed')))
    assert.deepEqual(new Set(atOnce), new Set([sealed]))
    const db = await openAppDatabase(production)
    const stamp = machineStamp(Date.now() - 60_000)
    await db.write('addRole', { role: 'Auditor', permissions: [], stamp })
    await db.close()
    const lags: number[] = []
    await until(async () => {
      lags.push(await value('seal_lag_seconds'))
      return (await value('sealed')) === sealed + 1
    })
    assert.ok(lags.every((lag) => lag === 0 || (lag >= 60 && lag < 120)))
    assert.equal(await value('seal_lag_seconds'), 0)
  })

  it('count sign-ins by flow and outcome, and probes', async () => {
    await bearerOf(server.baseUrl, 'admin')
    const wrong = { ...credentialsOf('admin'), password: 'a password of someone else' }
    for (const path of ['session', 'token']) {
      assert.equal((await new Client(server.baseUrl).post(`/v1/auth/${path}`, wrong)).status, 401)
    }
    const stranger = { clientId: 'nobody', clientSecret: 'a secret of nobody' }
    await new Client(server.baseUrl).post('/v1/auth/clients/token', stranger)
    assert.deepEqual(await valuesOf('countersign_sign_ins_total'), {
      'flow="token",outcome="succeeded"': 1,
      'flow="session",outcome="invalid-credentials"': 1,
      'flow="token",outcome="invalid-credentials"': 1,
      'flow="client",outcome="invalid-client"': 1,
    })
    const counted = async () =>
      (await valuesOf('http_request_duration_seconds_count'))['operation="getHealth",status="200"'] ?? 0
    const before = await counted()
    await new Client(server.baseUrl).get('/health')
    assert.equal(await counted(), before + 1)
  })

  it('count readers with a place beyond the log, which the log says too, but stay ready', async () => {
    const name = 'countersign_readers_beyond_log_total'
    assert.equal(await numberOf(name), 0)
    const admin = await bearerOf(server.baseUrl, 'admin')
    for (const place of ['1.0', '1043', 'x', '1.999999', '2.1']) {
      const stream = await openStream(admin, { 'last-event-id': place })
      await until(() => stream.resets > 0 || place === '1.0')
      stream.close()
      await stream.ends()
    }
    assert.equal(await numberOf(name), 2)
    // Lines are written in batches, in their order.
    await server.printed('"place":{"era":2,"sequence":1}')
    assert.equal(server.output().split('"event":"beyond-log"').length - 1, 2)
    assert.equal((await new Client(server.baseUrl).get('/health/ready')).status, 200)
  })

  it('report what the database does, and the lines left out of the log', async () => {
    const work = Object.keys(await valuesOf('countersign_database_work'))
    const queues = ['of="writes",state="running"', 'of="lists",state="running"', 'of="lists",state="waiting"']
    const pool = ['busy', 'idle', 'waiting'].map((state) => `of="connections",state="${state}"`)
    assert.deepEqual(work, testEngine === 'postgres' ? [...queues, ...pool] : queues)
    assert.deepEqual(await valuesOf('countersign_log_lines_left_out_total'), {
      'kind="requests"': 0,
      'kind="events"': 0,
    })
  })
})

describe('a metric that cannot be read', () => {
  it('has no value; the others have theirs, and the service goes on', async (t) => {
    const { app, config, db } = await startService({ inside: true, until: t })
    const port = await freePort()
    const failing = {
      ...db,
      load: () => {
        throw new Error('no load')
      },
    }
    const hooks = { addHook: () => undefined }
    const metrics = await startMetrics(
      {
        app: hooks as unknown as typeof app,
        config: { ...config, host: '127.0.0.1' },
        db: failing,
        log: app.log as Parameters<typeof startMetrics>[0]['log'],
        clock: () => 0,
        witnesses: { list: [], quorum: 1, everySeconds: 60, skipped: [] },
        post: undefined,
        sender: undefined,
      },
      port,
    )
    t.after(() => metrics.close())
    const scrape = async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
    assert.doesNotMatch(await scrape(), /^countersign_database_work/m)
    assert.match(await scrape(), /^countersign_events_sealed \d+$/m)
  })
})

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createdId } from '../support/orders.ts'
import { freePort, startServer } from '../support/process.ts'
import { bearerOf, testProduction } from '../support/production.ts'
import { until } from '../support/stream.ts'
import { newWebhook, startReceiver, toReceivers } from '../support/webhooks.ts'

describe('a service with webhooks', () => {
  const production = testProduction()

  it('sends by itself, and reports what waits and what failed', async (t) => {
    const port = await freePort()
    const server = await production.serve({ ...toReceivers, METRICS_PORT: String(port) })
    const metric = async (name: string, labels: string) => {
      const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
      return Number(new RegExp(`^countersign_outbox_${name}\\{${labels}\\} (\\S+)$`, 'm').exec(text)?.[1])
    }
    const admin = await bearerOf(server.baseUrl, 'admin')
    const receiver = await startReceiver(t)
    receiver.answer = (_message, response) => response.writeHead(500).end()
    const { id, path } = await newWebhook(admin, { url: receiver.url })
    const order = await createdId(admin)
    await until(async () => (await metric('attempts_total', 'outcome="failed"')) === 1)
    const labels = `kind="webhook",subscription="${id}"`
    assert.ok((await metric('waiting', labels)) >= 1)
    assert.ok((await metric('oldest_seconds', labels)) > 0)
    receiver.answer = (_message, response) => response.writeHead(204).end()
    assert.equal((await admin.patch(path, { enabled: true })).status, 204)
    await until(async () => (await metric('waiting', labels)) === 0)
    // Counted once the attempt is stored, so a moment after nothing waits.
    await until(async () => (await metric('attempts_total', 'outcome="delivered"')) === 1)
    assert.equal(await metric('oldest_seconds', labels), 0)
    const data = receiver.received.map(({ text }) => JSON.parse(text).data.id)
    assert.deepEqual(data, [order, order])
    assert.equal(await server.stop(), 0)
    const failed = server.output().split('an event was not delivered').length - 1
    assert.equal(failed, 1)
    // The lease of the one that stopped would last for twenty seconds.
    const next = await production.serve(toReceivers)
    await createdId(await bearerOf(next.baseUrl, 'admin'))
    const began = performance.now()
    await until(() => receiver.received.length === 3)
    t.diagnostic(`taken over after ${Math.round(performance.now() - began)} ms`)
    await next.stop()
  })

  it('does not start in production without the key from which their secrets are derived', async () => {
    const { env } = production
    const starting = startServer([], { ...env, WEBHOOK_KEY_FILE: '' })
    await assert.rejects(starting, /WEBHOOK_KEY_FILE: required because the database has webhooks/)
  })
})

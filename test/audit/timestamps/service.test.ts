import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { startAnswering } from '../../support/answering.ts'
import { answerOf, hashIn } from '../../support/authority.ts'
import { Client } from '../../support/client.ts'
import { freePort } from '../../support/process.ts'
import { bearerOf, newProduction } from '../../support/production.ts'
import { until } from '../../support/stream.ts'

/** On a new database, because an instance that has asked holds the lease for a minute. */
async function serve(t: { after(hook: () => unknown): void }, env: Record<string, string>) {
  const production = await newProduction()
  t.after(() => production.remove())
  return production.serve(env)
}

describe('a service with an authority for timestamps', () => {
  it('starts, works and ends while the authority cannot be reached', async (t) => {
    const server = await serve(t, { TIMESTAMP_URL: `http://127.0.0.1:${await freePort()}` })
    await server.printed('"failure":"ECONNREFUSED"')
    const admin = await bearerOf(server.baseUrl, 'admin')
    assert.equal((await admin.post('/v1/orders', { customer: 'Acme', total: 12.5 })).status, 201)
    assert.equal((await new Client(server.baseUrl).get('/health/ready')).status, 200)
    assert.equal(await server.stop(), 0)
  })

  it('ends while the authority does not answer, and does not blame it', async (t) => {
    let asked = 0
    const server = await serve(t, {
      TIMESTAMP_URL: await startAnswering(t, () => {
        asked += 1
      }),
    })
    await until(() => asked > 0)
    assert.equal(await server.stop(), 0)
    assert.doesNotMatch(server.output(), /was not stamped/)
  })

  it('has the day before stamped at the start, and its metrics say so', async (t) => {
    const port = await freePort()
    const server = await serve(t, {
      TIMESTAMP_URL: await startAnswering(t, (request, response) =>
        response.end(answerOf(0, hashIn(request))),
      ),
      METRICS_PORT: String(port),
    })
    const metrics = async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
    await until(async () => /^countersign_log_timestamp_age_seconds \d/m.test(await metrics()))
    assert.equal(await server.stop(), 0)
  })

  it('does not start with an address that is not safe', async (t) => {
    await assert.rejects(serve(t, { TIMESTAMP_URL: 'http://tsa.example' }), {
      message: /Countersign cannot start:\n {2}- TIMESTAMP_URL: must be an https address/,
    })
  })
})

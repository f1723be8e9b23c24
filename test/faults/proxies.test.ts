// engine: PostgreSQL
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import {
  documentedProxies,
  type RunningProxy,
  startDocumentedProxy,
  withoutProgram,
} from '../support/documented-proxy.ts'
import { isLong } from '../support/faults.ts'
import { withoutPostgres } from '../support/postgres.ts'
import { freePort, type RunningServer } from '../support/process.ts'
import { bearerOf, newProduction, type Production } from '../support/production.ts'
import { type FaultProxy, startProxy } from '../support/proxy.ts'
import { until } from '../support/stream.ts'

/** One proxy; the long form has all. */
const proxies = Object.entries(documentedProxies).slice(0, isLong ? undefined : 1)

for (const [name, documented] of proxies) {
  describe(`behind ${name} of docs/proxies`, { skip: withoutPostgres || withoutProgram(documented) }, () => {
    let database: TestDatabase
    let network: FaultProxy
    let production: Production
    let proxy: RunningProxy
    let authorization: string
    const instances: RunningServer[] = []
    before(async () => {
      database = await createTestDatabase()
      network = await startProxy(database.databaseUrl)
      production = await newProduction({ databaseUrl: database.databaseUrl })
      const ports = [await freePort(), await freePort()] as const
      for (const port of ports) instances.push(await serve(port))
      proxy = await startDocumentedProxy(documented, ports)
      authorization = (await bearerOf(`http://127.0.0.1:${ports[0]}`, 'admin')).headers.authorization ?? ''
    })
    after(async () => {
      await proxy?.stop()
      await production?.remove()
      await network?.close()
      await database?.drop()
    })

    const serve = (port: number) =>
      production.serve({
        DATABASE_URL: network.url,
        PORT: String(port),
        DRAIN_SECONDS: '2',
        TRUSTED_PROXIES: '127.0.0.1',
      })

    /** The answer in short: its status, and the code of a problem or else the media type. */
    async function call(path: string, request: RequestInit = {}, at = proxy.baseUrl): Promise<string> {
      const answer = await fetch(at + path, { ...request, headers: { authorization, ...request.headers } })
      const type = answer.headers.get('content-type') ?? ''
      const text = await answer.text()
      return `${answer.status} ${type.startsWith('application/problem') ? JSON.parse(text).code : type}`
    }
    const create = () =>
      call('/v1/orders', {
        method: 'POST',
        body: JSON.stringify({ customer: 'Acme', total: 1 }),
        headers: { 'content-type': 'application/json', 'idempotency-key': randomUUID() },
      })
    const list = () => call('/v1/orders')
    const ready = (at?: string) => call('/health/ready', {}, at)
    const json = 'application/json; charset=utf-8'
    const unavailable = '503 database-unavailable'

    it('the web app, the keys and /health survive the loss of the database; all other answers say what is wrong', async () => {
      assert.deepEqual(
        [await ready(), await list(), await create()],
        [`200 ${json}`, `200 ${json}`, `201 ${json}`],
      )
      await network.set('refuse')
      for (const instance of documented.probes ? instances : []) await refusesProbes(instance, 3)
      for (let round = 0; round < 5; round += 1) {
        assert.deepEqual(
          [await call('/'), await call('/.well-known/jwks.json'), await call('/health')],
          ['200 text/html; charset=utf-8', `200 ${json}`, `200 ${json}`],
        )
        assert.deepEqual(
          [await ready(), await list(), await create()],
          [unavailable, unavailable, unavailable],
        )
      }
      await network.set('pass')
      await until(async () => (await ready()) === `200 ${json}`)
      assert.equal(await create(), `201 ${json}`)
    })

    it('both instances are replaced without a single refusal', async () => {
      await until(async () => (await ready()) === `200 ${json}`)
      const answers = new Set<string>()
      let isOver = false
      const calling = async () => {
        while (!isOver) answers.add(await create()).add(await list())
      }
      const replacing = async () => {
        for (const [index, instance] of instances.entries()) {
          assert.equal(await instance.stop(), 0)
          const { port, origin } = new URL(instance.baseUrl)
          instances[index] = await serve(Number(port))
          await until(async () => (await ready(origin)) === `200 ${json}`)
        }
      }
      const replaced = replacing().finally(() => {
        isOver = true
      })
      await Promise.all([replaced, calling(), calling(), calling(), calling()])
      assert.deepEqual([...answers].sort(), [`200 ${json}`, `201 ${json}`])
    })

    /**
     * Waits until the proxy has asked this many times whether the instance is ready and got no for an
     * answer.
     */
    async function refusesProbes({ output }: RunningServer, times: number): Promise<void> {
      const count = () => output().split('"path":"/health/ready"').length
      const before = count()
      await until(() => count() >= before + times)
    }
  })
}

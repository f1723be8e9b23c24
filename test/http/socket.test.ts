import assert from 'node:assert/strict'
import { chmodSync, existsSync, lstatSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { freePort } from '../support/process.ts'
import { testProduction } from '../support/production.ts'

/** The status of an answer at the socket, to a caller whose address a proxy has named. */
function statusAt(path: string, url: string, forwardedFor?: string): Promise<number | undefined> {
  const headers = { host: 'orders.example.com', ...(forwardedFor && { 'x-forwarded-for': forwardedFor }) }
  return new Promise((resolve, reject) => {
    request({ socketPath: path, path: url, headers }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode))
    })
      .once('error', reject)
      .end()
  })
}

function socketIn(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-socket-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'http.sock')
  return { path, env: { HOST: `unix:${path}` } }
}

describe('a service at a socket', () => {
  const production = testProduction()
  const other = testProduction()

  it('answers, believes the proxy, lets its group connect, and removes the socket at its end', async (t) => {
    const { path, env } = socketIn(t)
    const port = await freePort()
    const limits = { RATE_LIMIT_FACTOR: '1', RATE_LIMIT_ANONYMOUS: '2', METRICS_PORT: String(port) }
    const service = await production.serve({ ...env, ...limits, TRUSTED_PROXIES: '10.0.0.0/8' })
    assert.equal(service.baseUrl, path)
    assert.equal(await statusAt(path, '/health/ready'), 200)
    assert.equal(lstatSync(path).mode & 0o777, 0o660)
    const ask = (address?: string) => statusAt(path, '/v1/orders', address)
    for (const [address, status] of [
      ['198.51.100.1', 401],
      ['198.51.100.1', 401],
      ['198.51.100.1', 429],
      ['198.51.100.2', 401],
      // A proxy before the last one.
      ['198.51.100.1, 10.1.2.3', 429],
      // Invented by the caller.
      ['198.51.100.9, 198.51.100.1', 429],
      ['198.51.100.3, not an address', 401],
      [undefined, 401],
    ] as const) {
      assert.equal(await ask(address), status, String(address))
    }
    assert.match(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text(), /countersign_/)
    assert.equal(await service.stop(), 0)
    assert.equal(existsSync(path), false)
  })

  it('replaces a socket that a killed service left, and nothing else', async (t) => {
    const { path, env } = socketIn(t)
    const killed = await production.serve(env)
    await killed.stop('SIGKILL')
    assert.equal(existsSync(path), true)
    const service = await production.serve(env)
    assert.equal(await statusAt(path, '/health'), 200)
    const second = await other.serve(env).catch(({ message }: Error) => message)
    assert.match(String(second), /- HOST: another process listens at /)
    assert.equal(await statusAt(path, '/health'), 200)
    // Another service has put its socket there.
    rmSync(path)
    writeFileSync(path, '')
    chmodSync(path, 0o600)
    assert.equal(await service.stop(), 0)
    assert.equal(existsSync(path), true)
    const third = await other.serve(env).catch(({ message }: Error) => message)
    assert.match(String(third), /- HOST: .* exists and is no socket/)
    const nowhere = { HOST: `unix:${path}.missing/http.sock` }
    const fourth = await other.serve(nowhere).catch(({ message }: Error) => message)
    assert.match(String(fourth), /- HOST: there is no folder /)
  })
})

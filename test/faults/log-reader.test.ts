import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { Client } from '../support/client.ts'
import type { RunningServer } from '../support/process.ts'
import { testProduction } from '../support/production.ts'

/** How much log.ts can hold, plus how much the pipe can hold. */
const heldBytes = 4 * 1024 * 1024 + 128 * 1024
/** The shortest line that the request below can leave. Its id and trace come from the caller. */
const lineBytes = 380
const request = [
  'GET /.well-known/jwks.json HTTP/1.1',
  'Host: localhost',
  `X-Request-Id: ${'filling-'.repeat(16)}`,
  `Traceparent: 00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`,
]
/** Requests sent ahead of their answers. */
const portion = 25
const connections = 4
const refusals = 25

/** Sends batches of requests one after the other on one connection. */
async function sendAhead(port: number, portions: number): Promise<void> {
  const socket = connect(port, '127.0.0.1').setEncoding('latin1')
  await once(socket, 'connect')
  for (let sent = 0; sent < portions; sent += 1) {
    socket.write(`${request.join('\r\n')}\r\n\r\n`.repeat(portion))
    let answers = ''
    while (answers.split('HTTP/1.1 200').length <= portion) answers += (await once(socket, 'data'))[0]
  }
  socket.destroy()
}

describe('log output that nobody reads', () => {
  const production = testProduction()
  let server: RunningServer
  before(async () => {
    server = await production.serve()
  })
  after(async () => {
    server?.process.stdout?.resume()
  })

  const isLine = (line: string) => line.endsWith('}')
  const lines = () => server.output().split('\n').filter(isLine)
  const written = (what: string) => lines().filter((line) => line.includes(what)).length
  const leftOut = () =>
    lines()
      .filter((line) => line.includes('log-left-out'))
      .map((line) => JSON.parse(line))

  /** Sends requests until their lines fill this share of the room. */
  async function fill(share: number): Promise<number> {
    server.process.stdout?.pause()
    const { port } = new URL(server.baseUrl)
    const portions = Math.ceil((share * heldBytes) / (lineBytes * portion * connections))
    await Promise.all(Array.from({ length: connections }, () => sendAhead(Number(port), portions)))
    return portions * portion * connections
  }

  it('loses lines of requests, and counts them, but no line of a refusal', async () => {
    const requests = await fill(1.2)
    for (let count = 0; count < refusals; count += 1) {
      assert.equal((await new Client(server.baseUrl).get('/v1/orders')).status, 401)
    }
    server.process.stdout?.resume()
    const counted = () => leftOut().reduce((sum, line) => sum + line.requests, 0)
    const end = performance.now() + 60_000
    while (written('filling-') + counted() < requests) {
      assert.ok(performance.now() < end, `${written('filling-')} and ${counted()} of ${requests}`)
      await wait(100)
    }
    assert.ok(counted() > 0, 'all lines were kept')
    const strays = leftOut().filter(({ events, msg }) => events !== 0 || !/did not keep up/.test(msg))
    assert.deepEqual(strays, [])
    assert.equal(written('authentication-required'), refusals)
    assert.equal((await new Client(server.baseUrl).get('/health')).status, 200)
  })

  it('does not keep the service from shutting down', async () => {
    await fill(0.2)
    const begun = performance.now()
    assert.equal(await server.stop(), 0)
    const milliseconds = performance.now() - begun
    assert.ok(milliseconds < 5_000, `${milliseconds} ms`)
  })
})

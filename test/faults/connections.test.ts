import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { before, describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { Client } from '../support/client.ts'
import { isLong } from '../support/faults.ts'
import { insertOrders, orderRow } from '../support/orders.ts'
import { testProduction } from '../support/production.ts'
import { setUp, testService } from '../support/service.ts'

/** The limits of app.ts. */
const limits = { headers: 10_000, request: 30_000, silence: 30_000, idle: 75_000 }
/** The short form of the tests uses shorter limits. */
const given = isLong ? limits : { headers: 1_000, request: 2_000, silence: 2_000, idle: 1_000 }
/** How often the server checks, plus what a busy machine may need. */
const slackMilliseconds = 5_000

/** The text that a connection received until it ended, and how long that took. */
async function ending(socket: Socket): Promise<{ text: string; milliseconds: number }> {
  const begun = performance.now()
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk
  })
  // The server may reset what is still being sent.
  socket.on('error', () => undefined)
  await once(socket, 'close')
  return { text, milliseconds: performance.now() - begun }
}

async function connected(baseUrl: string): Promise<Socket> {
  const { hostname, port } = new URL(baseUrl)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  return socket
}

describe('a slow caller', { concurrency: 6 }, () => {
  const service = testService({})
  const bearer = setUp(() => service.bearer('admin'))
  /** The server's ends of the connections, by the client's port. */
  const accepted = new Map<number, Socket>()
  before(async () => {
    service.app.server.on('connection', (socket: Socket) => accepted.set(socket.remotePort ?? 0, socket))
    await insertOrders(
      service,
      Array.from({ length: 5_000 }, () => orderRow()),
    )
    const { server } = service.app
    const {
      headersTimeout: headers,
      requestTimeout: request,
      timeout: silence,
      keepAliveTimeout: idle,
    } = server
    assert.deepEqual({ headers, request, silence, idle }, limits)
    server.headersTimeout = given.headers
    server.requestTimeout = given.request
    server.timeout = given.silence
    server.keepAliveTimeout = given.idle
  })

  const head = (path: string, method = 'GET') =>
    `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${bearer.headers.authorization}\r\n`

  /** Sends the text slowly until the connection ends. */
  function trickle(socket: Socket, text: string): void {
    const timer = setInterval(() => socket.write(text), 100)
    socket.on('close', () => clearInterval(timer))
  }

  async function theServersEnd({ localPort = 0 }: Socket): Promise<Socket> {
    for (;;) {
      const end = accepted.get(localPort)
      if (end !== undefined) return end
      await wait(5)
    }
  }

  function assertEnded(milliseconds: number, limit: number, latest = limit): void {
    assert.ok(milliseconds >= limit - 100, `after ${milliseconds} ms already`)
    assert.ok(milliseconds < latest + slackMilliseconds, `after ${milliseconds} ms only`)
  }

  it('is disconnected if it sends nothing', async () => {
    const { milliseconds } = await ending(await connected(service.baseUrl))
    assertEnded(milliseconds, given.headers)
  })

  it('is answered 408 if its headers take too long, however steadily they come', async () => {
    const socket = await connected(service.baseUrl)
    socket.write(head('/v1/orders'))
    trickle(socket, 'X-More: 1\r\n')
    const { text, milliseconds } = await ending(socket)
    assert.match(text, /^HTTP\/1\.1 408 .*"code":"request-timeout"/s)
    assertEnded(milliseconds, given.headers)
  })

  it('is answered 408 if its body takes too long, however steadily it comes, and nothing is done', async () => {
    const socket = await connected(service.baseUrl)
    socket.write(
      `${head('/v1/orders', 'POST')}Content-Type: application/json\r\nContent-Length: 60000\r\n\r\n`,
    )
    socket.write('{"customer":"slow","total":1}')
    trickle(socket, ' ')
    const { text, milliseconds } = await ending(socket)
    assert.match(text, /^HTTP\/1\.1 408 .*"code":"request-timeout"/s)
    assertEnded(milliseconds, given.request)
    const stored = service.db.read.selectFrom('orders').select('id').where('customer', '=', 'slow').execute()
    assert.deepEqual(await stored, [])
  })

  it('is served for longer than that while it sends a document steadily', async () => {
    const { body } = await bearer.post('/v1/orders', { customer: 'slow document', total: 1 })
    const socket = await connected(service.baseUrl)
    const path = `/v1/orders/${body.id}/documents?name=slow`
    socket.write(`${head(path, 'POST')}Connection: close\r\nContent-Length: 5000000\r\n\r\n`)
    const begun = performance.now()
    const ended = ending(socket)
    const timer = setInterval(() => {
      const isLast = performance.now() - begun > 2 * given.request
      socket.write('x'.repeat(isLast ? 5_000_000 - socket.bytesWritten + headBytes : 8_000))
      if (isLast) clearInterval(timer)
    }, 100)
    const headBytes = socket.bytesWritten
    const { text } = await ended
    assert.match(text, /^HTTP\/1\.1 201 /)
  })

  it('is disconnected if it waits too long between two requests', async () => {
    const socket = await connected(service.baseUrl)
    socket.write(`${head('/health')}\r\n`)
    const { text, milliseconds } = await ending(socket)
    assert.match(text, /^HTTP\/1\.1 200 /)
    assertEnded(milliseconds, given.idle)
  })

  it('is disconnected if it does not read its answers, and they are dropped', async () => {
    const socket = await connected(service.baseUrl)
    socket.on('error', () => undefined)
    socket.pause()
    const served = await theServersEnd(socket)
    served.on('error', () => undefined)
    const begun = performance.now()
    // More than the buffers of both ends can hold.
    socket.write(`${head('/v1/orders?paginated=false')}\r\n`.repeat(15))
    await once(served, 'close')
    // At its first check, Node finds that something was sent since.
    assertEnded(performance.now() - begun, given.silence, 2 * given.silence)
    socket.destroy()
  })
})

const connections = isLong ? 10_000 : 1_000
const atOnce = 250

describe(`${connections} connections that ask for nothing`, () => {
  const production = testProduction()

  it('do not hold up anyone, and are closed', async (t) => {
    const { baseUrl } = await production.serve()
    const sockets: Socket[] = []
    while (sockets.length < connections) {
      sockets.push(...(await Promise.all(Array.from({ length: atOnce }, () => connected(baseUrl)))))
    }
    for (const [index, socket] of sockets.entries()) {
      socket.on('error', () => undefined)
      if (index % 2 === 0) socket.write('GET /v1/orders HTTP/1.1\r\nHost: loc')
    }
    const ended = Promise.all(sockets.map((socket) => ending(socket)))
    const milliseconds: number[] = []
    for (let count = 0; count < 50; count += 1) {
      const begun = performance.now()
      assert.equal((await new Client(baseUrl).get('/health')).status, 200)
      milliseconds.push(performance.now() - begun)
      await wait(20)
    }
    assert.ok(
      sockets.every((socket) => !socket.closed),
      'some were let go before the last answer',
    )
    const [fastest = 0, ...others] = milliseconds.toSorted((a, b) => a - b)
    const [usual = 0, slowest = 0] = [others[Math.floor(others.length / 2)], others.at(-1)]
    const figures = [fastest, usual, slowest].map((figure) => figure.toFixed(1)).join(', ')
    t.diagnostic(`/health in ms, fastest, median and slowest of ${milliseconds.length}: ${figures}`)
    assert.ok(usual < 100, `${usual} ms`)
    for (const ending of await ended) {
      assert.ok(ending.milliseconds < limits.headers + 2 * slackMilliseconds, `${ending.milliseconds} ms`)
    }
    assert.equal((await new Client(baseUrl).get('/health/ready')).status, 200)
  })
})

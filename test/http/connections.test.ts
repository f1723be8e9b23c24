import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { after, before, describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { fastify } from 'fastify'
import { keepAnswering, registerConnections, unreadLimitBytes } from '../../server/http/connections.ts'
import type { App } from '../../server/http/route.ts'
import { insertOrders, orderRow } from '../support/orders.ts'
import { setUp, testService } from '../support/service.ts'

async function connected(baseUrl: string): Promise<Socket> {
  const { hostname, port } = new URL(baseUrl)
  const socket = connect(Number(port), hostname)
  // The server may end the connection while the test is still sending.
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  return socket
}

async function until(holds: () => boolean): Promise<void> {
  for (const end = performance.now() + 30_000; !holds(); await wait(20)) assert.ok(performance.now() < end)
}

/** An app without routes. */
function appWith(limits: Parameters<typeof registerConnections>[1] = {}): App {
  const app = fastify() as unknown as App
  app.decorateRequest('principal', null)
  app.decorateRequest('clientAddress', '')
  registerConnections(app, limits)
  return app
}

describe('requests sent ahead on a connection', () => {
  const service = testService({ inside: true })
  const bearer = setUp(() => service.bearer('admin'))

  const message = (start: string, lines: string[] = [], body = '') =>
    [start, 'Host: x', `Authorization: ${bearer.headers.authorization}`, ...lines, '', body].join('\r\n')
  const body = JSON.stringify({ customer: 'Ahead', total: 1 })
  const create = () =>
    message(
      'POST /v1/orders HTTP/1.1',
      ['Content-Type: application/json', `Content-Length: ${body.length}`],
      body,
    )
  const list = () => message('GET /v1/orders HTTP/1.1')

  const statusesOf = (received: string) =>
    [...received.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status ?? '')
  async function answersTo(text: string, count: number): Promise<string> {
    const socket = await connected(service.baseUrl)
    let received = ''
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      received += chunk
    })
    socket.write(text)
    await until(() => statusesOf(received).length >= count || socket.closed)
    await wait(50)
    socket.destroy()
    return received
  }

  it('are answered one after another', async () => {
    const received = await answersTo(create().repeat(10) + list(), 11)
    assert.deepEqual(statusesOf(received), [...Array(10).fill('201'), '200'])
    assert.match(received, /"totalCount":10,/)
  })

  it('end the connection if there are too many', async () => {
    const health = 'GET /health HTTP/1.1\r\nHost: x\r\n\r\n'
    assert.equal(statusesOf(await answersTo(health.repeat(33), 33)).length, 33)
    const received = await answersTo(health.repeat(1_000), 1_000)
    assert.ok(statusesOf(received).length <= 33, received)
    assert.equal((await bearer.get('/health')).status, 200)
  })
})

describe('answers that are not read', () => {
  const service = testService({ inside: true })
  const bearer = setUp(() => service.bearer('admin'))
  const sockets: Socket[] = []
  let lists = 0
  before(async () => {
    // More than both ends of a connection buffer, and a third of what a caller may leave unread.
    await insertOrders(
      service,
      Array.from({ length: 10_000 }, () => orderRow({ customer: '𝄞'.repeat(200) })),
    )
    const query = service.db.query.bind(service.db)
    service.db.query = (...input) => {
      lists += 1
      return query(...input)
    }
  })

  const path = '/v1/orders?paginated=false'
  async function askWithoutReading(times = 1): Promise<void> {
    const socket = await connected(service.baseUrl)
    sockets.push(socket)
    socket.pause()
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${bearer.headers.authorization}\r\n\r\n`.repeat(
        times,
      ),
    )
  }

  it('hold back later answers on the connection', async () => {
    lists = 0
    await askWithoutReading(10)
    await until(() => lists > 0)
    await wait(1_000)
    assert.equal(lists, 1)
  })

  it('are limited for each caller, who is otherwise served like everyone else', async () => {
    // By HEAD, because it makes the same list without sending it.
    const look = () => bearer.send('HEAD', path)
    const size = Number((await look()).headers.get('content-length'))
    assert.ok(size > unreadLimitBytes / 8 && size < unreadLimitBytes, `${size}`)
    while ((await look()).status === 200) {
      assert.ok(sockets.length < 10)
      await askWithoutReading()
      await wait(300)
    }
    const refused = await bearer.get(path)
    assert.equal(refused.status, 503)
    assert.equal(refused.body.code, 'overloaded')
    assert.match(refused.headers.get('retry-after') ?? '', /^\d+$/)
    assert.equal((await bearer.get('/v1/orders')).status, 200)
    assert.equal((await (await service.bearer('viewer')).send('HEAD', path)).status, 200)
    for (const socket of sockets) socket.destroy()
    for (const end = performance.now() + 30_000; (await look()).status !== 200; await wait(50)) {
      assert.ok(performance.now() < end, 'still refused')
    }
  })
})

it('a large answer does not count as unread if its caller left before it was ready', async (t) => {
  const app = appWith()
  t.after(() => app.close())
  let made = 0
  app.get('/gone', async (request, reply) => {
    await once(request.raw.socket, 'close')
    await wait(1)
    assert.equal(reply.raw.closed, true)
    made += 1
    return 'x'.repeat(unreadLimitBytes / 2)
  })
  app.get('/', async () => 'x'.repeat(unreadLimitBytes / 2))
  const baseUrl = await app.listen({ host: '127.0.0.1', port: 0 })
  for (const times of [1, 2, 3]) {
    const socket = await connected(baseUrl)
    socket.write('GET /gone HTTP/1.1\r\nHost: x\r\n\r\n')
    await wait(50)
    socket.destroy()
    await until(() => made === times)
  }
  const answer = await fetch(baseUrl)
  assert.equal(answer.status, 200)
  assert.equal((await answer.text()).length, unreadLimitBytes / 2)
})

it('of large answers that overlap, those count that are not read yet, whichever ended first', async (t) => {
  const app = appWith()
  t.after(() => app.close())
  app.get('/', async () => 'x'.repeat(unreadLimitBytes / 2))
  const baseUrl = await app.listen({ host: '127.0.0.1', port: 0 })
  const ask = async () => {
    const begun = once(app.server, 'request') as Promise<[unknown, ServerResponse]>
    const socket = await connected(baseUrl)
    socket.pause()
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    const [, answer] = await begun
    await until(() => answer.headersSent)
    return { socket, answer }
  }
  const leave = async ({ socket, answer }: Awaited<ReturnType<typeof ask>>) => {
    const closed = once(answer, 'close')
    socket.destroy()
    await closed
  }
  const [first, second] = [await ask(), await ask()]
  assert.equal((await fetch(baseUrl)).status, 503)
  await leave(first)
  const third = await ask()
  assert.equal((await fetch(baseUrl)).status, 503)
  for (const each of [second, third]) await leave(each)
  const both = [await ask(), await ask()]
  assert.deepEqual(
    both.map(({ answer }) => answer.statusCode),
    [200, 200],
  )
  for (const each of both) await leave(each)
})

describe('an answer that is read bit by bit', () => {
  const limit = 1_000
  let app: App
  let baseUrl: string
  before(async () => {
    app = appWith({ exchangeLimitMilliseconds: limit })
    app.get('/', { config: { access: 'public' } }, async () => Buffer.alloc(30_000_000) as never)
    app.get('/less', { config: { access: 'public' } }, async () => Buffer.alloc(3_000_000) as never)
    // Like an export: each batch is made once the one before it has been taken.
    app.get('/batches', { config: { access: 'public' } }, async ({ raw }, reply) => {
      const batches = async function* () {
        for (let made = 0; made < 16; made += 1) {
          await wait(limit / 4)
          keepAnswering(raw.socket)
          yield 'x'
        }
      }
      return reply.send(Readable.from(batches(), { objectMode: false }))
    })
    baseUrl = await app.listen({ host: '127.0.0.1', port: 0 })
  })
  after(() => app.close())

  it('is cut off with its connection after the time limit, however steadily it is read', async () => {
    const served = once(app.server, 'connection') as Promise<[Socket]>
    const socket = await connected(baseUrl)
    const [theirs] = await served
    const begun = performance.now()
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    socket.pause()
    const reading = setInterval(() => socket.read(1_000), 50)
    await once(theirs, 'close')
    clearInterval(reading)
    socket.destroy()
    const took = performance.now() - begun
    assert.ok(took >= limit && took < limit + 5_000, `${took} ms`)
  })

  it('lasts as long as needed if it is sent in batches and each is read in time', async () => {
    const begun = performance.now()
    assert.equal(await (await fetch(`${baseUrl}/batches`)).text(), 'x'.repeat(16))
    assert.ok(performance.now() - begun > limit + 2_500)
  })

  it('arrives whole if it is read in time, even on a connection older than the limit', async () => {
    const socket = await connected(baseUrl)
    for (let turn = 0; turn < 3; turn += 1) {
      let received = 0
      const listener = (chunk: Buffer) => {
        received += chunk.length
      }
      socket.on('data', listener)
      socket.write('GET /less HTTP/1.1\r\nHost: x\r\n\r\n')
      await until(() => received > 3_000_000)
      socket.off('data', listener)
      await wait(1_000)
    }
    assert.equal(socket.closed, false)
    socket.destroy()
  })
})

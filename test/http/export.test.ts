// engine: none
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { it, type TestContext } from 'node:test'
import { fastify } from 'fastify'
import { registerConnections } from '../../server/http/connections.ts'
import { Exports } from '../../server/http/export.ts'
import type { App } from '../../server/http/route.ts'

const limit = 500

interface Settings {
  batches: () => AsyncIterable<string>
  isAdmitted?: boolean
  connectionTimeout?: number
  exchangeLimitMilliseconds?: number
}

/** An app whose only answer is an export. */
async function serve(t: TestContext, settings: Settings): Promise<App> {
  const { batches, isAdmitted = true, connectionTimeout = 0, ...limits } = settings
  const app = fastify({ connectionTimeout }) as unknown as App
  t.after(() => app.close())
  app.decorateRequest('principal', { getter: () => ({ id: 1 }) } as never)
  app.decorateRequest('clientAddress', '')
  registerConnections(app, limits)
  let seconds = 0
  const exports = new Exports(
    async () => isAdmitted,
    () => 10_000 * seconds++,
  )
  app.get('/', (request, reply) =>
    exports.send(request, reply, { type: 'text/csv', fileName: 'all', batches: batches() }),
  )
  await app.listen({ host: '127.0.0.1', port: 0 })
  return app
}

function ask({ server }: App, version: string): Socket {
  const { port } = server.address() as { port: number }
  const socket = connect(port, '127.0.0.1')
  socket.write(`GET / HTTP/${version}\r\nHost: x\r\nConnection: close\r\n\r\n`)
  return socket
}

/** Reads the socket to the end. Throws the error that ends it. */
async function textOf(socket: Socket): Promise<string> {
  let text = ''
  for await (const part of socket.setEncoding('utf8')) text += part
  return text
}

const wasReset = { code: 'ECONNRESET' }

async function* endless() {
  for (;;) yield 'x'.repeat(100_000)
}

for (const [version, ending] of [
  ['1.0', /\r\n\r\nabc$/],
  ['1.1', /\r\n0\r\n\r\n$/],
] as const) {
  it(`an export over HTTP/${version} ends normally when it is complete`, async (t) => {
    const batches = async function* () {
      yield* ['a', 'b', 'c']
    }
    assert.match(await textOf(ask(await serve(t, { batches }), version)), ending)
  })

  it(`an export over HTTP/${version} resets its connection when a batch fails`, async (t) => {
    const batches = async function* () {
      yield 'a'
      throw new Error('no database')
    }
    await assert.rejects(textOf(ask(await serve(t, { batches }), version)), wasReset)
  })

  it(`an export over HTTP/${version} resets its connection when its caller may not read on`, async (t) => {
    const app = await serve(t, { batches: endless, isAdmitted: false })
    await assert.rejects(textOf(ask(app, version)), wasReset)
  })

  for (const timeout of ['connectionTimeout', 'exchangeLimitMilliseconds']) {
    it(`an export over HTTP/${version} resets its connection when it is not read, by ${timeout}`, async (t) => {
      const app = await serve(t, { batches: endless, [timeout]: limit })
      const connection = once(app.server, 'connection') as Promise<[Socket]>
      const socket = ask(app, version)
      const [theirs] = await connection
      await once(theirs, 'close')
      await assert.rejects(textOf(socket), wasReset)
    })
  }
}

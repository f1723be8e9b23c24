// engine: none
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { ConnectionLosses, PipelinedConnection } from '../../server/db/postgres/connections.ts'

function message(type: string, ...parts: (string | number[])[]): Buffer {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part as string)))
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

const ready = message('Z', 'I')
const welcome = Buffer.concat([message('R', [0, 0, 0, 0]), ready])
const refusal = Buffer.concat([message('E', 'SERROR\0C57014\0Mtoo slow\0', [0]), ready])

/** A server that lets everyone in, and refuses the first statement of each. */
async function startRefusing(t: TestContext) {
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    socket.once('data', () => {
      socket.write(welcome)
      socket.once('data', () => socket.write(refusal))
    })
    socket.on('error', () => undefined)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, sockets }
}

describe('the connection that single reads share', () => {
  it('is closed if its setup fails', async (t) => {
    const { port, sockets } = await startRefusing(t)
    const connectionString = `postgres://nobody@127.0.0.1:${port}/none`
    const connection = new PipelinedConnection({
      config: { connectionString },
      setup: 'set plan_cache_mode = force_generic_plan',
      losses: new ConnectionLosses(),
    })
    for (let time = 1; time <= 2; time += 1) {
      await assert.rejects(connection.acquire(), /too slow/)
      const socket = sockets[time - 1]
      assert.ok(socket)
      if (!socket.closed) await once(socket, 'close', { signal: AbortSignal.timeout(20_000) })
    }
    await connection.close()
  })
})

// engine: none
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { it, type TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { Connection, ConnectionLosses, PipelinedConnection } from '../../server/db/postgres/connections.ts'
import { StatementNames, translatePostgresError } from '../../server/db/postgres/driver.ts'

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

/** A server that lets everyone in and refuses the first statement of each connection. */
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

it('the connection that single reads share is closed if its setup fails', async (t) => {
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

it('the failure to reach a host with several addresses names each of them', () => {
  const errors = ['::1', '127.0.0.1'].map((address) => {
    const error = new Error(`connect ECONNREFUSED ${address}:1`)
    return Object.assign(error, { syscall: 'connect' })
  })
  const { message } = translatePostgresError(new AggregateError(errors)) as Error
  const each = 'connect ECONNREFUSED ::1:1, connect ECONNREFUSED 127.0.0.1:1'
  assert.equal(message, `the connection failed: ${each}`)
})

it('the first 256 statements of a connection have a name, which stays', () => {
  const names = new StatementNames('q')
  const given = Array.from({ length: 258 }, (_, index) => names.of(`select ${index}`))
  assert.deepEqual(given.slice(254), ['q254', 'q255', undefined, undefined])
  assert.equal(names.of('select 1'), 'q1')
})

it('a connection that is left is closed even if the server does not react', async (t) => {
  const sockets: Socket[] = []
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.push(socket)
    socket.on('error', () => undefined).once('data', () => socket.write(welcome))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const connection = new Connection({ connectionString: `postgres://nobody@127.0.0.1:${port}/none` })
  await connection.connect()
  const left = connection.leave(10).then(() => 'left')
  assert.equal(await Promise.race([left, wait(10_000, 'waits', { ref: false })]), 'left')
})

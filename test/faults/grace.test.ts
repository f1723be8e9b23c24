import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import type { Client } from '../support/client.ts'
import { withRawDatabase } from '../support/database.ts'
import { insertOrders, orderRow } from '../support/orders.ts'
import type { RunningServer } from '../support/process.ts'
import { bearerOf, newProduction, type Production } from '../support/production.ts'

describe('the service while it shuts down', { concurrency: 3 }, () => {
  /** A service on a database that no other has. */
  async function start(
    t: TestContext,
  ): Promise<{ server: RunningServer; admin: Client; production: Production }> {
    const production = await newProduction()
    t.after(() => production.remove())
    const server = await production.serve()
    return { server, admin: await bearerOf(server.baseUrl, 'admin'), production }
  }

  /** A create that has arrived except for the last byte of its body. */
  async function beginCreate(admin: Client, customer: string) {
    const { hostname, port } = new URL(admin.baseUrl)
    const socket = connect(Number(port), hostname)
    await once(socket, 'connect')
    const body = JSON.stringify({ customer, total: 1 })
    const lines = [
      'POST /v1/orders HTTP/1.1',
      'Host: localhost',
      `Authorization: ${admin.headers.authorization}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
    ]
    socket.write(`${lines.join('\r\n')}\r\n\r\n${body.slice(0, -1)}`)
    // Once the next request of this kind is answered, the guard has let the create in.
    await admin.get('/v1/orders?pageSize=1')
    return { socket, finish: () => socket.write(body.slice(-1)) }
  }

  async function received(socket: Socket): Promise<string> {
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk
    })
    await once(socket, 'close')
    return text
  }

  async function isStored({ databaseUrl }: Production, customer: string): Promise<boolean> {
    const row = await withRawDatabase(databaseUrl, (db) =>
      db.selectFrom('orders').select('id').where('customer', '=', customer).executeTakeFirst(),
    )
    return row !== undefined
  }

  it('waits for a request whose body is still arriving, and answers it', async (t) => {
    const { server, admin, production } = await start(t)
    const { socket, finish } = await beginCreate(admin, 'slow body')
    const text = received(socket)
    const stopped = server.stop('SIGTERM')
    await wait(1_000)
    assert.equal(server.process.exitCode, null)
    finish()
    assert.match(await text, /^HTTP\/1\.1 201 /)
    assert.equal(await stopped, 0)
    assert.ok(await isStored(production, 'slow body'))
  })

  it('abandons what is unfinished when the grace period is over, and resets an export over HTTP/1.0', async (t) => {
    const { server, admin, production } = await start(t)
    const { socket } = await beginCreate(admin, 'never ends')
    const text = received(socket)
    // About three times what the buffers of a connection can hold.
    const rows = Array.from({ length: 12_000 }, () => orderRow({ customer: '𝄞'.repeat(200) }))
    await insertOrders(production, rows)
    const { hostname, port } = new URL(server.baseUrl)
    const exporting = connect(Number(port), hostname)
    const { authorization } = admin.headers
    exporting.write(
      `GET /v1/orders HTTP/1.0\r\nAuthorization: ${authorization}\r\nAccept: application/jsonl\r\n\r\n`,
    )
    await once(exporting, 'readable')
    const status = await server.stop('SIGTERM')
    await text
    assert.notEqual(status, 0)
    assert.match(server.output(), /killed by timeout/)
    assert.equal(await isStored(production, 'never ends'), false)
    // Nobody takes it for complete.
    const drained = async () => {
      for await (const _ of exporting);
    }
    await assert.rejects(drained, { code: 'ECONNRESET' })
  })

  it('exits at once on a second signal', async (t) => {
    const { server, admin, production } = await start(t)
    const { socket } = await beginCreate(admin, 'second signal')
    const text = received(socket)
    const ended = once(server.process, 'close')
    server.process.kill('SIGTERM')
    await server.printed('shutting down')
    server.process.kill('SIGTERM')
    const [status] = await ended
    assert.notEqual(status, 0)
    assert.match(server.output(), /second SIGTERM/)
    assert.doesNotMatch(server.output(), /killed by timeout/)
    await text
    assert.equal(await isStored(production, 'second signal'), false)
  })
})

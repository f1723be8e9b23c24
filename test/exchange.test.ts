import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, createServer } from 'node:http'
import { type AddressInfo, createServer as createPlainServer, type Socket } from 'node:net'
import { it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { exchange } from '../server/exchange.ts'
import { systemNames } from '../server/names.ts'

it('a request on a kept connection that ends just then is sent again if it changes nothing', async (t) => {
  const seen: Socket[] = []
  const server = createServer(({ socket }, response) => {
    const isKept = seen.includes(socket)
    seen.push(socket)
    if (isKept) socket.destroy()
    else response.end('answer')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => server.close().closeAllConnections())
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const agent = new Agent({ keepAlive: true })
  t.after(() => agent.destroy())
  const ask = async (method: string) => {
    const signal = AbortSignal.timeout(60_000)
    const answer = await exchange(url, { method, resolve: systemNames(), agent, signal })
    for await (const _ of answer);
    return answer.statusCode
  }
  assert.equal(await ask('GET'), 200)
  assert.equal(await ask('GET'), 200)
  assert.equal(seen.length, 3)
  assert.equal(await ask('POST'), 200)
  await assert.rejects(ask('POST'))
  assert.equal(seen.length, 5)
})

it('an answer that changes the protocol is none', async (t) => {
  const server = createPlainServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => socket.write('HTTP/1.1 101 x\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => server.close())
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const asked = exchange(url, { resolve: systemNames(), signal: AbortSignal.timeout(5_000) })
  const late = pause(10_000, undefined, { ref: false }).then(() => assert.fail('it waits without end'))
  await assert.rejects(Promise.race([asked, late]), /ended the connection without an answer/)
})

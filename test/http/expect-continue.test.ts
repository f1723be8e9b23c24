import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, it } from 'node:test'
import { setUp, testService } from '../support/service.ts'

const order = JSON.stringify({ customer: 'Acme', total: 1 })

/** A request whose body the client holds back until it is asked for it. */
class HeldBack {
  readonly #socket: Socket
  #received = ''

  constructor(baseUrl: string, lines: string[]) {
    const { hostname, port } = new URL(baseUrl)
    this.#socket = connect({ host: hostname, port: Number(port) }).setEncoding('utf8')
    this.#socket.on('data', (text) => {
      this.#received += text
    })
    this.send(`${lines.join('\r\n')}\r\nExpect: 100-continue\r\nContent-Length: ${order.length}\r\n\r\n`)
  }

  send(text: string): void {
    this.#socket.write(text)
  }

  /** Everything received, as soon as it has this. */
  async received(wanted: RegExp): Promise<string> {
    while (!wanted.test(this.#received)) await once(this.#socket, 'data')
    return this.#received
  }

  async closed(): Promise<string> {
    if (!this.#socket.closed) await once(this.#socket, 'close')
    return this.#received
  }

  end(): void {
    this.#socket.destroy()
  }
}

describe('Expect: 100-continue', () => {
  const service = testService()
  const operator = setUp(() => service.bearer('operator'))
  const viewer = setUp(() => service.bearer('viewer'))
  const head = (authorization: string | undefined, type = 'application/json') => [
    'POST /v1/orders HTTP/1.1',
    'Host: localhost',
    `Content-Type: ${type}`,
    ...(authorization === undefined ? [] : [`Authorization: ${authorization}`]),
  ]

  it('asks for the body once the caller is known, and keeps the connection', async () => {
    const request = new HeldBack(service.baseUrl, head(operator.headers.authorization))
    assert.equal(await request.received(/\r\n\r\n/), 'HTTP/1.1 100 Continue\r\n\r\n')
    request.send(order)
    assert.doesNotMatch(await request.received(/201 Created[\s\S]*\{"id":"[^"]+"\}/), /connection: close/i)
    request.send('GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await request.received(/\{"status":"ok"\}/)
    request.end()
  })

  it('answers a caller that is refused without its body, and closes the connection', async () => {
    for (const [lines, status] of [
      [head(undefined), 401],
      [head('Bearer x.y.z'), 401],
      [head(viewer.headers.authorization), 403],
      [head(operator.headers.authorization, 'text/plain'), 415],
      [['POST /v1/none HTTP/1.1', 'Host: localhost'], 404],
    ] as const) {
      const request = new HeldBack(service.baseUrl, [...lines])
      const answer = await request.received(/\r\n\r\n/)
      request.end()
      assert.match(answer, new RegExp(`^HTTP/1.1 ${status} `))
      assert.match(answer, /\r\nconnection: close\r\n/i)
    }
  })

  it('closes the connection after the answer if the request says so', async () => {
    const lines = [...head(operator.headers.authorization), 'Connection: close']
    const request = new HeldBack(service.baseUrl, lines)
    await request.received(/100 Continue/)
    request.send(order)
    assert.match(await request.closed(), /201 Created/)
  })
})

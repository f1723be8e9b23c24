import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { exchange, request } from '../support/raw.ts'
import { startService, testService } from '../support/service.ts'

const trace = '0af7651916cd43dd8448eb211c80319c'
const parent = 'b7ad6b7169203331'

describe('a request', () => {
  const service = testService()

  const linesOf = async (requestId: string) =>
    (await service.log()).filter((line) => line.requestId === requestId)

  it('is logged once, with its id, and without query, headers or body', async () => {
    const admin = await service.bearer('admin')
    const requestId = 'logged-request-1'
    await admin.post(
      '/v1/orders?filter=secret-in-query',
      { customer: 'secret-in-body', total: 1 },
      { 'x-request-id': requestId },
    )
    const lines = (await linesOf(requestId)).filter(({ msg }) => msg === 'request')
    assert.equal(lines.length, 1)
    const { method, path, route, status, caller, via } = lines[0] ?? {}
    assert.deepEqual(
      { method, path, route, status, caller, via },
      {
        method: 'POST',
        path: '/v1/orders',
        route: 'createOrder',
        status: 201,
        caller: 'admin',
        via: 'bearer',
      },
    )
    const everything = JSON.stringify(await service.log())
    assert.doesNotMatch(everything, /secret-in-/)
    assert.ok(!everything.includes(admin.headers.authorization ?? 'no'))
  })

  it('is logged without the part after a #, which the router treats like a query', async () => {
    for (const path of ['/v1/none#secret-in-fragment', '/v1/orders#filter=secret-in-fragment?x=1']) {
      const { status, text } = await exchange(service.baseUrl, request('GET', path))
      assert.ok([401, 404].includes(status))
      assert.doesNotMatch(text, /secret-in-/)
    }
    assert.doesNotMatch(JSON.stringify(await service.log()), /secret-in-/)
  })

  it('is logged with only the start of a long path', async () => {
    const path = `/v1/${'long/'.repeat(1_520)}`
    const { headers } = await service.client().get(path, { 'x-request-id': 'logged-request-3' })
    assert.equal(headers.get('x-request-id'), 'logged-request-3')
    assert.equal((await linesOf('logged-request-3'))[0]?.path, path.slice(0, 256))
  })

  it('gets a new id each time, even if it carries two', async () => {
    const ids = new Set<string>()
    for (let count = 0; count < 20; count += 1) {
      const answer = await service.client().get('/health')
      ids.add(answer.headers.get('x-request-id') ?? '')
    }
    assert.equal(ids.size, 20)
    const twice = ['X-Request-Id: first-request-id', 'X-Request-Id: second-request-id']
    const answer = await exchange(service.baseUrl, request('GET', '/health', twice))
    assert.match(answer.headers.get('x-request-id') ?? '', /^[A-Za-z0-9._-]{8,128}$/)
  })

  it('keeps an id of 8 to 128 characters', async () => {
    for (const id of ['a1._-B22', 'r'.repeat(128)]) {
      const answer = await service.client().get('/v1/none', { 'x-request-id': id })
      assert.equal(answer.headers.get('x-request-id'), id)
      assert.equal(answer.body.requestId, id)
    }
    const wrong = ['a1._-B2', 'r'.repeat(129), 'with space 1', 'semi;colon', '"quoted-id"', 'ünicode-id']
    for (const id of wrong) {
      const answer = await exchange(service.baseUrl, request('GET', '/v1/none', [`X-Request-Id: ${id}`]))
      const made = answer.headers.get('x-request-id') ?? ''
      assert.notEqual(made, id)
      assert.match(made, /^[A-Za-z0-9._-]{8,128}$/)
      assert.equal(answer.body.requestId, made)
    }
  })

  it('continues the trace of its caller, in the answer and in the log', async () => {
    const requestId = 'traced-request-1'
    const traceparent = `00-${trace}-${parent}-01`
    const answer = await service.client().get('/v1/none', { traceparent, 'x-request-id': requestId })
    const [version, traceId, span, flags] = (answer.headers.get('traceparent') ?? '').split('-')
    assert.deepEqual([version, traceId, flags], ['00', trace, '01'])
    assert.match(span ?? '', /^[0-9a-f]{16}$/)
    assert.notEqual(span, parent)
    const lines = await linesOf(requestId)
    assert.ok(lines.length > 0)
    for (const line of lines) assert.equal(line.traceId, trace)
  })

  it('does not continue a malformed trace', async () => {
    const malformed = [
      `00-${'0'.repeat(32)}-${parent}-01`,
      `00-${trace}-${'0'.repeat(16)}-01`,
      `00-${trace.toUpperCase()}-${parent}-01`,
      `ff-${trace}-${parent}-01`,
      `00-${trace}-${parent}`,
      `00-${trace}-${parent}-01-more`,
      'x',
    ]
    for (const traceparent of malformed) {
      const answer = await service.client().get('/health', { traceparent })
      assert.equal(answer.status, 200)
      assert.equal(answer.headers.get('traceparent'), null, traceparent)
    }
  })

  it('for a foreign host is answered 421 in development, and served with --allow-remote-demo or in production', async (t) => {
    const development = await startService({ development: true, until: t })
    const ask = (baseUrl: string, host: string) =>
      exchange(baseUrl, `GET /health HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
    for (const host of 'localhost localhost:8080 127.0.0.1:1 127.8.9.1 [::1]:80 app.localhost LOCALHOST'.split(
      ' ',
    )) {
      assert.equal((await ask(development.baseUrl, host)).status, 200, host)
    }
    for (const host of [
      'evil.example',
      'localhost.evil.example',
      '10.0.0.1',
      '',
      'localhost@evil.example',
      '127.0.0.1.evil.example',
    ]) {
      const answer = await ask(development.baseUrl, host)
      assert.equal(answer.status, 421, host)
      assert.equal(answer.body.code, 'misdirected-request', host)
    }
    assert.equal((await ask(service.baseUrl, 'orders.example.com')).status, 200)
  })
})

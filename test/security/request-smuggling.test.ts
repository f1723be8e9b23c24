import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { before, describe, it } from 'node:test'
import { newUser, signIn, tokenPair } from '../support/accounts.ts'
import { exchange, request } from '../support/raw.ts'
import { publicUrl, testService } from '../support/service.ts'

const smuggled = 'GET /health HTTP/1.1\r\nHost: x\r\n\r\n'
const post = ['POST /v1/auth/token HTTP/1.1', 'Host: x', 'Content-Type: application/json']
const get = ['GET /health HTTP/1.1', 'Host: x']
const message = (lines: string[], body = '') => `${lines.join('\r\n')}\r\n\r\n${body}`
const withLength = (...lengths: string[]) =>
  message([...post, ...lengths.map((length) => `Content-Length: ${length}`)], `{}${smuggled}`)
const inChunks = (chunks: string) => message([...post, 'Transfer-Encoding: chunked'], chunks)
const chunked = (...lines: string[]) => message([...post, ...lines], `0\r\n\r\n${smuggled}`)

/** Bytes about which two readers could disagree: where a request ends, or what a line says. */
const ambiguous: Record<string, string> = {
  'two lengths, equal': withLength('2', '2'),
  'two lengths, different': withLength('2', '60'),
  'a list of lengths': withLength('2, 2'),
  'a length with a plus': withLength('+2'),
  'a negative length': withLength('-2'),
  'a hexadecimal length': withLength('0x2'),
  'a length with a fraction': withLength('2.0'),
  'a length of two words': withLength('2 2'),
  'an empty length': withLength(''),
  'a length beyond every number': withLength('9'.repeat(40)),
  'a length and chunks': chunked('Content-Length: 5', 'Transfer-Encoding: chunked'),
  'chunks and a length': chunked('Transfer-Encoding: chunked', 'Content-Length: 5'),
  'an unknown coding': chunked('Transfer-Encoding: xchunked'),
  'identity, which is no coding': chunked('Transfer-Encoding: identity', 'Content-Length: 5'),
  'a coding twice': chunked('Transfer-Encoding: chunked', 'Transfer-Encoding: identity'),
  'chunked, and something after it': chunked('Transfer-Encoding: chunked, x'),
  'a coding behind a vertical tab': chunked('Transfer-Encoding: \x0bchunked'),
  'a coding behind a NUL': chunked('Transfer-Encoding: \0chunked'),
  'a space before the colon of Transfer-Encoding': chunked('Transfer-Encoding : chunked'),
  'a space before the colon of Content-Length': message([...post, 'Content-Length : 2'], `{}${smuggled}`),
  'a chunk size that is not a number': inChunks(`zz\r\n{}\r\n${smuggled}`),
  'a chunk size with a minus': inChunks(`-2\r\n{}\r\n${smuggled}`),
  'a chunk size beyond 64 bits': inChunks(`${'f'.repeat(17)}\r\n{}\r\n0\r\n\r\n${smuggled}`),
  'chunks ended by line feeds alone': inChunks(`2\n{}\n0\n\n${smuggled}`),
  'a chunk longer than it says': inChunks(`1\r\n{}\r\n0\r\n\r\n${smuggled}`),
  'a line feed in a chunk extension': inChunks(`2;a\nb\r\n{}\r\n0\r\n\r\n${smuggled}`),
  'a folded line': message([...get, 'X-One: a', ' X-Two: b'], smuggled),
  'a folded first line': message(['GET /health HTTP/1.1', ' Host: x', 'Host: x'], smuggled),
  'a header without a colon': message([...get, 'nonsense'], smuggled),
  'a header without a name': message([...get, ': x'], smuggled),
  'a space in the name of a header': message([...get, 'Auth orization: x'], smuggled),
  'NUL in the name of a header': message([...get, 'X-\0: x'], smuggled),
  'NUL in the value of a header': message([...get, 'X-One: a\0b'], smuggled),
  'a carriage return in a value': message([...get, 'X-One: a\rX-Two: b'], smuggled),
  'a line feed in a value': message([...get, 'X-One: a\nX-Two: b'], smuggled),
  'line feeds alone': `${get.join('\n')}\n\n${smuggled}`,
  'NUL in the path': message(['GET /health\0 HTTP/1.1', 'Host: x'], smuggled),
  'a line feed in the path': message(['GET /health\n/x HTTP/1.1', 'Host: x'], smuggled),
  'a space in the path': message(['GET /health /x HTTP/1.1', 'Host: x'], smuggled),
  'a method in lower case': message(['get /health HTTP/1.1', 'Host: x'], smuggled),
  'a version that does not exist': message(['GET /health HTTP/1.2', 'Host: x'], smuggled),
  'two Hosts': message([...get, 'Host: y', 'Connection: close'], smuggled),
  'two Hosts, equal': message([...get, 'Host: x', 'Connection: close'], smuggled),
  'no Host': message(['GET /health HTTP/1.1', 'Connection: close'], smuggled),
}

describe('smuggled requests', () => {
  const service = testService()
  let cookie: string
  let bearer: string
  let viewer: string
  before(async () => {
    const admin = await newUser(service, { roles: ['Admin'] })
    cookie = `Cookie: __Host-Http-session=${(await signIn(service, admin)).cookies.get('__Host-Http-session')}`
    bearer = `Authorization: Bearer ${(await tokenPair(service, admin)).accessToken}`
    const reader = await newUser(service, { roles: ['Viewer'] })
    viewer = `Authorization: Bearer ${(await tokenPair(service, reader)).accessToken}`
  })

  /** The whole answer to the bytes; the server must end the connection or send nothing more. */
  function answersTo(bytes: string): Promise<{ received: string; ended: boolean }> {
    const { hostname, port } = new URL(service.baseUrl)
    return new Promise((resolve) => {
      let received = ''
      let ended = true
      const socket = connect(Number(port), hostname, () => socket.write(bytes, 'latin1'))
      socket.setTimeout(2_000, () => {
        ended = false
        socket.destroy()
      })
      socket.on('data', (chunk) => {
        received += chunk
      })
      socket.on('error', () => undefined)
      socket.on('close', () => resolve({ received, ended }))
    })
  }
  const statusesIn = (received: string) =>
    [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => Number(match[1]))

  it('a complete request is answered, and so is the next one (so every refusal below has one cause)', async () => {
    const last = message([...get, 'Connection: close'])
    const whole = message([...post, 'Content-Length: 2'], '{}')
    const chunkwise = inChunks('2\r\n{}\r\n0\r\n\r\n')
    assert.deepEqual(statusesIn((await answersTo(whole + last)).received), [400, 200])
    assert.deepEqual(statusesIn((await answersTo(chunkwise + last)).received), [400, 200])
  })

  for (const [what, bytes] of Object.entries(ambiguous)) {
    it(`${what}: one 400, the connection ends, and nothing after it is answered`, async () => {
      const { received, ended } = await answersTo(bytes)
      assert.deepEqual(statusesIn(received), [400])
      assert.match(received, /application\/problem\+json/)
      assert.equal(ended, true)
    })
  }

  it('a body is not read as another request if none is expected', async () => {
    const hidden = message(['GET /v1/auth/me HTTP/1.1', 'Host: x', bearer])
    const first = message([...get, `Content-Length: ${hidden.length}`], hidden)
    const { received } = await answersTo(first + message([...get, 'Connection: close']))
    assert.deepEqual(statusesIn(received), [200, 200])
    assert.equal(received.match(/"status":"ok"/g)?.length, 2)
  })

  it('a header in a trailer counts neither as a credential nor as an antiforgery token', async () => {
    const head = [
      'POST /v1/orders HTTP/1.1',
      'Host: x',
      'Connection: close',
      'Content-Type: application/json',
    ]
    const body = '1d\r\n{"customer":"Acme","total":1}\r\n0\r\n'
    const send = (lines: string[], trailer: string) =>
      answersTo(
        message(
          [...head, ...lines, 'Transfer-Encoding: chunked', 'Trailer: Authorization'],
          `${body}${trailer}\r\n\r\n`,
        ),
      )
    assert.deepEqual(statusesIn((await send([bearer], 'X-One: a')).received), [201])
    assert.deepEqual(statusesIn((await send([], bearer)).received), [401])
    assert.deepEqual(statusesIn((await send([cookie], 'X-XSRF-TOKEN: x')).received), [403])
  })

  it('credentials do not stay on a connection: each request needs its own', async () => {
    const me = (lines: string[]) => message(['GET /v1/auth/me HTTP/1.1', 'Host: x', ...lines])
    const { received } = await answersTo(
      me([bearer]) + me([]) + me([cookie]) + me([]) + me([viewer]) + me(['Connection: close']),
    )
    assert.deepEqual(statusesIn(received), [200, 401, 200, 401, 200, 401])
  })

  it('CONNECT and an upgrade lead nowhere', async () => {
    const tunnel = await answersTo(message(['CONNECT localhost:22 HTTP/1.1', 'Host: localhost:22'], smuggled))
    const strays = statusesIn(tunnel.received).filter((status) => status < 400)
    assert.deepEqual(strays, [])
    for (const protocol of ['websocket', 'h2c']) {
      const lines = [
        'GET /v1/auth/me HTTP/1.1',
        'Host: x',
        `Upgrade: ${protocol}`,
        'Connection: Upgrade, close',
      ]
      assert.deepEqual(statusesIn((await answersTo(message(lines))).received), [401])
    }
  })

  describe('headers that name another path, method, host or caller', () => {
    const claims = [
      'X-Original-URL: /health',
      'X-Rewrite-URL: /health',
      'X-Original-URL: /v1/auth/me',
      'X-Forwarded-Path: /health',
      'X-Forwarded-Prefix: /health',
      'X-HTTP-Method-Override: GET',
      'X-HTTP-Method: GET',
      'X-Method-Override: OPTIONS',
      'X-HTTP-Method-Override: DELETE',
      'X-Forwarded-User: admin',
      'X-Remote-User: admin',
      'Remote-User: admin',
      'X-Forwarded-Email: admin@example.com',
      'X-Auth-Request-User: admin',
      'X-Client-Cert: admin',
      'X-Forwarded-For: 127.0.0.1',
      'X-Real-IP: 127.0.0.1',
      'Forwarded: for=127.0.0.1;host=localhost;proto=https',
      'X-Custom-IP-Authorization: 127.0.0.1',
      'Authorization_: Bearer x',
      'Cookie2: __Host-Http-session=x',
      'Proxy-Authorization: Bearer x',
    ]
    const send = (method: string, path: string, lines: string[]) =>
      exchange(service.baseUrl, request(method, path, lines))

    for (const claim of claims) {
      it(`${claim} changes nothing`, async () => {
        assert.equal((await send('GET', '/v1/orders', [claim])).status, 401)
        assert.equal((await send('POST', '/v1/orders', [claim])).status, 401)
        assert.equal((await send('POST', '/v1/orders', [cookie, claim])).body.code, 'csrf-token-missing')
        assert.equal((await send('POST', '/v1/orders', [viewer, claim])).body.code, 'permission-denied')
        assert.equal((await send('GET', '/health', [claim])).text, '{"status":"ok"}')
        assert.equal((await send('DELETE', '/v1/orders', [bearer, claim])).status, 405)
      })
    }

    it('the method in a query or a body changes nothing', async () => {
      for (const path of [
        '/v1/orders?_method=GET',
        '/v1/orders?method=GET',
        '/v1/orders?X-HTTP-Method-Override=GET',
      ]) {
        assert.equal((await send('POST', path, [cookie])).body.code, 'csrf-token-missing')
      }
    })

    it('no address in an answer comes from the Host header or a forwarded one', async () => {
      const lines = [
        'X-Forwarded-Host: evil.example',
        'X-Forwarded-Proto: http',
        'Forwarded: host=evil.example',
      ]
      const json = 'Content-Type: application/json'
      const ask = (method: string, path: string, more: string[], body = '') =>
        exchange(
          service.baseUrl,
          request(method, path, [...lines, ...more], body).replace('Host: localhost', 'Host: evil.example'),
        )
      const made = await ask('POST', '/v1/orders', [bearer, json], '{"customer":"Acme","total":1}')
      assert.equal(made.status, 201)
      const listed = await ask('GET', '/v1/orders?pageSize=1', [bearer])
      assert.match(listed.headers.get('link') ?? '', /rel="next"/)
      const refused = await ask('GET', '/v1/orders', [])
      assert.equal(refused.body.type, `${publicUrl}/problems/authentication-required`)
      for (const { headers, text } of [made, listed, refused]) {
        assert.equal(`${[...headers].join()}${text}`.includes('evil.example'), false)
      }
    })
  })
})

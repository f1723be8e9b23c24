import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { connect } from 'node:net'
import { describe, it } from 'node:test'
import { cookieValues } from '../../server/auth/credentials/sessions/cookies.ts'
import { readConfig } from '../../server/config.ts'
import { limitKey, reportedAddress } from '../../server/http/rate-limit.ts'
import { testEngine } from '../support/database.ts'
import { testService } from '../support/service.ts'

/** A test for each finding of an attack on the running service. */
describe('the service under attack', () => {
  const service = testService()

  /** Sends the bytes at once, and returns all that comes until the service ends the connection. */
  function answersTo(bytes: string): Promise<string> {
    const { hostname, port } = new URL(service.baseUrl)
    return new Promise((resolve, reject) => {
      let received = ''
      const socket = connect(Number(port), hostname, () => socket.write(bytes, 'latin1'))
      socket.setTimeout(5_000, () => socket.destroy(new Error(`no end after: ${received}`)))
      socket.on('data', (chunk) => {
        received += chunk
      })
      socket.on('close', () => resolve(received))
      socket.on('error', reject)
    })
  }

  it('refuses a body under a transfer coding that it does not undo (RFC 9112 §6.1)', async () => {
    const post = (coding: string) =>
      answersTo(
        `POST /v1/auth/token HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nTransfer-Encoding: ${coding}\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
      )
    assert.match(await post('gzip, chunked'), /^HTTP\/1\.1 415 /)
    assert.match(await post('Chunked'), /^HTTP\/1\.1 400 [\s\S]*"validation-failed"/)
  })

  it('ignores a cookie behind a no-break space, which browsers do not protect by __Host-', async () => {
    const session = await service.session('viewer')
    const value = session.cookies.get('__Host-Http-session')
    const get = (cookie: string) =>
      answersTo(`GET /v1/auth/me HTTP/1.1\r\nHost: x\r\nConnection: close\r\nCookie: ${cookie}\r\n\r\n`)
    assert.match(await get(`\xa0__Host-Http-session=${value}`), /^HTTP\/1\.1 401 /)
    assert.match(await get(`\xa0__Host-Http-session=AAAA; __Host-Http-session=${value}`), /^HTTP\/1\.1 200 /)
    assert.deepEqual(cookieValues('a=1;\t x=2 ; \xa0x=3; x=4\xa0', 'x'), ['2', '4\xa0'])
  })

  for (const [name, value] of [
    ['range', 'bytes=999999-'],
    ['range', 'bytes=abc'],
    ['if-match', '"x"'],
    ['if-unmodified-since', 'Mon, 01 Jan 2001 00:00:00 GMT'],
  ] as const) {
    it(`${name}: ${value} does not make the page fail`, async () => {
      assert.equal((await service.client().get('/', { [name]: value })).status, 200)
    })
  }

  it('still answers a request if a broken one follows', async () => {
    const received = await answersTo('GET /health HTTP/1.1\r\nHost: x\r\n\r\nBAD\r\n\r\n')
    assert.match(received, /^HTTP\/1\.1 200 OK\r\n/)
    assert.equal(received.match(/HTTP\/1\.1/g)?.length, 1)
  })

  it('counts an address from a proxy without its port, and counts the peer if the proxy sends no address', () => {
    const key = (reported: string) => limitKey(reportedAddress(reported, '10.0.0.7'))
    assert.equal(key('203.0.113.9:5012'), '203.0.113.9')
    assert.equal(key('203.0.113.9'), '203.0.113.9')
    assert.equal(key('[2001:db8::1]:443'), key('2001:db8:0:0:ffff::9'))
    assert.equal(key('garbage'), '10.0.0.7')
    assert.equal(key('1.2.3.4.5:1'), '10.0.0.7')
    assert.equal(key('::ffff:102:304'), '1.2.3.4')
    assert.equal(key('::ffff:1.2.3.4'), '1.2.3.4')
  })

  it('refuses a setting that trusts everyone', () => {
    assert.throws(
      () => readConfig({ TRUSTED_PROXIES: '10.0.0.0/0' }, { development: true }),
      /TRUSTED_PROXIES/,
    )
  })

  it('makes the database file readable by its owner only', {
    skip: testEngine !== 'sqlite' && 'PostgreSQL has no file',
  }, () => {
    const file = service.databaseUrl.slice('file:'.length)
    const modes = [file, `${file}-wal`, `${file}-shm`].map((path) =>
      (statSync(path).mode & 0o777).toString(8),
    )
    assert.deepEqual(modes, ['600', '600', '600'])
  })
})

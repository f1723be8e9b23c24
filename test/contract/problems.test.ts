import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  DatabaseUnavailable,
  LockTimeout,
  QueryTooSlow,
  StatementTimeout,
  TooManyWaiting,
} from '../../server/db/errors.ts'
import { catalogue } from '../../server/problems/catalogue.ts'
import { unknownEmail } from '../support/accounts.ts'
import type { Answer, Client } from '../support/client.ts'
import { policyRow } from '../support/policy.ts'
import { assertInvalid } from '../support/problem.ts'
import { exchange, type RawAnswer, request } from '../support/raw.ts'
import { publicUrl, setUp, testService } from '../support/service.ts'
import { viewOf } from '../support/views.ts'

const unknownId = '019a9d2e-5b7c-7f3a-9c41-6d2f8e0b1a57'
/** Section 7: always these members in this order, then those of a particular problem. */
const members = ['type', 'title', 'status', 'detail', 'instance', 'code', 'requestId']
const extraMembers: Record<string, string[]> = {
  'permission-denied': ['permission'],
  'order-not-pending': ['currentStatus'],
  'result-too-large': ['totalCount', 'limit'],
}
const withErrors = ['validation-failed', 'invalid-filter', 'invalid-time-zone', 'invalid-idempotency-key']
const errorMembers = ['pointer', 'parameter', 'header', 'code', 'position', 'length', 'detail', 'expected']

/**
 * Fails unless the answer has the shape of section 7, and a code of the catalogue with its status and title.
 */
function assertShape(answer: Answer | RawAnswer, status: number, code: string, path: string): void {
  const label = `${path}: ${answer.status} ${answer.text}`
  assert.equal(answer.status, status, label)
  assert.equal(answer.headers.get('content-type'), 'application/problem+json', label)
  assert.equal(answer.body.code, code, label)
  const entry = (catalogue as Record<string, { status: number; title: string }>)[code]
  assert.ok(entry, label)
  const errors = withErrors.includes(code) ? ['errors'] : []
  assert.deepEqual(Object.keys(answer.body), [...members, ...(extraMembers[code] ?? []), ...errors], label)
  const { type, title, detail, instance, requestId } = answer.body
  assert.deepEqual(
    { type, title, status: answer.body.status, instance },
    { type: `${publicUrl}/problems/${code}`, title: entry.title, status: entry.status, instance: path },
    label,
  )
  assert.equal(entry.status, status, label)
  assert.ok(typeof detail === 'string' && detail.length > 5, label)
  assert.equal(answer.headers.get('x-request-id'), requestId, label)
  assert.equal(answer.headers.has('www-authenticate'), status === 401, label)
  assert.doesNotMatch(answer.text, /node_modules|\.ts:|sqlite|select |insert |stack|at async/i, label)
  for (const error of answer.body.errors ?? []) assertFieldError(error, label)
}

function assertFieldError(error: Record<string, unknown>, label: string): void {
  const where = ['pointer', 'parameter', 'header'].filter((name) => name in error)
  assert.equal(where.length, 1, label)
  assert.equal(typeof error.code, 'string', label)
  assert.equal(typeof error.detail, 'string', label)
  const strays = Object.keys(error).filter((name) => !errorMembers.includes(name))
  assert.deepEqual(strays, [], label)
}

describe('an error of the database', () => {
  const cases: [error: Error, status: number, code: string, retryAfter: string | null][] = [
    [new TooManyWaiting('too many lists are waiting'), 503, 'overloaded', '1'],
    [new DatabaseUnavailable('the connection failed'), 503, 'database-unavailable', '2'],
    [new LockTimeout('a lock was held'), 503, 'timed-out', '2'],
    [new StatementTimeout('stopped'), 503, 'timed-out', '2'],
    [new QueryTooSlow('stopped'), 400, 'filter-too-expensive', null],
    [new Error('unknown'), 500, 'internal-error', null],
  ]
  const service = testService({ inside: true })
  const viewer = setUp(() => service.bearer('viewer'))

  for (const [error, status, code, retryAfter] of cases) {
    it(`${error.name} is ${status} ${code}${retryAfter === null ? '' : `, to retry after ${retryAfter} s`}`, async () => {
      service.db.query = () => Promise.reject(error)
      const answer = await viewer.get('/v1/orders?filter=total>1')
      assertShape(answer, status, code, '/v1/orders')
      assert.equal(answer.headers.get('retry-after'), retryAfter)
    })
  }
})

describe('a problem', () => {
  const service = testService()
  const anybody = setUp(async () => service.client())
  const admin = setUp(() => service.bearer('admin'))
  const viewer = setUp(() => service.bearer('viewer'))

  it('has exactly the shape of section 7 and a code of the catalogue, whatever failed', async () => {
    const order = (await admin.post('/v1/orders', { customer: 'Acme', total: 1 })).body.id
    const approve = `/v1/orders/${order}/approve`
    await admin.patch(approve)
    const login = { email: unknownEmail(), password: 'wrong' }
    const client = { clientId: 'nobody', clientSecret: 'wrong' }
    const good = { customer: 'Acme', total: 2 }
    const policy = '/v1/approval-policy'
    const rows = [policyRow()]
    const key = { 'idempotency-key': 'a-key-of-this-test' }
    await admin.post('/v1/orders', good, key)
    type Case = [Client, string, string, unknown, Record<string, string>, number, string]
    const cases: Case[] = [
      [anybody, 'GET', '/v1/orders', undefined, {}, 401, 'authentication-required'],
      [anybody, 'POST', '/v1/auth/session/logout', undefined, {}, 401, 'authentication-required'],
      [anybody, 'POST', '/v1/auth/session', login, {}, 401, 'invalid-credentials'],
      [anybody, 'POST', '/v1/auth/token', login, {}, 401, 'invalid-credentials'],
      [anybody, 'POST', '/v1/auth/token/refresh', { refreshToken: 'x' }, {}, 401, 'invalid-refresh-token'],
      [anybody, 'POST', '/v1/auth/clients/token', client, {}, 401, 'invalid-client'],
      [anybody, 'POST', '/v1/auth/session', login, { origin: 'null' }, 403, 'cross-site-request'],
      [viewer, 'POST', '/v1/orders', good, {}, 403, 'permission-denied'],
      [viewer, 'PATCH', approve, undefined, {}, 403, 'permission-denied'],
      [admin, 'POST', '/v1/orders', '{', {}, 400, 'malformed-json'],
      [admin, 'POST', '/v1/orders', {}, {}, 400, 'validation-failed'],
      [admin, 'POST', '/v1/orders', [], {}, 400, 'validation-failed'],
      [admin, 'POST', '/v1/orders', good, { 'time-zone': 'Mars/Base' }, 400, 'invalid-time-zone'],
      [admin, 'POST', '/v1/orders', good, { 'idempotency-key': '"' }, 400, 'invalid-idempotency-key'],
      [admin, 'POST', '/v1/orders', { ...good, total: 3 }, key, 422, 'idempotency-key-reused'],
      [admin, 'POST', '/v1/orders', 'x'.repeat(66_000), {}, 413, 'body-too-large'],
      [admin, 'POST', '/v1/orders', 'x', { 'content-type': 'text/csv' }, 415, 'unsupported-media-type'],
      [admin, 'PUT', '/v1/orders', undefined, {}, 405, 'method-not-allowed'],
      [admin, 'GET', '/v1/orders?pageSize=x&pageNumber=0', undefined, {}, 400, 'validation-failed'],
      [admin, 'GET', '/v1/orders?filter=a%3D%3D', undefined, {}, 400, 'invalid-filter'],
      [admin, 'GET', `/v1/orders/${unknownId}`, undefined, {}, 404, 'order-not-found'],
      [admin, 'GET', '/v1/orders/%00', undefined, {}, 404, 'order-not-found'],
      [admin, 'PATCH', approve, undefined, {}, 409, 'order-not-pending'],
      [admin, 'PATCH', approve, undefined, { 'if-match': '"9"' }, 412, 'precondition-failed'],
      [admin, 'PUT', policy, { rows: [] }, {}, 400, 'validation-failed'],
      [admin, 'PUT', policy, { rows }, { 'if-match': '"9"' }, 412, 'precondition-failed'],
      [admin, 'PUT', policy, { rows }, {}, 428, 'precondition-required'],
      [admin, 'GET', `/v1/views/${unknownId}`, undefined, {}, 404, 'view-not-found'],
      [admin, 'PUT', '/v1/views/none', viewOf(), {}, 404, 'view-not-found'],
      [admin, 'GET', '/v1/none', undefined, {}, 404, 'route-not-found'],
      [admin, 'DELETE', '/orders/7', undefined, {}, 404, 'route-not-found'],
      [admin, 'GET', '/assets/none.js', undefined, {}, 404, 'route-not-found'],
    ]
    for (const [caller, method, path, body, headers, status, code] of cases) {
      const [instance = ''] = path.split('?')
      assertShape(await caller.send(method, path, body, headers), status, code, instance)
    }
  })

  it('lists every invalid field with its place', async () => {
    const fields = await admin.post('/v1/orders', { customer: ' ', total: '1e3' })
    assertInvalid(fields, ['#/customer', '#/total'])
    const rows = [{ ...policyRow(), approvals: 0 }, policyRow({ from: -1 })]
    const inside = await admin.send('PUT', '/v1/approval-policy', { rows }, { 'if-match': '*' })
    assertInvalid(inside, ['#/rows/0/approvals', '#/rows/1/from'])
    const query = await admin.get(
      '/v1/orders?pageNumber=0&pageSize=a&pageSize=b&orderBy=x&order=2&paginated=1',
    )
    const parameters = query.body.errors.map((error: { parameter: string }) => error.parameter)
    assert.deepEqual(parameters, ['pageNumber', 'pageSize', 'orderBy', 'order', 'paginated'])
  })

  it('challenges with WWW-Authenticate on a 401, and says invalid_token only for a bad bearer', async () => {
    const none = await anybody.get('/v1/auth/me')
    assert.equal(none.headers.get('www-authenticate'), 'Bearer realm="countersign"')
    const scheme = await anybody.get('/v1/auth/me', { authorization: 'Basic YTpi' })
    assert.equal(scheme.headers.get('www-authenticate'), 'Bearer realm="countersign"')
    for (const authorization of ['Bearer x', 'bearer', 'Bearer', 'Bearer a b', 'BEARER a.b.c']) {
      const bad = await anybody.get('/v1/auth/me', { authorization })
      assert.equal(bad.status, 401, authorization)
      assert.match(bad.headers.get('www-authenticate') ?? '', /error="invalid_token"/, authorization)
    }
  })

  it('answers unknown routes under the five prefixes, with any method and spelling, never HTML', async () => {
    const prefixes = ['/v1', '/health', '/.well-known', '/openapi', '/scalar']
    const tails = ['/none', '/none/', '/%E2%82%AC', '/none.html', '//none', '/./x/../none', '/%2e%2e/none']
    for (const prefix of prefixes) {
      for (const tail of tails) {
        for (const method of ['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS']) {
          const label = `${method} ${prefix}${tail}`
          const answer = await exchange(
            service.baseUrl,
            request(method, `${prefix}${tail}`, ['Accept: text/html']),
          )
          assert.equal(answer.status, 404, label)
          assert.equal(answer.headers.get('content-type'), 'application/problem+json', label)
        }
      }
    }
    for (const path of ['/v1', '/v1/', '/.well-known', '/v1%2Fnone', '/%76%31/none', '/openapi/v1.json']) {
      assertShape(await anybody.get(path, { accept: 'text/html' }), 404, 'route-not-found', path)
    }
  })

  describe('answers invalid HTTP', () => {
    const send = (...parts: (string | Buffer)[]) => exchange(service.baseUrl, ...parts)

    /** Afterwards the service still works. */
    async function assertRefused(status: number, code: string, ...parts: (string | Buffer)[]): Promise<void> {
      const answer = await send(...parts)
      const label = `${String(parts[0]).slice(0, 60)}: ${answer.status} ${answer.text}`
      assert.equal(answer.status, status, label)
      assert.equal(answer.headers.get('content-type'), 'application/problem+json', label)
      assertShape(answer, status, code, answer.body.instance)
      assert.equal(answer.headers.get('x-content-type-options'), 'nosniff', label)
      assert.equal(answer.headers.get('cache-control'), 'no-store', label)
      assert.equal((await anybody.get('/health')).status, 200)
    }

    it('414 for a URL of more than 8 KiB; for one beyond 16 KiB that comes in pieces, 431', async () => {
      const path = (length: number) => `/v1/orders?filter=${'a'.repeat(length - 18)}`
      const largest = await send(request('GET', path(8_192)))
      assert.equal(largest.status, 401)
      for (const length of [8_193, 9 * 1024, 20 * 1024]) {
        await assertRefused(414, 'uri-too-long', request('GET', path(length)))
      }
      await assertRefused(414, 'uri-too-long', request('DELETE', `/${'a'.repeat(9_000)}`))
      await assertRefused(414, 'uri-too-long', request('M-SEARCH', path(20 * 1024)))
      // When the parser gives up, only its last read is known. Whether that begins a request is up to the
      // kernel.
      for (const length of [60 * 1024, 200 * 1024]) {
        const { status, body } = await send(request('GET', path(length)))
        assert.ok(
          ['414 uri-too-long', '431 headers-too-large'].includes(`${status} ${body.code}`),
          `${status}`,
        )
      }
    })

    it('431 for a header block of more than 16 KiB, however long', async () => {
      const header = (length: number) => [`X-Long: ${'a'.repeat(length)}`]
      const accepted = await send(request('GET', '/health', header(15 * 1024)))
      assert.equal(accepted.status, 200)
      for (const length of [17 * 1024, 70 * 1024, 2 * 1024 * 1024]) {
        await assertRefused(431, 'headers-too-large', request('GET', '/v1/orders', header(length)))
      }
      const many = Array.from({ length: 900 }, (_, index) => `X-${index}: ${'b'.repeat(14)}`)
      await assertRefused(431, 'headers-too-large', request('GET', '/v1/orders', many))
    })

    // test/security/request-smuggling.test.ts has many more.
    it('400 for a broken request line, header or framing', async () => {
      const json = ['Content-Type: application/json']
      const broken = [
        'garbage\r\n\r\n',
        'GET /health HTTP/1.1\r\nConnection: close\r\n\r\n',
        'GET /health HTTP/1.1\r\nHost: localhost\r\nno colon\r\n\r\n',
        request('POST', '/v1/orders', [...json, 'Content-Length: 2', 'Content-Length: 3']),
      ]
      for (const bytes of broken) await assertRefused(400, 'bad-request', bytes)
    })

    it('400 for malformed chunks', async () => {
      const lines = [
        'Content-Type: application/json',
        'Transfer-Encoding: chunked',
        `Authorization: ${admin.headers.authorization}`,
      ]
      await assertRefused(400, 'bad-request', `${request('POST', '/v1/orders', lines)}zz\r\nhello\r\n`)
    })

    it('400 for malformed escapes in the path', async () => {
      for (const path of ['/v1/orders/%', '/v1/orders/%zz', '/v1/%ff', '/health/%c0%af']) {
        const answer = await send(request('GET', path))
        assert.equal(answer.headers.get('content-type'), 'application/problem+json', path)
        assert.ok([400, 401, 404].includes(answer.status), `${path}: ${answer.status}`)
        assertShape(answer, answer.status, answer.body.code, path)
      }
    })

    it('400 for 100,000 nested brackets, without running out of stack', async () => {
      const credential = [`Authorization: ${admin.headers.authorization}`, 'Content-Type: application/json']
      const deepest = `${'['.repeat(30_000)}${']'.repeat(30_000)}`
      await assertRefused(400, 'validation-failed', request('POST', '/v1/orders', credential, deepest))
      const nested = `${'{"a":'.repeat(9_000)}{"__proto__":1}${'}'.repeat(9_000)}`
      await assertRefused(400, 'malformed-json', request('POST', '/v1/orders', credential, nested))
      const large = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
      await assertRefused(413, 'body-too-large', request('POST', '/v1/orders', credential, large))
      await assertRefused(
        400,
        'malformed-json',
        request('POST', '/v1/orders', credential, '['.repeat(60_000)),
      )
    })

    it('401, not a failure, for forty cookies of one name or of many', async () => {
      const one = Array.from({ length: 40 }, () => `__Host-Http-session=${'A'.repeat(43)}`).join('; ')
      await assertRefused(401, 'authentication-required', request('GET', '/v1/orders', [`Cookie: ${one}`]))
      const many = Array.from({ length: 40 }, (_, index) => `c${index}=${'v'.repeat(50)}`).join('; ')
      await assertRefused(401, 'authentication-required', request('GET', '/v1/orders', [`Cookie: ${many}`]))
      const fields = Array.from({ length: 40 }, (_, index) => `Cookie: c${index}=1`)
      await assertRefused(401, 'authentication-required', request('GET', '/v1/orders', fields))
    })

    it('417 for an unknown expectation', async () => {
      const answer = await send(request('POST', '/v1/orders', ['Expect: miracles', 'Content-Length: 0']))
      assertShape(answer, 417, 'expectation-failed', answer.body.instance)
    })
  })
})

import assert from 'node:assert/strict'
import { METHODS } from 'node:http'
import { before, beforeEach, describe, it } from 'node:test'
import { newClient, newUser } from '../support/accounts.ts'
import type { Answer, Client } from '../support/client.ts'
import { addDocument, files } from '../support/documents.ts'
import { mailSettings } from '../support/mail.ts'
import { createdId } from '../support/orders.ts'
import { assertProblem, problemIn } from '../support/problem.ts'
import { exchange, request } from '../support/raw.ts'
import { type Route, sampleId, tableOfRoutes } from '../support/routes.ts'
import { setUp, startService, testService } from '../support/service.ts'
import { putView, viewOf } from '../support/views.ts'
import { keepWebhook } from '../support/webhooks.ts'

/** CONNECT never reaches a handler: Node closes the connection. */
const methods = METHODS.filter((method) => method !== 'CONNECT')
const isUnsafe = ({ method }: Route) => method !== 'GET' && method !== 'HEAD'

/** The answer as a caller sees it, without the parts that differ for each request. */
function comparable({ status, headers, body }: Answer) {
  const { requestId, instance, token, link, expiresAtUtc, clientSecret, challenge, ...others } = body ?? {}
  const { secret, publicKeys, eventId, atUtc, durationMilliseconds, ...rest } = others
  const kept = ['content-type', 'cache-control', 'etag', 'vary', 'allow', 'content-security-policy']
  return { status, headers: kept.map((name) => headers.get(name)), body: rest }
}

/** Answers that every cache may keep say nothing about a single request (tested below). */
const forAll = [
  ...['jwks.json', 'oauth-authorization-server', 'openid-configuration', 'security.txt'].map(
    (name) => `/.well-known/${name}`,
  ),
]

const env = {
  SECURITY_CONTACT: 'mailto:security@example.com, https://example.com/security',
  ...mailSettings,
}

describe('every route', () => {
  const service = testService({ env })
  let routes: Route[]
  const admin = setUp(() => service.bearer('admin'))
  let orderId: string
  let approvedId: string
  /** The approved order has it. */
  let documentId: string
  let userId: number
  let clientId: number
  const pathOf = ({ url }: Route, id = orderId) =>
    url
      .replace('/users/:id', `/users/${userId}`)
      .replace('/clients/:id', `/clients/${clientId}`)
      // An account that holds the role keeps it from being removed.
      .replace('/roles/:name', '/roles/Viewer')
      .replace(':session', sampleId)
      .replace(':documentId', documentId)
      .replace(':id', id)
  before(async () => {
    routes = await tableOfRoutes({ env })
    orderId = await createdId(admin)
    approvedId = await createdId(admin)
    userId = (await newUser(service)).id
    clientId = (await newClient(service)).id
    documentId = (await addDocument(admin, approvedId, files.png)).body.id
    await admin.patch(`/v1/orders/${approvedId}/approve`)
  })
  const neededQueries: Record<string, string> = { '/v1/log/proof': '?from=1&size=1' }
  /** Views and webhooks have the ids of the orders, so that one path fits all. */
  const keepOthers = async () => {
    for (const id of [orderId, approvedId]) {
      await putView(admin, viewOf(), { id })
      await keepWebhook(service, id)
    }
  }
  beforeEach(keepOthers)
  const send = async (caller: Client, { method }: Route, path: string) => {
    if (method === 'DELETE') await keepOthers()
    return caller.send(method, path)
  }

  const offeredAt = (url: string) => routes.filter((route) => route.url === url).map(({ method }) => method)
  /** A path such as /v1/orders/decisions is also that of an order, with other methods. */
  const answeredAt = (url: string) =>
    routes
      .filter((route) => new RegExp(`^${route.url.replaceAll(/:\w+/g, '[^/:]+')}$`).test(url))
      .map(({ method }) => method)
  const sorted = (allow: string | null) => (allow ?? '').split(', ').sort()

  it('answers 405 with Allow to every other method, even unusual ones, for every caller', async () => {
    const urls = [...new Set(routes.map((route) => route.url))]
    for (const [place, url] of urls.entries()) {
      const offered = [...offeredAt(url), 'OPTIONS']
      // Each path with some methods, and each method on some paths.
      const answered = [...offered, ...answeredAt(url)]
      const others = methods.filter((method, index) => !answered.includes(method) && index % 6 === place % 6)
      assert.ok(others.length > 1, url)
      const answers = await Promise.all(
        others.map((method) => exchange(service.baseUrl, request(method, url.replace(':id', orderId)))),
      )
      for (const [index, answer] of answers.entries()) {
        const label = `${others[index]} ${url}`
        assert.equal(answer.status, 405, label)
        assert.deepEqual(sorted(answer.headers.get('allow')), [...offered].sort(), label)
        const code = others[index] === 'HEAD' ? undefined : 'method-not-allowed'
        assert.equal(answer.body?.code, code, label)
      }
    }
  })

  it('answers OPTIONS 204 with Allow and without a body', async () => {
    for (const url of new Set(routes.map((route) => route.url))) {
      const answer = await service.client().send('OPTIONS', url.replace(':id', orderId))
      assert.equal(answer.status, 204, url)
      assert.deepEqual(sorted(answer.headers.get('allow')), [...offeredAt(url), 'OPTIONS'].sort(), url)
      assert.equal(answer.text, '', url)
    }
  })

  it('knows its path by any spelling of the same octets', async () => {
    const escaped = await service.client().send('DELETE', '/v1/%6frders')
    assert.equal(escaped.status, 405)
    const slash = await service.client().send('DELETE', '/v1/orders/a%2Fb')
    assert.equal(slash.status, 405)
    const otherCase = await admin.get('/V1/orders/')
    assert.match(otherCase.headers.get('content-type') ?? '', /^text\/html/)
  })

  it('answers 404 and 405 before it checks the media type, the size or the body', async () => {
    const requests = [
      { body: 'x', headers: { 'content-type': 'text/plain' } },
      { body: '{', headers: {} },
      { body: '"'.padEnd(70_000), headers: {} },
      { body: '{}', headers: { 'content-encoding': 'gzip' } },
    ]
    for (const { body, headers } of requests) {
      const unknown = await service.client().post('/v1/none', body, headers)
      assert.equal(unknown.body.code, 'route-not-found')
      const page = await service.client().post('/orders', body, headers)
      assert.equal(page.body.code, 'route-not-found')
      const known = await service.client().send('PUT', '/v1/orders', body, headers)
      assert.equal(known.body.code, 'method-not-allowed')
    }
  })

  it('answers HEAD like GET, without the body', async () => {
    const isRedirect = ({ url }: { url: string }) => url.startsWith('/v1/auth/session/company')
    for (const route of routes.filter((each) => each.method === 'GET' && !isRedirect(each))) {
      const path = pathOf(route, approvedId) + (neededQueries[route.url] ?? '')
      const get = await admin.get(path)
      const head = await admin.send('HEAD', path)
      assert.equal(get.status, 200, route.url)
      assert.equal(head.text, '', route.url)
      assert.deepEqual({ ...comparable(head), body: {} }, { ...comparable(get), body: {} }, route.url)
      assert.equal(head.headers.get('content-length'), get.headers.get('content-length'), route.url)
    }
  })

  it('answers the same with a trailing slash, both successes and refusals', async () => {
    const callers = [admin, service.client()]
    await admin.patch(`/v1/orders/${orderId}/approve`)
    for (const route of routes.filter(({ method }) => method !== 'HEAD')) {
      for (const caller of callers) {
        const plain = await send(caller, route, `${pathOf(route)}?pageSize=0`)
        const slash = await send(caller, route, `${pathOf(route)}/?pageSize=0`)
        const label = `${route.method} ${route.url}/`
        assert.deepEqual(comparable(slash), comparable(plain), label)
        assert.notEqual(slash.body?.code, 'route-not-found', label)
        assert.equal(slash.headers.get('location'), null, label)
      }
    }
  })

  it('sends no body with a status that has none, and says so', async () => {
    const order = await admin.post('/v1/orders', { customer: 'Acme', total: 1 })
    const approved = await exchange(
      service.baseUrl,
      request('PATCH', `/v1/orders/${order.body.id}/approve`, [
        `Authorization: ${admin.headers.authorization}`,
      ]),
    )
    assert.equal(approved.status, 204)
    assert.equal(approved.headers.get('content-length'), null)
    assert.equal(approved.headers.get('transfer-encoding'), null)
    assert.equal(approved.text, '')
  })

  describe('with a body', () => {
    let cookieHeaders: Record<string, string>
    before(async () => {
      const { cookies, headers } = await service.session('admin')
      cookieHeaders = { ...headers, cookie: [...cookies].map((pair) => pair.join('=')).join('; ') }
    })

    /** Callers with the credential and permission to get as far as the body. */
    async function send(
      route: Route,
      body: string | Uint8Array<ArrayBuffer>,
      headers: Record<string, string>,
    ): Promise<Response> {
      return fetch(`${service.baseUrl}${pathOf(route)}`, {
        method: route.method,
        body,
        headers: { ...headersFor(route), ...headers },
      })
    }
    const headersFor = ({ access }: Route) => (access === 'session' ? cookieHeaders : admin.headers)
    /** JSON that every operation refuses. */
    const invalid = '{"reason":1,"userName":1,"name":1,"dropOld":1}'
    const withBody = () => routes.filter(({ takesJson }) => takesJson)
    /**
     * All routes share one reader. Two routes, one of them with a form, test everything it does; the others
     * only test that it is used.
     */
    const shownBy = <T>(route: Route, cases: T[]) =>
      route.takesForm || route === withBody()[0] ? cases : cases.slice(0, 1)
    const codeOf = async (response: Response) => problemIn({ body: await response.json() }).code

    it('accepts only application/json and +json in UTF-8, else 415', async () => {
      const form = 'application/x-www-form-urlencoded'
      const types = ['text/plain', form, 'multipart/form-data; boundary=x', '']
      types.push(`${form}; charset=iso-8859-1`, `${form}ed`, `x${form}`)
      types.push('application/json; charset=iso-8859-1', 'application/json; charset=utf-16')
      types.push('application/jsonx', 'text/json')
      const encodings = ['gzip', 'identity']
      const refused: Record<string, string>[] = [
        ...types.map((type) => ({ 'content-type': type })),
        ...encodings.map((name) => ({ 'content-type': 'application/json', 'content-encoding': name })),
      ]
      const accepted = ['application/json', 'application/vnd.acme+json']
      accepted.push('Application/JSON; charset=UTF-8', 'application/json;charset="utf-8"')
      for (const route of withBody()) {
        const others = refused.filter((each) => !route.takesForm || each['content-type'] !== form)
        for (const headers of shownBy(route, others)) {
          const response = await send(route, '{}', headers)
          assert.equal(response.status, 415, `${route.url} ${JSON.stringify(headers)}`)
          assert.equal(await codeOf(response), 'unsupported-media-type')
        }
        for (const type of shownBy(route, accepted)) {
          const response = await send(route, invalid, { 'content-type': type })
          assert.equal(response.status, 400, `${route.url} ${type}`)
          assert.equal(await codeOf(response), 'validation-failed')
        }
      }
    })

    it('accepts 65,536 bytes and no more, with a length or chunked; 415 comes before 413', async () => {
      const json = { 'content-type': 'application/json' }
      for (const route of withBody()) {
        const largest = await send(route, invalid.padEnd(65_536), json)
        assert.equal(await codeOf(largest), 'validation-failed', route.url)
        const tooLarge = await send(route, '{}'.padEnd(65_537), json)
        assert.equal(tooLarge.status, 413, route.url)
        assert.equal(await codeOf(tooLarge), 'body-too-large', route.url)
        const chunk = `10001\r\n${'{}'.padEnd(65_537)}\r\n0\r\n\r\n`
        const lines = ['Content-Type: application/json', 'Transfer-Encoding: chunked']
        lines.push(...Object.entries(headersFor(route)).map((header) => header.join(': ')))
        const chunked = await exchange(service.baseUrl, request(route.method, pathOf(route), lines), chunk)
        assert.equal(chunked.status, 413, route.url)
        const text = await send(route, 'x'.repeat(65_537), { 'content-type': 'text/plain' })
        assert.equal(text.status, 415, route.url)
      }
    })

    it('accepts only well-formed JSON in UTF-8 without keys that reach a prototype, else 400', async () => {
      const malformed = [
        '{',
        '',
        ' ',
        'nul',
        '{"a":1,}',
        "{'a':1}",
        '\ufeff{}',
        '{"a":NaN}',
        '{"a":01}',
        '{"a":+1}',
        '{"a":"\u0001"}',
        '[1]x',
        '{"__proto__":{}}',
        '{"a":[{"constructor":1}]}',
        '{"\\u005f_proto__":1}',
        Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d),
        Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22),
        Uint8Array.of(0x7b, 0x00, 0x7d, 0x00),
      ]
      for (const route of withBody()) {
        for (const body of shownBy(route, malformed)) {
          const response = await send(route, body, { 'content-type': 'application/json' })
          assert.equal(response.status, 400, `${route.url} ${String(body)}`)
          assert.equal(await codeOf(response), 'malformed-json', `${route.url} ${String(body)}`)
        }
        for (const body of shownBy(route, ['null', '[]', '"x"', '1', 'true', '[{}]'])) {
          const response = await send(route, body, { 'content-type': 'application/json' })
          assert.equal(response.status, 400, `${route.url} ${body}`)
          assert.equal(await codeOf(response), 'validation-failed', `${route.url} ${body}`)
        }
      }
    })

    it('needs no body and no type if none is expected', async () => {
      for (const route of routes.filter((candidate) => isUnsafe(candidate) && !candidate.hasBody)) {
        const caller = await service.session('admin')
        const { status, body } = await caller.send(route.method, pathOf(route))
        const isDone =
          [200, 201, 204, 409].includes(status) ||
          /^(?:sign-in|passkey|webhook|document)-not-found$/.test(body?.code)
        assert.ok(isDone, `${route.url}: ${status}`)
        // Some clients name a type anyway. The second time, the thing is already deleted.
        const typed = await (await service.session('admin')).send(route.method, pathOf(route), '')
        assert.ok([status, 404, 409].includes(typed.status), `${route.url}: ${typed.status}`)
        const other = await service.session('admin')
        const text = await other.send(route.method, pathOf(route), 'x', { 'content-type': 'text/plain' })
        assert.equal(text.status, 415, route.url)
      }
    })
  })

  it('says nothing about the request in an answer that every cache may keep', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const page = await service.client().get('/')
    const asset = /"(\/assets\/[^"]+\.js)"/.exec(page.text)?.[1] ?? ''
    for (const path of [...forAll, asset]) {
      const { status, headers } = await service.client().get(path, { traceparent })
      assert.equal(status, 200, path)
      assert.match(headers.get('cache-control') ?? '', /^public, /, path)
      const told = ['x-request-id', 'traceparent', 'ratelimit', 'ratelimit-policy', 'set-cookie', 'vary']
      const strays = told.filter((name) => headers.has(name) && headers.get(name) !== 'accept-encoding')
      assert.deepEqual(strays, [], path)
    }
  })

  it('publishes contacts for reporting vulnerabilities if they are configured (RFC 9116)', async (t) => {
    const { status, headers, text } = await service.client().get('/.well-known/security.txt')
    assert.deepEqual([status, headers.get('content-type')], [200, 'text/plain; charset=utf-8'])
    assert.match(
      text,
      /^Contact: mailto:security@example\.com\nContact: https:\/\/example\.com\/security\nExpires: (.*)\nCanonical: .*\/\.well-known\/security\.txt\n$/,
    )
    const days = (Date.parse(/^Expires: (.*)$/m.exec(text)?.[1] ?? '') - Date.now()) / 86_400_000
    assert.ok(days > 80 && days < 365, String(days))
    const without = await startService({ inside: true, until: t })
    assertProblem(await without.client().get('/.well-known/security.txt'), 404, 'route-not-found')
  })

  it('identifies the request by the id that it carried, or by a new one', async () => {
    const given = 'trace-0042.ABC_x'
    const paths = routes
      .filter(({ url }) => !forAll.includes(url))
      .map((route) => [route.method, pathOf(route)] as const)
    for (const [method, path] of [...paths, ['GET', '/v1/none'], ['GET', '/orders/7']] as const) {
      const label = `${method} ${path}`
      const kept = await service.client().send(method, path, undefined, { 'x-request-id': given })
      assert.equal(kept.headers.get('x-request-id'), given, label)
      assert.equal(kept.body?.requestId ?? given, given, label)
      const made = await service.client().send(method, path, undefined, { 'x-request-id': 'short' })
      const id = made.headers.get('x-request-id') ?? ''
      assert.match(id, /^[A-Za-z0-9._-]{8,128}$/, label)
      assert.equal(made.body?.requestId ?? id, id, label)
    }
  })

  describe('carries the headers of section 10', () => {
    const apiHeaders = {
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    }

    function assertHeaders(headers: Headers, label: string): void {
      for (const [name, value] of Object.entries(apiHeaders)) assert.equal(headers.get(name), value, label)
      assert.match(headers.get('strict-transport-security') ?? '', /max-age=\d{8,}/, label)
      assert.equal(headers.get('x-powered-by'), null, label)
      assert.equal(headers.get('server'), null, label)
      assert.equal(headers.get('access-control-allow-credentials'), null, label)
    }

    it('on every success and every refusal', async () => {
      // The page has a policy that its file says (test/http/verify-page.test.ts).
      for (const route of routes.filter(({ url }) => url !== '/verify')) {
        const label = `${route.method} ${route.url}`
        const path = route.url.replace(':id', orderId)
        for (const caller of [admin, service.client()]) {
          const { headers } = await caller.send(route.method, path)
          assertHeaders(headers, label)
          const expected = route.isForAll ? 'cross-origin' : 'same-origin'
          assert.equal(headers.get('cross-origin-resource-policy'), expected, label)
        }
      }
      assertHeaders((await service.client().get('/v1/none')).headers, '/v1/none')
      assertHeaders((await service.client().send('PUT', '/v1/orders')).headers, 'PUT /v1/orders')
    })

    it('with no-store on auth, private and no-cache with an ETag on what has versions, and Vary on both', async () => {
      const session = await service.session('admin')
      const features = routes.filter(({ url }) => url.startsWith('/v1/'))
      for (const route of features) {
        const isVersioned =
          /^\/v1\/(?:orders(?!\/events)|approval-policy|views|(?:users|clients|roles)\/:\w+$)/.test(
            route.url,
          ) && route.method !== 'DELETE'
        for (const caller of [admin, session, service.client()]) {
          const answer = await send(caller, route, pathOf(route))
          const label = `${route.method} ${route.url} ${answer.status}`
          const hasTag = isVersioned && answer.status < 300
          const expected = hasTag ? 'private, no-cache' : 'no-store'
          assert.equal(answer.headers.get('cache-control'), expected, label)
          assert.equal(answer.headers.has('etag'), hasTag || (isVersioned && answer.status === 409), label)
          assert.deepEqual(
            (answer.headers.get('vary') ?? '').split(', ').sort(),
            [...(route.hasForms ? ['Accept'] : []), 'Authorization', 'Cookie'],
            label,
          )
        }
      }
    })
  })
})

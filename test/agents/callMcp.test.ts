import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { callMcp, earlier, messageOf, newAgent, proposal, refusalOf, revisions } from '../support/agents.ts'
import { sessionCookie, sessionOf } from '../support/client.ts'
import { assertProblem } from '../support/problem.ts'
import { publicUrl, setUp, startService, testService } from '../support/service.ts'

const cors = 'https://console.example.com'

describe('callMcp', () => {
  const service = testService({ env: { CORS_ORIGINS: cors } })
  const agent = setUp(() => newAgent(service))
  const post = (body: unknown, headers?: Record<string, string>) =>
    agent.caller.post('/v1/mcp', body, headers)
  const failed = async (sent: ReturnType<typeof post>) => {
    const { status, headers, body } = await sent
    assert.match(headers.get('content-type') ?? '', /^application\/json/)
    const { jsonrpc, id, error } = body
    assert.equal(jsonrpc, '2.0')
    assert.equal(error.data.requestId, headers.get('x-request-id'))
    return { status, id, code: error.code, problem: error.data.code, data: error.data }
  }
  const [list, listHeaders] = messageOf('tools/list')

  describe('the revision 2026-07-28', () => {
    it('discovers the service', async () => {
      const { status, body } = await callMcp(agent.caller, 'server/discover')
      assert.equal(status, 200)
      const { resultType, supportedVersions, capabilities, ttlMs, cacheScope, _meta } = body.result
      assert.deepEqual(
        { resultType, supportedVersions, capabilities, ttlMs, cacheScope },
        {
          ...{ resultType: 'complete', supportedVersions: revisions, ttlMs: 300_000, cacheScope: 'private' },
          capabilities: { tools: {}, resources: {} },
        },
      )
      assert.equal(_meta['io.modelcontextprotocol/serverInfo'].name, 'countersign')
    })

    it('lets an agent keep what the service offers for five minutes, and nothing that orders change', async () => {
      const { structuredContent } = (
        await callMcp(agent.caller, 'tools/call', {
          name: 'propose_order',
          arguments: proposal('kept'),
        })
      ).body.result
      const uri = `countersign://orders/${structuredContent.id}`
      const told: Record<string, unknown> = {}
      for (const [method, params] of [
        ['server/discover', {}],
        ['tools/list', {}],
        ['resources/list', {}],
        ['resources/templates/list', {}],
        ['resources/read', { uri }],
        ['tools/call', { name: 'read_order', arguments: { id: structuredContent.id } }],
        ['tools/call', { name: 'find_orders', arguments: {} }],
      ] as const) {
        const { ttlMs = 'not at all' } = (await callMcp(agent.caller, method, params)).body.result
        told[`${method} ${'name' in params ? params.name : ''}`.trim()] = ttlMs
      }
      assert.deepEqual(told, {
        'server/discover': 300_000,
        'tools/list': 300_000,
        'resources/list': 300_000,
        'resources/templates/list': 300_000,
        'resources/read': 0,
        'tools/call read_order': 'not at all',
        'tools/call find_orders': 'not at all',
      })
    })

    it('needs the headers, each with the value that the message has', async () => {
      const [read, readHeaders] = messageOf('resources/read', { uri: 'countersign://filter' })
      const wrong: [message: unknown, headers: Record<string, string>, changed: string, value?: string][] = [
        [list, listHeaders, 'mcp-protocol-version'],
        [list, listHeaders, 'mcp-protocol-version', '2025-11-25'],
        [list, listHeaders, 'mcp-method'],
        [list, listHeaders, 'mcp-method', 'tools/call'],
        [list, listHeaders, 'mcp-method', 'Tools/list'],
        [read, readHeaders, 'mcp-name'],
        [read, readHeaders, 'mcp-name', 'countersign://orders/x'],
        [read, readHeaders, 'mcp-name', '=?base64?!!?='],
      ]
      for (const [message, headers, name, value] of wrong) {
        const { [name]: _, ...others } = headers
        const answer = await failed(
          post(message, { ...others, ...(value !== undefined && { [name]: value }) }),
        )
        assert.deepEqual(
          [answer.status, answer.id, answer.code, answer.problem],
          [400, 1, -32020, 'mcp-headers-differ'],
          `${name}: ${value}`,
        )
      }
      const encoded = `=?base64?${Buffer.from('countersign://filter').toString('base64')}?=`
      assert.equal((await post(read, { ...readHeaders, 'mcp-name': encoded })).status, 200)
    })

    it('needs the revision and the capabilities in _meta', async () => {
      for (const key of ['protocolVersion', 'clientCapabilities']) {
        const { [`io.modelcontextprotocol/${key}`]: _, ..._meta } = (list.params as { _meta: object })
          ._meta as Record<string, unknown>
        const answer = await failed(post({ ...list, params: { _meta } }, listHeaders))
        assert.deepEqual([answer.status, answer.id, answer.code], [400, 1, -32602], key)
      }
    })

    it('answers 404 to a method that it does not have', async () => {
      for (const method of ['initialize', 'ping', 'prompts/list', 'subscriptions/listen', 'constructor']) {
        const answer = await failed(callMcp(agent.caller, method))
        assert.deepEqual([answer.status, answer.id, answer.code], [404, 1, -32601], method)
      }
    })
  })

  describe('the earlier revisions', () => {
    const initialize = { capabilities: {}, clientInfo: { name: 'test', version: '1' } }

    it('begin with initialize, which answers the revision asked for, else the newest; and keep no session', async () => {
      for (const protocolVersion of [...earlier, '2026-07-28', '9999-01-01']) {
        const params = { ...initialize, protocolVersion }
        const { status, headers, body } = await callMcp(agent.caller, 'initialize', params, '2025-11-25')
        const answered = protocolVersion > '2026' ? '2025-11-25' : protocolVersion
        assert.deepEqual([status, body.result.protocolVersion], [200, answered])
        assert.equal(body.result.serverInfo.name, 'countersign')
        assert.equal(headers.get('mcp-session-id'), null)
      }
    })

    it('get no member that only 2026-07-28 has', async () => {
      const members: Record<string, string[]> = {
        ping: [],
        'tools/list': ['tools'],
        'resources/list': ['resources'],
        'resources/templates/list': ['resourceTemplates'],
      }
      for (const [method, expected] of Object.entries(members)) {
        for (const revision of earlier) {
          const { status, body } = await callMcp(agent.caller, method, {}, revision)
          assert.deepEqual([status, Object.keys(body.result)], [200, expected], `${method} ${revision}`)
        }
      }
      const called = { name: 'find_orders', arguments: {} }
      const { result } = (await callMcp(agent.caller, 'tools/call', called, '2025-06-18')).body
      assert.deepEqual(Object.keys(result), ['content', 'structuredContent', 'isError'])
    })

    it('include a request without a header, which counts as 2025-03-26', async () => {
      const answer = await post({ jsonrpc: '2.0', id: 1, method: 'ping' })
      assert.deepEqual([answer.status, answer.body.result], [200, {}])
      const unknown = await failed(post({ jsonrpc: '2.0', id: 1, method: 'server/discover' }))
      assert.deepEqual([unknown.status, unknown.code], [200, -32601])
      const uninitialized = await failed(post({ jsonrpc: '2.0', id: 1, method: 'initialize', params: {} }))
      assert.deepEqual([uninitialized.status, uninitialized.code], [200, -32602])
    })

    it('answer errors of a request with 200, because their clients read them only there', async () => {
      for (const revision of earlier) {
        const unknown = await failed(callMcp(agent.caller, 'server/discover', {}, revision))
        assert.deepEqual([unknown.status, unknown.id, unknown.code], [200, 1, -32601])
      }
    })
  })

  it('says which resource there is not', async () => {
    const missing: [uri: string, problem: string][] = [
      ['countersign://orders/none', 'order-not-found'],
      ['countersign://filter/../orders', 'mcp-resource-unknown'],
      ['file:///etc/passwd', 'mcp-resource-unknown'],
    ]
    for (const [uri, problem] of missing) {
      for (const [revision, status, code] of [
        ['2026-07-28', 400, -32602],
        ['2025-11-25', 200, -32002],
        ['2024-11-05', 200, -32002],
      ] as const) {
        const answer = await callMcp(agent.caller, 'resources/read', { uri }, revision)
        const { error } = answer.body
        assert.deepEqual(
          [answer.status, error.code, error.message, error.data.uri, error.data.code],
          [status, code, 'Resource not found', uri, problem],
        )
      }
    }
  })

  it('names its revisions to a request of another', async () => {
    for (const method of ['tools/list', 'notifications/initialized']) {
      const id = method === 'tools/list' ? 7 : undefined
      const message = { jsonrpc: '2.0', id, method }
      const answer = await failed(post(message, { 'mcp-protocol-version': '2024-10-07' }))
      assert.deepEqual([answer.status, answer.id, answer.code], [400, id, -32022])
      assert.deepEqual([answer.data.supported, answer.data.requested], [revisions, '2024-10-07'])
    }
  })

  it('answers 202 without a body to notifications', async () => {
    for (const method of ['notifications/initialized', 'notifications/cancelled', 'notifications/no/such']) {
      for (const headers of [{}, { 'mcp-protocol-version': '2025-11-25' }]) {
        const { status, text } = await post({ jsonrpc: '2.0', method, params: { requestId: 1 } }, headers)
        assert.deepEqual([status, text], [202, ''], method)
      }
    }
  })

  it('refuses what is no request', async () => {
    const { params } = list
    const wrong: [message: unknown, id: unknown, code: number][] = [
      [[list], undefined, -32600],
      [[], undefined, -32600],
      [{ ...list, jsonrpc: '1.0' }, 1, -32600],
      [{ ...list, jsonrpc: undefined }, 1, -32600],
      [{ ...list, id: null }, undefined, -32600],
      [{ ...list, id: 1.5 }, undefined, -32600],
      [{ ...list, id: {} }, undefined, -32600],
      [{ ...list, id: undefined }, undefined, -32600],
      [{ jsonrpc: '2.0', method: 'initialize', params: {} }, undefined, -32600],
      [{ ...list, method: 7 }, 1, -32600],
      [{ jsonrpc: '2.0', id: 1, result: {} }, 1, -32600],
      [{ ...list, params: [params] }, 1, -32600],
      ['{"jsonrpc":"2.0","id":1', undefined, -32700],
      ['{"jsonrpc":"2.0","id":1,"method":"ping","params":{"__proto__":{}}}', undefined, -32700],
      ['{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":[{"constructor":1}]}}', undefined, -32700],
      ['', undefined, -32700],
    ]
    for (const [message, id, code] of wrong) {
      const answer = await failed(post(message, listHeaders))
      assert.deepEqual([answer.status, answer.id, answer.code], [400, id, code], JSON.stringify(message))
    }
  })

  it('refuses params that no method could take, and cursors', async () => {
    const wrong: [method: string, params: Record<string, unknown>][] = [
      ['tools/call', {}],
      ['tools/call', { name: 7 }],
      ['tools/call', { name: 'constructor' }],
      ['tools/call', { name: 'hasOwnProperty', arguments: {} }],
      ['tools/call', { name: 'find_orders', arguments: [] }],
      ['tools/call', { name: 'find_orders', arguments: null }],
      ['resources/read', { uri: 7 }],
      ['tools/list', { cursor: '' }],
      ['resources/list', { cursor: 'x' }],
    ]
    for (const [method, params] of wrong) {
      const [message, headers] = messageOf(method, params)
      const name = typeof (params.name ?? params.uri) === 'string' ? {} : { 'mcp-name': '7' }
      const { status, code } = await failed(post(message, { ...name, ...headers }))
      assert.ok(status === 400 && (code === -32602 || code === -32020), `${method} ${JSON.stringify(params)}`)
    }
  })

  it('keeps hostile bodies from doing harm', async () => {
    const deep = `${'['.repeat(30_000)}${']'.repeat(30_000)}`
    const text = JSON.stringify({ ...list, params: { ...list.params, deep: 0 } })
    assert.equal((await post(text.replace('"deep":0', `"deep":${deep}`), listHeaders)).status, 200)
    assertProblem(await post(' '.repeat(65_537), listHeaders), 413, 'body-too-large')
    assertProblem(await post('x', { 'content-type': 'text/plain' }), 415, 'unsupported-media-type')
    const half = 'half \ud800'
    for (const member of ['id', 'method']) {
      const { status, code } = await failed(post({ ...list, [member]: half }, listHeaders))
      assert.deepEqual([status, code], [400, -32600], member)
    }
    for (const member of ['customer', 'why', 'idempotencyKey']) {
      const given = proposal('half', { [member]: half })
      const { code, errors } = await refusalOf(agent.caller, 'propose_order', given)
      assert.deepEqual([code, errors.length, errors[0].pointer], ['validation-failed', 1, `#/${member}`])
    }
  })

  it('answers JSON whatever Accept asks for', async () => {
    for (const accept of ['application/json, text/event-stream', 'text/event-stream', '*/*', 'text/csv']) {
      const { status, headers } = await post(list, { ...listHeaders, accept })
      assert.deepEqual([status, headers.get('content-type')], [200, 'application/json; charset=utf-8'])
    }
  })

  describe('access', () => {
    it('looks at no cookie', async () => {
      const session = await service.session('admin')
      const cookie = { cookie: `${sessionCookie}=${sessionOf(session)}` }
      const bare = await session.post('/v1/mcp', list, listHeaders)
      assertProblem(bare, 401, 'authentication-required')
      assert.deepEqual([bare.setCookies, bare.headers.get('session-idle-expires')], [[], null])
      const both = await post(list, { ...listHeaders, ...cookie })
      assert.deepEqual([both.status, both.headers.get('session-idle-expires')], [200, null])
    })

    it('refuses foreign origins, with a good token too', async () => {
      for (const origin of ['https://evil.example', 'null', `${publicUrl}.evil.example`]) {
        assertProblem(await post(list, { ...listHeaders, origin }), 403, 'cross-site-request')
        const stranger = await service.client().post('/v1/mcp', list, { ...listHeaders, origin })
        assertProblem(stranger, 401, 'authentication-required')
      }
      for (const origin of [publicUrl, cors]) {
        assert.equal((await post(list, { ...listHeaders, origin })).status, 200)
      }
    })

    it('offers POST alone', async () => {
      for (const method of ['GET', 'DELETE', 'PUT']) {
        const answer = await agent.caller.send(method, '/v1/mcp')
        assertProblem(answer, 405, 'method-not-allowed')
        assert.equal(answer.headers.get('allow'), 'POST, OPTIONS')
      }
    })

    it('counts each request as a read, and a proposal as a write too', async (t) => {
      // 12 reads and 3 writes.
      const env = { RATE_LIMIT_FACTOR: '0.01', RATE_LIMIT_WRITE: '300', CORS_ORIGINS: cors }
      const limited = await startService({ inside: true, env, until: t })
      const { caller } = await newAgent(limited)
      const propose = (key: string) => refusalOf(caller, 'propose_order', { idempotencyKey: key })
      for (const key of ['1', '2']) assert.equal((await propose(key)).code, 'validation-failed')
      // Those of the API are counted together with them.
      assert.equal((await caller.post('/v1/orders', {})).status, 400)
      assert.equal((await propose('4')).code, 'rate-limited')
      for (const place of Array(9).keys()) {
        const { status, headers } = await callMcp(caller, 'tools/list')
        assert.equal(status, 200, String(place))
        assert.match(headers.get('ratelimit-policy') ?? '', /^"read"/)
      }
      assertProblem(await callMcp(caller, 'tools/list'), 429, 'rate-limited')
    })

    it('writes the line of a request with caller, operation and problem', async () => {
      await refusalOf(agent.caller, 'find_orders', { filter: '(' })
      const line = (await service.log()).findLast(({ route }) => route === 'callMcp')
      assert.deepEqual(
        [line?.caller, line?.via, line?.status, line?.problem],
        [agent.clientId, 'bearer', 200, 'invalid-filter'],
      )
    })
  })
})

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { ValidateFunction } from 'ajv/dist/2020.js'
import * as fc from 'fast-check'
import type { Client } from '../support/client.ts'
import { type Description, Judge, JudgedClient, toPointer } from '../support/description.ts'
import { passwordOf, type Service, startService } from '../support/service.ts'

const operationIds = [
  ...'createOrder listOrders getOrdersOverview getOrder approveOrder loginSession'.split(' '),
  ...'refreshSession logoutSession getCurrentUser getCurrentUserPermissions getCsrfToken'.split(' '),
  ...'issueToken refreshToken issueServiceToken getHealth getReadiness getJwks'.split(' '),
]
const schemaNames = [
  ...'Order OrderSummary PaginatedListOfOrderSummary OrdersOverview CreateOrderCommand'.split(' '),
  ...'CreateOrderResponse LoginSessionCommand TokenLoginCommand RefreshTokenCommand'.split(' '),
  ...'ClientTokenCommand AuthenticatedUser CurrentUserResponse CurrentUserPermissions'.split(' '),
  ...'CsrfTokenResponse TokenPair ServiceAccessToken EOrderStatus EOrderDirection'.split(' '),
]

describe('the live description', () => {
  let service: Service
  let description: Description
  let judge: Judge
  let admin: Client
  before(async () => {
    service = await startService({ development: true, orders: true, env: { RATE_LIMIT_FACTOR: '1000' } })
    description = (await service.client().get('/openapi/v1.json')).body
    judge = new Judge(description)
    admin = await service.bearer('admin')
  })
  after(() => service.close())

  const judged = (client: Client) => new JudgedClient(client, judge)

  describe('says what the contract says', () => {
    it('as OpenAPI 3.1, version 1.0.0, with a path for every operation', () => {
      assert.match(description.openapi, /^3\.1\.\d$/)
      assert.equal(description.info.version, '1.0.0')
      const ids = judge.operations().map(({ operation }) => operation.operationId)
      assert.deepEqual(ids.sort(), [...operationIds].sort())
    })

    it('with every schema under its name, each of them valid and each of them used', () => {
      const { schemas } = description.components
      assert.deepEqual(
        schemaNames.filter((name) => !(name in schemas)),
        [],
      )
      const text = JSON.stringify(description)
      for (const name of Object.keys(schemas)) {
        judge.validator(toPointer(['components', 'schemas', name]))
        assert.ok(text.includes(`"#/components/schemas/${name}"`), `${name} is used nowhere`)
      }
    })

    it('with exactly the members of section 2, required as there', () => {
      const shapes: Record<string, [string[], string[]]> = {
        Order: [
          [
            ...'id customer total status createdAtUtc createdAtTimeZone updatedAtUtc'.split(' '),
            ...'updatedAtTimeZone createdBy modifiedBy'.split(' '),
          ],
          [],
        ],
        OrderSummary: [['id', 'customer', 'total', 'status', 'createdAtUtc'], []],
        PaginatedListOfOrderSummary: [
          ['items', 'pageNumber', 'totalPages'],
          ['totalCount', 'hasPreviousPage', 'hasNextPage'],
        ],
        OrdersOverview: [['pending', 'approved', 'days', 'oldestPending'], []],
        CreateOrderCommand: [['customer', 'total'], []],
        CreateOrderResponse: [['id'], []],
        LoginSessionCommand: [['email', 'password'], []],
        TokenLoginCommand: [['email', 'password'], []],
        RefreshTokenCommand: [['refreshToken'], []],
        ClientTokenCommand: [['clientId', 'clientSecret'], []],
        AuthenticatedUser: [['id', 'userName', 'email', 'roles'], []],
        CurrentUserResponse: [['id', 'userName', 'roles'], []],
        CurrentUserPermissions: [['permissions'], []],
        CsrfTokenResponse: [['token'], []],
        TokenPair: [['accessToken', 'accessTokenExpiresAt', 'refreshToken'], []],
        ServiceAccessToken: [['accessToken', 'expiresAt'], []],
      }
      for (const [name, [required, optional]] of Object.entries(shapes)) {
        const schema = description.components.schemas[name] as { properties: object; required: string[] }
        assert.deepEqual(Object.keys(schema.properties).sort(), [...required, ...optional].sort(), name)
        assert.deepEqual([...schema.required].sort(), [...required].sort(), name)
      }
    })

    it('with the enumerations as integers that are never renumbered', () => {
      const { EOrderStatus, EOrderDirection } = description.components.schemas
      assert.deepEqual(EOrderStatus?.enum, [0, 1])
      assert.deepEqual(EOrderStatus?.['x-enum-varnames'], ['Pending', 'Approved'])
      assert.deepEqual(EOrderDirection?.enum, [0, 1])
      assert.deepEqual(EOrderDirection?.['x-enum-varnames'], ['Asc', 'Desc'])
    })

    it('with the three security schemes', () => {
      const { cookieSession, antiforgery, bearerAuth } = description.components.securitySchemes
      assert.deepEqual([cookieSession?.type, cookieSession?.in], ['apiKey', 'cookie'])
      assert.deepEqual([antiforgery?.in, antiforgery?.name], ['header', 'X-XSRF-TOKEN'])
      assert.deepEqual(
        [bearerAuth?.type, bearerAuth?.scheme, bearerAuth?.bearerFormat],
        ['http', 'bearer', 'JWT'],
      )
      assert.match(String(bearerAuth?.description), /without the word Bearer/)
    })

    it('with an example of every body, parameter and answer, valid against its schema', () => {
      let count = 0
      const assertExample = (parts: string[], { example }: { example?: unknown }) => {
        assert.notEqual(example, undefined, parts.join(' '))
        const validate = judge.validator(toPointer([...parts, 'schema']))
        assert.ok(validate(example), `${parts.join(' ')}: ${JSON.stringify([example, validate.errors])}`)
        count += 1
      }
      for (const { path, method, operation } of judge.operations()) {
        const at = ['paths', path, method]
        for (const [type, content] of Object.entries(operation.requestBody?.content ?? {})) {
          assertExample([...at, 'requestBody', 'content', type], content)
        }
        for (const [status, response] of Object.entries(operation.responses)) {
          for (const [type, content] of Object.entries(response.content ?? {})) {
            assertExample([...at, 'responses', status, 'content', type], content)
          }
        }
        const queries = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query')
        for (const parameter of queries) {
          const index = operation.parameters?.indexOf(parameter)
          assertExample([...at, 'parameters', String(index)], parameter)
        }
      }
      assert.ok(count > 100, String(count))
    })
  })

  describe('knows every answer', () => {
    it('of every operation, the good ones and the refusals', async () => {
      const bearer = judged(admin)
      const anybody = judged(service.client())
      const viewer = judged(await service.bearer('viewer'))
      const good = { customer: 'Acme', total: 12.5 }

      const created = await bearer.post('/v1/orders', good, { 'idempotency-key': 'openapi-1' })
      await bearer.post('/v1/orders', good, { 'idempotency-key': 'openapi-1' })
      await bearer.post('/v1/orders', { ...good, total: 1 }, { 'idempotency-key': 'openapi-1' })
      await bearer.post('/v1/orders', {})
      await bearer.post('/v1/orders', '{')
      await bearer.post('/v1/orders', good, { 'time-zone': 'None/Such' })
      await bearer.post('/v1/orders', good, { 'content-type': 'text/plain' })
      await bearer.post('/v1/orders', ' '.repeat(70_000))
      await bearer.post('/v1/orders', good, { 'x-long': 'a'.repeat(15_800), 'x-more': 'a'.repeat(900) })
      await viewer.post('/v1/orders', good)
      await anybody.post('/v1/orders', good)

      const list = await bearer.get('/v1/orders')
      await bearer.get('/v1/orders', { 'if-none-match': list.headers.get('etag') ?? '' })
      await bearer.get('/v1/orders?pageNumber=99&orderBy=updatedAtUtc&order=0')
      await bearer.get('/v1/orders?paginated=false&filter=status%3DPending')
      await bearer.get('/v1/orders?pageSize=0')
      await bearer.get('/v1/orders?filter=(')
      await bearer.get(`/v1/orders?filter=${'a'.repeat(9_000)}`)
      await anybody.get('/v1/orders')

      const overview = await bearer.get('/v1/orders/summary?days=2')
      const revalidated = { 'if-none-match': overview.headers.get('etag') ?? '' }
      await bearer.get('/v1/orders/summary?days=2', revalidated)
      await bearer.get('/v1/orders/summary?days=367')
      await anybody.get('/v1/orders/summary')

      const order = `/v1/orders/${created.body.id}`
      await bearer.get(order)
      await bearer.get(order, { 'if-none-match': '"1"' })
      await bearer.get('/v1/orders/none')
      await anybody.get(order)
      await bearer.patch(`${order}/approve`, undefined, { 'if-match': '"9"' })
      await bearer.patch(`${order}/approve`, undefined, { 'idempotency-key': '' })
      await bearer.patch(`${order}/approve`, 'x', { 'content-type': 'text/plain' })
      await bearer.patch(`${order}/approve`)
      await bearer.patch(`${order}/approve`)
      await bearer.get(order)
      await bearer.patch('/v1/orders/none/approve')
      await viewer.patch(`${order}/approve`)
      await anybody.patch(`${order}/approve`)

      const browser = judged(service.client())
      await browser.get('/v1/auth/csrf')
      await browser.post('/v1/auth/session', passwordOf('admin'))
      await browser.post('/v1/auth/session', passwordOf('admin'), { prefer: 'return=minimal' })
      await browser.post('/v1/auth/session', {})
      await browser.post('/v1/auth/session', { email: 'nobody@example.com', password: 'x' })
      await browser.post('/v1/auth/session', passwordOf('admin'), { 'sec-fetch-site': 'cross-site' })
      await browser.get('/v1/auth/me')
      await browser.get('/v1/auth/me/permissions')
      await anybody.get('/v1/auth/me/permissions')
      await browser.post('/v1/auth/session/refresh')
      await browser.fetchAntiforgeryToken()
      await browser.post('/v1/auth/session/refresh')
      await browser.post('/v1/auth/session/refresh', undefined, { prefer: 'return=minimal' })
      await browser.post('/v1/auth/session/logout', 'x', { 'content-type': 'text/plain' })
      await browser.post('/v1/auth/session/logout')
      await browser.post('/v1/auth/session/logout')
      await browser.get('/v1/auth/me')

      const pair = await anybody.post('/v1/auth/token', passwordOf('viewer'))
      await anybody.post('/v1/auth/token', { email: 'nobody@example.com', password: 'x' })
      const { refreshToken } = pair.body
      await anybody.post('/v1/auth/token/refresh', { refreshToken })
      await anybody.post('/v1/auth/token/refresh', { refreshToken })
      await anybody.post('/v1/auth/token/refresh', { refreshToken: 7 })
      const secret = { clientId: 'demo-service', clientSecret: 'countersign-demo-service-secret' }
      await anybody.post('/v1/auth/clients/token', secret)
      await anybody.post('/v1/auth/clients/token', { ...secret, clientSecret: 'x' })
      await judged(await service.bearer('demo-service')).get('/v1/auth/me')

      await anybody.get('/health')
      await anybody.get('/health/ready')
      const keys = await anybody.get('/.well-known/jwks.json')
      await anybody.get('/.well-known/jwks.json', { 'if-none-match': keys.headers.get('etag') ?? '' })
      await anybody.get('/health', { host: 'localhost', 'x-long': 'a'.repeat(17_000) })
    })

    it('of an instance that is limited, draining or without its database', async (t) => {
      const env = { RATE_LIMIT_FACTOR: '0.0001' }
      const limited = await startService({ development: true, env })
      t.after(() => limited.close())
      const caller = judged(limited.client())
      const all = () =>
        Promise.all(
          judge
            .operations()
            .map(({ method, path }) => caller.send(method.toUpperCase(), path.replace('{id}', 'x'))),
        )
      await all()
      const refused = await all()
      assert.equal(refused.filter(({ status }) => status === 429).length, operationIds.length - 2)
      limited.readiness.draining = true
      const drained = await all()
      assert.equal(drained.filter(({ status }) => status === 503).length, operationIds.length - 1)
      limited.readiness.draining = false
      await limited.db.close()
      await judged(limited.client()).get('/health/ready')
    })

    it('that it promises as a success, each of which was seen', () => {
      const promised = judge
        .operations()
        .flatMap(({ operation }) =>
          Object.keys(operation.responses).map((status) => `${operation.operationId} ${status}`),
        )
        .filter((each) => / [23]\d\d$/.test(each))
      assert.deepEqual(
        promised.filter((each) => !judge.seen.has(each)),
        [],
      )
    })
  })

  /** What the schema allows is never answered 400, what it forbids is never accepted. */
  describe('allows exactly what is accepted', () => {
    const either = <T>(...arbitraries: fc.Arbitrary<T>[]) => fc.oneof(...arbitraries)
    const anyText = fc.string({ unit: 'binary', maxLength: 12 })
    const wrongType = fc.constantFrom<unknown>(null, true, false, [], {}, ['1'], [1], { a: 1 })
    const bodyOf = (name: string) => judge.validator(toPointer(['components', 'schemas', name]))

    const customer = either<unknown>(
      anyText,
      fc.constantFrom(
        '',
        ' ',
        '\t',
        '\u0085',
        '\u00a0x',
        'a\u0000b',
        'a\nb',
        ' a\n',
        '\u200b',
        '\ufeff',
        '\u2028a',
      ),
      fc.string({ unit: 'grapheme', minLength: 195, maxLength: 205 }),
      fc
        .tuple(fc.nat(3), fc.integer({ min: 197, max: 202 }))
        .map(([pad, n]) => ' '.repeat(pad) + '𝄞'.repeat(n)),
      fc.integer(),
      wrongType,
    )
    const digits = (maximum: number) =>
      fc.string({ unit: fc.constantFrom(...'0123456789'), maxLength: maximum })
    const decimalText = fc
      .tuple(
        fc.constantFrom('', '-', '+', '0', ' '),
        digits(13),
        fc.constantFrom('', '.', ',', '.0'),
        digits(6),
      )
      .map((parts) => parts.join(''))
    const total = either<unknown>(
      decimalText,
      fc.constantFrom(
        '1e3',
        '0x10',
        'NaN',
        'Infinity',
        '١',
        '1.',
        '.5',
        '0',
        '-0',
        '0.0000',
        '00.1',
        '1\n',
        '',
      ),
      fc.constantFrom(
        0,
        -0,
        1e21,
        1e-7,
        5e-324,
        99_999_999_999.9999,
        100_000_000_000,
        0.07,
        0.1 + 0.2,
        1.00001,
      ),
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.tuple(fc.nat(999_999_999), fc.nat(99_999)).map(([whole, part]) => whole + part / 10 ** 4),
      wrongType,
    )
    const goodCustomer = fc.constantFrom('Acme', ' Müller ', 'x'.repeat(200))
    const goodTotal = either<unknown>(
      fc.constantFrom('12.5', 12.5),
      fc.nat(9_999).map((n) => (n + 1) / 10_000),
    )

    /** Some members, each good or doubtful, and others besides. */
    const bodies = (members: Record<string, fc.Arbitrary<unknown>>) =>
      fc.oneof(
        { weight: 9, arbitrary: fc.record({ ...members, more: wrongType }, { requiredKeys: [] }) },
        { weight: 9, arbitrary: fc.record(members) },
        { weight: 1, arbitrary: fc.constantFrom<unknown>(null, [], 'x', 1, true, [{}]) },
      )

    async function assertAgreement(name: string, caller: Client, path: string, body: unknown): Promise<void> {
      // As it is after the way over the wire: -0 is 0.
      const sent = JSON.parse(JSON.stringify(body))
      const allowed = bodyOf(name)(sent)
      const answer = await caller.post(path, JSON.stringify(sent))
      const verdict = { refused: answer.status === 400, code: answer.body.code === 'validation-failed' }
      assert.deepEqual(
        verdict,
        { refused: !allowed, code: !allowed },
        `${JSON.stringify(sent)}: ${answer.text}`,
      )
    }

    it('in CreateOrderCommand', async () => {
      const command = bodies({ customer: either(customer, goodCustomer), total: either(total, goodTotal) })
      await fc.assert(
        fc.asyncProperty(command, (body) => assertAgreement('CreateOrderCommand', admin, '/v1/orders', body)),
        { numRuns: 700 },
      )
    })

    it('in the bodies of the sign-ins and exchanges', async () => {
      const around = (minimum: number, maximum: number) =>
        either<unknown>(
          fc.constantFrom(minimum - 1, minimum, maximum, maximum + 1).map((length) => '𝄞'.repeat(length)),
          anyText,
          wrongType,
          fc.integer(),
        )
      const email = either<unknown>(
        fc.constantFrom('a@b', '@b', 'a@', 'ab', 'a@b@c', 'a b@c', '@', 'a\u0000@b', `${'a'.repeat(252)}@b`),
        fc.constantFrom(`${'a'.repeat(253)}@b`, 'Ä@ö', '𝄞@𝄞', 'nobody@example.com'),
        fc.tuple(anyText, anyText).map((sides) => sides.join('@')),
        wrongType,
      )
      const exchanges = [
        ['RefreshTokenCommand', '/v1/auth/token/refresh', { refreshToken: around(1, 512) }, 150],
        [
          'ClientTokenCommand',
          '/v1/auth/clients/token',
          { clientId: around(1, 64), clientSecret: around(1, 256) },
          150,
        ],
        ['LoginSessionCommand', '/v1/auth/session', { email, password: around(1, 256) }, 60],
        ['TokenLoginCommand', '/v1/auth/token', { email, password: around(1, 256) }, 60],
      ] as const
      for (const [name, path, members, numRuns] of exchanges) {
        await fc.assert(
          fc.asyncProperty(bodies(members), (body) => assertAgreement(name, service.client(), path, body)),
          { numRuns },
        )
      }
    })

    it('in the parameters of the list', async () => {
      const { operation } =
        judge.operations().find((each) => each.operation.operationId === 'listOrders') ?? {}
      const parameters = (operation?.parameters ?? []).filter((each) => each.in === 'query')
      const names = parameters.map(({ name }) => name)
      assert.deepEqual(names, ['pageNumber', 'pageSize', 'orderBy', 'order', 'filter', 'paginated'])
      const numbers = [
        '0',
        '1',
        '-1',
        '01',
        '1.0',
        '1e1',
        '+1',
        ' 1',
        '2147483647',
        '2147483648',
        '9'.repeat(30),
      ]
      const words = 'true TRUE False yes asc DESC ascending 2 Customer TOTAL status'.split(' ')
      const more = ['createdatutc', 'version', 'id', 'null', '[]', '１', 'a'.repeat(1_000), 'a'.repeat(1_001)]
      const value = either(fc.constantFrom(...numbers, ...words, ...more), fc.integer().map(String), anyText)
      await fc.assert(
        fc.asyncProperty(fc.nat(names.length - 1), value, async (index, text) => {
          const [name = ''] = names.slice(index)
          const pointer = toPointer([
            'paths',
            '/v1/orders',
            'get',
            'parameters',
            String(indexOf(name)),
            'schema',
          ])
          const allowed = text === '' || allows(judge.validator(pointer), text)
          const answer = await admin.get(`/v1/orders?${name}=${encodeURIComponent(text)}`)
          const label = `${name}=${JSON.stringify(text)}: ${answer.text}`
          const codes = allowed ? [undefined, 'invalid-filter'] : ['validation-failed', 'invalid-filter']
          assert.ok(codes.includes(answer.body.code), label)
          assert.equal(answer.status, answer.body.code === undefined ? 200 : 400, label)
        }),
        { numRuns: 700 },
      )

      function indexOf(name: string): number {
        return operation?.parameters?.findIndex((each) => each.name === name) ?? -1
      }
    })

    it('in the days of the overview', async () => {
      const pointer = toPointer(['paths', '/v1/orders/summary', 'get', 'parameters', '0', 'schema'])
      const around = [...Array(400).keys()].map(String)
      const odd = [
        '-1',
        '01',
        '1.0',
        '1e1',
        '+1',
        ' 1',
        '1 ',
        '10 0',
        'x',
        '１',
        '9'.repeat(30),
        '[]',
        'null',
        'true',
      ]
      for (const text of [...around, ...odd]) {
        const allowed = allows(judge.validator(pointer), text)
        const answer = await admin.get(`/v1/orders/summary?days=${encodeURIComponent(text)}`)
        assert.equal(answer.status, allowed ? 200 : 400, `days=${text}: ${answer.text}`)
        assert.equal(judge.validator(pointer)(text), allowed, `${text} as a string`)
      }
    })

    /** A parameter's text stands for the number or truth value that it spells where the schema takes one. */
    function allows(validate: ValidateFunction, text: string): boolean {
      const spelled = /^(?:-?(?:0|[1-9]\d*)|true|false)$/.test(text) ? JSON.parse(text) : text
      if (validate(spelled)) return true
      const isOfNoSuchType = (validate.errors ?? []).every(({ keyword }) => keyword === 'type')
      return isOfNoSuchType && validate(text)
    }
  })
})

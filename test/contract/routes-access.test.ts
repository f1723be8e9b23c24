import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { before, describe, it } from 'node:test'
import { buildApp } from '../../server/app.ts'
import { permissions } from '../../server/caller/permissions.ts'
import { makeLog } from '../../server/log.ts'
import {
  bearerOf,
  newClient,
  newUser,
  serviceToken,
  signIn,
  type TestUser,
  tokenPair,
} from '../support/accounts.ts'
import type { Client } from '../support/client.ts'
import { createdId } from '../support/orders.ts'
import { addRole } from '../support/roles.ts'
import { changingRoutes, type Route, tableOfRoutes } from '../support/routes.ts'
import { type Service, startService, testService } from '../support/service.ts'

const read = (path: string) => readFile(new URL(`../../${path}`, import.meta.url), 'utf8')

/**
 * What the first release promised (see test/compatibility.test.ts), and what came later: a route that is
 * opened or forgotten fails here.
 */
const promised = (await read('docs/releases/1.0.0.txt')).matchAll(/^operation \w+ (\w+ \S+) (\S+)/gm)
const contracted: Record<string, string> = {
  ...Object.fromEntries(
    [...promised].map(([, route = '', access = '']) => [route.replaceAll(/\{(\w+)\}/g, ':$1'), access]),
  ),
  'GET /v1/auth/session/company': 'public',
  'GET /v1/auth/session/company/callback': 'public',
  'POST /v1/auth/session/company/logout': 'public',
  'POST /v1/auth/session/confirm/company': 'session',
  'POST /v1/auth/company': 'session',
  'DELETE /v1/auth/company': 'person',
  'POST /v1/auth/links/use/company': 'public',
  // A page, which the description of the API does not have.
  'GET /verify': 'public',
}
const developmentOnly = [
  'GET /openapi/v1.json',
  'GET /scalar/v1',
  'GET /scalar/v1/scalar.js',
  'GET /scalar/v1/start.js',
]

/** Also for HEAD, whose answer has no body. */
function codeOf(answer: { body?: { code?: string } }, route: Route): string | undefined {
  return route.method === 'HEAD' ? 'no body' : answer.body?.code
}

const expectedCode = (route: Route, code: string) => (route.method === 'HEAD' ? 'no body' : code)

/**
 * The rows of the page: whether an operation accepts a cookie, a person's bearer or a service's, and what
 * else it needs.
 */
async function toldAccess(): Promise<Map<string, { taken: string[]; needs: string }>> {
  const page = await read('docs/access.md')
  const rows = page.matchAll(/^\| `(.+?)` \| \w+ \| (\w+) \| (\w+) \| (\w+) \| (.*) \|$/gm)
  return new Map(
    [...rows].map(([, key = '', ...cells]) => [key, { taken: cells.slice(0, 3), needs: cells[3] ?? '' }]),
  )
}

const keyOf = ({ method, url }: Route) => `${method} ${url.replaceAll(/:(\w+)/g, '{$1}')}`

/** The same user as two callers, by bearer and by session. */
async function callersOf(service: Service, user: TestUser): Promise<[Client, Client]> {
  const { accessToken } = await tokenPair(service, user)
  return [service.client().withBearer(accessToken), await signIn(service, user)]
}

describe('the route table', () => {
  const service = testService()
  let routes: Route[]
  let guarded: Route[]
  let permitted: Route[]
  before(async () => {
    routes = await tableOfRoutes()
    guarded = routes.filter(({ access }) => access !== 'public')
    permitted = guarded.filter(({ access }) => permissions.some((permission) => permission === access))
  })

  it('offers exactly the operations of the contract, each with its access', () => {
    const offered = routes
      .filter(({ method }) => method !== 'HEAD')
      .map(({ method, url, access }) => [`${method} ${url}`, access])
    assert.deepEqual(Object.fromEntries(offered), contracted)
    assert.equal(offered.length, Object.keys(contracted).length)
  })

  it('offers HEAD on every GET, with the same access', () => {
    const accessBy = (wanted: string) =>
      routes.filter(({ method }) => method === wanted).map(({ url, access }) => [url, access])
    assert.deepEqual(accessBy('HEAD').sort(), accessBy('GET').sort())
  })

  it('offers the description and its browser in development only', async () => {
    const urls = (await tableOfRoutes({ development: true }))
      .filter(({ method }) => method !== 'HEAD')
      .map(({ method, url }) => `${method} ${url}`)
    assert.deepEqual(urls.sort(), [...Object.keys(contracted), ...developmentOnly].sort())
    for (const path of ['/openapi/v1.json', '/scalar/v1', '/scalar/v1/start.js', '/openapi', '/scalar']) {
      const answer = await service.client().get(path)
      assert.equal(answer.status, 404, path)
      assert.equal(answer.body.code, 'route-not-found', path)
    }
  })

  it('keeps the service from starting if any route declares no access', async (t) => {
    const inside = await startService({ inside: true, until: t })
    const { app } = inside
    assert.throws(() => app.route({ method: 'GET', url: '/v1/open', handler: async () => 1 }))
    const declared = routes.filter((route) => route.method !== 'HEAD')
    // The first and the last route. All others lie between them and declare their access (see above).
    for (const { method, url } of [...declared.slice(0, 1), ...declared.slice(-1)]) {
      const starting = changingRoutes(
        (route) => {
          const isTarget = route.method === method && route.url === url
          route.config = isTarget ? { ...route.config, access: undefined as never } : (route.config ?? {})
        },
        () => buildApp({ ...inside, clock: inside.now, log: makeLog({ level: 'silent' }, process.stdout) }),
      )
      await assert.rejects(
        starting,
        new RegExp(`${method} .*does not declare its access`),
        `${method} ${url}`,
      )
    }
  })

  const cookieOf = (value: string) => ({ cookie: `__Host-Http-session=${value}` })
  const strangers: [what: string, headers: () => Promise<Record<string, string>[]>, challenge: RegExp][] = [
    ['without a credential', async () => [{}], /^Bearer realm="countersign"$/],
    [
      'for a session cookie that never was one',
      async () => [cookieOf('A'.repeat(43))],
      /^Bearer realm="countersign"$/,
    ],
    [
      'for an invalid bearer, even with a valid session',
      async () => {
        const { cookies } = await service.session('admin')
        const cookie = [...cookies].map((pair) => pair.join('=')).join('; ')
        return [{ cookie, authorization: 'Bearer not.a.token' }]
      },
      /error="invalid_token"$/,
    ],
    [
      'to what the service signs about its log',
      async () => {
        const admin = await service.bearer('admin')
        const id = await createdId(admin)
        await admin.patch(`/v1/orders/${id}/approve`)
        const { receipt } = (await admin.get(`/v1/orders/${id}/receipt`)).body
        const { text } = await admin.get('/v1/log/checkpoint')
        // A header has no line feeds, so each line of the note stands alone.
        const signed = [receipt, ...text.split(/[ \n]/).filter((part) => /^[\w+/=-]+$/.test(part))]
        assert.equal(signed.length, 4)
        return signed.flatMap((one) => [{ authorization: `Bearer ${one}` }, cookieOf(one)])
      },
      /^Bearer realm="countersign"/,
    ],
  ]
  for (const [what, credentials, challenge] of strangers) {
    it(`answers 401 on every guarded route ${what}`, async () => {
      const kinds = await credentials()
      for (const [place, route] of guarded.entries()) {
        const headers = kinds[place % kinds.length] ?? {}
        const label = `${route.method} ${route.path} ${Object.keys(headers)}`
        const answer = await service.client().send(route.method, route.path, undefined, headers)
        assert.equal(answer.status, 401, label)
        assert.equal(codeOf(answer, route), expectedCode(route, 'authentication-required'), label)
        assert.match(answer.headers.get('www-authenticate') ?? '', challenge, label)
      }
    })
  }

  it('answers 403 naming the permission to a caller with every other permission, by cookie and by bearer', async () => {
    const asked = [...new Set(permitted.map(({ access }) => access))]
    assert.deepEqual(asked.sort(), [...permissions].sort())
    for (const missing of permissions) {
      const role = await addRole(
        service,
        `AllBut${missing}`,
        permissions.filter((permission) => permission !== missing),
      )
      const callers = await callersOf(service, await newUser(service, { roles: [role] }))
      for (const route of permitted.filter(({ access }) => access === missing)) {
        for (const caller of callers) {
          const label = `${route.method} ${route.path}`
          const answer = await caller.send(route.method, route.path)
          assert.equal(answer.status, 403, label)
          assert.equal(codeOf(answer, route), expectedCode(route, 'permission-denied'), label)
          assert.equal(answer.body?.permission ?? missing, missing, label)
        }
      }
    }
  })

  it('lets a caller with that one permission past the check, by cookie and by bearer', async () => {
    for (const held of permissions) {
      const role = await addRole(service, `Only${held}`, [held])
      const callers = await callersOf(service, await newUser(service, { roles: [role] }))
      for (const route of permitted.filter(({ access }) => access === held)) {
        for (const caller of callers) {
          const { status } = await caller.send(route.method, route.path)
          // A proof and a document ask for a query.
          const asksForQuery = /^(?:(?:GET|HEAD) .*log.proof|POST .*documents)$/.test(
            `${route.method} ${route.url}`,
          )
          const wanted = asksForQuery ? [400] : [200, 404, 415]
          assert.ok(wanted.includes(status), `${route.method} ${route.path}: ${status}`)
        }
      }
    }
  })

  it('answers 403 before it looks at the order, the media type or the body', async () => {
    const [nobody] = await callersOf(service, await newUser(service, { roles: [] }))
    const unknown = await nobody.get('/v1/orders/not-an-id')
    assert.equal(unknown.body.code, 'permission-denied')
    const text = await nobody.post('/v1/orders', 'no json', { 'content-type': 'text/plain' })
    assert.equal(text.body.code, 'permission-denied')
    const large = await nobody.post('/v1/orders', ' '.repeat(70_000))
    assert.equal(large.body.code, 'permission-denied')
  })

  it('requires the antiforgery token from a session on every unsafe guarded route, and never from a bearer', async () => {
    const session = await service.session('admin')
    delete session.headers['x-xsrf-token']
    const unsafe = guarded.filter(({ method }) => method !== 'GET' && method !== 'HEAD')
    for (const route of unsafe.filter(({ access }) => access !== 'bearer')) {
      const answer = await session.send(route.method, route.path)
      assert.equal(answer.status, 403, route.path)
      assert.equal(answer.body.code, 'csrf-token-missing', route.path)
    }
    const bearer = await service.bearer('admin')
    for (const route of unsafe) {
      const { body } = await bearer.send(route.method, route.path)
      assert.doesNotMatch(String(body?.code), /csrf|cross-site/, route.path)
    }
  })

  it('takes the credentials of docs/access.md for each route, and no others', async () => {
    const told = await toldAccess()
    const swept = guarded.filter(({ method }) => method !== 'HEAD')
    const described = [...told.keys()].filter((key) => told.get(key)?.taken[0] !== 'none')
    assert.deepEqual(swept.map(keyOf).sort(), described.sort())
    const role = await addRole(service, 'Everything', [...permissions])
    const client = await newClient(service, [role])
    const machine = service.client().withBearer(await serviceToken(service, client))
    // One user each: ending a user's other sign-ins would end that of the other caller.
    const signInBoth = async () => [
      await signIn(service, await newUser(service, { roles: [role] })),
      await bearerOf(service, await newUser(service, { roles: [role] })),
    ]
    let [cookie = service.client(), bearer = service.client()] = await signInBoth()
    // Each of these ends, or may end, its callers' credentials.
    const endsSignIns = ({ url }: Route) => /^\/v1\/auth\/(?:session\/logout|sessions)$/.test(url)
    for (const route of [...swept.filter((each) => !endsSignIns(each)), ...swept.filter(endsSignIns)]) {
      if (endsSignIns(route)) [cookie = cookie, bearer = bearer] = await signInBoth()
      const sent = [cookie, bearer, machine].map((caller) => caller.send(route.method, route.path))
      const answers = await Promise.all(sent)
      const taken = answers.map(({ status }) => ([401, 403].includes(status) ? 'no' : 'yes'))
      assert.deepEqual(taken, told.get(keyOf(route))?.taken, keyOf(route))
      const code = answers[2]?.body?.code
      assert.equal(code === 'not-for-services', route.access === 'person', `${keyOf(route)} ${code}`)
    }
  })

  it('requires a sign-in of the last five minutes where docs/access.md says so, and nowhere else', async () => {
    const told = await toldAccess()
    const role = await addRole(service, 'EverythingLate', [...permissions])
    const user = await newUser(service, { roles: [role] })
    const [bearer] = await callersOf(service, user)
    const browser = await signIn(service, user)
    service.advance(301_000)
    for (const route of guarded.filter(({ method }) => method !== 'HEAD')) {
      const needs = told.get(keyOf(route))?.needs.includes('recent sign-in')
      const caller = route.access === 'session' && needs ? browser : bearer
      const { body } = await caller.send(route.method, route.path)
      const isAsked = body?.code === 'recent-sign-in-needed'
      assert.equal(isAsked, needs, keyOf(route))
    }
  })

  it('requires no credential and no antiforgery token on a public route', async () => {
    const session = await service.session('viewer')
    delete session.headers['x-xsrf-token']
    session.withBearer('not.a.token')
    // Only a sign-in that sets a cookie checks where it comes from.
    const foreign = (path: string) =>
      /^\/v1\/auth\/(?:session(?:\/passkey)?|links\/use\/company)$/.test(path)
        ? {}
        : { 'sec-fetch-site': 'cross-site' }
    for (const { method, path } of routes.filter(({ access }) => access === 'public')) {
      const { status } = await session.send(method, path, undefined, foreign(path))
      const isOff = /\/session\/company/.test(path) && status === 409
      assert.ok(isOff || [200, 415].includes(status), `${method} ${path}: ${status}`)
    }
  })
})

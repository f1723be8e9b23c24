import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import fc from 'fast-check'
import { newUser, signIn, tokenPair } from '../support/accounts.ts'
import { exchange, request } from '../support/raw.ts'
import { testService } from '../support/service.ts'

/** Edits of a request target that a proxy, a router and an access check could read differently. */
const edits: ((path: string, at: number) => string)[] = [
  (path, at) => insert(path, at, '/'),
  (path, at) => insert(path, at, '/.'),
  (path, at) => insert(path, at, '/x/..'),
  (path, at) => insert(path, at, ';'),
  (path, at) => insert(path, at, ';x=/'),
  (path, at) => insert(path, at, '%00'),
  (path, at) => insert(path, at, '%2f'),
  (path, at) => insert(path, at, '%5c'),
  (path, at) => insert(path, at, '\\'),
  (path, at) => insert(path, at, '%2e'),
  (path, at) => insert(path, at, '%c0%af'),
  (path, at) => insert(path, at, '%'),
  (path, at) => insert(path, at, '#'),
  (path, at) => insert(path, at, '?'),
  (path, at) => insert(path, at, '%0d%0a'),
  (path, at) => replace(path, at, (character) => `%${hex(character)}`),
  (path, at) => replace(path, at, (character) => `%${hex(character).toUpperCase()}`),
  (path, at) => replace(path, at, (character) => `%25${hex(character)}`),
  (path, at) => replace(path, at, (character) => `%u00${hex(character)}`),
  (path, at) => replace(path, at, (character) => character.toUpperCase()),
  (path) => `${path}/`,
  (path) => `${path}/.`,
  (path) => `${path}/..`,
  (path) => `${path}%20`,
  (path) => `${path}.json`,
  (path) => `//evil.example${path}`,
  (path) => `http://evil.example${path}`,
  (path) => `HTTPS://user@evil.example:1${path}`,
  (path) => `http:${path}`,
  (path) => `/health/..${path}`,
  (path) => `/health/%2e%2e${path}`,
  (path) => `/assets/..%2f..${path}`,
  (path) => `/.${path}`,
]

/** A failure prints the seed that repeats it. */
const seed = Number(process.env.SEED ?? 1)
const samples = (path: string, numRuns: number) => fc.sample(spelling(path), { numRuns, seed })

const hex = (character: string) => character.charCodeAt(0).toString(16).padStart(2, '0')
const insert = (path: string, at: number, text: string) => {
  const place = at % (path.length + 1)
  return path.slice(0, place) + text + path.slice(place)
}
const replace = (path: string, at: number, change: (character: string) => string) => {
  const place = at % path.length
  return path.slice(0, place) + change(path.charAt(place)) + path.slice(place + 1)
}

const spelling = (path: string) =>
  fc
    .array(fc.tuple(fc.constantFrom(...edits), fc.nat({ max: 200 })), { minLength: 1, maxLength: 3 })
    .map((chosen) => chosen.reduce((text, [edit, at]) => edit(text, at), path))

describe('no spelling of a path avoids the access check', () => {
  const service = testService()
  let orderId: string
  let holder: string
  let roleless: string
  let cookie: string
  let token: string
  before(async () => {
    const admin = await newUser(service, { roles: ['Admin'] })
    holder = `Authorization: Bearer ${(await tokenPair(service, admin)).accessToken}`
    const nobody = await newUser(service, { roles: [] })
    roleless = `Authorization: Bearer ${(await tokenPair(service, nobody)).accessToken}`
    const browser = await signIn(service, admin)
    cookie = `Cookie: __Host-Http-session=${browser.cookies.get('__Host-Http-session')}`
    token = `X-XSRF-TOKEN: ${browser.headers['x-xsrf-token']}`
    orderId = (await browser.post('/v1/orders', { customer: 'Kestrel Mills', total: 1 })).body.id
  })

  const get = (path: string, lines: string[]) => exchange(service.baseUrl, request('GET', path, lines))
  const holdsData = (text: string) => /Kestrel Mills|"userName"|"totalCount"|"pending":{/.test(text)
  const json = 'Content-Type: application/json'

  const guarded: [what: string, path: () => string, isForAnyRole: boolean][] = [
    ['the list', () => '/v1/orders', false],
    ['an order', () => `/v1/orders/${orderId}`, false],
    ['the summary', () => '/v1/orders/summary', false],
    ['the current user', () => '/v1/auth/me', true],
  ]
  for (const [what, pathOf, isForAnyRole] of guarded) {
    it(`of ${what}: a caller without the credential or permission never gets what a holder gets`, async (t) => {
      const path = pathOf()
      const sample = [path, `${path}/`, ...samples(path, 50)]
      let reached = 0
      for (const target of sample) {
        const [held, bare, without] = await Promise.all([
          get(target, [holder]),
          get(target, []),
          get(target, [roleless]),
        ])
        assert.equal(holdsData(bare.text), false, target)
        assert.ok([200, 400, 401, 404].includes(bare.status), `${bare.status} ${target}`)
        if (held.status === 200 && holdsData(held.text)) {
          reached += 1
          assert.equal(bare.status, 401, target)
          assert.equal(without.status, isForAnyRole ? 200 : 403, target)
        } else {
          // Nothing is guarded here: a page of the web app, or no route.
          assert.equal(holdsData(without.text), false, target)
        }
      }
      assert.ok(reached > 2)
      t.diagnostic(`${reached} of ${sample.length} spellings reached it, seed ${seed}`)
    })
  }

  it('of a write: a session without its antiforgery token never writes', async (t) => {
    const countOrders = async () => (await get('/v1/orders', [holder])).body.totalCount
    const body = JSON.stringify({ customer: 'Forged', total: 1 })
    const before = await countOrders()
    let asked = 0
    for (const path of ['/v1/orders', `/v1/orders/${orderId}/approve`]) {
      const method = path.endsWith('approve') ? 'PATCH' : 'POST'
      for (const target of [path, `${path}/`, ...samples(path, 50)]) {
        const answer = await exchange(service.baseUrl, request(method, target, [cookie, json], body))
        assert.ok([400, 403, 404, 405].includes(answer.status), `${answer.status} ${target}`)
        if (answer.status === 403) {
          assert.equal(answer.body.code, 'csrf-token-missing')
          asked += 1
        }
      }
    }
    assert.equal(await countOrders(), before)
    assert.equal((await get(`/v1/orders/${orderId}`, [holder])).body.status, 0)
    const written = await exchange(
      service.baseUrl,
      request('POST', '/v1/orders', [cookie, token, json], body),
    )
    assert.equal(written.status, 201)
    assert.ok(asked > 2)
    t.diagnostic(`${asked} spellings reached a write, seed ${seed}`)
  })

  it('reaches a file outside the web app', async () => {
    const climbs = [
      '',
      '..',
      '%2e%2e',
      '..%2f',
      '%2e%2e%2f',
      '..\\',
      '..%5c',
      '%252e%252e',
      '....//',
      '.%00./',
    ]
    const files = ['package.json', 'server/main.ts', '.env', 'etc/passwd', 'web/index.html']
    for (const start of ['/', '//', '/assets/', '/problems/', '/assets/x/']) {
      for (const climb of climbs) {
        for (const file of files) {
          const step = climb === '' || /(?:\/|f|c|\\)$/.test(climb) ? climb : `${climb}/`
          const target = `${start}${step.repeat(6)}${file}`
          const { text } = await get(target, [])
          assert.equal(/"dependencies"|node:fs|root:x:|main\.tsx/.test(text), false, target)
        }
      }
    }
  })
})

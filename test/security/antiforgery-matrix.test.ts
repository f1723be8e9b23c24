import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { newUser, tokenPair } from '../support/accounts.ts'
import type { Client } from '../support/client.ts'
import { publicUrl, setUp, testService } from '../support/service.ts'

/** `passes` is the answer to a request that nothing forbids. */
const requests = {
  'PATCH /v1/orders/019a9d2e-5b7c-7f3a-9c41-6d2f8e0b1a57/approve': { passes: 404, isUnsafe: true },
  'POST /v1/auth/session/refresh': { passes: 200, isUnsafe: true, isForSessions: true },
  'POST /v1/auth/session/logout': { passes: 204, isUnsafe: true, isForSessions: true },
  'GET /v1/auth/me': { passes: 200 },
} as Record<string, { passes: number; isUnsafe?: boolean; isForSessions?: boolean }>

const credentials = [
  'nothing',
  'a session cookie',
  'a cookie whose session has ended',
  'a bearer',
  'a bearer and a session cookie',
  'a bad bearer and a session cookie',
  'another scheme and a session cookie',
] as const
const tokens = [
  'no token',
  'an empty token',
  'nonsense',
  'the token of another session',
  'the right token',
] as const
const sites: Record<string, string>[] = [
  {},
  { 'sec-fetch-site': 'same-origin' },
  { 'sec-fetch-site': 'none' },
  { 'sec-fetch-site': 'same-site' },
  { 'sec-fetch-site': 'cross-site' },
  { origin: publicUrl },
  { origin: 'https://evil.example' },
  { origin: 'null' },
  { 'sec-fetch-site': 'same-site', origin: publicUrl },
  { 'sec-fetch-site': 'same-origin', origin: 'https://evil.example' },
]

type Credential = (typeof credentials)[number]
type Token = (typeof tokens)[number]
type Site = (typeof sites)[number]

const pairs = tokens.flatMap((token) => sites.map((site): [Token, Site] => [token, site]))
/** Where neither counts, one pair of each is enough. */
const fewPairs = sites.map((site, index): [Token, Site] => [
  tokens[index % tokens.length] ?? 'no token',
  site,
])

const isOfSession = (credential: Credential) =>
  credential === 'a session cookie' || credential.startsWith('another scheme')

/** Section 4 of the contract, written again here without the code of the service. */
function expected(name: string, credential: Credential, token: Token, site: Site): string {
  const { passes, isUnsafe = false, isForSessions = false } = requests[name] ?? { passes: 0 }
  const isBearer = credential.startsWith('a bearer')
  if (!isBearer && !isOfSession(credential)) return '401 authentication-required'
  if (isBearer) return isForSessions ? '401 authentication-required' : String(passes)
  if (!isUnsafe) return String(passes)
  const { 'sec-fetch-site': fetchSite, origin } = site
  const isForeign =
    fetchSite === undefined
      ? origin !== undefined && origin !== publicUrl
      : !['same-origin', 'none'].includes(fetchSite)
  if (isForeign) return '403 cross-site-request'
  if (token === 'no token' || token === 'an empty token') return '403 csrf-token-missing'
  return token === 'the right token' ? String(passes) : '403 csrf-token-invalid'
}

describe('the whole antiforgery matrix: request, credential, token, site', () => {
  const service = testService()
  const user = setUp(() => newUser(service, { roles: ['Admin'] }))
  let bearer: string
  let otherToken: string
  before(async () => {
    bearer = (await tokenPair(service, user)).accessToken
    otherToken = await (await login()).fetchAntiforgeryToken()
  })

  async function login(): Promise<Client> {
    const browser = service.client()
    assert.equal((await browser.post('/v1/auth/session', user.credentials)).status, 200)
    return browser
  }

  async function browserWith(credential: Credential): Promise<{ browser: Client; token: string }> {
    const browser = credential === 'nothing' || credential === 'a bearer' ? service.client() : await login()
    const { token } = (await browser.get('/v1/auth/csrf')).body
    if (credential.includes('has ended')) {
      const cookies = [...browser.cookies]
      await browser.post('/v1/auth/session/logout', undefined, { 'x-xsrf-token': token })
      for (const [name, value] of cookies) browser.cookies.set(name, value)
    }
    if (credential.startsWith('a bearer')) browser.withBearer(bearer)
    if (credential.startsWith('a bad bearer')) browser.withBearer(`${bearer}x`)
    if (credential.startsWith('another')) browser.headers.authorization = 'Basic dXNlcjpwYXNz'
    return { browser, token }
  }

  const headerOf = (token: Token, right: string): Record<string, string> => {
    const values = { nonsense: 'x', 'an empty token': '', 'the token of another session': otherToken }
    if (token === 'no token') return {}
    return { 'x-xsrf-token': token === 'the right token' ? right : values[token] }
  }

  for (const [name, { passes, isUnsafe }] of Object.entries(requests)) {
    for (const credential of credentials) {
      it(`${name} with ${credential}`, async () => {
        const [method = '', path = ''] = name.split(' ')
        let scene = await browserWith(credential)
        for (const [token, site] of isUnsafe && isOfSession(credential) ? pairs : fewPairs) {
          const cookies = [...scene.browser.cookies]
          const headers = { ...site, ...headerOf(token, scene.token) }
          const answer = await scene.browser.send(method, path, undefined, headers)
          const code = answer.status === 404 ? '' : (answer.body?.code ?? '')
          const what = `${token}, ${JSON.stringify(site)}`
          assert.equal(`${answer.status} ${code}`.trim(), expected(name, credential, token, site), what)
          // A logout clears a cookie that no longer works, and the next request must carry it again.
          for (const [cookie, value] of credential.includes('has ended') ? cookies : [])
            scene.browser.cookies.set(cookie, value)
          if (path.endsWith('logout') && answer.status === passes) scene = await browserWith(credential)
        }
      })
    }
  }
})

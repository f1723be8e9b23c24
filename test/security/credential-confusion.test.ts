import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { originOf, signCheckpoint } from '../../server/audit/checkpoints/checkpoints.ts'
import { signReceipt } from '../../server/audit/checkpoints/receipt.ts'
import { sha256 } from '../../server/ids.ts'
import { newClient, newUser, serviceToken, tokenPair } from '../support/accounts.ts'
import { decode } from '../support/forge.ts'
import { orderEvent } from '../support/log.ts'
import { publicUrl, setUp, testService } from '../support/service.ts'

/** Where a credential can be put, and which kind belongs there. */
const places = {
  'the bearer header': ['an access token', 'an access token of a service'],
  'the session cookie': ['a session id'],
  'the body of a refresh': ['a refresh token'],
  'the antiforgery header': ['an antiforgery token'],
  "a client's secret": ['a client secret'],
  'a password': ['a password'],
}
type Place = keyof typeof places

const head = { size: 1, root: '0'.repeat(64) }
const line = { ...orderEvent, sequence: 1, hashes: {}, clear: {}, hash: head.root }
const receipt = { lines: [{ line, proof: [] }], checkpoint: '' }

describe('a credential in the place of another', () => {
  const service = testService()
  const user = setUp(() => newUser(service, { roles: ['Admin'], password: 'seven grey herons by the weir' }))
  let clientId: string
  let sessionId: string
  let credentials: Record<string, string>
  before(async () => {
    const client = await newClient(service)
    clientId = client.clientId
    const pair = await tokenPair(service, user)
    // Never refreshed: the log would name its family.
    const unused = await tokenPair(service, user)
    const stranger = service.client()
    const beforeLogin = (await stranger.get('/v1/auth/csrf')).body.token
    const binding = stranger.cookies.get('__Host-Http-csrf') ?? ''
    const browser = service.client()
    await browser.post('/v1/auth/session', user.credentials)
    sessionId = browser.cookies.get('__Host-Http-session') ?? ''
    const rows = await service.db.read.selectFrom('sessions').selectAll().execute()
    const ids = await service.db.read.selectFrom('session_ids').select('id_hash').execute()
    const families = await service.db.read.selectFrom('refresh_families').selectAll().execute()
    const kept = families.find((row) => row.token_hash === sha256(unused.refreshToken))
    const secrets = await service.db.read.selectFrom('client_secrets').select('secret_hash').execute()
    const own = rows.find((row) => row.principal_id === user.id)
    const claims = decode(pair.accessToken.split('.')[1])
    const checkpoint = await signCheckpoint(service.logKeys, originOf(publicUrl, 1), head)
    credentials = {
      'an access token': pair.accessToken,
      'an access token of a service': await serviceToken(service, client),
      'a session id': sessionId,
      'a refresh token': pair.refreshToken,
      'an antiforgery token': await browser.fetchAntiforgeryToken(),
      'an antiforgery token of nobody': beforeLogin,
      'an antiforgery cookie': binding,
      'the signature of a checkpoint': String(checkpoint.trimEnd().split(' ').at(-1)),
      'the receipt of an order': await signReceipt(service.keys, publicUrl, receipt, service.now()),
      'a client secret': client.clientSecret,
      'a password': user.password,
      'the row id of a session': own?.id ?? '',
      'the antiforgery binding of a session': own?.antiforgery_binding ?? '',
      'the stored hash of a session id': ids.at(-1)?.id_hash ?? '',
      'the stored hash of a refresh token': kept?.token_hash ?? '',
      'the stored hash of a client secret': secrets.at(-1)?.secret_hash ?? '',
      'the row id of a family': kept?.id ?? '',
      'the jti of an access token': String(claims.jti),
      'the kid of our key': service.keys.kid,
    }
  })

  /** Each sends the text in one place, with everything else correct, and returns the status. */
  const present: Record<Place, (text: string) => Promise<number>> = {
    'the bearer header': async (text) =>
      (await service.client().get('/v1/auth/me', { authorization: `Bearer ${text}` })).status,
    'the session cookie': async (text) =>
      (await service.client().get('/v1/auth/me', { cookie: `__Host-Http-session=${text}` })).status,
    'the body of a refresh': async (text) =>
      (await service.client().post('/v1/auth/token/refresh', { refreshToken: text })).status,
    'the antiforgery header': async (text) => {
      const cookie = `__Host-Http-session=${sessionId}`
      const headers = { cookie, 'x-xsrf-token': text }
      return (await service.client().post('/v1/orders', { customer: 'Acme', total: 1 }, headers)).status
    },
    "a client's secret": async (text) =>
      (await service.client().post('/v1/auth/clients/token', { clientId, clientSecret: text })).status,
    'a password': async (password) => {
      // A success first, so that no wrong one has to wait.
      assert.equal((await service.client().post('/v1/auth/token', user.credentials)).status, 200)
      return (await service.client().post('/v1/auth/token', { ...user.credentials, password })).status
    },
  }
  const refusals: Record<Place, number[]> = {
    'the bearer header': [401],
    'the session cookie': [401],
    // Longer than any refresh token, or than any secret or password: 400.
    'the body of a refresh': [401, 400],
    'the antiforgery header': [403],
    "a client's secret": [401, 400],
    'a password': [401, 400],
  }

  for (const [place, kinds] of Object.entries(places) as [Place, string[]][]) {
    it(`${place} accepts only ${kinds.join(' or ')}`, async () => {
      const right = Object.entries(credentials).filter(([name]) => kinds.includes(name))
      const wrong = Object.entries(credentials).filter(([name]) => !kinds.includes(name))
      assert.equal(right.length, kinds.length)
      const strays = wrong.filter(([, text]) => text.length < 16)
      assert.deepEqual(strays, [])
      for (const [name, text] of wrong) {
        const status = await present[place](text)
        assert.ok(refusals[place].includes(status), `${name}: ${status}`)
      }
      // Last, because a refresh uses its token up.
      for (const [name, text] of right) assert.ok([200, 201].includes(await present[place](text)), name)
    })
  }
})

// engine: both
import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { newSecret, sha256 } from '../../server/ids.ts'
import { bearerOf, newLink, newUser, signIn, stampBy, tokenPair } from '../support/accounts.ts'
import { callMcp, messageOf, revisions } from '../support/agents.ts'
import { Passkey } from '../support/authenticator.ts'
import type { Client } from '../support/client.ts'
import { companyEnv, startForger } from '../support/company.ts'
import { decide, prepare, sign } from '../support/decisions.ts'
import { Judge, JudgedClient } from '../support/description.ts'
import { mailSettings } from '../support/mail.ts'
import { createdId } from '../support/orders.ts'
import { newPasskey } from '../support/passkeys.ts'
import { passwordOf, setUp, startService, testService } from '../support/service.ts'
import { keptView, viewOf } from '../support/views.ts'
import { startReceiver, toReceivers } from '../support/webhooks.ts'

/** Requests that every operation refuses in the same way. */
const probes: [query: string, body?: unknown, headers?: Record<string, string>][] = [
  [''],
  ['?pageSize=0&days=367&after=-1'],
  ['', {}],
  ['', '{'],
  ['', 'x', { 'content-type': 'text/plain' }],
  ['', {}, { 'if-match': '"9"' }],
  ['', undefined, { 'time-zone': 'None/Such' }],
  ['', undefined, { 'idempotency-key': '' }],
]
const newPassword = 'seven grey herons by the weir'

describe('the live description knows every answer', () => {
  const env = { RATE_LIMIT_FACTOR: '1000', ...toReceivers, ...mailSettings }
  const service = testService({ development: true, orders: true, env })
  let judge: Judge
  before(async () => {
    judge = new Judge((await service.client().get('/openapi/v1.json')).body)
  })
  const judged = (client: Client) => new JudgedClient(client, judge)
  const bearer = setUp(async () => judged(await service.bearer('admin')))
  const viewer = setUp(async () => judged(await service.bearer('viewer')))
  const anybody = setUp(async () => judged(service.client()))

  const etagOf = async (path: string) => (await bearer.get(path)).headers.get('etag') ?? ''
  /** Without and with the entity tag of the answer. */
  async function read(path: string): Promise<void> {
    await bearer.get(path, { 'if-none-match': await etagOf(path) })
  }
  const put = (path: string, body: unknown, headers?: Record<string, string>) =>
    bearer.send('PUT', path, body, headers)

  it('to bad requests of each operation: anonymous, from a viewer and from an administrator', async () => {
    // This one would end the credentials of the others, so it comes last, see below.
    const swept = judge.operations().filter(({ operation }) => operation.operationId !== 'endOtherSignIns')
    for (const { method, path } of swept) {
      const sendable = probes.filter(([, body]) => method !== 'get' || body === undefined)
      for (const [place, [query, body, headers]] of sendable.entries()) {
        // Access is refused before the rest of a request is read.
        for (const caller of place === 0 ? [anybody, viewer, bearer] : [bearer]) {
          await caller.send(method.toUpperCase(), path.replaceAll(/\{\w+\}/g, 'none') + query, body, headers)
        }
      }
    }
  })

  it('about orders', async () => {
    const good = { customer: 'Acme', total: 12.5 }
    const created = await bearer.post('/v1/orders', good, { 'idempotency-key': 'openapi-1' })
    await bearer.post('/v1/orders', good, { 'idempotency-key': 'openapi-1' })
    await bearer.post('/v1/orders', { ...good, total: 1 }, { 'idempotency-key': 'openapi-1' })
    await bearer.post('/v1/orders', ' '.repeat(70_000))
    await bearer.post('/v1/orders', good, { 'x-long': 'a'.repeat(15_800), 'x-more': 'a'.repeat(900) })

    await read('/v1/orders')
    await bearer.get('/v1/orders?pageNumber=99&orderBy=updatedAtUtc&order=0')
    await bearer.get('/v1/orders?paginated=false&filter=status%3DPending')
    await bearer.get('/v1/orders?filter=(')
    await bearer.get(`/v1/orders?filter=${'a'.repeat(9_000)}`)
    await read('/v1/orders/summary?days=2')

    const order = `/v1/orders/${created.body.id}`
    await read(order)
    await bearer.get(`${order}/receipt`)
    await bearer.patch(`${order}/approve`, undefined, { 'if-match': '"9"' })
    await bearer.patch(`${order}/approve`)
    await bearer.patch(`${order}/approve`)
    await read(order)
    for (const told of ['history', 'approvals', 'receipt']) await read(`${order}/${told}`)
    await viewer.get(`${order}/history?pageSize=1&order=desc`)
  })

  it('about orders that are rejected, withdrawn and noted', async () => {
    const reason = { reason: 'Ordered twice.' }
    const rejected = `/v1/orders/${await createdId(bearer)}`
    const withdrawn = `/v1/orders/${await createdId(bearer)}`
    for (const move of ['reject', 'withdraw']) {
      await bearer.patch(`${rejected}/${move}`, reason, { 'if-match': '"9"' })
      await bearer.patch(`/v1/orders/none/${move}`, reason)
    }
    await bearer.patch(`${rejected}/reject`, reason)
    await bearer.patch(`${rejected}/reject`, reason)
    await judged(await service.bearer('operator')).patch(`${withdrawn}/withdraw`)
    await bearer.patch(`${withdrawn}/withdraw`)
    await bearer.patch(`${withdrawn}/withdraw`)
    await bearer.post(`${rejected}/notes`, { text: 'Called.' }, { 'idempotency-key': 'note' })
    await bearer.post(`${rejected}/notes`, { text: 'Called twice.' }, { 'idempotency-key': 'note' })
    await bearer.post('/v1/orders/none/notes', { text: 'Called.' })
  })

  it('about documents', async () => {
    const order = `/v1/orders/${await createdId(bearer)}`
    const added = await bearer.post(`${order}/documents?name=a.txt`, 'text')
    const document = `${order}/documents/${added.body.id}`
    await bearer.post(`${order}/documents`, 'text')
    await bearer.post(`${order}/documents?name=a`, 'text', { 'if-match': '"9"' })
    await bearer.post(`${order}/documents?name=a`, 'text', { 'content-encoding': 'gzip' })
    await bearer.post('/v1/orders/none/documents?name=a', 'text')
    await read(`${order}/documents`)
    await read(document)
    await bearer.get(`${order}/documents/none`)
    await bearer.send('DELETE', document, undefined, { 'if-match': '"9"' })
    await bearer.send('DELETE', document)
    await bearer.patch(`${order}/approve`)
    await bearer.post(`${order}/documents?name=a`, 'text')
  })

  it('about the log', async () => {
    for (const path of ['/v1/log', '/v1/log/checkpoint', '/v1/log/proof', '/v1/log/key']) {
      await bearer.get(path, { accept: 'application/jsonl' })
    }
    await bearer.get('/v1/log/proof?sequence=1&size=2')
  })

  it('about the approval policy', async () => {
    const path = '/v1/approval-policy'
    await read(path)
    const { body } = await bearer.get(path)
    await put(path, body)
    await put(path, body, { 'if-match': '"99"' })
    await put(path, body, { 'if-match': await etagOf(path) })
    await bearer.post(`${path}/check`, body)
  })

  it('about views', async () => {
    const id = await keptView(viewer, { filter: '' })
    const path = `/v1/views/${id}`
    const { headers } = await viewer.get('/v1/views?pageSize=1')
    await viewer.get('/v1/views', { 'if-none-match': headers.get('etag') ?? '' })
    await viewer.get(path)
    await viewer.get(path, { 'if-none-match': '"1"' })
    await viewer.send('PUT', path, viewOf())
    await viewer.send('PUT', path, viewOf({ shared: true }))
    await viewer.send('PUT', path, viewOf({ filter: '(' }))
    await viewer.send('PUT', path, viewOf(), { 'if-match': '"9"' })
    await put(path, viewOf())
    await keptView(viewer, { name: 'Taken' })
    await viewer.send('PUT', path, viewOf({ name: 'taken' }))
    await viewer.send('DELETE', path, undefined, { 'if-match': '"9"' })
    await viewer.send('DELETE', path)
  })

  it('about users', async () => {
    const command = { userName: 'openapi', email: 'openapi@example.com', roles: ['Viewer'] }
    const added = await bearer.post('/v1/users', command)
    await bearer.post('/v1/users', command)
    await bearer.post('/v1/users', { ...command, userName: 'other' })
    await bearer.post('/v1/users', { ...command, userName: 'other', roles: ['None'] })
    await bearer.get('/v1/users?pageSize=1')
    const path = added.headers.get('location') ?? ''
    await read(path)
    await bearer.patch(path, { roles: [] })
    await bearer.patch(path, { roles: [] }, { 'if-match': '"1"' })
    await bearer.patch(path, { roles: 1 })
    // The second of the two administrators is refused.
    for (const id of [4, 1]) await bearer.patch(`/v1/users/${id}`, { enabled: false })
    await bearer.post(`${path}/links`)
    await anybody.post('/v1/auth/token', passwordOf('operator'))
    const sessions = await bearer.get('/v1/users/2/sessions')
    await bearer.send('DELETE', `/v1/users/2/sessions/${sessions.body.items[0].id}`)
    await bearer.send('DELETE', '/v1/users/2/sessions/none')
    for (const id of [2, 0]) {
      await bearer.get(`/v1/users/${id}/absence`)
      await bearer.send('DELETE', `/v1/users/${id}/absence`)
    }
    await bearer.send('DELETE', `${path}/sessions`)
    await bearer.patch(path, { enabled: false })
    await bearer.post(`${path}/links`)
  })

  it('about service clients', async () => {
    const command = { clientId: 'openapi-client', roles: ['Viewer'] }
    const added = await bearer.post('/v1/clients', command)
    await bearer.post('/v1/clients', command)
    await bearer.post('/v1/clients', { ...command, clientId: 'other', roles: ['None'] })
    await bearer.get('/v1/clients?pageSize=1')
    const path = added.headers.get('location') ?? ''
    await read(path)
    await bearer.patch(path, { name: 'Nightly', endsAtUtc: '2999-12-31T00:00:00Z' })
    await bearer.patch(path, { roles: [] }, { 'if-match': '"1"' })
    await bearer.patch(path, { enabled: 1 })
    await bearer.get(path)
    await bearer.post(`${path}/secrets`)
    await bearer.post(`${path}/secrets`, { dropOld: 'yes' })
    await bearer.send('DELETE', `${path}/secrets`)
  })

  it('about roles', async () => {
    const path = '/v1/roles/OpenApi'
    const permissions = ['Orders.Read']
    await bearer.post('/v1/roles', { name: 'OpenApi', permissions })
    await bearer.post('/v1/roles', { name: 'OpenApi', permissions })
    await bearer.get('/v1/roles?pageSize=2')
    await bearer.get('/v1/permissions?pageSize=2')
    await read(path)
    await put(path, { permissions: [] })
    await put(path, { permissions }, { 'if-match': '"1"' })
    await put('/v1/roles/None', { permissions })
    await put('/v1/roles/Admin', { permissions })
    await bearer.send('DELETE', '/v1/roles/Admin')
    await bearer.send('DELETE', path)
  })

  it('about webhooks', async (t) => {
    const { url } = await startReceiver(t)
    const command = { url, events: ['order'] }
    await bearer.post('/v1/webhooks', { ...command, url: 'http://10.0.0.1/' })
    const added = await bearer.post('/v1/webhooks', command)
    await bearer.get('/v1/webhooks?pageSize=1')
    const path = added.headers.get('location') ?? ''
    await read(path)
    await bearer.patch(path, { enabled: false })
    await bearer.patch(path, { enabled: true }, { 'if-match': '"1"' })
    await bearer.patch(path, { events: ['none'] })
    await bearer.post(`${path}/secrets`)
    await bearer.post(`${path}/ping`)
    await bearer.get(`${path}/deliveries`)
    await bearer.post(`${path}/replay`, { from: 1 })
    await bearer.send('DELETE', path)
  })

  it('about sessions', async () => {
    const browser = judged(service.client())
    await browser.get('/v1/auth/csrf')
    await browser.post('/v1/auth/session', passwordOf('admin'))
    await browser.post('/v1/auth/session', passwordOf('admin'), { prefer: 'return=minimal' })
    await browser.post('/v1/auth/session', { email: 'nobody@example.com', password: 'x' })
    await browser.post('/v1/auth/session', passwordOf('admin'), { 'sec-fetch-site': 'cross-site' })
    await browser.get('/v1/auth/me')
    await browser.get('/v1/auth/me/permissions')
    await browser.post('/v1/auth/session/refresh')
    await browser.fetchAntiforgeryToken()
    await browser.post('/v1/auth/session/refresh')
    await browser.post('/v1/auth/session/refresh', undefined, { prefer: 'return=minimal' })
    await browser.post('/v1/auth/session/confirm', passwordOf('admin'))
    await browser.post('/v1/auth/session/confirm', { password: 'x' })
    await browser.post('/v1/auth/session/confirm', {})
    await browser.post('/v1/auth/session/logout', 'x', { 'content-type': 'text/plain' })
    await browser.post('/v1/auth/session/logout')
    await browser.post('/v1/auth/session/logout')
    await browser.get('/v1/auth/me')
  })

  it('about passkeys', async () => {
    const user = await newUser(service)
    const browser = judged(await signIn(service, user))
    const passkey = new Passkey()
    const { origin } = new URL(service.config.publicUrl ?? service.baseUrl)
    const begin = async (path: string) => (await browser.post(`/v1/auth/${path}/options`)).body
    const name = 'Phone'
    const credential = passkey.create(await begin('passkeys'), { origin })
    await browser.post('/v1/auth/passkeys', { name, credential })
    await browser.post('/v1/auth/passkeys', { name, credential })
    await browser.post('/v1/auth/passkeys', { name: 1 })
    await browser.get('/v1/auth/passkeys')
    await browser.patch(`/v1/auth/passkeys/${passkey.id}`, { name })
    await browser.patch('/v1/auth/passkeys/x', { name })
    await bearer.get(`/v1/users/${user.id}/passkeys`)
    const answers = async (path = 'session/passkey') => ({
      credential: passkey.get(await begin(path), { origin }),
    })
    await browser.post('/v1/auth/session/confirm', await answers('session/confirm'))
    await anybody.post('/v1/auth/token/passkey', await answers())
    await anybody.post('/v1/auth/session/passkey', await answers(), { prefer: 'return=minimal' })
    await browser.post('/v1/auth/session/passkey', await answers())
    await browser.fetchAntiforgeryToken()
    await browser.post('/v1/auth/session/passkey', { credential })
    await browser.post('/v1/auth/session/passkey', await answers('session/confirm'))
    await browser.send('DELETE', '/v1/auth/password')
    await browser.send('DELETE', `/v1/auth/passkeys/${passkey.id}`)
    await bearer.send('DELETE', `/v1/users/${user.id}/passkeys/${passkey.id}`)
    const others = [new Passkey(), new Passkey()]
    for (const other of others) {
      const offered = other.create(await begin('passkeys'), { origin })
      await browser.post('/v1/auth/passkeys', { name, credential: offered })
    }
    await bearer.send('DELETE', `/v1/users/${user.id}/passkeys/${others[0]?.id}`)
    await browser.send('DELETE', `/v1/auth/passkeys/${others[1]?.id}`)
    await browser.send('DELETE', '/v1/auth/passkeys/x')
  })

  it('about signed decisions', async () => {
    const id = await createdId(bearer)
    await bearer.post('/v1/orders/decisions', {})
    await prepare(bearer, { orders: [id] })
    await decide(bearer, id, {})
    const user = await newUser(service, { roles: ['Admin'] })
    const passkey = await newPasskey(service, user)
    const signer = judged(await bearerOf(service, user))
    for (const version of [1, 9]) await prepare(signer, { orders: [{ id, version }] })
    const [signed] = await sign(signer, passkey, { orders: [id] })
    await decide(signer, id, signed)
    await prepare(signer, { orders: [{ id, version: 2 }] })
  })

  it('about links and the caller’s own account', async () => {
    for (const email of ['x', 'nobody@example.com']) await anybody.post('/v1/auth/links', { email })
    const token = await newLink(service, await newUser(service))
    for (const each of [token, 'x']) await anybody.post('/v1/auth/links/check', { token: each })
    for (const password of ['x', 'password password', newPassword, newPassword]) {
      await anybody.post('/v1/auth/links/use', { token, newPassword: password })
    }
    const moving = await newUser(service)
    const emailToken = newSecret()
    const link = { email: `new-${moving.email}`, tokenHash: sha256(emailToken) }
    const stamp = await stampBy(service, moving)
    await service.db.write('requestEmail', { ...link, signInId: null, stamp })
    for (const password of ['x', moving.password, moving.password]) {
      await anybody.post('/v1/auth/email/use', { token: emailToken, password })
    }
    const user = await newUser(service)
    const caller = judged(await signIn(service, user))
    const demo = judged(await service.bearer('demo-service'))
    await tokenPair(service, user)
    const { items } = (await caller.get('/v1/auth/sessions?pageSize=5')).body
    const ended = items.find(({ current }: { current: boolean }) => !current).id
    for (const each of [caller, demo, anybody]) {
      await each.get('/v1/auth/me')
      await each.get('/v1/auth/me/account')
      await each.get('/v1/auth/me/mail')
      for (const email of ['x', 'new@example.com']) await each.send('PUT', '/v1/auth/email', { email })
      for (const hour of [8, 24]) {
        await each.send('PUT', '/v1/auth/me/mail', { waiting: 'daily', hour, decided: true, noted: true })
      }
      await each.get('/v1/auth/absence/deputies')
      const until = new Date(service.now() + 86_400_000).toISOString()
      for (const [from, deputyId] of [
        [until, 1],
        ['2026-01-01T00:00:00Z', 1],
        ['2026-01-01T00:00:00Z', 7_777],
      ]) {
        await each.send('PUT', '/v1/auth/absence', { from, until, deputyId })
      }
      await each.get('/v1/auth/absence')
      await each.send('DELETE', '/v1/auth/absence')
      await each.get('/v1/auth/sessions')
      await each.send('DELETE', `/v1/auth/sessions/${ended}`)
      await each.send('DELETE', `/v1/auth/sessions/${ended}`)
      await each.send('DELETE', '/v1/auth/sessions')
      await each.post('/v1/auth/password', { currentPassword: 'x', newPassword })
      await each.post('/v1/auth/password', { currentPassword: user.password, newPassword: 'x' })
      await each.post('/v1/auth/password', { currentPassword: user.password, newPassword })
    }
  })

  it('about agents', async () => {
    for (const revision of revisions) {
      for (const method of ['tools/list', 'initialize', 'none']) {
        await callMcp(bearer, method, {}, revision)
      }
      await callMcp(bearer, 'tools/call', { name: 'find_orders', arguments: { filter: '(' } }, revision)
      await callMcp(bearer, 'resources/read', { uri: 'countersign://orders/none' }, revision)
    }
    const [message] = messageOf('notifications/initialized')
    await bearer.post('/v1/mcp', { ...message, id: undefined })
    await bearer.post('/v1/mcp', message)
    await bearer.post('/v1/mcp', message, { origin: 'https://elsewhere.example' })
  })

  it('about tokens', async () => {
    const { refreshToken } = (await anybody.post('/v1/auth/token', passwordOf('viewer'))).body
    await anybody.post('/v1/auth/token', { email: 'nobody@example.com', password: 'x' })
    await anybody.post('/v1/auth/token/refresh', { refreshToken })
    await anybody.post('/v1/auth/token/refresh', { refreshToken })
    const secret = { clientId: 'demo-service', clientSecret: 'countersign-demo-service-secret' }
    await anybody.post('/v1/auth/clients/token', secret)
    await anybody.post('/v1/auth/clients/token', { ...secret, clientSecret: 'x' })
    await anybody.postForm('/v1/auth/clients/token', 'grant_type=client_credentials')
    await anybody.postForm('/v1/auth/clients/token', 'grant_type=password')
    await anybody.postForm('/v1/auth/revoke', { token: refreshToken })
    await anybody.postForm('/v1/auth/revoke', 'token=')
  })

  it('about the service itself', async () => {
    for (const name of ['jwks.json', 'oauth-authorization-server', 'openid-configuration']) {
      await read(`/.well-known/${name}`)
    }
    await anybody.get('/health', { host: 'localhost', 'x-long': 'a'.repeat(17_000) })
  })

  it('about the company account', async (t) => {
    const forger = await startForger()
    const env = companyEnv(forger.issuer)
    const company = await startService({ inside: true, development: true, clockRuns: true, env, until: t })
    t.after(() => forger.close())
    const [browser, other] = [judged(await company.session('admin')), judged(company.client())]
    const callback = async (url: string) => browser.get(forger.answerTo(url))
    await callback((await browser.post('/v1/auth/company')).body.url)
    await browser.post('/v1/auth/company')
    await callback((await browser.post('/v1/auth/session/confirm/company')).body.url)
    const begun = await other.get('/v1/auth/session/company?returnTo=/orders')
    await other.get(forger.answerTo(begun.headers.get('location') ?? ''))
    await other.get('/v1/auth/session/company?returnTo=//evil.example')
    await other.get('/v1/auth/session/company', { 'sec-fetch-dest': 'iframe' })
    const token = await newLink(company, await newUser(company))
    await other.post('/v1/auth/links/use/company', { token })
    const logoutToken = await forger.sign(forger.logoutClaims())
    const path = '/v1/auth/session/company/logout'
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    for (const _ of [1, 2])
      await other.post(path, String(new URLSearchParams({ logout_token: logoutToken })), type)
  })

  it('of an instance that limits, drains or has lost its database', async (t) => {
    const limited = await startService({
      inside: true,
      development: true,
      env: { RATE_LIMIT_FACTOR: '0.0001' },
      until: t,
    })
    const caller = judged(limited.client())
    const operations = judge.operations()
    const all = () =>
      Promise.all(
        operations.map(({ method, path }) => caller.send(method.toUpperCase(), path.replace('{id}', 'x'))),
      )
    await all()
    const refused = await all()
    assert.equal(refused.filter(({ status }) => status === 429).length, operations.length - 2)
    limited.readiness.phase = 'closing'
    const drained = await all()
    assert.equal(drained.filter(({ status }) => status === 503).length, operations.length - 1)
    limited.readiness.phase = 'serving'
    await limited.db.close()
    await caller.get('/health/ready')
  })

  it('including each success that it describes', () => {
    const promised = judge
      .operations()
      .flatMap(({ operation }) =>
        Object.keys(operation.responses).map((status) => `${operation.operationId} ${status}`),
      )
      .filter((each) => / [23]\d\d$/.test(each))
    const strays = promised.filter((each) => !judge.seen.has(each))
    assert.deepEqual(strays, [])
  })
})

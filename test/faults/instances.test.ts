// engine: PostgreSQL
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { type Answer, Client } from '../support/client.ts'
import { runSql, withoutPostgres } from '../support/postgres.ts'
import { assertProblem } from '../support/problem.ts'
import type { RunningServer } from '../support/process.ts'
import {
  at,
  bearerOf,
  credentialsOf,
  newProduction,
  type Production,
  sessionOf,
} from '../support/production.ts'
import { openStream } from '../support/stream.ts'

const permissionCacheSeconds = 2
const env = { PERMISSION_CACHE_TTL_SECONDS: String(permissionCacheSeconds) }

describe('two processes on one database', { skip: withoutPostgres }, () => {
  let production: Production
  let servers: [RunningServer, RunningServer]
  let one: string
  let other: string
  before(async () => {
    production = await newProduction()
    servers = await Promise.all([production.serve(env), production.serve(env)])
    one = servers[0].baseUrl
    other = servers[1].baseUrl
  })
  after(async () => {
    const codes = await Promise.all(servers.map((server) => server.stop()))
    await production.remove()
    assert.deepEqual(codes, [0, 0])
  })

  const order = () => ({ customer: `Acme ${randomUUID()}`, total: 1 })
  /** Sends that many calls at once, alternating between the two. */
  const spread = (count: number, call: (baseUrl: string) => Promise<Answer>) =>
    Promise.all(Array.from({ length: count }, (_, index) => call(index % 2 === 0 ? one : other)))
  const count = (answers: Answer[], status: number) =>
    answers.filter((answer) => answer.status === status).length
  const assertRefused = (answers: Answer[], status: number, code: string) => {
    for (const answer of answers.filter((answer) => answer.status === status))
      assertProblem(answer, status, code)
  }
  const refresh = (baseUrl: string, refreshToken: string) =>
    new Client(baseUrl).post('/v1/auth/token/refresh', { refreshToken })
  async function pairAt(baseUrl: string): Promise<{ accessToken: string; refreshToken: string }> {
    return (await new Client(baseUrl).post('/v1/auth/token', credentialsOf('operator'))).body
  }

  it('are two processes', () => {
    assert.notEqual(servers[0].process.pid, servers[1].process.pid)
    assert.notEqual(one, other)
  })

  it('an antiforgery token fetched at one before signing in at the other works at both afterwards', async () => {
    const browser = new Client(one)
    await browser.fetchAntiforgeryToken()
    const there = at(other, browser)
    assert.equal((await there.post('/v1/auth/session', credentialsOf('operator'))).status, 200)
    assert.equal((await there.post('/v1/orders', order())).status, 201)
    assert.equal((await at(one, there).post('/v1/orders', order())).status, 201)
  })

  it('signing out at one ends the session at the other at once', async () => {
    const browser = await sessionOf(one, 'operator')
    const there = at(other, browser)
    assert.equal((await there.get('/v1/auth/me')).status, 200)
    assert.equal((await browser.post('/v1/auth/session/logout')).status, 204)
    assertProblem(await there.get('/v1/auth/me'), 401, 'authentication-required')
  })

  it('exactly one of 40 parallel refreshes at both succeeds, and the family ends', async () => {
    const { refreshToken } = await pairAt(one)
    const answers = await spread(40, (baseUrl) => refresh(baseUrl, refreshToken))
    assert.deepEqual([count(answers, 200), count(answers, 401)], [1, 39])
    assertRefused(answers, 401, 'invalid-refresh-token')
    const winner = answers.find(({ status }) => status === 200)
    const later = await spread(2, (baseUrl) => refresh(baseUrl, winner?.body.refreshToken))
    for (const answer of later) assertProblem(answer, 401, 'invalid-refresh-token')
  })

  it('exactly one of 20 parallel approvals at both is 204, and the others are 409', async () => {
    const admin = await bearerOf(one, 'admin')
    const { body } = await admin.post('/v1/orders', order())
    const answers = await spread(20, (baseUrl) => at(baseUrl, admin).patch(`/v1/orders/${body.id}/approve`))
    assert.deepEqual([count(answers, 204), count(answers, 409)], [1, 19])
    assertRefused(answers, 409, 'order-not-pending')
    const stored = await spread(2, (baseUrl) => at(baseUrl, admin).get(`/v1/orders/${body.id}`))
    for (const { headers } of stored) assert.equal(headers.get('etag'), '"2"')
  })

  it('one of 50 parallel creates at both with one key makes the order, and the others replay it', async () => {
    const admin = await bearerOf(one, 'admin')
    const body = order()
    const key = { 'idempotency-key': randomUUID() }
    const answers = await spread(50, (baseUrl) => at(baseUrl, admin).post('/v1/orders', body, key))
    assert.equal(count(answers, 201), 50)
    assert.equal(new Set(answers.map((answer) => answer.body.id)).size, 1)
    const replayed = answers.filter(({ headers }) => headers.get('idempotency-replayed') === 'true')
    assert.equal(replayed.length, 49)
    const stored = 'select 1 from orders where customer = $1'
    assert.equal((await runSql(production.databaseUrl, stored, [body.customer])).length, 1)
  })

  it('the live list of one shows an order that is created or decided at the other', async (t) => {
    const stream = await openStream(await bearerOf(other, 'operator'))
    t.after(() => stream.close())
    const admin = await bearerOf(one, 'admin')
    const { body } = await admin.post('/v1/orders', order())
    await stream.hearsOf(body.id, 1)
    await admin.patch(`/v1/orders/${body.id}/approve`)
    const kinds = (await stream.hearsOf(body.id, 2)).map(({ kind }) => kind)
    assert.deepEqual(kinds, ['created', 'approved'])
  })

  it('failed sign-ins at both are counted together: five are free, and the sixth waits at either', async () => {
    const wrong = { email: `nobody-${randomUUID()}@example.com`, password: 'wrong' }
    const guess = (baseUrl: string) => new Client(baseUrl).post('/v1/auth/token', wrong)
    const begun = performance.now()
    const answers = await spread(12, guess)
    // On a busy machine the wait of a second, and the longer ones after it, may end before the last guess.
    const waitsOver = Math.floor(Math.log2(1 + (performance.now() - begun) / 1_000))
    const refused = count(answers, 429)
    assert.ok(refused <= 7 && refused >= 7 - waitsOver, `${refused} refused`)
    assert.equal(count(answers, 401), 12 - refused)
    const later = await spread(2, guess)
    for (const answer of later) assertProblem(answer, 429, 'too-many-attempts')
  })

  it('a changed permission of a role takes effect at both within the time that permissions are cached', async (t) => {
    const admin = await bearerOf(one, 'admin')
    const create = () => spread(2, (baseUrl) => at(baseUrl, admin).post('/v1/orders', order()))
    assert.equal(count(await create(), 201), 2)
    const row = "role = 'Admin' and permission = 'Orders.Create'"
    await runSql(production.databaseUrl, `delete from role_permissions where ${row}`)
    t.after(() =>
      runSql(
        production.databaseUrl,
        "insert into role_permissions (role, permission) values ('Admin', 'Orders.Create') on conflict do nothing",
      ),
    )
    await setTimeout(permissionCacheSeconds * 1_000)
    const refused = await create()
    assert.equal(refused.length, 2)
    for (const answer of refused) assertProblem(answer, 403, 'permission-denied')
  })

  it('credentials that a killed one issued still work at the other', async () => {
    const browser = at(other, await sessionOf(one, 'operator'))
    const { refreshToken } = await pairAt(one)
    const created = await at(one, browser).post('/v1/orders', order())
    servers[0].process.kill('SIGKILL')
    assert.equal((await browser.get(`/v1/orders/${created.body.id}`)).status, 200)
    assert.equal((await refresh(other, refreshToken)).status, 200)
    servers[0] = await production.serve(env)
    assert.equal((await at(servers[0].baseUrl, browser).get('/v1/auth/me')).status, 200)
  })
})

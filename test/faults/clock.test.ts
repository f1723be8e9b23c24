// engine: both
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { afterEach, describe, it } from 'node:test'
import { machineStamp } from '../../server/caller/stamp.ts'
import { newUser, signIn, type TestUser, tokenPair } from '../support/accounts.ts'
import type { Answer, Client } from '../support/client.ts'
import { withRawDatabase } from '../support/database.ts'
import { assertSound } from '../support/history.ts'
import { createdId } from '../support/orders.ts'
import { assertProblem } from '../support/problem.ts'
import { testService } from '../support/service.ts'

const hour = 3_600_000
const minute = 60_000
const second = 1_000

describe('a clock that jumps', () => {
  const service = testService({})
  afterEach(async () => {
    const failures = (await service.log()).filter(({ level }) => Number(level) >= 50)
    assert.deepEqual(failures, [])
  })

  async function withToken(user: TestUser): Promise<Client> {
    return service.client().withBearer((await tokenPair(service, user)).accessToken)
  }
  const refresh = (refreshToken: string) => service.client().post('/v1/auth/token/refresh', { refreshToken })
  const statusOf = async (answer: Promise<Answer>) => (await answer).status

  for (const [direction, jump] of [
    ['forward', hour],
    ['back', -hour],
  ] as const) {
    describe(`an hour ${direction}`, () => {
      it('access tokens from before are refused, and a refresh gives one that works at once', async () => {
        const user = await newUser(service, { roles: ['Operator'] })
        const pair = await tokenPair(service, user)
        const bearer = service.client().withBearer(pair.accessToken)
        assert.equal(await statusOf(bearer.get('/v1/auth/me')), 200)
        service.advance(jump)
        assertProblem(await bearer.get('/v1/auth/me'), 401, 'authentication-required')
        const rotated = await refresh(pair.refreshToken)
        assert.equal(rotated.status, 200)
        bearer.withBearer(rotated.body.accessToken)
        assert.equal(await statusOf(bearer.post('/v1/orders', { customer: 'A', total: 1 })), 201)
        assertProblem(await refresh(pair.refreshToken), 401, 'invalid-refresh-token')
      })

      it('orders from before can be approved, listed and replayed by key, and the tally stays exact', async () => {
        const admin = await newUser(service, { roles: ['Admin'] })
        const first = await withToken(admin)
        const customer = `jump ${randomUUID()}`
        const key = { 'idempotency-key': randomUUID() }
        const ids = [await createdId(first, { customer }), await createdId(first, { customer })]
        const keyed = await first.post('/v1/orders', { customer, total: 2 }, key)
        service.advance(jump)
        const second = await withToken(admin)
        const replayed = await second.post('/v1/orders', { customer, total: 2 }, key)
        assert.deepEqual(
          [replayed.status, replayed.body.id, replayed.headers.get('idempotency-replayed')],
          [201, keyed.body.id, 'true'],
        )
        const approvals = [...ids, ...ids].map((id) => second.patch(`/v1/orders/${id}/approve`))
        const statuses = (await Promise.all(approvals)).map(({ status }) => status)
        assert.deepEqual(statuses.sort(), [204, 204, 409, 409])
        ids.push(keyed.body.id, await createdId(second, { customer }))
        const filter = encodeURIComponent(`customer="${customer}"`)
        const { body } = await second.get(`/v1/orders?pageSize=100&orderBy=createdAtUtc&filter=${filter}`)
        const listed: { id: string; createdAtUtc: string }[] = body.items
        assert.deepEqual(listed.map(({ id }) => id).sort(), ids.toSorted())
        const instants = listed.map(({ createdAtUtc }) => createdAtUtc)
        assert.deepEqual(instants, instants.toSorted())
        await withRawDatabase(service.databaseUrl, assertSound)
      })

      it('signing in and out still works', async () => {
        const user = await newUser(service, { roles: ['Operator'] })
        await signIn(service, user)
        service.advance(jump)
        const browser = await signIn(service, user)
        assert.equal(await statusOf(browser.post('/v1/auth/session/refresh')), 200)
        assert.equal(await statusOf(browser.post('/v1/orders', { customer: 'A', total: 1 })), 201)
        assert.equal(await statusOf(browser.post('/v1/auth/session/logout')), 204)
        assertProblem(await browser.get('/v1/auth/me'), 401, 'authentication-required')
      })
    })
  }

  it('an hour forward ends sessions that were idle for less than an hour', async () => {
    const browser = await signIn(service, await newUser(service, { roles: ['Operator'] }))
    service.advance(hour)
    assertProblem(await browser.get('/v1/auth/me'), 401, 'authentication-required')
  })

  it('an hour back extends no session beyond its absolute end', async () => {
    const browser = await signIn(service, await newUser(service, { roles: ['Operator'] }))
    const end = (await browser.get('/v1/auth/me')).headers.get('session-expires')
    service.advance(-hour)
    const answer = await browser.get('/v1/auth/me')
    assert.equal(answer.status, 200)
    assert.equal(answer.headers.get('session-expires'), end)
  })

  it('an hour back does not revive an expired session id', async () => {
    const browser = await signIn(service, await newUser(service, { roles: ['Operator'] }))
    const former = service.client()
    for (const [name, value] of browser.cookies) former.cookies.set(name, value)
    assert.equal(await statusOf(browser.post('/v1/auth/session/refresh')), 200)
    assert.equal(await statusOf(former.get('/v1/auth/me')), 200)
    service.advance(31 * second)
    assertProblem(await former.get('/v1/auth/me'), 401, 'authentication-required')
    service.advance(-hour)
    assertProblem(await former.get('/v1/auth/me'), 401, 'authentication-required')
    assert.equal(await statusOf(browser.get('/v1/auth/me')), 200)
  })

  it('an hour back does not delay the removal of a permission', async (t) => {
    const role = 'Operator'
    const bearer = await withToken(await newUser(service, { roles: [role] }))
    assert.equal(await statusOf(bearer.post('/v1/orders', { customer: 'A', total: 1 })), 201)
    const permissions = ['Orders.Create' as const]
    const change = () => ({ role, permissions, stamp: machineStamp(service.now()) })
    await service.db.write('denyPermissions', change())
    t.after(() => service.db.write('allowPermissions', change()))
    service.advance(-hour)
    const now = await withToken(await newUser(service, { roles: [role] }))
    assertProblem(await now.post('/v1/orders', { customer: 'A', total: 1 }), 403, 'permission-denied')
  })

  it('an hour back does not add an hour to the wait after failed sign-ins', async () => {
    const user = await newUser(service, { roles: ['Operator'] })
    const exchange = (password: string) =>
      service.client().post('/v1/auth/token', { email: user.email, password })
    const answers = await Promise.all(Array.from({ length: 6 }, () => exchange('wrong')))
    assert.deepEqual(answers.map(({ status }) => status).sort(), [401, 401, 401, 401, 401, 429])
    service.advance(-hour)
    assert.equal(await statusOf(exchange(user.password)), 200)
  })

  it('a quarter of an hour back leaves a wait of at most that long', async () => {
    const user = await newUser(service, { roles: ['Operator'] })
    const exchange = () => service.client().post('/v1/auth/token', { email: user.email, password: 'wrong' })
    await Promise.all(Array.from({ length: 6 }, exchange))
    service.advance(-14 * minute)
    const answer = await exchange()
    assertProblem(answer, 429, 'too-many-attempts')
    assert.ok(Number(answer.headers.get('retry-after')) <= 15 * 60)
  })
})

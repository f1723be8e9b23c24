import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { createdId } from '../support/orders.ts'
import { assertProblem } from '../support/problem.ts'
import { passwordOf, startService, testService } from '../support/service.ts'
import { until } from '../support/stream.ts'
import { sealAll } from '../support/webhooks.ts'

describe('the probes', () => {
  const service = testService()

  it('say ok to everyone, and are never cached', async () => {
    for (const path of ['/health', '/health/ready']) {
      const answer = await service.client().get(path)
      assert.equal(answer.status, 200)
      assert.deepEqual(answer.body, { status: 'ok' })
      assert.equal(answer.headers.get('cache-control'), 'no-store')
    }
  })

  it('warn of a clock that is behind the latest event, until it no longer is', async (t) => {
    const back = await startService({ until: t, orders: true })
    const warnings = async () => {
      const { status, body } = await back.client().get('/health/ready')
      assert.equal(status, 200)
      return body.warnings
    }
    assert.equal(await warnings(), undefined)
    back.advance(-59_000)
    assert.equal(await warnings(), undefined)
    back.advance(-3_600_000)
    assert.deepEqual(await warnings(), ['clock-behind'])
    // An event by the wrong clock changes nothing, sealed or not.
    await createdId(await back.bearer('admin'), {})
    assert.deepEqual(await warnings(), ['clock-behind'])
    await sealAll(back.db)
    assert.deepEqual(await warnings(), ['clock-behind'])
    back.advance(3_600_000)
    assert.equal(await warnings(), undefined)
  })

  it('a jump of the clock leaves a line in the log', async (t) => {
    const jumping = await startService({ inside: false, until: t })
    const jumps = async () => (await jumping.log()).filter(({ event }) => event === 'clock-jumped')
    for (const [count, seconds] of [-3_600, 7_200].entries()) {
      jumping.advance(1_000 * seconds)
      await until(async () => (await jumps()).length > count)
    }
    const [back, forward] = await jumps()
    assert.match(String(back?.msg), /^the clock went back by 36\d\d s$/)
    assert.match(String(forward?.msg), /^the clock went forward by 7[12]\d\d s$/)
  })

  it('warn of an event that waits for its seal for more than ten seconds', async (t) => {
    const waiting = await startService({ inside: true, until: t })
    const warnings = async () => (await waiting.client().get('/health/ready')).body.warnings
    await sealAll(waiting.db)
    waiting.advance(3_600_000)
    assert.equal(await warnings(), undefined)
    await createdId(await waiting.bearer('admin'), {})
    waiting.advance(11_000)
    // The process must be that old, too.
    await until(async () => (await warnings())?.[0] === 'not-sealing')
    await sealAll(waiting.db)
    assert.equal(await warnings(), undefined)
  })

  it('while draining: alive, serving and not ready; once the listener is closed, 503 to every other request', async (t) => {
    const draining = await startService({ inside: true, until: t })
    const admin = await draining.bearer('admin')
    const session = await draining.session('admin')
    for (const phase of ['draining', 'closing'] as const) {
      draining.readiness.phase = phase
      assert.equal((await draining.client().get('/health')).status, 200)
      assertProblem(await draining.client().get('/health/ready'), 503, 'shutting-down')
    }
    draining.readiness.phase = 'draining'
    for (const caller of [admin, session]) {
      const answer = await caller.get('/v1/orders')
      assert.equal(answer.status, 200)
      assert.equal(answer.headers.get('connection'), 'close')
    }
    draining.readiness.phase = 'closing'
    for (const caller of [admin, session, draining.client()]) {
      for (const [method, path] of [
        ['GET', '/v1/orders'],
        ['POST', '/v1/orders'],
        ['GET', '/v1/none'],
        ['PUT', '/v1/orders'],
        ['GET', '/'],
        ['GET', '/v1/auth/csrf'],
      ] as const) {
        const answer = await caller.send(method, path)
        assertProblem(answer, 503, 'shutting-down')
        assert.ok(Number(answer.headers.get('retry-after')) >= 1)
        assert.equal(answer.headers.get('connection'), 'close')
      }
    }
  })

  it('without the database: alive, not ready; 503 to every caller, never 401 to a caller with a cookie', async (t) => {
    const cut = await startService({ inside: true, env: { PERMISSION_CACHE_TTL_SECONDS: '0' }, until: t })
    const session = await cut.session('admin')
    const bearer = await cut.bearer('admin')
    const { refreshToken } = (await cut.client().post('/v1/auth/token', passwordOf('admin'))).body
    await cut.db.close()
    assert.equal((await cut.client().get('/health')).status, 200)
    const ready = await cut.client().get('/health/ready')
    assertProblem(ready, 503, 'database-unavailable')
    const routes = [
      ['GET', '/v1/auth/me'],
      ['GET', '/v1/orders'],
      ['POST', '/v1/orders'],
      ['POST', '/v1/auth/session/refresh'],
      ['POST', '/v1/auth/session/logout'],
      ['GET', '/v1/auth/csrf'],
    ] as const
    for (const [method, path] of routes) {
      const answer = await session.send(method, path)
      assertProblem(answer, 503, 'database-unavailable')
      assert.ok(Number(answer.headers.get('retry-after')) >= 1, path)
      assert.deepEqual(answer.setCookies, [], path)
      assert.equal(answer.headers.get('www-authenticate'), null, path)
    }
    assertProblem(await bearer.get('/v1/auth/me'), 503, 'database-unavailable')
    const login = { email: 'nobody@example.com', password: 'wrong' }
    assertProblem(await cut.client().post('/v1/auth/session', login), 503, 'database-unavailable')
    assertProblem(
      await cut.client().post('/v1/auth/token/refresh', { refreshToken }),
      503,
      'database-unavailable',
    )
  })

  it('are not ready once the file of SQLite is gone', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'countersign-health-'))
    const file = join(folder, 'gone.db')
    const gone = await startService({ inside: true, env: { DATABASE_URL: `file:${file}` } })
    t.after(() => gone.close())
    await rm(folder, { recursive: true })
    assertProblem(await gone.client().get('/health/ready'), 503, 'database-unavailable')
  })
})

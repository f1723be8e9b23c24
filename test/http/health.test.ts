import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { assertProblem } from '../support/problem.ts'
import { passwordOf, startService, testService } from '../support/service.ts'

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

  it('warn of a clock that is behind the newest event', async (t) => {
    const back = await startService({ until: t, orders: true })
    const warning = async () => (await back.client().get('/health/ready')).body.warning
    assert.equal(await warning(), undefined)
    back.advance(-59_000)
    assert.equal(await warning(), undefined)
    back.advance(-3_600_000)
    assert.equal(await warning(), 'clock-behind')
    assert.equal((await back.client().get('/health/ready')).status, 200)
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

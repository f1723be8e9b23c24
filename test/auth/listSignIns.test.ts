import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { formatInstant } from '../../server/clock.ts'
import { newUser, setPassword, tokenPair } from '../support/accounts.ts'
import type { Client } from '../support/client.ts'
import { withRawDatabase } from '../support/database.ts'
import { assertProblem } from '../support/problem.ts'
import { setUp, testService } from '../support/service.ts'

const path = '/v1/auth/sessions'
const minute = 60_000
const browserName = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0'

describe('listSignIns', () => {
  const service = testService()
  const user = setUp(() => newUser(service), beforeEach)

  async function signInAs(userAgent: string): Promise<Client> {
    const browser = service.client()
    await browser.post('/v1/auth/session', user.credentials, { 'user-agent': userAgent })
    await browser.fetchAntiforgeryToken()
    return browser
  }
  const list = async (caller: Client) => (await caller.get(path)).body.items as Record<string, unknown>[]

  describe('succeeds', () => {
    it('shows sessions and token families: kind, user agent, beginning, last use, and which is current', async () => {
      const startedAt = service.now()
      const browser = await signInAs(browserName)
      service.advance(minute)
      const app = await service
        .client()
        .post('/v1/auth/token', user.credentials, { 'user-agent': 'till/2.1' })
      service.advance(minute)
      const { status, body } = await browser.get(path)
      assert.equal(status, 200)
      const { items, ...page } = body
      const counts = { pageNumber: 1, totalPages: 1, totalCount: 2 }
      assert.deepEqual(page, { ...counts, hasPreviousPage: false, hasNextPage: false })
      const instant = (minutes: number) => formatInstant(startedAt + minutes * minute)
      const told = items.map(({ id, ...rest }: { id: string }) => {
        assert.match(id, /^[A-Za-z0-9_-]{22}$/)
        return rest
      })
      const tokens = { kind: 'tokens', userAgent: 'till/2.1', createdAtUtc: instant(1), current: false }
      const session = { kind: 'session', userAgent: browserName, createdAtUtc: instant(0), current: true }
      const byKind = told.toSorted((a: { kind: string }, b: { kind: string }) => (a.kind < b.kind ? -1 : 1))
      assert.deepEqual(byKind, [
        { ...session, lastUsedAtUtc: byKind[0].lastUsedAtUtc },
        { ...tokens, lastUsedAtUtc: instant(1) },
      ])
      const bearer = service.client().withBearer(app.body.accessToken)
      assert.deepEqual(
        (await list(bearer)).map(({ kind, current }) => ({ kind, current })).toSorted(byName),
        [
          { kind: 'session', current: false },
          { kind: 'tokens', current: true },
        ],
      )
    })

    it('puts the most recently used first: by a request of a session, or a refresh of tokens', async () => {
      const first = await signInAs('first')
      const pair = await tokenPair(service, user)
      // Listing does not count as use of the session.
      const look = () => first.get(path, { background: '?1' })
      const order = async () => (await look()).body.items.map(({ kind }: { kind: string }) => kind)
      service.advance(2 * minute)
      await service.client().post('/v1/auth/token/refresh', pair)
      assert.deepEqual(await order(), ['tokens', 'session'])
      service.advance(2 * minute)
      await first.get('/v1/auth/me')
      await settledTouch(first)
      assert.deepEqual(await order(), ['session', 'tokens'])
    })

    it('has pages, with links', async () => {
      const browser = await signInAs('the first of five')
      for (const name of ['second', 'third', 'fourth', 'fifth']) await signInAs(name)
      const ids = (await list(browser)).map(({ id }) => String(id))
      assert.deepEqual(ids, ids.toSorted(), 'all were used at the same instant')
      const { body, headers } = await browser.get(`${path}?pageSize=2&pageNumber=3`)
      assert.equal(body.items.length, 1)
      assert.deepEqual([body.totalPages, body.totalCount, body.hasNextPage], [3, 5, false])
      assert.match(headers.get('link') ?? '', /<\/v1\/auth\/sessions\?pageNumber=2&pageSize=2>; rel="prev"/)
      assertProblem(await browser.get(`${path}?pageSize=0`), 400, 'validation-failed')
    })

    it('leaves out those that have ended: unused, expired, signed out, refused, or before a new password', async () => {
      await tokenPair(service, user)
      await setPassword(service, user)
      const browser = await signInAs('kept')
      await (await signInAs('signed out')).post('/v1/auth/session/logout')
      const { refreshToken } = await tokenPair(service, user)
      for (const _ of [1, 2]) await service.client().post('/v1/auth/token/refresh', { refreshToken })
      await signInAs('unused')
      for (let turn = 0; turn < 3; turn += 1) {
        service.advance(11 * minute)
        await browser.get('/v1/auth/me')
        await settledTouch(browser)
      }
      for (const ended of [{ absolute_expires_at: service.now() }, { credentials_epoch: -1 }]) {
        const name = Object.keys(ended).join()
        await signInAs(name)
        await withRawDatabase(service.databaseUrl, (db) =>
          db.updateTable('sessions').set(ended).where('user_agent', '=', name).execute(),
        )
      }
      const userAgents = (await list(browser)).map(({ userAgent }) => userAgent)
      assert.deepEqual(userAgents, ['kept'])
    })

    it('leaves out those of other users', async () => {
      const browser = await signInAs('mine')
      await tokenPair(service, await newUser(service))
      assert.equal((await list(browser)).length, 1)
    })

    it('shows a user agent of at most 256 visible characters, or null', async () => {
      const browser = await signInAs(`  Till\t\u0085 \u00a0 ${'x'.repeat(300)}`)
      const [item] = await list(browser)
      assert.equal(item?.userAgent, `Till ${'x'.repeat(251)}`)
      const none = await signInAs('')
      assert.equal((await list(none)).find(({ current }) => current)?.userAgent, null)
    })
  })

  /** The last use is written while the answer is sent; the next answer shows it. */
  async function settledTouch(browser: Client): Promise<void> {
    const expected = formatInstant(service.now() + 30 * minute)
    const endsAt = performance.now() + 10_000
    while (performance.now() < endsAt) {
      const { headers } = await browser.get('/v1/auth/me', { background: '?1' })
      if (headers.get('session-idle-expires') === expected) return
    }
    assert.fail('the last use was never written')
  }
})

function byName(a: { kind: unknown }, b: { kind: unknown }): number {
  return String(a.kind) < String(b.kind) ? -1 : 1
}

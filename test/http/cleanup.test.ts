// engine: both
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { clockDifferenceMilliseconds } from '../../server/clock.ts'
import { newLink, newUser, signIn, tokenPair } from '../support/accounts.ts'
import { startService, testService } from '../support/service.ts'
import { removeExpired } from '../support/upkeep.ts'

const hourMilliseconds = 3_600_000

describe('the clean-up', () => {
  const service = testService({ inside: true })

  const remove = (limit = 200) => removeExpired(service, limit)
  const tables = [
    'sessions',
    'session_ids',
    'refresh_families',
    'one_time_links',
    'idempotency_keys',
    'login_failures',
    'known_addresses',
  ] as const
  const counts = async () =>
    Promise.all(
      tables.map(async (table) => (await service.db.read.selectFrom(table).selectAll().execute()).length),
    )

  it('keeps rows that are still in use, and deletes each kind once it has expired', async () => {
    const user = await newUser(service)
    const browser = await signIn(service, user)
    await browser.post('/v1/auth/session/refresh')
    await tokenPair(service, user)
    await newLink(service, user)
    await browser.post('/v1/orders', { customer: 'Acme', total: 1 }, { 'idempotency-key': 'once' })
    await service.client().post('/v1/auth/token', { email: 'nobody@example.com', password: 'wrong' })
    // A failed try leaves two counters. Successful ones left the counter of their account at 0.
    assert.deepEqual(await counts(), [1, 2, 1, 1, 1, 3, 1])
    assert.equal(await remove(), 0)
    assert.deepEqual(await counts(), [1, 2, 1, 1, 1, 3, 1])

    service.advance(hourMilliseconds)
    await remove()
    assert.deepEqual(await counts(), [1, 2, 1, 1, 1, 3, 1])

    service.advance(24 * hourMilliseconds)
    await remove()
    assert.deepEqual(await counts(), [0, 0, 1, 0, 0, 0, 1])

    service.advance(31 * 24 * hourMilliseconds)
    await remove()
    assert.deepEqual(await counts(), [0, 0, 0, 0, 0, 0, 0])
  })

  it('keeps a session for as long as the operator says', async (t) => {
    const env = { SESSION_IDLE_TTL_SECONDS: '432000', SESSION_ABSOLUTE_TTL_SECONDS: '864000' }
    const lasting = await startService({ inside: true, until: t, env })
    const browser = await signIn(lasting, await newUser(lasting))
    lasting.advance(3 * 24 * hourMilliseconds)
    await removeExpired(lasting, 200)
    assert.equal((await browser.get('/v1/auth/me')).status, 200)
  })

  it('keeps a used challenge for as long as an instance whose clock is behind accepts it', async () => {
    const now = service.now()
    const challenge = { nonce: 'used once', expiresAt: now }
    const logout = { issuer: 'https://idp.example', subject: null, sid: null, challenge, attemptsEndAt: now }
    const use = () => service.db.write('logoutByCompany', logout)
    assert.deepEqual(await use(), { ended: 0 })
    service.advance(clockDifferenceMilliseconds - 1)
    await remove()
    assert.deepEqual(await use(), { refused: 'logout-token-invalid' })
    service.advance(1)
    await remove()
    assert.deepEqual(await use(), { ended: 0 })
  })

  it('deletes at most the given number of each kind at once, and all of them in the end', async () => {
    const user = await newUser(service)
    const browser = await signIn(service, user)
    for (let made = 0; made < 7; made += 1) {
      await tokenPair(service, user)
      await signIn(service, user)
      await newLink(service, await newUser(service))
      // At the same instant, so that they end together.
      await browser.post('/v1/orders', { customer: 'Acme', total: 1 }, { 'idempotency-key': `key ${made}` })
      const nobody = { email: `nobody-${made}@example.com`, password: 'wrong' }
      await service.client().post('/v1/auth/token', nobody)
    }
    service.advance(31 * 24 * hourMilliseconds)
    await remove(2)
    const left: number[][] = [await counts()]
    while ((await remove(2)) > 0) left.push(await counts())
    assert.ok(left.length > 3)
    for (const [pass, before] of left.slice(0, -1).entries()) {
      const after = left[pass + 1] ?? []
      assert.ok(before.every((count, table) => count - (after[table] ?? 0) <= 2))
    }
    assert.deepEqual(left.at(-1), [0, 0, 0, 0, 0, 0, 0])
  })
})

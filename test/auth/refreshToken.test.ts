// engine: both
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { beforeEach, describe, it } from 'node:test'
import { decodeJwt } from 'jose'
import {
  grantRoles,
  liveCredentials,
  newUser,
  setEnabled,
  setPassword,
  storedCredentials,
  tokenPair,
} from '../support/accounts.ts'
import { assertProblem } from '../support/problem.ts'
import { setUp, startService, testService } from '../support/service.ts'

const path = '/v1/auth/token/refresh'
const day = 86_400_000

describe('refreshToken', () => {
  const service = testService()
  const user = setUp(() => newUser(service), beforeEach)
  const pair = setUp(() => tokenPair(service, user), beforeEach)

  const refresh = (refreshToken: string, key?: string) =>
    service.client().post(path, { refreshToken }, key === undefined ? {} : { 'idempotency-key': key })
  const newKey = () => randomBytes(16).toString('base64url')

  const families = () =>
    service.db.read.selectFrom('refresh_families').selectAll().where('principal_id', '=', user.id).execute()
  const reuses = async () =>
    (await service.log()).filter((line) => {
      return line.event === 'refresh-token-reused' && line.principalId === user.id
    })

  describe('succeeds', () => {
    it('issues a new pair of the same shape', async () => {
      const answer = await refresh(pair.refreshToken)
      assert.equal(answer.status, 200)
      const names = ['accessToken', 'accessTokenExpiresAt', 'refreshToken']
      assert.deepEqual(Object.keys(answer.body).sort(), names)
      assert.match(answer.body.refreshToken, /^[A-Za-z0-9_-]{112}$/)
      assert.notEqual(answer.body.refreshToken, pair.refreshToken)
      assert.notEqual(answer.body.accessToken, pair.accessToken)
      assert.equal(
        decodeJwt(answer.body.accessToken).exp,
        Date.parse(answer.body.accessTokenExpiresAt) / 1000,
      )
      assert.deepEqual(answer.setCookies, [])
      const caller = service.client().withBearer(answer.body.accessToken)
      assert.equal((await caller.get('/v1/auth/me')).body.userName, user.userName)
    })

    it('issues an access token of 15 minutes from now', async () => {
      service.advance(day)
      const earliest = Math.floor(service.now() / 1000) * 1000
      const end = Date.parse((await refresh(pair.refreshToken)).body.accessTokenExpiresAt)
      assert.ok(end >= earliest + 900_000 && end <= service.now() + 900_000)
    })

    it('uses the current roles', async () => {
      await grantRoles(service, user, ['Admin'])
      const { body } = await refresh(pair.refreshToken)
      assert.deepEqual(decodeJwt(body.accessToken).roles, ['Admin', 'Operator'])
    })

    it('issues an access token that works, even within the second in which the credentials changed', async () => {
      // Later in the second, so that an `iat` in whole seconds is older than the change.
      service.advance(1_500 - (service.now() % 1_000))
      await setPassword(service, user)
      const { refreshToken } = await tokenPair(service, user)
      const { body } = await refresh(refreshToken)
      const caller = service.client().withBearer(body.accessToken)
      assert.equal((await caller.get('/v1/auth/me')).status, 200)
    })

    it('stores only SHA-256 of the new token', async () => {
      const { body } = await refresh(pair.refreshToken)
      const stored = await storedCredentials(service)
      assert.ok(!stored.includes(body.refreshToken))
      assert.ok(stored.includes(createHash('sha256').update(body.refreshToken).digest('base64url')))
    })

    it('keeps nothing of earlier tokens: a family is one row', async () => {
      let { refreshToken } = pair
      for (let used = 0; used < 5; used += 1) refreshToken = (await refresh(refreshToken)).body.refreshToken
      const rows = await families()
      const generations = rows.map(({ generation }) => generation)
      assert.deepEqual(generations, [6])
    })

    it('works even after the key of the tags was replaced, and then gives a tag of the new key', async (t) => {
      const instance = await startService({
        instanceOf: { ...service, antiforgeryKey: randomBytes(32) },
        until: t,
      })
      const elsewhere = (refreshToken: string) => instance.client().post(path, { refreshToken })
      const { status, body } = await elsewhere(pair.refreshToken)
      assert.equal(status, 200)
      // Made with the replaced key, so it is not recognised as a used one.
      assertProblem(await elsewhere(pair.refreshToken), 401, 'invalid-refresh-token')
      assert.equal((await elsewhere(body.refreshToken)).status, 200)
      assertProblem(await elsewhere(body.refreshToken), 401, 'invalid-refresh-token')
      assert.deepEqual(await liveCredentials(service, user), { sessions: 0, families: 0 })
    })

    it('works until a token has been unused for 14 days', async () => {
      service.advance(14 * day - 60_000)
      const { status, body } = await refresh(pair.refreshToken)
      assert.equal(status, 200)
      service.advance(14 * day)
      assertProblem(await refresh(body.refreshToken), 401, 'invalid-refresh-token')
    })

    it('works until the family is 30 days old, however often it is used', async () => {
      let { refreshToken } = pair
      for (const days of [13, 13]) {
        service.advance(days * day)
        const { status, body } = await refresh(refreshToken)
        assert.equal(status, 200)
        refreshToken = body.refreshToken
      }
      service.advance(4 * day - 60_000)
      const last = await refresh(refreshToken)
      assert.equal(last.status, 200)
      service.advance(60_000)
      assertProblem(await refresh(last.body.refreshToken), 401, 'invalid-refresh-token')
    })
  })

  describe('rejects input', () => {
    for (const token of ['x', 'A'.repeat(112), 'x'.repeat(512), '%00', '🔑']) {
      it(`answers 401 to the unknown token ${token.slice(0, 8)} (${token.length})`, async () => {
        assertProblem(await refresh(token), 401, 'invalid-refresh-token')
      })
    }
  })

  describe('conflicts', () => {
    it('ends the family of a used token: its newest token stops working too', async () => {
      const { body } = await refresh(pair.refreshToken)
      assertProblem(await refresh(pair.refreshToken), 401, 'invalid-refresh-token')
      assertProblem(await refresh(body.refreshToken), 401, 'invalid-refresh-token')
      assert.deepEqual(await liveCredentials(service, user), { sessions: 0, families: 0 })
    })

    it('ends only that family: another of the same user lives on, and so do sessions', async () => {
      const other = await tokenPair(service, user)
      await service.client().post('/v1/auth/session', user.credentials)
      await refresh(pair.refreshToken)
      await refresh(pair.refreshToken)
      assert.equal((await refresh(other.refreshToken)).status, 200)
      assert.deepEqual(await liveCredentials(service, user), { sessions: 1, families: 1 })
    })

    it('ends the family even for a token that was used several rotations ago', async () => {
      const second = (await refresh(pair.refreshToken)).body.refreshToken
      const third = (await refresh(second)).body.refreshToken
      await refresh(pair.refreshToken)
      assertProblem(await refresh(third), 401, 'invalid-refresh-token')
    })

    it('logs a security event that names the family', async () => {
      const [family] = await families()
      await refresh(pair.refreshToken)
      await refresh(pair.refreshToken)
      const [event, ...others] = await reuses()
      assert.deepEqual([event?.familyId, event?.level, others], [family?.id, 40, []])
    })

    it('does not log an expired token as reuse', async () => {
      service.advance(14 * day)
      await refresh(pair.refreshToken)
      assert.deepEqual(await reuses(), [])
    })
  })

  describe('repeated with the same Idempotency-Key', () => {
    it('gives the same refresh token and a fresh access token, as often as it is sent', async () => {
      const key = newKey()
      const first = await refresh(pair.refreshToken, key)
      const again = [await refresh(pair.refreshToken, key), await refresh(pair.refreshToken, `"${key}"`)]
      for (const { status, body } of again) {
        assert.equal(status, 200)
        assert.equal(body.refreshToken, first.body.refreshToken)
        assert.notEqual(body.accessToken, first.body.accessToken)
        const caller = service.client().withBearer(body.accessToken)
        assert.equal((await caller.get('/v1/auth/me')).status, 200)
      }
      assert.equal((await refresh(first.body.refreshToken)).status, 200)
    })

    it('loses nothing when the connection ends between the commit and the answer', async (t) => {
      const inside = await startService({ inside: true, until: t })
      const { write } = inside.db
      const own = await newUser(inside)
      let { refreshToken } = await tokenPair(inside, own)
      const refresh = (refreshToken: string, key: string) =>
        inside.client().post(path, { refreshToken }, { 'idempotency-key': key })
      for (let cut = 0; cut < 20; cut += 1) {
        const key = newKey()
        inside.db.write = (async (name: 'rotateRefreshToken', input: never) => {
          const grant = await write(name, input)
          inside.app.server.closeAllConnections()
          return grant
        }) as typeof write
        await assert.rejects(refresh(refreshToken, key))
        inside.db.write = write
        const { status, body } = await refresh(refreshToken, key)
        assert.equal(status, 200)
        refreshToken = body.refreshToken
      }
      assert.deepEqual(await liveCredentials(inside, own), { sessions: 0, families: 1 })
    })

    it('gives the same token to all of twenty simultaneous requests', async () => {
      const key = newKey()
      const answers = await Promise.all(Array.from({ length: 20 }, () => refresh(pair.refreshToken, key)))
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
      assert.equal(new Set(answers.map(({ body }) => body.refreshToken)).size, 1)
    })

    const replays: [what: string, first: string | undefined, second: string | undefined][] = [
      ['with another key', newKey(), newKey()],
      ['without the key', newKey(), undefined],
      ['with a key that the first use had not', undefined, newKey()],
      ['with a key of 21 characters, which counts as none', 'k'.repeat(21), 'k'.repeat(21)],
    ]
    for (const [what, first, second] of replays) {
      it(`treats a use ${what} as reuse, and ends the family`, async () => {
        const { body } = await refresh(pair.refreshToken, first)
        assertProblem(await refresh(pair.refreshToken, second), 401, 'invalid-refresh-token')
        assertProblem(await refresh(body.refreshToken), 401, 'invalid-refresh-token')
      })
    }

    it('treats a use as reuse and ends the family once the new token was used', async () => {
      const key = newKey()
      const second = (await refresh(pair.refreshToken, key)).body.refreshToken
      const third = (await refresh(second)).body.refreshToken
      assertProblem(await refresh(pair.refreshToken, key), 401, 'invalid-refresh-token')
      assertProblem(await refresh(third), 401, 'invalid-refresh-token')
    })

    it('gives nothing after the new token has expired, and nothing to a disabled user', async () => {
      const key = newKey()
      const other = await tokenPair(service, user)
      for (const { refreshToken } of [pair, other]) {
        assert.equal((await refresh(refreshToken, key)).status, 200)
      }
      service.advance(14 * day)
      assertProblem(await refresh(pair.refreshToken, key), 401, 'invalid-refresh-token')
      service.advance(-14 * day)
      await setEnabled(service, user, false)
      assertProblem(await refresh(other.refreshToken, key), 401, 'invalid-refresh-token')
    })

    it('refuses a malformed key without using the token', async () => {
      assertProblem(await refresh(pair.refreshToken, 'k'.repeat(256)), 400, 'invalid-idempotency-key')
      assert.equal((await refresh(pair.refreshToken)).status, 200)
    })
  })

  describe('leaves no trace on failure', () => {
    it('ends nothing for a forged token, with an old generation or another random part', async () => {
      const { body } = await refresh(pair.refreshToken)
      const bytes = Buffer.from(pair.refreshToken, 'base64url')
      for (const place of [0, 31, 32, 47, 48, 51, 52, 83]) {
        const forged = Buffer.from(bytes)
        forged.writeUInt8(forged.readUInt8(place) ^ 1, place)
        assertProblem(await refresh(forged.toString('base64url')), 401, 'invalid-refresh-token')
      }
      assert.equal((await refresh(body.refreshToken)).status, 200)
    })

    it('does not use up the token if the body is refused', async () => {
      await service.client().post(path, { refreshToken: `${pair.refreshToken}${'x'.repeat(512)}` })
      await service.client().post(path, { refreshToken: pair.refreshToken }, { 'content-type': 'text/plain' })
      assert.equal((await refresh(pair.refreshToken)).status, 200)
    })
  })
})

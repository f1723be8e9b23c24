import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, it } from 'node:test'
import { decodeJwt } from 'jose'
import { liveCredentials, newUser, storedCredentials } from '../support/accounts.ts'
import { setUp, testService } from '../support/service.ts'

const path = '/v1/auth/token'
const day = 86_400_000

describe('issueToken', () => {
  const service = testService()
  const user = setUp(() => newUser(service))

  describe('succeeds', () => {
    it('answers exactly the fields of TokenPair, and no cookie', async () => {
      const answer = await service.client().post(path, user.credentials)
      assert.equal(answer.status, 200)
      const names = ['accessToken', 'accessTokenExpiresAt', 'refreshToken']
      assert.deepEqual(Object.keys(answer.body).sort(), names)
      assert.deepEqual(answer.setCookies, [])
      assert.equal(answer.headers.get('cache-control'), 'no-store')
      assert.ok(!answer.headers.has('session-expires'))
    })

    it('issues an access token of 15 minutes that is accepted until its end', async () => {
      const earliest = Math.floor(service.now() / 1000) * 1000
      const { body } = await service.client().post(path, user.credentials)
      const end = Date.parse(body.accessTokenExpiresAt)
      assert.ok(end >= earliest + 15 * 60_000 && end <= service.now() + 15 * 60_000, `${end - earliest}`)
      assert.equal(decodeJwt(body.accessToken).exp, end / 1000)
      assert.match(body.accessTokenExpiresAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/)
      const caller = service.client().withBearer(body.accessToken)
      assert.equal((await caller.get('/v1/auth/me')).body.userName, user.userName)
    })

    it('issues an opaque refresh token of 256 bits, stored only as SHA-256', async () => {
      const { body } = await service.client().post(path, user.credentials)
      assert.match(body.refreshToken, /^[A-Za-z0-9_-]{112}$/)
      const stored = await storedCredentials(service)
      assert.ok(!stored.includes(body.refreshToken))
      assert.ok(stored.includes(createHash('sha256').update(body.refreshToken).digest('base64url')))
    })

    it('begins a family of 30 days whose token may be unused for 14', async () => {
      const owner = await newUser(service)
      const earliest = service.now()
      await service.client().post(path, owner.credentials)
      const latest = service.now()
      const { family, token } = await service.db.read
        .selectFrom('refresh_families')
        .select(['expires_at as family', 'token_expires_at as token'])
        .where('principal_id', '=', owner.id)
        .executeTakeFirstOrThrow()
      const begins = [family - 30 * day, token - 14 * day]
      assert.ok(
        begins.every((begin) => begin >= earliest && begin <= latest),
        `${begins}`,
      )
    })

    it('begins a new family each time', async () => {
      const owner = await newUser(service)
      await service.client().post(path, owner.credentials)
      await service.client().post(path, owner.credentials)
      assert.deepEqual(await liveCredentials(service, owner), { sessions: 0, families: 2 })
    })
  })
})

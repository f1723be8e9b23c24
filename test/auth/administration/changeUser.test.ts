import assert from 'node:assert/strict'
import { before, beforeEach, describe, it } from 'node:test'
import { machineStamp } from '../../../server/caller/stamp.ts'
import {
  everyCredentialOf,
  liveCredentials,
  newClient,
  newUser,
  type TestUser,
} from '../../support/accounts.ts'
import { accountEvents } from '../../support/administration.ts'
import type { Client } from '../../support/client.ts'
import { assertInvalid, assertOneOf, assertProblem } from '../../support/problem.ts'
import { setUp, testService } from '../../support/service.ts'

describe('changeUser', () => {
  const service = testService()
  let admin: Client
  const user = setUp(() => newUser(service, { roles: ['Operator'] }), beforeEach)
  before(async () => {
    admin = await service.bearer('admin')
  })

  const change = (changes: object | undefined, headers: Record<string, string> = {}, caller = admin) =>
    caller.patch(`/v1/users/${user.id}`, changes, headers)
  const read = async ({ id } = user) => (await admin.get(`/v1/users/${id}`)).body
  const changesOf = async () =>
    (await accountEvents(service, user.id)).filter(({ kind }) => kind === 'user-changed')

  describe('succeeds', () => {
    it('answers 204 with the next version, leaves one event that names the changes, and changes nobody else', async () => {
      const other = await newUser(service, { roles: ['Operator'] })
      const others = await read(other)
      const changes = {
        userName: `${user.userName}-2`,
        email: `MOVED-${user.email}`,
        timeZone: 'asia/tokyo',
        roles: ['Viewer'],
        enabled: false,
      }
      const answer = await change(changes)
      assert.deepEqual([answer.status, answer.text, answer.headers.get('etag')], [204, '', '"2"'])
      assert.partialDeepStrictEqual(await read(), {
        ...changes,
        email: `moved-${user.email}`,
        timeZone: 'Asia/Tokyo',
      })
      assert.deepEqual(await read(other), others)
      assert.deepEqual(await changesOf(), [
        {
          kind: 'user-changed',
          byId: 1,
          data: {
            name: changes.userName,
            formerName: user.userName,
            email: 'changed',
            timeZone: 'Asia/Tokyo',
            granted: ['Viewer'],
            revoked: ['Operator'],
            enabled: false,
          },
        },
      ])
    })

    it('leaves the rest unchanged', async () => {
      const before = await read()
      await change({ timeZone: 'Europe/Berlin' })
      assert.deepEqual(await read(), { ...before, timeZone: 'Europe/Berlin' })
      await change({ timeZone: null })
      assert.deepEqual(await read(), before)
    })

    it('leaves version and log unchanged if everything is as it was', async () => {
      const { userName, email } = user
      const same = { userName, email, timeZone: null, roles: ['Operator', 'Operator'], enabled: true }
      const answer = await change(same)
      assert.deepEqual([answer.status, answer.headers.get('etag')], [204, '"1"'])
      assert.deepEqual(await changesOf(), [])
    })

    it('changes the case of a name', async () => {
      const userName = user.userName.toUpperCase()
      assert.equal((await change({ userName })).status, 204)
      assert.equal((await read()).userName, userName)
    })

    it('lets the user sign in with the new email, and no longer with the old one', async () => {
      await change({ email: `other-${user.email}` })
      const { password } = user
      assertProblem(
        await service.client().post('/v1/auth/token', user.credentials),
        401,
        'invalid-credentials',
      )
      const email = `other-${user.email}`
      assert.equal((await service.client().post('/v1/auth/token', { email, password })).status, 200)
    })
  })

  describe('ends sessions and tokens that must end', () => {
    it('ends all sessions and token families of a disabled user, and access tokens within five minutes', async () => {
      const { browser, bearer, refreshToken } = await everyCredentialOf(service, user)
      await change({ enabled: false })
      assert.deepEqual(await liveCredentials(service, user), { sessions: 0, families: 0 })
      assert.equal((await browser.get('/v1/auth/me')).status, 401)
      const refreshed = await service.client().post('/v1/auth/token/refresh', { refreshToken })
      assertProblem(refreshed, 401, 'invalid-refresh-token')
      service.advance(301_000)
      assert.equal((await bearer.get('/v1/auth/me')).status, 401)
      admin = await service.bearer('admin')
    })

    it('takes a role from sessions at once, and ends access tokens that have it within five minutes', async () => {
      const { browser, bearer } = await everyCredentialOf(service, user)
      await change({ roles: ['Viewer'] })
      assert.deepEqual((await browser.get('/v1/auth/me')).body.roles, [])
      service.advance(301_000)
      assert.equal((await bearer.get('/v1/auth/me')).status, 401)
      admin = await service.bearer('admin')
    })

    it('ends nothing when a role is added or a name changes', async () => {
      const { browser, bearer } = await everyCredentialOf(service, user)
      await change({ roles: ['Operator', 'Viewer'], userName: `${user.userName}-3` })
      assert.equal((await browser.get('/v1/auth/me')).body.userName, `${user.userName}-3`)
      service.advance(301_000)
      assert.equal((await bearer.get('/v1/auth/me')).status, 200)
      admin = await service.bearer('admin')
    })
  })

  describe('takes If-Match', () => {
    it('answers 412 with the current version to any other version, and changes nothing', async () => {
      await change({ timeZone: 'Asia/Tokyo' }, { 'if-match': '"1"' })
      for (const wrong of ['"1"', '""', 'x', 'W/"1"']) {
        const answer = await change({ enabled: false }, { 'if-match': wrong })
        assertProblem(answer, 412, 'precondition-failed')
        assert.equal(answer.headers.get('etag'), '"2"')
      }
      assert.equal((await read()).enabled, true)
      assert.equal((await change({ enabled: false }, { 'if-match': 'W/"2"' })).status, 204)
    })

    it('counts changes made by the command line', async () => {
      const { account } = user
      const stamp = machineStamp(service.now())
      await service.db.write('grantRoles', { account, roles: ['Viewer'], stamp })
      assertProblem(await change({ roles: [] }, { 'if-match': '"1"' }), 412, 'precondition-failed')
    })
  })

  describe('rejects input', () => {
    for (const [changes, pointer] of [
      [{ enabled: 'false' }, '#/enabled'],
      [{ enabled: null }, '#/enabled'],
      [{ userName: null }, '#/userName'],
      [{ email: null }, '#/email'],
      [{ email: '@' }, '#/email'],
      [{ roles: null }, '#/roles'],
      [{ roles: { 0: 'Admin' } }, '#/roles'],
      [{ timeZone: 7 }, '#/timeZone'],
      [{ timeZone: 'Mars/Base' }, '#/timeZone'],
      [[], '#'],
    ] as const) {
      it(`refuses ${JSON.stringify(changes)}`, async () => {
        const answer = await change(changes)
        assertInvalid(answer, [pointer])
        assert.deepEqual(await changesOf(), [])
      })
    }
  })

  describe('conflicts', () => {
    it('answers 404 for an id that is not a user’s, such as a service’s', async () => {
      const { id } = await newClient(service)
      for (const unknown of [id, 0, -1, 999_999, '1e0', '01', '2147483648', 'x', '%00']) {
        assertProblem(await admin.patch(`/v1/users/${unknown}`, { enabled: false }), 404, 'user-not-found')
        assertProblem(await admin.get(`/v1/users/${unknown}`), 404, 'user-not-found')
      }
    })

    it('refuses the name or email of another account, and an unknown role, and changes nothing', async () => {
      const other = await newUser(service)
      const before = await read()
      const all = { timeZone: 'Asia/Tokyo', enabled: false }
      const taken = { ...all, userName: other.userName.toUpperCase() }
      assertProblem(await change(taken), 409, 'name-taken')
      assertProblem(await change({ ...all, email: other.email }), 409, 'email-taken')
      assertProblem(await change({ ...all, roles: ['Boss'] }), 422, 'unknown-role')
      assert.deepEqual(await read(), before)
      assert.deepEqual(await changesOf(), [])
    })

    it('accepts one of 20 simultaneous changes of one version, and answers 412 to the others', async () => {
      const zones = ['Asia/Tokyo', 'Europe/Berlin', 'UTC', 'America/New_York']
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          change({ timeZone: zones[index % 4] }, { 'if-match': '"1"' }),
        ),
      )
      assertOneOf(answers, 204, 412, 'precondition-failed')
      assert.equal((await changesOf()).length, 1)
    })

    it('gives a name to exactly one of 20 users who claim it at once', async () => {
      const users: TestUser[] = []
      while (users.length < 20) users.push(await newUser(service))
      const answers = await Promise.all(
        users.map(({ id }) =>
          admin.patch(`/v1/users/${id}`, { userName: 'Wanted', email: `${id}-w@example.com` }),
        ),
      )
      assertOneOf(answers, 204, 409, 'name-taken')
    })
  })
})

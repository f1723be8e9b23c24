// engine: both
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { machineStamp } from '../../server/caller/stamp.ts'
import { newSecret, sha256 } from '../../server/ids.ts'
import {
  bearerOf,
  everyCredentialOf,
  grantRoles,
  liveCredentials,
  newClient,
  newUser,
  refresh,
  revokeRoles,
  serviceToken,
  setEnabled,
  setPassword,
  signIn,
  type TestClient,
  type TestUser,
} from '../support/accounts.ts'
import type { Answer, Client } from '../support/client.ts'
import { withRawDatabase } from '../support/database.ts'
import { interruptedInstance } from '../support/interrupted.ts'
import { assertProblem } from '../support/problem.ts'
import { at } from '../support/production.ts'
import { testService } from '../support/service.ts'

const minute = 60_000
const newPassword = 'another harbour lantern at dawn'
const order = { customer: 'Acme', total: 1 }

/** A user loses one of them. */
const both = { roles: ['Operator', 'Viewer'] }

describe('revocation', () => {
  const service = testService()

  const disable = (account: TestUser | TestClient) => setEnabled(service, account, false)
  const enable = (account: TestUser | TestClient) => setEnabled(service, account, true)
  const revoke = (account: TestUser | TestClient, role: string) => revokeRoles(service, account, [role])
  const signOut = ({ account }: TestUser) =>
    service.db.write('signOutUser', { account, stamp: machineStamp(service.now()) })
  const me = (caller: Client) => caller.get('/v1/auth/me')

  const everyCredential = (user: TestUser) => everyCredentialOf(service, user)
  type Credentials = Awaited<ReturnType<typeof everyCredential>>
  async function assertServed({ browser, bearer, refreshToken }: Credentials): Promise<void> {
    assert.equal((await me(browser)).status, 200)
    assert.equal((await me(bearer)).status, 200)
    assert.equal((await refresh(service, refreshToken)).status, 200)
  }
  async function assertEnded({ browser, bearer, refreshToken }: Credentials): Promise<void> {
    assertProblem(await me(browser), 401, 'authentication-required')
    assertProblem(await me(bearer), 401, 'authentication-required')
    assertProblem(await refresh(service, refreshToken), 401, 'invalid-refresh-token')
  }

  const userChanges: [what: string, change: (user: TestUser) => Promise<unknown>][] = [
    ['disabling', disable],
    ['a new password', (user) => setPassword(service, user, newPassword)],
    ['the same password set again', (user) => setPassword(service, user)],
    ['signing out everywhere', signOut],
  ]
  for (const [what, change] of userChanges) {
    describe(`${what} (a user)`, () => {
      it('ends sessions and token families at once', async () => {
        const user = await newUser(service, both)
        const { browser, refreshToken } = await everyCredential(user)
        const elsewhere = await everyCredential(user)
        await change(user)
        assert.deepEqual(await liveCredentials(service, user), { sessions: 0, families: 0 })
        assertProblem(await me(browser), 401, 'authentication-required')
        assertProblem(await me(elsewhere.browser), 401, 'authentication-required')
        assertProblem(await browser.post('/v1/auth/session/refresh'), 401, 'authentication-required')
        assertProblem(await refresh(service, refreshToken), 401, 'invalid-refresh-token')
        assertProblem(await refresh(service, elsewhere.refreshToken), 401, 'invalid-refresh-token')
      })

      it('ends access tokens within 5 minutes, verified before or not', async () => {
        const user = await newUser(service, both)
        const { bearer } = await everyCredential(user)
        const unused = await bearerOf(service, user)
        service.advance(minute)
        await change(user)
        service.advance(4 * minute)
        assertProblem(await me(bearer), 401, 'authentication-required')
        assertProblem(await me(unused), 401, 'authentication-required')
      })

      for (const [when, ahead] of [
        ['by an instance whose clock is ahead', 5_000],
        ['within the same second', 0],
      ] as const) {
        it(`ends access tokens that were issued ${when}`, async () => {
          const user = await newUser(service, both)
          service.advance(60 * minute + ahead)
          const bearer = await bearerOf(service, user)
          service.advance(-ahead)
          await change(user)
          assertProblem(await me(bearer), 401, 'authentication-required')
        })
      }

      it('does not affect other users', async () => {
        const ofBystander = await everyCredential(await newUser(service))
        await change(await newUser(service, both))
        service.advance(5 * minute)
        await assertServed(ofBystander)
      })
    })
  }

  it('signing out all users ends every credential of each, in batches, and no service’s', async () => {
    const users = [await newUser(service), await newUser(service), await newUser(service)]
    const held = await Promise.all(users.map(everyCredential))
    const client = await newClient(service)
    const ofService = service.client().withBearer(await serviceToken(service, client))
    const portions: number[] = []
    for (let afterId: number | undefined = 0; afterId !== undefined && portions.length < 1_000; ) {
      const input = { afterId, limit: 2, stamp: machineStamp(service.now()) }
      const ended: { users: number; lastId: number | undefined } = await service.db.write(
        'signOutUsers',
        input,
      )
      portions.push(ended.users)
      afterId = ended.lastId
    }
    const all = await withRawDatabase(service.databaseUrl, (db) =>
      db.selectFrom('users').select('principal_id').execute(),
    )
    assert.equal(
      portions.reduce((sum, users) => sum + users, 0),
      all.length,
    )
    assert.ok(portions.every((users) => users <= 2))
    for (const user of users) {
      assert.deepEqual(await liveCredentials(service, user), { sessions: 0, families: 0 })
    }
    service.advance(5 * minute)
    for (const one of held) await assertEnded(one)
    assert.equal((await me(ofService)).status, 200)
    const [user] = users
    assert.ok(user)
    assert.equal((await me(await signIn(service, user))).status, 200)
  })

  describe('removing a role (a user)', () => {
    it('takes it from sessions at once, and they continue with the rest', async () => {
      const user = await newUser(service, both)
      const { browser } = await everyCredential(user)
      const elsewhere = await signIn(service, user)
      assert.equal((await browser.post('/v1/orders', order)).status, 201)
      await revoke(user, 'Operator')
      for (const caller of [browser, elsewhere]) {
        assertProblem(await caller.post('/v1/orders', order), 403, 'permission-denied')
        assert.deepEqual((await me(caller)).body.roles, ['Viewer'])
        const refreshed = await caller.post('/v1/auth/session/refresh')
        assert.deepEqual([refreshed.status, refreshed.body.roles], [200, ['Viewer']])
      }
      assert.deepEqual(await liveCredentials(service, user), { sessions: 2, families: 1 })
    })

    it('ends access tokens within 5 minutes, and a refresh gets one with the rest', async () => {
      const user = await newUser(service, both)
      const { bearer, refreshToken } = await everyCredential(user)
      const unused = await bearerOf(service, user)
      await revoke(user, 'Operator')
      const { status, body } = await refresh(service, refreshToken)
      assert.equal(status, 200)
      const caller = service.client().withBearer(body.accessToken)
      assert.deepEqual((await me(caller)).body.roles, ['Viewer'])
      assertProblem(await caller.post('/v1/orders', order), 403, 'permission-denied')
      service.advance(5 * minute)
      assertProblem(await me(bearer), 401, 'authentication-required')
      assertProblem(await me(unused), 401, 'authentication-required')
      assert.equal((await me(caller)).status, 200)
    })

    it('takes only that role from sessions, and nothing from others', async () => {
      const user = await newUser(service, both)
      const bystander = await signIn(service, await newUser(service, both))
      const browser = await signIn(service, user)
      await grantRoles(service, user, ['Admin'])
      const later = await signIn(service, user)
      await revoke(user, 'Operator')
      const roles = await Promise.all(
        [browser, later, bystander].map(async (one) => (await me(one)).body.roles),
      )
      assert.deepEqual(roles, [['Viewer'], ['Admin', 'Viewer'], ['Operator', 'Viewer']])
    })

    it('leaves no session with it in a race with refreshes, in any order', async () => {
      for (let turn = 0; turn < 10; turn += 1) {
        const user = await newUser(service, both)
        const browser = await signIn(service, user)
        const [answer] = await Promise.all([
          browser.post('/v1/auth/session/refresh'),
          revoke(user, 'Operator'),
        ])
        assert.equal(answer.status, 200)
        assert.deepEqual((await me(browser)).body.roles, ['Viewer'])
      }
    })

    it('does not affect other users', async () => {
      const ofBystander = await everyCredential(await newUser(service))
      await revoke(await newUser(service, both), 'Viewer')
      service.advance(5 * minute)
      await assertServed(ofBystander)
    })
  })

  const clientChanges: [what: string, change: (client: TestClient) => Promise<unknown>][] = [
    ['disabling', disable],
    ['a new secret in place of the old', replaceSecret],
    ['removing a role', (client) => revoke(client, 'Viewer')],
  ]
  function replaceSecret({ account }: TestClient): Promise<unknown> {
    const nowMilliseconds = service.now()
    const secretHash = sha256(newSecret())
    return service.db.write('rotateClientSecret', {
      account,
      secretHash,
      dropOld: true,
      stamp: machineStamp(nowMilliseconds),
    })
  }
  for (const [what, change] of clientChanges) {
    it(`${what} (a service) ends access tokens within 5 minutes, those of the same second too`, async () => {
      const client = await newClient(service, ['Operator', 'Viewer'])
      const used = service.client().withBearer(await serviceToken(service, client))
      assert.equal((await me(used)).status, 200)
      const unused = service.client().withBearer(await serviceToken(service, client))
      await change(client)
      service.advance(5 * minute)
      assertProblem(await me(used), 401, 'authentication-required')
      assertProblem(await me(unused), 401, 'authentication-required')
    })
  }

  it('a disabled account is refused even if nothing else has ended its credentials', async () => {
    const user = await newUser(service)
    const held = await everyCredential(user)
    await withRawDatabase(service.databaseUrl, (db) =>
      db.updateTable('principals').set('enabled', 0).where('id', '=', user.id).execute(),
    )
    assertProblem(await refresh(service, held.refreshToken), 401, 'invalid-refresh-token')
    service.advance(5 * minute)
    await assertEnded(held)
  })

  describe('afterwards', () => {
    it('a new password signs in at once, and the old one no longer does', async () => {
      const user = await newUser(service)
      await everyCredential(user)
      await setPassword(service, user, newPassword)
      const old = await service.client().post('/v1/auth/session', user.credentials)
      assertProblem(old, 401, 'invalid-credentials')
      const changed = { ...user, credentials: { email: user.email, password: newPassword } }
      assert.equal((await me(await signIn(service, changed))).status, 200)
      assert.equal((await me(await bearerOf(service, changed))).status, 200)
    })

    it('enabling restores no credential, but sign-ins work', async () => {
      const user = await newUser(service)
      const { browser, bearer, refreshToken } = await everyCredential(user)
      await disable(user)
      await enable(user)
      assertProblem(await me(browser), 401, 'authentication-required')
      assertProblem(await refresh(service, refreshToken), 401, 'invalid-refresh-token')
      assert.equal((await me(await signIn(service, user))).status, 200)
      const fresh = await bearerOf(service, user)
      service.advance(5 * minute)
      assertProblem(await me(bearer), 401, 'authentication-required')
      assert.equal((await me(fresh)).status, 200)
    })

    it('an account that was enabled again is admitted at once, although the cache says it is disabled', async () => {
      const user = await newUser(service)
      const before = await bearerOf(service, user)
      await disable(user)
      service.advance(301_000)
      assertProblem(await me(before), 401, 'authentication-required')
      await enable(user)
      assert.equal((await me(await bearerOf(service, user))).status, 200)
      assertProblem(await me(before), 401, 'authentication-required')
    })

    it('a change without effect ends nothing', async () => {
      const user = await newUser(service)
      const held = await everyCredential(user)
      await revoke(user, 'Admin')
      await enable(user)
      await assertServed(held)
    })
  })

  describe('a sign-in that races with it', () => {
    const instance = interruptedInstance(service)

    /** The answer if the change happens right before the write, after the checks have seen the old state. */
    async function justBefore(
      operation: string,
      change: () => Promise<unknown>,
      caller: Client,
      [path, body]: [path: string, body?: unknown],
    ): Promise<Answer> {
      instance.interrupt(operation, async (write) => {
        await change()
        return write()
      })
      return at(instance.baseUrl, caller).post(path, body)
    }

    async function raced(user: TestUser, change: () => Promise<unknown>, operation: string, path: string) {
      const answer = await justBefore(operation, change, service.client(), [path, user.credentials])
      assertProblem(answer, 401, 'invalid-credentials')
      assert.deepEqual(answer.setCookies, [])
      assert.deepEqual(await liveCredentials(service, user), { sessions: 0, families: 0 })
    }

    const racing: typeof userChanges = [...userChanges, ['removing a role', (user) => revoke(user, 'Viewer')]]
    for (const [what, change] of racing) {
      it(`creates no session and no token family: ${what}`, async () => {
        const [one, other] = [await newUser(service, both), await newUser(service, both)]
        await raced(one, () => change(one), 'createSession', '/v1/auth/session')
        await raced(other, () => change(other), 'createRefreshFamily', '/v1/auth/token')
      })
    }

    for (const [what, change] of userChanges) {
      it(`rotates no token and refreshes no session: ${what}`, async () => {
        const user = await newUser(service, both)
        const { browser, refreshToken } = await everyCredential(user)
        const rotation: [string, unknown] = ['/v1/auth/token/refresh', { refreshToken }]
        const ofToken = await justBefore('rotateRefreshToken', () => change(user), service.client(), rotation)
        assertProblem(ofToken, 401, 'invalid-refresh-token')
        const again = await newUser(service, both)
        const second = await signIn(service, again)
        const path = '/v1/auth/session/refresh'
        const ofSession = await justBefore('refreshSession', () => change(again), second, [path])
        assertProblem(ofSession, 401, 'authentication-required')
        assert.deepEqual(ofSession.setCookies, [])
        assertProblem(await me(browser), 401, 'authentication-required')
      })
    }

    it('creates nothing, even if the account is disabled and enabled again', async () => {
      const user = await newUser(service)
      const flicker = async () => {
        await disable(user)
        await enable(user)
      }
      await raced(user, flicker, 'createSession', '/v1/auth/session')
      await raced(user, flicker, 'createRefreshFamily', '/v1/auth/token')
    })

    it('keeps the session that the request came with', async () => {
      const other = await newUser(service)
      const browser = await signIn(service, other)
      const user = await newUser(service)
      const login: [string, unknown] = ['/v1/auth/session', user.credentials]
      const answer = await justBefore('createSession', () => disable(user), browser, login)
      assertProblem(answer, 401, 'invalid-credentials')
      assert.equal((await me(browser)).body.userName, other.userName)
    })
  })
})

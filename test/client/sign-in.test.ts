import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type * as Package from '../../client/src/index.ts'
import { machineStamp } from '../../server/caller/stamp.ts'
import { newClient, newUser, type TestUser } from '../support/accounts.ts'
import { Client } from '../support/client.ts'
import { installedClient, watchedFetch } from '../support/client-package.ts'
import { newPasskey, signInOptions } from '../support/passkeys.ts'
import { setUp, testService } from '../support/service.ts'

/** Keeps cookies around fetch, as browsers do. */
function withCookies(): (request: Request, init: RequestInit) => Promise<Response> {
  const cookies = new Map<string, string>()
  return async (request, init) => {
    request.headers.set('cookie', [...cookies].map(([name, value]) => `${name}=${value}`).join('; '))
    const answer = await fetch(request, init)
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (/max-age=0/i.test(line)) cookies.delete(name)
      else cookies.set(name, value)
    }
    return answer
  }
}

describe('the client', () => {
  const client = setUp(installedClient)
  const service = testService()

  it('signs in by a cookie, adds the antiforgery token, gets another if it is refused, and signs out', async () => {
    const user = await newUser(service, { roles: ['Admin'] })
    let spoiled = 0
    let fetched = 0
    const cookies = withCookies()
    const browser = client.browserClient({
      baseUrl: service.baseUrl,
      fetch: (request, init) => {
        if (request.url.endsWith('/v1/auth/csrf')) fetched += 1
        if (request.headers.has('x-xsrf-token') && spoiled++ === 0) request.headers.set('x-xsrf-token', 'x.y')
        return cookies(request, init)
      },
    })
    await browser.signIn(user.credentials)
    const { data } = await browser.POST('/v1/orders', { body: { customer: 'Acme', total: 2 } })
    assert.deepEqual([spoiled, fetched], [2, 2])
    const { createdBy } = await client.answerOf(
      browser.GET('/v1/orders/{id}', { params: { path: { id: data.id } } }),
    )
    assert.equal(createdBy, user.userName)
    await browser.signOut()
    await assert.rejects(browser.GET('/v1/auth/me'), (failure) => {
      return client.problemOf(failure, 'authentication-required') !== undefined
    })
  })

  it('signs in by passkey, and asks for no touch that could sign anything else', async () => {
    const user = await newUser(service)
    const passkey = await newPasskey(service, user)
    const cookies = withCookies()
    const { baseUrl } = service
    const browser = client.browserClient({ baseUrl, fetch: cookies })
    await browser.signInByPasskey(async (options) => passkey.get(options))
    const { userName } = await client.answerOf(browser.GET('/v1/auth/me'))
    assert.equal(userName, user.userName)
    const challenge = Buffer.alloc(32).toString('base64url')
    const answer = async () => Response.json({ ...(await signInOptions(service)), challenge })
    const deceived = client.browserClient({ baseUrl, fetch: answer })
    const refused = deceived.signInByPasskey(() => assert.fail('a touch was asked for'))
    await assert.rejects(refused, { name: 'DataError' })
  })

  describe('signs in by a token pair', () => {
    const me = (app: Package.AppClient) => client.answerOf(app.GET('/v1/auth/me'))

    async function signedIn(user: TestUser, options: Package.AppOptions = {}) {
      const kept: (Package.SignedIn | undefined)[] = []
      const app = client.appClient({
        baseUrl: service.baseUrl,
        keep: (state) => void kept.push(state),
        ...options,
      })
      await app.signIn(user.credentials)
      return { app, kept }
    }

    it('refreshes once for all waiting calls, and passes on what to keep', async () => {
      const user = await newUser(service)
      const { fetch, count } = watchedFetch()
      const { app, kept } = await signedIn(user, { fetch })
      service.advance(906_000)
      const answers = await Promise.all(Array.from({ length: 30 }, () => me(app)))
      assert.ok(answers.every(({ userName }) => userName === user.userName))
      assert.equal(count('/v1/auth/token/refresh'), 1)
      assert.equal(kept.length, 2)
      assert.notEqual(kept[0]?.refreshToken, kept[1]?.refreshToken)
      const again = client.appClient({ baseUrl: service.baseUrl, ...(kept[1] && { signedIn: kept[1] }) })
      service.advance(906_000)
      assert.equal((await me(again)).userName, user.userName)
    })

    it('recovers from a lost answer to a refresh, in this run or the next', async () => {
      for (const isNextRun of [false, true]) {
        const user = await newUser(service)
        let lost = 0
        const { fetch } = watchedFetch((path, answer) => {
          if (path === '/v1/auth/token/refresh' && lost++ === 0) throw new TypeError('terminated')
          return answer
        })
        const { app, kept } = await signedIn(user, { fetch, retries: 0 })
        service.advance(906_000)
        await assert.rejects(me(app), client.NoAnswerError)
        const [signedInBefore] = kept
        const next = isNextRun
          ? client.appClient({
              baseUrl: service.baseUrl,
              ...(signedInBefore && { signedIn: signedInBefore }),
            })
          : app
        assert.equal((await me(next)).userName, user.userName)
        service.advance(906_000)
        assert.equal((await me(next)).userName, user.userName)
      }
    })

    it('throws if the family has ended, and forgets it', async () => {
      const user = await newUser(service)
      const { app, kept } = await signedIn(user)
      await service.db.write('signOutUser', { account: user.account, stamp: machineStamp(service.now()) })
      service.advance(906_000)
      await assert.rejects(
        me(app),
        (failure) => client.problemOf(failure, 'invalid-refresh-token') !== undefined,
      )
      assert.equal(kept.at(-1), undefined)
      await assert.rejects(
        me(app),
        (failure) => client.problemOf(failure, 'authentication-required') !== undefined,
      )
    })

    it('ends its refresh tokens when it signs out', async () => {
      const { app, kept } = await signedIn(await newUser(service))
      const [state] = kept
      await app.signOut()
      assert.equal(kept.at(-1), undefined)
      const { refreshToken } = state ?? {}
      const answer = await new Client(service.baseUrl).post('/v1/auth/token/refresh', { refreshToken })
      assert.equal(answer.body.code, 'invalid-refresh-token')
    })

    it('passes on a refusal that is not about the token', async () => {
      const { fetch, count } = watchedFetch()
      const { app } = await signedIn(await newUser(service, { roles: ['Viewer'] }), { fetch })
      const create = app.POST('/v1/orders', { body: { customer: 'Acme', total: 1 } })
      await assert.rejects(create, (failure) => {
        return client.problemOf(failure, 'permission-denied')?.permission === 'Orders.Create'
      })
      const body = { email: 'nobody@example.com', password: 'x' }
      await assert.rejects(
        app.POST('/v1/auth/token', { body }),
        (failure) => client.problemOf(failure, 'invalid-credentials') !== undefined,
      )
      assert.equal(count('/v1/auth/token/refresh'), 0)
    })
  })

  describe('signs in as a service', () => {
    it('fetches one token for all waiting calls, and another when it has expired', async () => {
      const { fetch, count } = watchedFetch()
      const { clientId, credentials } = await newClient(service)
      const caller = client.serviceClient({ baseUrl: service.baseUrl, fetch, ...credentials })
      const names = await Promise.all(
        Array.from({ length: 20 }, () => client.answerOf(caller.GET('/v1/auth/me'))),
      )
      assert.ok(names.every(({ userName }) => userName === clientId))
      assert.equal(count('/v1/auth/clients/token'), 1)
      service.advance(3_606_000)
      await caller.GET('/v1/auth/me')
      assert.equal(count('/v1/auth/clients/token'), 2)
    })

    it('throws if it is refused', async () => {
      const { clientId } = await newClient(service)
      const caller = client.serviceClient({ baseUrl: service.baseUrl, clientId, clientSecret: 'wrong' })
      await assert.rejects(
        caller.GET('/v1/auth/me'),
        (failure) => client.problemOf(failure)?.code === 'invalid-client',
      )
    })
  })
})

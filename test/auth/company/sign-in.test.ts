// engine: both
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { findUserByEmail } from '../../../server/auth/accounts/users/store.ts'
import { machineStamp } from '../../../server/caller/stamp.ts'
import { newLink, newUser, setEnabled, signIn } from '../../support/accounts.ts'
import { accountEvents } from '../../support/administration.ts'
import { Passkey } from '../../support/authenticator.ts'
import {
  atProvider,
  beginAt,
  comeBack,
  companyEnv,
  enterAs,
  linkAs,
  outcomeOf,
  startProvider,
} from '../../support/company.ts'
import { withRawDatabase } from '../../support/database.ts'
import { addPasskey } from '../../support/passkeys.ts'
import { assertProblem } from '../../support/problem.ts'
import { type InsideService, type Service, startService } from '../../support/service.ts'

/** A provider, and a service of it that stands still in time. */
function company(env: Record<string, string> = {}, options: { inIdToken?: boolean } = {}) {
  const provider = {} as Awaited<ReturnType<typeof startProvider>>
  const service = {} as InsideService
  const ready = (async () => {
    Object.assign(provider, await startProvider(options))
    const started = await startService({
      env: companyEnv(provider.issuer, env),
      clockRuns: true,
      inside: true,
    })
    Object.assign(Object.setPrototypeOf(service, Object.getPrototypeOf(started)), started)
  })()
  after(async () => {
    await service.close()
    await provider.close()
  })
  return { provider, service, ready }
}

// biome-ignore lint/suspicious/noExplicitAny: depends on the kind
const eventsOf = async (service: Service, id: number): Promise<any[]> =>
  (await accountEvents(service, id)).map(({ kind, data }) => ({ kind, ...data }))

async function signedIn(service: Service) {
  const user = await newUser(service)
  return { user, browser: await signIn(service, user) }
}

/** With the settings as they are if nobody changes them. */
const plain = company()

describe('signing in by company account', () => {
  const { provider, service, ready } = plain

  it('refuses an account that nobody has linked, and says so on the sign-in page', async () => {
    await ready
    provider.accounts.set('stranger', { email: 'admin@example.com', email_verified: true })
    const { browser, outcome } = await enterAs(service, 'stranger')
    assert.equal(outcome, 'company-account-unknown')
    assertProblem(await browser.get('/v1/auth/me'), 401, 'authentication-required')
  })

  it('works once the account is linked, leaves a line in the log, and goes on to the page asked for', async () => {
    const { user, browser } = await signedIn(service)
    assert.equal(await linkAs(browser, 'jo'), null)
    const fresh = service.client()
    const callback = await atProvider(await beginAt(fresh, '/orders?view=waiting'), 'jo')
    const answer = await comeBack(fresh, callback)
    assert.equal(answer.headers.get('location'), '/sign-in?to=%2Forders%3Fview%3Dwaiting')
    assert.equal(answer.headers.get('cache-control'), 'no-store')
    assert.equal((await fresh.get('/v1/auth/me')).body.userName, user.userName)
    assert.equal(fresh.cookies.has('__Host-Http-company'), false)
    const linked = (await eventsOf(service, user.id)).find(({ kind }) => kind === 'company-linked')
    assert.partialDeepStrictEqual(linked, { company: provider.issuer, companySubject: 'jo' })
    const { body } = await fresh.get('/v1/auth/me/account')
    assert.equal(body.hasCompanyAccount, true)
  })

  it('takes over the antiforgery token of the page that began it, and ends the session that it replaces', async () => {
    const { browser } = await signedIn(service)
    await linkAs(browser, 'replaces')
    const anonymous = service.client()
    await anonymous.fetchAntiforgeryToken()
    const callback = await atProvider(await beginAt(anonymous), 'replaces')
    assert.equal(outcomeOf(await comeBack(anonymous, callback)), null)
    assert.equal((await anonymous.post('/v1/auth/session/refresh')).status, 200)
    const before = anonymous.copy()
    const again = await atProvider(await beginAt(anonymous), 'replaces')
    assert.equal(outcomeOf(await comeBack(anonymous, again)), null)
    assertProblem(await before.get('/v1/auth/me'), 401, 'authentication-required')
    assert.equal((await anonymous.post('/v1/auth/session/refresh')).status, 200)
  })

  it('counts as recent, so a passkey can be added, whose event says what it rested on', async () => {
    const other = { principal_id: 1, issuer: 'former', subject: 'admin', linked_at: 0 }
    await withRawDatabase(service.databaseUrl, (db) =>
      db.insertInto('company_accounts').values(other).execute(),
    )
    const { user, browser } = await signedIn(service)
    await linkAs(browser, 'enrols')
    const entered = (await enterAs(service, 'enrols')).browser
    assert.equal((await addPasskey(entered, new Passkey())).status, 201)
    const added = (await eventsOf(service, user.id)).find(({ kind }) => kind === 'passkey-added')
    assert.deepEqual(added?.passkey.restedOn, { company: provider.issuer, password: 'none' })
  })

  it('refuses a disabled account, whatever the provider says', async () => {
    const { user, browser } = await signedIn(service)
    await linkAs(browser, 'leaver')
    await setEnabled(service, user, false)
    assert.equal((await enterAs(service, 'leaver')).outcome, 'account-disabled')
  })

  it('ends when the provider says that its owner has signed out there', async () => {
    const { browser } = await signedIn(service)
    await linkAs(browser, 'signs out')
    const entered = (await enterAs(service, 'signs out')).browser
    provider.sendLogoutsTo(service.baseUrl)
    await provider.logOut('signs out', 'a session there')
    assertProblem(await entered.get('/v1/auth/me'), 401, 'authentication-required')
    assert.equal((await browser.get('/v1/auth/me')).status, 200)
  })

  it('says that the provider refused', async () => {
    assert.equal((await enterAs(service, 'nobody')).outcome, 'company-account-refused')
  })

  it('goes on after the provider has changed its key', async () => {
    const { browser } = await signedIn(service)
    await linkAs(browser, 'rotated')
    await provider.rotate()
    // The service looks for an unknown key at most once a second.
    await new Promise((resolve) => setTimeout(resolve, 1_100))
    assert.equal((await enterAs(service, 'rotated')).outcome, null)
  })

  it('sends the browser to the sign-in page while the provider is away, and passwords work', async () => {
    const { browser } = await signedIn(service)
    await linkAs(browser, 'waits')
    const url = await beginAt(browser)
    const callback = await atProvider(url, 'waits')
    provider.fail()
    assert.equal(outcomeOf(await comeBack(browser, callback)), 'company-account-unreachable')
    provider.fail(500)
    const anew = service.client()
    const answer = await comeBack(anew, await forward(anew))
    assert.equal(outcomeOf(answer), 'company-account-unreachable')
    assert.equal((await signedIn(service)).browser.cookies.size > 0, true)
    await provider.rotate()
    await new Promise((resolve) => setTimeout(resolve, 1_100))
    assert.equal((await enterAs(service, 'waits')).outcome, null)
  })

  async function forward(browser: ReturnType<Service['client']>) {
    const state = new URL(await beginAt(browser)).searchParams.get('state') ?? ''
    return `/v1/auth/session/company/callback?${new URLSearchParams({ code: 'any', state, iss: provider.issuer })}`
  }
})

describe('linking a company account', () => {
  const { service, ready } = plain

  it('needs a recent sign-in, also when the browser comes back', async () => {
    await ready
    const { browser } = await signedIn(service)
    const begun = await browser.post('/v1/auth/company')
    const callback = await atProvider(begun.body.url, 'late')
    service.advance(6 * 60_000)
    assert.equal(outcomeOf(await comeBack(browser, callback)), 'recent-sign-in-needed')
    assertProblem(await browser.post('/v1/auth/company'), 403, 'recent-sign-in-needed')
    service.advance(-6 * 60_000)
  })

  it('ends with the session that asked', async () => {
    const { browser } = await signedIn(service)
    const begun = await browser.post('/v1/auth/company')
    const callback = await atProvider(begun.body.url, 'logged-out')
    await browser.post('/v1/auth/session/logout')
    const attempt = begun.setCookies.find((line) => line.startsWith('__Host-Http-company=')) ?? ''
    browser.cookies.set('__Host-Http-company', attempt.split(';')[0]?.split('=')[1] ?? '')
    assert.equal(outcomeOf(await comeBack(browser, callback)), 'authentication-required')
  })

  it('refuses a company account that another user has, and a second one', async () => {
    const { browser } = await signedIn(service)
    assert.equal(await linkAs(browser, 'taken'), null)
    assertProblem(await browser.post('/v1/auth/company'), 409, 'company-account-linked')
    const other = await signedIn(service)
    assert.equal(await linkAs(other.browser, 'taken'), 'company-account-taken')
  })

  it('is undone by its owner, which ends the sessions that it began', async () => {
    const { user, browser } = await signedIn(service)
    const second = await signIn(service, user)
    const { url } = (await second.post('/v1/auth/company')).body
    await linkAs(browser, 'undone')
    assert.equal(outcomeOf(await comeBack(second, await atProvider(url, 'undone'))), null)
    const entered = (await enterAs(service, 'undone')).browser
    assert.equal((await browser.send('DELETE', '/v1/auth/company')).status, 204)
    assertProblem(await entered.get('/v1/auth/me'), 401, 'authentication-required')
    assert.equal((await browser.get('/v1/auth/me')).status, 200)
    assert.equal((await enterAs(service, 'undone')).outcome, 'company-account-unknown')
    assert.equal((await browser.send('DELETE', '/v1/auth/company')).status, 204)
    const kinds = (await eventsOf(service, user.id)).map(({ kind }) => kind)
    assert.deepEqual(kinds, ['user-added', 'company-linked', 'company-unlinked'])
  })

  it('works by a one-time link, which ends every other credential and works once', async () => {
    const { user, browser } = await signedIn(service)
    const token = await newLink(service, user)
    const opener = service.client()
    const begun = await opener.post('/v1/auth/links/use/company', { token })
    assert.equal(begun.status, 200, begun.text)
    const callback = await atProvider(begun.body.url, 'invited')
    assert.equal(outcomeOf(await comeBack(opener, callback)), null)
    assert.equal((await opener.get('/v1/auth/me')).body.userName, user.userName)
    assertProblem(await browser.get('/v1/auth/me'), 401, 'authentication-required')
    assertProblem(
      await service.client().post('/v1/auth/session', user.credentials),
      401,
      'invalid-credentials',
    )
    assertProblem(await opener.post('/v1/auth/links/use/company', { token }), 404, 'link-not-found')
    await opener.fetchAntiforgeryToken()
    assertProblem(await opener.send('DELETE', '/v1/auth/company'), 409, 'last-credential')
    const former = new Passkey()
    assert.equal((await addPasskey(opener, former)).status, 201)
    await withRawDatabase(service.databaseUrl, (db) =>
      db.updateTable('passkeys').set({ rp_id: 'old.example.com' }).where('id', '=', former.id).execute(),
    )
    assertProblem(await opener.send('DELETE', '/v1/auth/company'), 409, 'last-credential')
    assert.equal((await opener.send('DELETE', `/v1/auth/passkeys/${former.id}`)).status, 204)
  })

  it('is the first credential of a new account by a one-time link, and the log says so', async () => {
    const [name, stamp] = ['fresh', machineStamp(service.now())]
    const user = { userName: name, email: `${name}@example.com`, passwordHash: null, timeZone: null }
    const { id } = await service.db.write('addUser', { ...user, roles: [], stamp })
    const opener = service.client()
    const token = await newLink(service, { account: { kind: 'user', name } })
    const { url } = (await opener.post('/v1/auth/links/use/company', { token })).body
    assert.equal(outcomeOf(await comeBack(opener, await atProvider(url, name))), null)
    assert.equal((await eventsOf(service, id)).find(({ kind }) => kind === 'link-used').first, true)
  })
})

describe('confirming by company account', () => {
  const { service, ready } = plain

  it('makes the session recent after the provider has asked for a credential', async () => {
    await ready
    const { user, browser: linking } = await signedIn(service)
    await linkAs(linking, 'confirms')
    service.advance(-10 * 60_000)
    const browser = await signIn(service, user)
    service.advance(10 * 60_000)
    assertProblem(await browser.post('/v1/auth/passkeys/options'), 403, 'recent-sign-in-needed')
    const begun = await browser.post('/v1/auth/session/confirm/company?returnTo=/account')
    const asked = new URL(begun.body.url).searchParams
    assert.deepEqual([asked.get('max_age'), asked.get('prompt')], ['0', 'login'])
    assert.equal(outcomeOf(await comeBack(browser, await atProvider(begun.body.url, 'confirms'))), null)
    assert.equal((await browser.post('/v1/auth/passkeys/options')).status, 200)
  })

  it('is no longer recent once the company account is unlinked elsewhere', async () => {
    const { user, browser: other } = await signedIn(service)
    await linkAs(other, 'recent')
    service.advance(-10 * 60_000)
    const browser = await signIn(service, user)
    service.advance(10 * 60_000)
    const begun = await browser.post('/v1/auth/session/confirm/company')
    assert.equal(outcomeOf(await comeBack(browser, await atProvider(begun.body.url, 'recent'))), null)
    assert.equal((await browser.post('/v1/auth/passkeys/options')).status, 200)
    assert.equal((await other.send('DELETE', '/v1/auth/company')).status, 204)
    assertProblem(await browser.post('/v1/auth/passkeys/options'), 403, 'recent-sign-in-needed')
    assert.equal((await browser.get('/v1/auth/me')).status, 200)
  })

  for (const [what, path] of Object.entries({
    link: '/v1/auth/company',
    confirmation: '/v1/auth/session/confirm/company',
  })) {
    it(`refuses a ${what} in a session that has ended by itself meanwhile`, async () => {
      const { user, browser } = await signedIn(service)
      if (what === 'confirmation') await linkAs(browser, what)
      const callback = await atProvider((await browser.post(path)).body.url, what)
      await withRawDatabase(service.databaseUrl, (db) =>
        db
          .updateTable('sessions')
          .set({ absolute_expires_at: service.now() })
          .where('principal_id', '=', user.id)
          .execute(),
      )
      assert.equal(outcomeOf(await comeBack(browser, callback)), 'authentication-required')
    })
  }

  it('refuses another company account', async () => {
    const { browser } = await signedIn(service)
    await linkAs(browser, 'own')
    const begun = await browser.post('/v1/auth/session/confirm/company')
    const answer = await comeBack(browser, await atProvider(begun.body.url, 'foreign'))
    assert.equal(outcomeOf(answer), 'company-account-other')
  })
})

describe('a first sign-in that makes an account', () => {
  const roles = 'claim=groups; finance-leads=Viewer; it=Admin; gone=Nowhere'
  const { provider, service, ready } = company(
    { OIDC_NEW_ACCOUNTS: 'create', OIDC_ROLES: roles, OIDC_SCOPES: 'openid profile email groups' },
    { inIdToken: false },
  )

  it('asks for the scopes of OIDC_SCOPES', async () => {
    await ready
    const asked = new URL(await beginAt(service.client())).searchParams
    assert.equal(asked.get('scope'), 'openid profile email groups')
  })

  it('takes name and email from the user info, and gives the roles of the claim', async () => {
    const jo = {
      email: 'Jo.Lee@Example.com',
      email_verified: true,
      name: 'Jo Lee',
      preferred_username: 'jo.lee@x',
    }
    provider.accounts.set('new', { ...jo, groups: ['finance-leads', 'gone', 'others'] })
    const { browser } = await enterAs(service, 'new')
    const { body } = await browser.get('/v1/auth/me/account')
    assert.partialDeepStrictEqual(body, {
      ...{ userName: 'jo.lee', email: 'jo.lee@example.com', roles: ['Viewer'], hasPassword: false },
    })
    const user = await findUserByEmail(service.db.read, 'jo.lee@example.com')
    const kinds = (await accountEvents(service, user?.principalId ?? 0)).map(({ kind, byId }) => [kind, byId])
    assert.deepEqual(kinds, [
      ['user-added', null],
      ['company-linked', null],
      ['roles-granted', null],
    ])
  })

  it('takes the roles away when the claim no longer has them, also from sessions', async () => {
    const { browser } = await enterAs(service, 'new')
    assert.equal((await browser.get('/v1/orders')).status, 200)
    provider.accounts.set('new', { ...provider.accounts.get('new'), groups: [] })
    await enterAs(service, 'new')
    assertProblem(await browser.get('/v1/orders'), 403, 'permission-denied')
  })

  it('makes one account, also if several tabs sign in at once', async () => {
    provider.accounts.set('tabs', { email: 'tabs@example.com', email_verified: true })
    const entered = await Promise.all(Array.from({ length: 10 }, () => enterAs(service, 'tabs')))
    assert.deepEqual(new Set(entered.map(({ outcome }) => outcome)), new Set([null]))
  })

  it('makes the name unique', async () => {
    const email = 'jo.lee@other.example'
    provider.accounts.set('namesake', { email, email_verified: true, preferred_username: 'Jo.Lee' })
    const { browser } = await enterAs(service, 'namesake')
    assert.equal((await browser.get('/v1/auth/me')).body.userName, 'Jo.Lee2')
  })

  it('lets nobody grant or revoke a role that follows the claim, and leaves other roles alone', async () => {
    const user = await findUserByEmail(service.db.read, 'jo.lee@example.com')
    const admin = await service.bearer('admin')
    const change = (roles: string[]) =>
      admin.patch(`/v1/users/${user?.principalId}`, { roles }, { 'if-match': '*' })
    assertProblem(await change(['Viewer']), 409, 'role-follows-claim')
    assert.equal((await change(['Operator'])).status, 204)
    provider.accounts.set('new', { ...provider.accounts.get('new'), groups: ['finance-leads'] })
    const { browser } = await enterAs(service, 'new')
    assert.deepEqual((await browser.get('/v1/auth/me')).body.roles, ['Operator', 'Viewer'])
  })
})

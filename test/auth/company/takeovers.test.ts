// engine: both
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, describe, it, type TestContext } from 'node:test'
import { exportSPKI, generateKeyPair, importJWK, type JWTPayload, SignJWT } from 'jose'
import { machineStamp } from '../../../server/caller/stamp.ts'
import { grantRoles, newUser, signIn } from '../../support/accounts.ts'
import { accountEvents, leaveAdministrators } from '../../support/administration.ts'
import type { Client } from '../../support/client.ts'
import { beginAt, comeBack, companyEnv, type Forger, outcomeOf, startForger } from '../../support/company.ts'
import { connectTo, lockWaiters, withoutPostgres } from '../../support/postgres.ts'
import { assertProblem } from '../../support/problem.ts'
import { type InsideService, setUp, startService } from '../../support/service.ts'
import { until } from '../../support/stream.ts'

/** A provider that lies, and a service that believes what the settings say. */
function forged(env: Record<string, string> = {}) {
  const parts = setUp(async () => {
    const forger = await startForger()
    const service = await startService({ env: companyEnv(forger.issuer, env), clockRuns: true, inside: true })
    return { forger, service }
  })
  after(async () => {
    await parts.service.close()
    await parts.forger.close()
  })
  return parts
}

/** With the settings as they are if nobody changes them. */
const plain = forged()

type Parts = { forger: Forger; service: InsideService }
const attempt = '__Host-Http-company'
const { privateKey: foreign } = await generateKeyPair('RS256')

/** Back from the provider, whose ID token has these claims. */
async function comeBackWith({ forger }: Parts, claims: object, browser: Client, callback: string) {
  forger.idToken = (right) => forger.sign({ ...right, ...claims })
  const answer = await comeBack(browser, callback)
  forger.idToken = (right) => forger.sign(right)
  return answer
}

/** An attempt whose ID token has these claims. */
async function enterWith(parts: Parts, claims: object, changes: Record<string, string> = {}) {
  const browser = parts.service.client()
  const callback = parts.forger.answerTo(await beginAt(browser), changes)
  const outcome = outcomeOf(await comeBackWith(parts, claims, browser, callback))
  if (outcome === null) await browser.fetchAntiforgeryToken()
  return { browser, outcome }
}

async function signedIn(service: InsideService, roles?: string[]) {
  const user = await newUser(service, roles === undefined ? {} : { roles })
  return { user, browser: await signIn(service, user) }
}

/** A user who is linked to this subject. */
async function linked(parts: Parts, sub: string, roles?: string[]) {
  const { user, browser } = await signedIn(parts.service, roles)
  const callback = parts.forger.answerTo((await browser.post('/v1/auth/company')).body.url)
  assert.equal(outcomeOf(await comeBackWith(parts, { sub }, browser, callback)), null)
  return { user, browser }
}

/** Changes the account in a transaction that does not end before `act` waits for it. */
async function meanwhile<T>(t: TestContext, id: number, change: string, act: () => Promise<T>): Promise<T> {
  const { databaseUrl } = plain.service
  const holder = await connectTo(databaseUrl)
  t.after(() => holder.end())
  await holder.query('begin')
  await holder.query(change, [id])
  await holder.query('select from principals where id = $1 for no key update', [id])
  let isDone = false
  const done = act().finally(() => {
    isDone = true
  })
  await until(async () => isDone || (await lockWaiters(databaseUrl)) > 0)
  await holder.query('commit')
  return done
}

const nameOf = async (browser: Client) => (await browser.get('/v1/auth/me')).body.userName

describe('nobody takes over an account that is not linked', () => {
  const parts = forged({ OIDC_NEW_ACCOUNTS: 'create' })

  it('by an unverified email', async () => {
    const { user } = await signedIn(parts.service)
    for (const verified of [false, 'false', undefined]) {
      const { outcome } = await enterWith(parts, {
        sub: 'unverified',
        email: user.email,
        email_verified: verified,
      })
      assert.equal(outcome, 'company-email-unusable')
    }
  })

  it('by a verified email, which says what to do', async () => {
    const { user } = await signedIn(parts.service)
    const { outcome } = await enterWith(parts, {
      sub: 'verified',
      email: user.email.toUpperCase(),
      email_verified: true,
    })
    assert.equal(outcome, 'company-email-taken')
  })

  it('by preferred_username', async () => {
    const { user } = await signedIn(parts.service)
    const claims = {
      sub: 'named',
      email: 'named@example.com',
      email_verified: true,
      preferred_username: user.userName,
    }
    const { browser, outcome } = await enterWith(parts, claims)
    assert.equal(outcome, null)
    assert.equal(await nameOf(browser), `${user.userName}2`)
    assert.deepEqual((await browser.get('/v1/auth/me')).body.roles, [])
  })

  it('by names that mean somebody else, or nobody', async () => {
    for (const [index, name] of ['me', 'person-17', 'person-', '42', '\u202e', '', '../x'].entries()) {
      const claims = { sub: `odd ${index}`, email: `odd${index}@example.com`, email_verified: true }
      const { browser, outcome } = await enterWith(parts, {
        ...claims,
        preferred_username: name,
        name: '\u202e',
      })
      assert.equal(outcome, null)
      assert.match(await nameOf(browser), /^(?:user\d*|odd\d|x)$/)
    }
  })

  it('by the same sub of a second provider', async () => {
    await linked(parts, 'twin')
    const other = await startForger()
    const config = { ...parts.service.config, oidcIssuer: other.issuer, oidcNewAccounts: 'refuse' as const }
    const service = await startService({ instanceOf: { ...parts.service, config }, inside: true })
    const { outcome } = await enterWith({ forger: other, service }, { sub: 'twin' })
    assert.equal(outcome, 'company-account-unknown')
    await service.close()
    await other.close()
  })
})

describe('an answer that is not for this attempt is refused', () => {
  const parts = plain
  const refused = async (claims: object, changes: Record<string, string> = {}) =>
    (await enterWith(parts, { sub: 'victim', ...claims }, changes)).outcome

  it('of another issuer (mix-up), by parameter and by token', async () => {
    await linked(parts, 'victim')
    assert.equal(await refused({}), null)
    assert.equal(await refused({}, { iss: 'https://other.example.com' }), 'company-answer-invalid')
    assert.equal(await refused({ iss: 'https://other.example.com' }), 'company-answer-invalid')
  })

  it('with a state or a nonce of another browser', async () => {
    const { forger, service } = parts
    const [one, other] = [service.client(), service.client()]
    const callback = forger.answerTo(await beginAt(one))
    await beginAt(other)
    assert.equal(outcomeOf(await comeBack(other, callback)), 'company-answer-invalid')
    assert.equal(await refused({ nonce: 'of another attempt' }), 'company-answer-invalid')
    assert.equal(await refused({ nonce: undefined }), 'company-answer-invalid')
  })

  it('in a browser that began nothing (login CSRF)', async () => {
    const { forger, service } = parts
    const callback = forger.answerTo(await beginAt(service.client()))
    const victim = service.client()
    assert.equal(outcomeOf(await comeBack(victim, callback)), 'company-attempt-invalid')
    assertProblem(await victim.get('/v1/auth/me'), 401, 'authentication-required')
    const link = '/v1/auth/session/company?returnTo=/orders'
    const begun = await victim.get(link, { 'sec-fetch-site': 'cross-site' })
    assert.equal(begun.headers.get('location'), '/sign-in?to=%2Forders&company=cross-site-request')
    assert.equal(victim.cookies.has(attempt), false)
  })

  it('a second time, by code and by attempt', async () => {
    const { forger, service } = parts
    const browser = service.client()
    const url = await beginAt(browser)
    const callback = forger.answerTo(url)
    const thief = browser.copy()
    const again = browser.copy()
    const outcomeFor = async (caller: Client, address: string) =>
      outcomeOf(await comeBackWith(parts, { sub: 'victim' }, caller, address))
    assert.equal(await outcomeFor(browser, callback), null)
    assert.equal(await outcomeFor(thief, callback), 'company-answer-invalid')
    // Even if the provider gave a second code for it.
    assert.equal(await outcomeFor(again, forger.answerTo(url)), 'company-attempt-invalid')
  })

  it('if its account is unlinked at the same moment', { skip: withoutPostgres }, async (t) => {
    const { user } = await linked(parts, 'parted')
    const parted = 'delete from company_accounts where principal_id = $1'
    const { outcome } = await meanwhile(t, user.id, parted, () => enterWith(parts, { sub: 'parted' }))
    assert.equal(outcome, 'company-account-unknown')
  })

  it('nor is an account unlinked while its password is removed', { skip: withoutPostgres }, async (t) => {
    const { user } = await linked(parts, 'bare')
    const unlinked = { principalId: user.id, rpId: null, stamp: machineStamp(parts.service.now()) }
    const bare = 'update users set password_hash = null where principal_id = $1'
    const done = meanwhile(t, user.id, bare, () => parts.service.db.write('unlinkCompany', unlinked))
    await assert.rejects(done, { code: 'last-credential' })
  })

  it('after ten minutes, or with a cookie that was changed', async () => {
    const { forger, service } = parts
    const browser = service.client()
    const callback = forger.answerTo(await beginAt(browser))
    const changed = browser.copy()
    const sealed = browser.cookies.get(attempt) ?? ''
    const middle = sealed[40] === 'A' ? 'B' : 'A'
    changed.cookies.set(attempt, sealed.slice(0, 40) + middle + sealed.slice(41))
    assert.equal(outcomeOf(await comeBack(changed, callback)), 'company-attempt-invalid')
    service.advance(10 * 60_000)
    assert.equal(outcomeOf(await comeBack(browser, callback)), 'company-attempt-invalid')
    service.advance(-10 * 60_000)
  })

  it('in a frame', async () => {
    const { forger, service } = parts
    const browser = service.client()
    const callback = forger.answerTo(await beginAt(browser))
    const framed = { 'sec-fetch-dest': 'iframe' }
    assertProblem(await comeBack(browser, callback, framed), 400, 'company-attempt-invalid')
    assertProblem(await browser.get('/v1/auth/session/company', framed), 400, 'company-attempt-invalid')
  })

  it('for another client (aud, azp)', async () => {
    assert.equal(await refused({ aud: 'somebody else' }), 'company-answer-invalid')
    assert.equal(await refused({ aud: ['countersign', 'somebody else'] }), 'company-answer-invalid')
    assert.equal(await refused({ azp: 'somebody else' }), 'company-answer-invalid')
    assert.equal(await refused({ aud: ['countersign', 'other'], azp: 'countersign' }), null)
    assert.equal(await refused({ aud: ['countersign'] }), null)
  })

  it('signed by nobody (alg none), by the public key (HS256), or by another key', async () => {
    const { forger, service } = parts
    const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
    const pem = await exportSPKI((await importJWK(forger.publicJwk, 'RS256')) as never)
    const forgeries: ((claims: JWTPayload) => Promise<string>)[] = [
      async (claims) => `${encode({ alg: 'none' })}.${encode(claims)}.`,
      async (claims) => {
        const signed = `${encode({ alg: 'HS256', kid: 'own' })}.${encode(claims)}`
        return `${signed}.${createHmac('sha256', pem).update(signed).digest('base64url')}`
      },
      (claims) => new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'own' }).sign(foreign),
      (claims) => new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'unknown' }).sign(foreign),
    ]
    for (const forge of forgeries) {
      const browser = service.client()
      forger.idToken = (right) => forge({ ...right, sub: 'victim' })
      const answer = await comeBack(browser, forger.answerTo(await beginAt(browser)))
      assert.equal(outcomeOf(answer), 'company-answer-invalid')
    }
    forger.idToken = (right) => forger.sign(right)
  })

  it('from a clock that is ahead, or behind', async () => {
    const now = Math.floor(Date.now() / 1000)
    assert.equal(await refused({ iat: now + 120 }), 'company-answer-invalid')
    assert.equal(await refused({ auth_time: now + 120 }), 'company-answer-invalid')
    assert.equal(await refused({ exp: now - 60 }), 'company-answer-invalid')
  })

  it('without a subject, or with one that a database would change', async () => {
    for (const sub of [undefined, '', 'a\u0000', 'a\ud800', 'x'.repeat(256)]) {
      assert.equal(await refused({ sub }), 'company-answer-invalid')
    }
  })

  it('and the log has the cause', async () => {
    await refused({ aud: 'somebody else' })
    const line = (await parts.service.log()).findLast(({ event }) => event === 'company-refused')
    assert.equal(line?.code, 'company-answer-invalid')
    assert.match(String(line?.why), /aud/)
  })
})

describe('the way back leads into the web app alone', () => {
  const parts = plain

  it('refuses every other address', async () => {
    const { service } = parts
    const foreign = [
      ...String.raw`//evil.example /\evil.example \\evil.example /%5cevil.example /%5C/evil`.split(' '),
      ...'/%2f/evil /x/..//evil.example https://evil.example javascript:alert(1)'.split(' '),
      ...['/\t/evil.example', '/\n/evil', 'orders', '/./v1/auth/me', '/v1/auth/me'],
    ]
    for (const returnTo of foreign) {
      const query = new URLSearchParams({ returnTo })
      const answer = await service.client().get(`/v1/auth/session/company?${query}`)
      assertProblem(answer, 400, 'validation-failed')
    }
  })

  it('keeps the search of a page', async () => {
    const { browser } = await linked(parts, 'returns')
    const callback = parts.forger.answerTo(await beginAt(browser, '/orders?filter=total%3E5'))
    const { headers } = await comeBackWith(parts, { sub: 'returns' }, browser, callback)
    const { searchParams } = new URL(headers.get('location') ?? '', 'https://x')
    assert.equal(searchParams.get('to'), '/orders?filter=total%3E5')
  })
})

describe('a sign-in is as recent as the provider says', () => {
  const parts = plain
  const isRecent = async (claims: object) => {
    const { browser, outcome } = await enterWith(parts, { sub: 'silent', ...claims })
    assert.equal(outcome, null)
    return (await browser.post('/v1/auth/passkeys/options')).status === 200
  }

  it('not if the provider signed in silently, an hour ago or without saying when', async () => {
    await linked(parts, 'silent')
    assert.equal(await isRecent({}), true)
    assert.equal(await isRecent({ auth_time: Math.floor(Date.now() / 1000) - 3_600 }), false)
    assert.equal(await isRecent({ auth_time: undefined }), false)
    assert.equal(await isRecent({ auth_time: Date.now() / 1000 - 0.123_456 }), true)
    assert.equal(
      (await enterWith(parts, { sub: 'silent', auth_time: 'now' })).outcome,
      'company-answer-invalid',
    )
  })

  it('and a confirmation that the provider answers silently confirms nothing', async () => {
    const silent = { sub: 'silent', auth_time: undefined }
    const { browser } = await enterWith(parts, silent)
    const begun = await browser.post('/v1/auth/session/confirm/company')
    const answer = await comeBackWith(parts, silent, browser, parts.forger.answerTo(begun.body.url))
    assert.equal(outcomeOf(answer), 'company-sign-in-not-recent')
    assertProblem(await browser.post('/v1/auth/passkeys/options'), 403, 'recent-sign-in-needed')
  })

  it('and a confirmation lasts from when the provider was given a credential', async () => {
    const { browser } = await linked(parts, 'earlier')
    const { url } = (await browser.post('/v1/auth/session/confirm/company')).body
    const given = { sub: 'earlier', auth_time: Math.floor(Date.now() / 1000) - 240 }
    assert.equal(outcomeOf(await comeBackWith(parts, given, browser, parts.forger.answerTo(url))), null)
    assert.equal((await browser.post('/v1/auth/passkeys/options')).status, 200)
    parts.service.advance(90_000)
    assertProblem(await browser.post('/v1/auth/passkeys/options'), 403, 'recent-sign-in-needed')
    parts.service.advance(-90_000)
  })
})

describe('the callback', () => {
  const parts = plain

  it('looks at no session cookie, whosever comes along', async () => {
    const { forger, service } = parts
    await linked(parts, 'caller')
    const { browser: bystander } = await signedIn(service)
    const begun = service.client()
    forger.idToken = (right) => forger.sign({ ...right, sub: 'caller' })
    const callback = forger.answerTo(await beginAt(begun))
    const both = bystander.copy()
    both.cookies.set(attempt, begun.cookies.get(attempt) ?? '')
    assert.equal(outcomeOf(await both.get(callback)), null)
    assert.equal((await bystander.get('/v1/auth/me')).status, 200)
    forger.idToken = (right) => forger.sign(right)
  })

  it('lists the session that it began like any other', async () => {
    const { browser } = await enterWith(parts, { sub: 'caller' })
    const { items } = (await browser.get('/v1/auth/sessions')).body
    assert.ok(items.some(({ current, kind }: Record<string, unknown>) => current && kind === 'session'))
  })
})

describe('roles by claim', () => {
  const roles = 'claim=groups; it=Admin; finance=Viewer'
  const parts = forged({ OIDC_ROLES: roles })
  const rolesOf = async (browser: Client) => (await browser.get('/v1/auth/me')).body.roles

  it('bring no role that OIDC_ROLES does not name', async () => {
    await linked(parts, 'plain')
    const { browser } = await enterWith(parts, {
      sub: 'plain',
      groups: ['Admin', 'Operator', 'everyone', 'finance'],
    })
    assert.deepEqual(await rolesOf(browser), ['Operator', 'Viewer'])
  })

  it('leave the last administrator one, and take the role once there is another', async () => {
    const { service } = parts
    const { user, browser: earlier } = await linked(parts, 'chief', ['Admin', 'Viewer'])
    const { user: second } = await signedIn(service, ['Admin'])
    await leaveAdministrators(service, [user])
    const last = await enterWith(parts, { sub: 'chief', groups: [] })
    assert.deepEqual([await rolesOf(last.browser), await rolesOf(earlier)], [['Admin'], ['Admin']])
    await grantRoles(service, second, ['Admin'])
    const demoted = await enterWith(parts, { sub: 'chief', groups: [] })
    assert.deepEqual(await rolesOf(demoted.browser), [])
    assert.deepEqual(await rolesOf(last.browser), [])
    const events = await accountEvents(service, user.id)
    const revoked = events.filter(({ kind }) => kind === 'roles-revoked').map(({ data }) => data.roles)
    assert.deepEqual(revoked, [['Viewer'], ['Admin']])
  })

  it('say nothing if the provider holds the claim back', async () => {
    await enterWith(parts, { sub: 'plain', groups: ['finance'] })
    const overage = { groups: undefined, _claim_names: { groups: 'src1' } }
    assert.equal((await enterWith(parts, { sub: 'plain', ...overage })).outcome, 'company-answer-invalid')
  })

  it('go without the claim, and the log of the service says that it is missing', async () => {
    const { browser } = await enterWith(parts, { sub: 'plain' })
    assert.deepEqual(await rolesOf(browser), ['Operator'])
    const line = (await parts.service.log()).findLast(({ event }) => event === 'company-claim-missing')
    assert.equal(line?.claim, 'groups')
  })
})

describe('a logout by the provider', () => {
  const parts = plain
  const path = '/v1/auth/session/company/logout'
  const send = (token: string) => parts.service.client().postForm(path, { logout_token: token })
  const stands = async (browser: Client) => (await browser.get('/v1/auth/me')).status === 200

  it('ends what a subject began, and nothing else', async () => {
    const { forger } = parts
    const { browser: byPassword } = await linked(parts, 'leaves')
    const { browser: one } = await enterWith(parts, { sub: 'leaves', sid: 'first' })
    const { browser: two } = await enterWith(parts, { sub: 'leaves', sid: 'second' })
    const answer = await send(
      await forger.sign(forger.logoutClaims({ sub: 'leaves' }), { typ: 'logout+jwt' }),
    )
    assert.equal(answer.status, 200)
    assert.equal(answer.headers.get('cache-control'), 'no-store')
    assert.deepEqual([await stands(one), await stands(two), await stands(byPassword)], [false, false, true])
  })

  it('ends with a sid alone the sessions that it began', async () => {
    const { forger } = parts
    await linked(parts, 'two sessions')
    const { browser: one } = await enterWith(parts, { sub: 'two sessions', sid: 'of one' })
    const { browser: oneMore, outcome } = await enterWith(parts, { sub: 'two sessions', sid: 'of one' })
    assert.equal(outcome, null)
    const { browser: two } = await enterWith(parts, { sub: 'two sessions', sid: 'of two' })
    const token = await forger.sign(forger.logoutClaims({ sub: undefined, sid: 'of one' }))
    assert.equal((await send(token)).status, 200)
    const standing = [await stands(one), await stands(oneMore), await stands(two)]
    assert.deepEqual(standing, [false, false, true])
    // A replay.
    assertProblem(await send(token), 400, 'logout-token-invalid')
  })

  it('ends with a sid also what is still on its way back', async () => {
    const { forger, service } = parts
    const { browser: own } = await linked(parts, 'overtaken')
    const asked = await own.post('/v1/auth/session/confirm/company')
    const browser = service.client()
    const began = await beginAt(browser)
    const ended = forger.logoutClaims({ sub: 'overtaken', sid: 'of then' })
    assert.equal((await send(await forger.sign(ended))).status, 200)
    forger.idToken = (right) => forger.sign({ ...right, sub: 'overtaken', sid: 'of then' })
    assert.equal(outcomeOf(await comeBack(browser, forger.answerTo(began))), 'company-attempt-invalid')
    assert.equal(outcomeOf(await comeBack(own, forger.answerTo(asked.body.url))), 'company-attempt-invalid')
    assert.equal((await enterWith(parts, { sub: 'overtaken', sid: 'of now' })).outcome, null)
  })

  it('ends with a sid alone also a sign-in that is being written', { skip: withoutPostgres }, async (t) => {
    const { forger, service } = parts
    await linked(parts, 'being written')
    const holder = await connectTo(service.databaseUrl)
    t.after(() => holder.end())
    await holder.query('begin; lock table company_sessions in share mode')
    const entering = enterWith(parts, { sub: 'being written', sid: 'of that moment' })
    await until(async () => (await lockWaiters(service.databaseUrl)) > 0)
    let isAnswered = false
    const token = await forger.sign(forger.logoutClaims({ sub: undefined, sid: 'of that moment' }))
    const sent = send(token).finally(() => {
      isAnswered = true
    })
    await until(async () => isAnswered || (await lockWaiters(service.databaseUrl)) > 1)
    await holder.query('commit')
    assert.equal((await sent).status, 200)
    assert.equal(await stands((await entering).browser), false)
  })

  it('may have times of any number, as JSON has them', async () => {
    const { forger } = parts
    const iat = Date.now() / 1000 - 0.123_456
    const answer = await send(await forger.sign(forger.logoutClaims({ sub: 'nobody', iat, exp: 1e300 })))
    assert.equal(answer.status, 200, answer.text)
  })

  it('is refused with a nonce, an old iat, no event, no jti, neither subject nor session, or a lie', async () => {
    const { forger } = parts
    const { browser } = await linked(parts, 'stays').then(() => enterWith(parts, { sub: 'stays' }))
    const now = Math.floor(Date.now() / 1000)
    const faults = [
      { nonce: 'one' },
      { iat: now - 600, exp: now + 600 },
      { iat: now + 600 },
      { exp: now - 60 },
      { events: {} },
      { events: undefined },
      { jti: undefined },
      { sub: undefined },
      { sub: 'a\u0000' },
      { aud: 'somebody else' },
      { aud: ['countersign', 'somebody else'] },
      { iss: 'https://other.example.com' },
    ]
    for (const fault of faults) {
      const token = await forger.sign(forger.logoutClaims({ sub: 'stays', ...fault }))
      assertProblem(await send(token), 400, 'logout-token-invalid')
    }
    const header = { alg: 'RS256', kid: 'own' }
    const claims = forger.logoutClaims({ sub: 'stays' })
    const lie = await new SignJWT(claims).setProtectedHeader(header).sign(foreign)
    for (const token of [lie, 'no token']) assertProblem(await send(token), 400, 'logout-token-invalid')
    assert.equal(await stands(browser), true)
  })

  it('cannot be an ID token', async () => {
    const { forger } = parts
    const idToken = await forger.sign(forger.claims({ sub: 'stays', jti: 'x' }))
    assertProblem(await send(idToken), 400, 'logout-token-invalid')
  })
})

describe('two instances', () => {
  const parts = plain

  it('share an attempt: it begins at one and comes back to the other', async () => {
    const { forger, service } = parts
    await linked(parts, 'wanders')
    const other = await startService({ instanceOf: service, inside: true })
    const browser = service.client()
    const callback = forger.answerTo(await beginAt(browser))
    const there = other.client()
    there.cookies.set(attempt, browser.cookies.get(attempt) ?? '')
    assert.equal(outcomeOf(await comeBackWith(parts, { sub: 'wanders' }, there, callback)), null)
    const here = service.client()
    for (const [name, value] of there.cookies) here.cookies.set(name, value)
    assert.equal((await here.get('/v1/auth/me')).status, 200)
    await other.close()
  })
})

describe('a service without a company account', () => {
  it('says so', async (t) => {
    const service = await startService({ inside: true })
    t.after(() => service.close())
    const { browser } = await signedIn(service)
    assertProblem(await browser.get('/v1/auth/session/company'), 409, 'company-account-off')
    assertProblem(await browser.post('/v1/auth/company'), 409, 'company-account-off')
    assertProblem(await browser.post('/v1/auth/session/confirm/company'), 409, 'company-account-off')
    const form = { logout_token: 'x' }
    assertProblem(await browser.postForm('/v1/auth/session/company/logout', form), 409, 'company-account-off')
  })
})

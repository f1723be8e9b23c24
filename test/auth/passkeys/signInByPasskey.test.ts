import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { liveCredentials, newUser, setEnabled, signIn } from '../../support/accounts.ts'
import { type Manner, Passkey } from '../../support/authenticator.ts'
import { assertCookieSet, type Client, sessionCookie } from '../../support/client.ts'
import { addPasskey, newPasskey, signInOptions } from '../../support/passkeys.ts'
import { assertProblem } from '../../support/problem.ts'
import { setUp, startService, testService } from '../../support/service.ts'
import { removeExpired } from '../../support/upkeep.ts'

describe('a sign-in by passkey', () => {
  const service = testService()
  const user = setUp(() => newUser(service), beforeEach)
  const passkey = setUp(() => newPasskey(service, user), beforeEach)
  const touch = async (manner: Manner = {}) => passkey.get(await signInOptions(service), manner)
  const send = (credential: unknown, caller: Client = service.client()) =>
    caller.post('/v1/auth/session/passkey', { credential })
  const refused = async (credential: unknown) =>
    assertProblem(await send(credential), 401, 'invalid-credentials')

  it('answers and sets a cookie as one by password does', async () => {
    const browser = service.client()
    const answer = await send(await touch(), browser)
    const { id, userName, email } = user
    assert.deepEqual(answer.body, { id, userName, email, roles: ['Operator'] })
    assertCookieSet(answer, sessionCookie)
    assert.equal((await browser.get('/v1/auth/me')).body.id, id)
    const [stored] = (await (await signIn(service, user)).get('/v1/auth/passkeys')).body.items
    assert.equal(stored.lastUsedAtUtc, new Date(service.now()).toISOString())
  })

  it('gives an app a token pair', async () => {
    const answer = await service.client().post('/v1/auth/token/passkey', { credential: await touch() })
    assert.equal(answer.status, 200, answer.text)
    const caller = service.client().withBearer(answer.body.accessToken)
    assert.equal((await caller.get('/v1/auth/me')).body.id, user.id)
  })

  it('needs no handle of the account, and refuses another', async () => {
    assert.equal((await send(await touch({ userHandle: null }))).status, 200)
    const other = Buffer.from('account 1').toString('base64url')
    await refused(await touch({ userHandle: other }))
  })

  const manners: Record<string, Manner> = {
    'an answer to creation': { type: 'webauthn.create' },
    'another origin that begins the same': { origin: 'https://orders.example.com.evil.example' },
    'another relying party': { rpId: 'example.com' },
    'a frame of another origin': { crossOrigin: true },
    'nobody present': { flags: 0x04 },
    'nobody verified': { flags: 0x01 },
    'a key of several devices that is now of one': { flags: 0x05 },
    'a challenge of nobody': { challenge: Buffer.alloc(32, 1).toString('base64url') },
  }
  for (const [what, manner] of Object.entries(manners)) {
    it(`is refused for ${what}`, async () => {
      await refused(await touch(manner))
      assert.deepEqual(await liveCredentials(service, user), { sessions: 1, families: 0 })
    })
  }

  it('is refused with the same bytes for an unknown passkey, a used challenge and a wrong signature', async () => {
    const used = await touch()
    assert.equal((await send(used)).status, 200)
    const unknown = new Passkey().get(await signInOptions(service), { userHandle: null })
    const forged = await touch()
    forged.response.signature = used.response.signature
    const answers = [await send(used), await send(unknown), await send(forged)]
    const texts = answers.map(({ text, body }) => text.replace(body.requestId, ''))
    assert.deepEqual(new Set(texts).size, 1)
    assertProblem(answers[0] ?? assert.fail(), 401, 'invalid-credentials')
  })

  it('refuses a challenge of an enrolment or a confirmation', async () => {
    const browser = await signIn(service, user)
    for (const path of ['passkeys/options', 'session/confirm/options']) {
      const { challenge } = (await browser.post(`/v1/auth/${path}`)).body
      await refused(await touch({ challenge }))
    }
  })

  it('refuses a challenge that is five minutes old, or of the future', async () => {
    const old = await touch()
    service.advance(5 * 60_000 - 1)
    assert.equal((await send(old)).status, 200)
    const older = await touch()
    service.advance(5 * 60_000)
    await refused(older)
  })

  it('accepts exactly one of fifty simultaneous uses of a challenge', async () => {
    const credential = await touch()
    const answers = await Promise.all(Array.from({ length: 50 }, () => send(credential)))
    const admitted = answers.filter(({ status }) => status === 200)
    assert.equal(admitted.length, 1)
    assert.deepEqual(await liveCredentials(service, user), { sessions: 2, families: 0 })
  })

  it('takes a challenge once, also at an instance whose clock is a minute behind', async () => {
    const credential = await touch()
    assert.equal((await send(credential)).status, 200)
    service.advance(5 * 60_000)
    await removeExpired(service, 50)
    service.advance(-59_000)
    await refused(credential)
  })

  const counterEvents = async () =>
    (await service.log()).filter(
      ({ event, principalId }) => event === 'passkey-counter-went-back' && principalId === user.id,
    )

  it('takes a counter that did not rise of a passkey that may be synced, and reports it', async () => {
    for (const counter of [5, 5, 4, 0, 6, 5]) assert.equal((await send(await touch({ counter }))).status, 200)
    assert.deepEqual(
      (await counterEvents()).map(({ synced }) => synced),
      [true, true, true, true],
    )
  })

  it('refuses it of a passkey that is bound to its device, and says that the key may have been copied', async () => {
    const flags = 0x05
    const bound = new Passkey()
    const browser = await signIn(service, user)
    assert.equal((await addPasskey(browser, bound, { flags })).status, 201)
    const answerOf = async (counter: number) => bound.get(await signInOptions(service), { counter, flags })
    assert.equal((await send(await answerOf(5))).status, 200)
    for (const counter of [5, 4, 0]) {
      const refused = await send(await answerOf(counter))
      assertProblem(refused, 401, 'passkey-counter')
      assert.match(refused.body.detail, /remove the passkey/)
    }
    const ofApp = await service.client().post('/v1/auth/token/passkey', { credential: await answerOf(5) })
    assertProblem(ofApp, 401, 'passkey-counter')
    const options = (await browser.post('/v1/auth/session/confirm/options')).body
    const confirmed = { credential: bound.get(options, { counter: 5, flags }) }
    assertProblem(await browser.post('/v1/auth/session/confirm', confirmed), 403, 'passkey-counter')
    assert.equal((await counterEvents()).length, 5)
    // It holds the key, so it is no guess at a password.
    assert.equal((await send(await answerOf(6))).status, 200)
  })

  it('refuses a disabled account', async () => {
    const credential = await touch()
    await setEnabled(service, user, false)
    await refused(credential)
  })

  it('waits after failed tries like a password, together with it', async () => {
    const wrong = { email: user.email, password: 'not the password of anybody' }
    for (let count = 0; count < 5; count += 1) await service.client().post('/v1/auth/session', wrong)
    await service.client().post('/v1/auth/session', wrong)
    assertProblem(await send(await touch()), 429, 'too-many-attempts')
    service.advance(2_000)
    assert.equal((await send(await touch())).status, 200)
  })

  it('waits after a touch that comes again, which is a failed try', async () => {
    const used = await touch()
    assert.equal((await send(used)).status, 200)
    for (let count = 0; count < 5; count += 1) await refused(used)
    assertProblem(await send(used), 429, 'too-many-attempts')
  })

  it('keeps unknown passkeys waiting as well', async () => {
    const unknown = async () =>
      new Passkey({ id: 'bm9ib2R5J3M' }).get(await signInOptions(service), { userHandle: null })
    for (let count = 0; count < 5; count += 1) await refused(await unknown())
    assertProblem(await send(await unknown()), 429, 'too-many-attempts')
  })

  it('is refused to another site', async () => {
    const answer = await service
      .client()
      .post('/v1/auth/session/passkey', { credential: await touch() }, { 'sec-fetch-site': 'cross-site' })
    assertProblem(answer, 403, 'cross-site-request')
  })

  it('names every field that has a fault', async () => {
    for (const credential of [undefined, null, [], { id: '' }, { id: 'A'.repeat(1365), response: {} }]) {
      assertProblem(await send(credential), 400, 'validation-failed')
    }
  })
})

describe('a confirmation by passkey', () => {
  const service = testService()
  const user = setUp(() => newUser(service), beforeEach)
  const browser = setUp(() => signIn(service, user), beforeEach)
  const passkey = setUp(() => newPasskey(service, user), beforeEach)
  const begin = async (caller: Client) => (await caller.post('/v1/auth/session/confirm/options')).body
  const confirm = (credential: unknown, caller = browser) =>
    caller.post('/v1/auth/session/confirm', { credential })
  const isRecent = async () => (await browser.send('DELETE', '/v1/auth/sessions')).status === 204

  it('counts as a recent sign-in for five minutes', async () => {
    service.advance(6 * 60_000)
    assert.equal(await isRecent(), false)
    const options = await begin(browser)
    assert.deepEqual(options.allowCredentials, [{ type: 'public-key', id: passkey.id }])
    assert.equal((await confirm(passkey.get(options))).status, 204)
    assert.equal(await isRecent(), true)
    service.advance(5 * 60_000)
    assert.equal(await isRecent(), false)
  })

  it('refuses the passkey of someone else, and options of another sign-in or of a sign-in', async () => {
    const stranger = await newPasskey(service, await newUser(service))
    assertProblem(await confirm(stranger.get(await begin(browser))), 403, 'wrong-password')
    const elsewhere = await signIn(service, user)
    assertProblem(await confirm(passkey.get(await begin(elsewhere))), 403, 'wrong-password')
    assertProblem(await confirm(passkey.get(await signInOptions(service))), 403, 'wrong-password')
    assert.equal((await browser.get('/v1/auth/me')).status, 200)
  })

  it('takes a touch once, and answers the second time as for a wrong password', async () => {
    const credential = passkey.get(await begin(browser))
    const answers = await Promise.all([confirm(credential), confirm(credential), confirm(credential)])
    assert.deepEqual(answers.map(({ status }) => status).sort(), [204, 403, 403])
    assertProblem(await confirm(credential), 403, 'wrong-password')
    const events = (await service.log()).filter(({ event }) => event === 'password-refused')
    assert.equal(events.filter(({ principalId }) => principalId === user.id).length, 3)
  })

  it('takes one of password and passkey', async () => {
    const credential = passkey.get(await begin(browser))
    for (const body of [{}, undefined, { password: user.password, credential }]) {
      assertProblem(await browser.post('/v1/auth/session/confirm', body), 400, 'validation-failed')
    }
  })
})

describe('two instances', () => {
  it('accept the options of each other, once', async (t) => {
    const service = await startService({ inside: true, until: t })
    const other = await startService({ instanceOf: service, until: t })
    const passkey = await newPasskey(service, await newUser(service))
    const credential = passkey.get(await signInOptions(service))
    const answers = await Promise.all(
      [other, service, other, service].map((instance) =>
        instance.client().post('/v1/auth/session/passkey', { credential }),
      ),
    )
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 401, 401, 401])
  })
})

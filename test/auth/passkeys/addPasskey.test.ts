import assert from 'node:assert/strict'
import { sign, X509Certificate } from 'node:crypto'
import { beforeEach, describe, it } from 'node:test'
import { bearerOf, machineOf, newClient, newLink, newUser, signIn } from '../../support/accounts.ts'
import { accountEvents } from '../../support/administration.ts'
import { type Cbor, cbor, type Manner, Passkey } from '../../support/authenticator.ts'
import { certificate } from '../../support/certificate.ts'
import type { Client } from '../../support/client.ts'
import { addPasskey, signInByPasskey } from '../../support/passkeys.ts'
import { assertProblem } from '../../support/problem.ts'
import { setUp, testService } from '../../support/service.ts'

describe('POST /v1/auth/passkeys', () => {
  const service = testService()
  const user = setUp(() => newUser(service), beforeEach)
  const browser = setUp(() => signIn(service, user), beforeEach)
  const begin = async (caller: Client) => (await caller.post('/v1/auth/passkeys/options')).body
  const names = async () => (await browser.get('/v1/auth/passkeys')).body.items
  const added = async () => (await accountEvents(service, user.id)).at(-1)?.data

  for (const algorithm of ['ES256', 'EdDSA', 'RS256'] as const) {
    it(`adds a passkey of ${algorithm}, and records its key`, async () => {
      const passkey = new Passkey({ algorithm })
      const answer = await addPasskey(browser, passkey)
      assert.equal(answer.status, 201, answer.text)
      assert.deepEqual(answer.body, { id: passkey.id })
      assert.equal(answer.headers.get('location'), `/v1/auth/passkeys/${passkey.id}`)
      const createdAtUtc = new Date(service.now()).toISOString()
      const { id } = passkey
      assert.deepEqual(await names(), [
        { id, name: 'Phone', synced: true, createdAtUtc, lastUsedAtUtc: null },
      ])
      const event = (await accountEvents(service, user.id)).at(-1)
      assert.equal(event?.kind, 'passkey-added')
      const { publicKey, restedOn: _, ...data } = event?.data.passkey ?? {}
      assert.equal(event?.data.passkeyName, 'Phone')
      const aaguid = '00000000-0000-0000-0000-000000000000'
      assert.deepEqual(data, { id, aaguid, synced: true, backedUp: true })
      assert.deepEqual(publicKey, passkey.jwk)
    })
  }

  it('adds a passkey of a single device by bearer token', async () => {
    const caller = await bearerOf(service, user)
    assert.equal((await addPasskey(caller, new Passkey(), { flags: 0x05 })).status, 201)
    assert.equal((await names())[0].synced, false)
  })

  describe('records what the enrolment rested on', () => {
    it('a password that the user chose', async () => {
      const newPassword = 'eleven slow barges at noon'
      const body = { currentPassword: user.password, newPassword }
      assert.equal((await browser.post('/v1/auth/password', body)).status, 204)
      await addPasskey(browser, new Passkey())
      assert.deepEqual((await added())?.passkey.restedOn, { password: 'own' })
    })

    it('a password that a link set, and who made the link', async () => {
      const token = await newLink(service, user)
      const newPassword = 'eleven slow barges at noon'
      assert.equal((await service.client().post('/v1/auth/links/use', { token, newPassword })).status, 204)
      const credentials = { email: user.email, password: newPassword }
      await addPasskey(await signIn(service, { ...user, credentials }), new Passkey())
      const { passkey, passwordSetBy } = (await added()) ?? assert.fail()
      assert.deepEqual(passkey.restedOn, { password: 'set', passwordSetBy: null })
      assert.equal(passwordSetBy, undefined)
    })

    it('another passkey', async () => {
      const first = new Passkey()
      await addPasskey(browser, first)
      await addPasskey(await signInByPasskey(service, first), new Passkey())
      assert.deepEqual((await added())?.passkey.restedOn, { passkey: first.id })
    })
  })

  describe('refuses, with one answer,', () => {
    const subject = '/C=CH/O=Keys/OU=Authenticator Attestation/CN=Key'
    const [key, cert] = certificate(subject, 'basicConstraints=critical,CA:FALSE')
    const certified = (signed: Buffer): Cbor =>
      new Map<Cbor, Cbor>([
        ['alg', -7],
        ['sig', sign('sha256', signed, key)],
        ['x5c', [new X509Certificate(cert).raw]],
      ])
    const point = Buffer.alloc(32, 7)
    const ofPoint = (algorithm: number, curve: number) =>
      new Map<number, number | Buffer>([
        [1, 2],
        [3, algorithm],
        [-1, curve],
        [-2, point],
        [-3, point],
      ])
    const refused: Record<string, Manner> = {
      'an answer to a request': { type: 'webauthn.get' },
      'another origin': { origin: 'https://orders.example.com.evil.example' },
      'an origin of another port': { origin: 'https://orders.example.com:444' },
      'a frame of another origin': { crossOrigin: true },
      'another relying party': { rpId: 'example.com' },
      'nobody present': { flags: 0x04 },
      'nobody verified': { flags: 0x01 },
      'a challenge of nobody': { challenge: Buffer.alloc(32, 1).toString('base64url') },
      'a certificate that holds': { format: 'packed', statement: certified },
      'a statement of a phone': { format: 'android-safetynet', statement: new Map() },
      'an unknown statement': { format: 'other' },
      'an id that is not that of the authenticator': { id: 'AAAA' },
      'a point off the curve': { key: ofPoint(-7, 1) },
      'a key of another curve': { key: ofPoint(-7, 2) },
      'a short RSA key': {
        key: new Map<number, number | Buffer>([
          [1, 3],
          [3, -257],
          [-1, Buffer.alloc(64, 0xff)],
          [-2, Buffer.from([1, 0, 1])],
        ]),
      },
      'a key of no accepted algorithm': { key: ofPoint(-35, 2) },
    }
    for (const [what, manner] of Object.entries(refused)) {
      it(what, async () => {
        assertProblem(await addPasskey(browser, new Passkey(), manner), 400, 'passkey-invalid')
        assert.deepEqual(await names(), [])
      })
    }

    it('what is no attestation at all', async () => {
      const { id, response } = new Passkey().create(await begin(browser))
      for (const attestationObject of ['AA', cbor('x').toString('base64url'), 'oA']) {
        const credential = { id, response: { ...response, attestationObject } }
        const answer = await browser.post('/v1/auth/passkeys', { name: 'x', credential })
        assertProblem(answer, 400, 'passkey-invalid')
      }
      const credential = { id, response: { ...response, clientDataJSON: 'AA' } }
      assertProblem(
        await browser.post('/v1/auth/passkeys', { name: 'x', credential }),
        400,
        'passkey-invalid',
      )
    })

    it('an id that another account has', async () => {
      const passkey = new Passkey()
      assert.equal((await addPasskey(await signIn(service, await newUser(service)), passkey)).status, 201)
      assertProblem(await addPasskey(browser, passkey), 400, 'passkey-invalid')
    })

    it('options of another sign-in, of another account, of a sign-in, and old ones', async () => {
      const passkey = new Passkey()
      const send = async (options: unknown) =>
        browser.post('/v1/auth/passkeys', { name: 'x', credential: passkey.create(options) })
      assertProblem(await send(await begin(await signIn(service, user))), 400, 'passkey-invalid')
      assertProblem(await send(await begin(await bearerOf(service, user))), 400, 'passkey-invalid')
      const { challenge } = (await browser.post('/v1/auth/session/passkey/options')).body
      const options = await begin(browser)
      assertProblem(await send({ ...options, challenge }), 400, 'passkey-invalid')
      service.advance(5 * 60_000)
      await browser.post('/v1/auth/session/confirm', { password: user.password })
      assertProblem(await send(options), 400, 'passkey-invalid')
    })
  })

  it('accepts exactly one of fifty simultaneous uses of its options', async () => {
    const options = await begin(browser)
    const answers = await Promise.all(
      Array.from({ length: 50 }, () =>
        browser.post('/v1/auth/passkeys', { name: 'x', credential: new Passkey().create(options) }),
      ),
    )
    assert.equal(answers.filter(({ status }) => status === 201).length, 1)
    assert.equal((await names()).length, 1)
  })

  it('allows twenty, and names them in the options', async () => {
    for (let count = 0; count < 20; count += 1) {
      assert.equal((await addPasskey(browser, new Passkey())).status, 201)
    }
    assertProblem(await addPasskey(browser, new Passkey()), 409, 'too-many-passkeys')
    assert.equal((await begin(browser)).excludeCredentials.length, 20)
  })

  it('needs a person who has just signed in', async () => {
    const machine = await machineOf(service, await newClient(service))
    assertProblem(await machine.post('/v1/auth/passkeys/options'), 403, 'not-for-services')
    assertProblem(await service.client().post('/v1/auth/passkeys/options'), 401, 'authentication-required')
    const options = await begin(browser)
    service.advance(5 * 60_000)
    assertProblem(await browser.post('/v1/auth/passkeys/options'), 403, 'recent-sign-in-needed')
    const body = { name: 'x', credential: new Passkey().create(options) }
    assertProblem(await browser.post('/v1/auth/passkeys', body), 403, 'recent-sign-in-needed')
  })

  it('names every field that has a fault', async () => {
    const answer = await browser.post('/v1/auth/passkeys', {
      name: '\u202e',
      other: 1,
      credential: { id: 'a b', response: { clientDataJSON: 1 } },
    })
    assertProblem(answer, 400, 'validation-failed')
    assert.deepEqual(answer.body.errors.map(({ pointer }: { pointer: string }) => pointer).sort(), [
      '#/credential/id',
      '#/credential/response/attestationObject',
      '#/credential/response/clientDataJSON',
      '#/name',
      '#/other',
    ])
  })
})

describe('a service at an IP address', () => {
  const service = testService({ env: { PUBLIC_URL: 'https://192.0.2.7' } })

  it('has no passkeys, and says why', async () => {
    const browser = await signIn(service, await newUser(service))
    for (const path of ['passkeys/options', 'session/passkey/options', 'session/confirm/options']) {
      assertProblem(await browser.post(`/v1/auth/${path}`), 409, 'passkeys-unavailable')
    }
  })
})

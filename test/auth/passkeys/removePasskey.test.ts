// engine: both
import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { newLink, newUser, setPassword, signIn } from '../../support/accounts.ts'
import { accountEvents, newAdministrator } from '../../support/administration.ts'
import { Passkey } from '../../support/authenticator.ts'
import { type Client, sessionCookie } from '../../support/client.ts'
import { withRawDatabase } from '../../support/database.ts'
import { interruptedInstance } from '../../support/interrupted.ts'
import { addPasskey, newPasskey, signInByPasskey, signInOptions } from '../../support/passkeys.ts'
import { assertProblem } from '../../support/problem.ts'
import { setUp, testService } from '../../support/service.ts'

describe('an account with a passkey', () => {
  const service = testService()
  const user = setUp(() => newUser(service), beforeEach)
  const remove = (caller: Client, path: string) => caller.send('DELETE', path)
  const idsOf = async (caller: Client) =>
    (await caller.get('/v1/auth/passkeys')).body.items.map(({ id }: { id: string }) => id)
  const lastEvent = async () => (await accountEvents(service, user.id)).at(-1)
  const signsIn = async (passkey: Passkey) => {
    const credential = passkey.get(await signInOptions(service))
    return (await service.client().post('/v1/auth/session/passkey', { credential })).status === 200
  }

  it('keeps its sign-ins by other passkeys and by password when one is removed', async () => {
    const [first, second] = [await newPasskey(service, user), await newPasskey(service, user)]
    const [byFirst, bySecond] = [
      await signInByPasskey(service, first),
      await signInByPasskey(service, second),
    ]
    const { accessToken, refreshToken } = (
      await service
        .client()
        .post('/v1/auth/token/passkey', { credential: first.get(await signInOptions(service)) })
    ).body
    assert.equal((await bySecond.send('DELETE', `/v1/auth/passkeys/${first.id}`)).status, 204)
    assert.equal((await byFirst.get('/v1/auth/me')).status, 401)
    assert.equal((await bySecond.get('/v1/auth/me')).status, 200)
    assertProblem(
      await service.client().withBearer(accessToken).get('/v1/auth/me'),
      401,
      'authentication-required',
    )
    assertProblem(
      await service.client().post('/v1/auth/token/refresh', { refreshToken }),
      401,
      'invalid-refresh-token',
    )
    const credential = first.get(await signInOptions(service))
    assertProblem(
      await service.client().post('/v1/auth/session/passkey', { credential }),
      401,
      'invalid-credentials',
    )
    assert.equal((await addPasskey(await signInByPasskey(service, second), new Passkey())).status, 201)
  })

  it('takes the cookie of a session that ends with its own passkey', async () => {
    const passkey = await newPasskey(service, user)
    const browser = await signInByPasskey(service, passkey)
    assert.equal((await remove(browser, `/v1/auth/passkeys/${passkey.id}`)).status, 204)
    assert.equal(browser.cookies.has(sessionCookie), false)
  })

  it('renames it', async () => {
    const passkey = await newPasskey(service, user)
    const browser = await signIn(service, user)
    const answer = await browser.patch(`/v1/auth/passkeys/${passkey.id}`, { name: '  Cafe\u0301 key ' })
    assert.equal(answer.status, 204, answer.text)
    assert.equal((await browser.get('/v1/auth/passkeys')).body.items[0].name, 'Caf\u00e9 key')
    const { id } = passkey
    const { passkey: renamed, passkeyName } = (await lastEvent())?.data ?? {}
    assert.deepEqual([renamed, passkeyName], [{ id }, 'Caf\u00e9 key'])
    const other = await signIn(service, await newUser(service))
    for (const path of [id, 'unknown', '%00', 'A'.repeat(2_000)]) {
      const refused = await other.patch(`/v1/auth/passkeys/${path}`, { name: 'x' })
      assertProblem(refused, 404, 'passkey-not-found')
      assertProblem(await remove(other, `/v1/auth/passkeys/${path}`), 404, 'passkey-not-found')
    }
  })

  it('records its removal, which needs a recent sign-in', async () => {
    const { id } = await newPasskey(service, user)
    const browser = await signIn(service, user)
    service.advance(5 * 60_000)
    assertProblem(await remove(browser, `/v1/auth/passkeys/${id}`), 403, 'recent-sign-in-needed')
    const other = await signIn(service, user)
    assert.equal((await remove(other, `/v1/auth/passkeys/${id}`)).status, 204)
    const event = await lastEvent()
    assert.equal(event?.kind, 'passkey-removed')
    assert.deepEqual(event?.data.passkey, { id })
    assert.deepEqual(await idsOf(other), [])
  })

  it('has no recent sign-in left from a passkey that was removed', async () => {
    const [first, second] = [await newPasskey(service, user), await newPasskey(service, user)]
    const thief = await signIn(service, user)
    service.advance(6 * 60_000)
    const options = (await thief.post('/v1/auth/session/confirm/options')).body
    await thief.post('/v1/auth/session/confirm', { credential: first.get(options) })
    const owner = await signInByPasskey(service, second)
    assert.equal((await remove(owner, `/v1/auth/passkeys/${first.id}`)).status, 204)
    assertProblem(await thief.post('/v1/auth/passkeys/options'), 403, 'recent-sign-in-needed')
  })

  describe('removed between the check of a request and its write', () => {
    const instance = interruptedInstance(service)
    const first = setUp(() => newPasskey(service, user), beforeEach)

    /** A session begun by password, in which the passkey was given six minutes later. */
    async function confirmed(): Promise<Client> {
      const browser = await signIn(service, user)
      service.advance(6 * 60_000)
      const options = (await browser.post('/v1/auth/session/confirm/options')).body
      await browser.post('/v1/auth/session/confirm', { credential: first.get(options) })
      const same = instance.client()
      Object.assign(same.headers, browser.headers)
      for (const [name, value] of browser.cookies) same.cookies.set(name, value)
      return same
    }

    async function removeBefore(write: string): Promise<void> {
      const owner = await signIn(service, user)
      instance.interrupt(write, async (written) => {
        assert.equal((await remove(owner, `/v1/auth/passkeys/${first.id}`)).status, 204)
        return written()
      })
    }

    it('is nothing that an enrolment can rest on', async () => {
      const thief = await confirmed()
      await removeBefore('addPasskey')
      assertProblem(await addPasskey(thief, new Passkey()), 403, 'recent-sign-in-needed')
    })

    it('leaves no recent sign-in to a session that was being refreshed', async () => {
      const thief = await confirmed()
      await removeBefore('refreshSession')
      assert.equal((await thief.post('/v1/auth/session/refresh')).status, 200)
      assertProblem(await thief.post('/v1/auth/passkeys/options'), 403, 'recent-sign-in-needed')
    })

    it('leaves none to a session that was ending the others', async () => {
      const thief = await confirmed()
      await removeBefore('endOtherSignIns')
      await remove(thief, '/v1/auth/sessions')
      assertProblem(await thief.post('/v1/auth/passkeys/options'), 403, 'recent-sign-in-needed')
    })

    it('signs nobody in', async () => {
      const credential = first.get(await signInOptions(service))
      await removeBefore('createSession')
      const answer = await instance.client().post('/v1/auth/session/passkey', { credential })
      assertProblem(answer, 401, 'invalid-credentials')
    })
  })

  it('is managed by administrators', async () => {
    const { id } = await newPasskey(service, user)
    const { caller, user: administrator } = await newAdministrator(service)
    const path = `/v1/users/${user.id}/passkeys`
    const { items } = (await caller.get(path)).body
    assert.deepEqual(items, (await (await signIn(service, user)).get('/v1/auth/passkeys')).body.items)
    assertProblem(await remove(caller, `${path}/unknown`), 404, 'passkey-not-found')
    assertProblem(await remove(caller, `/v1/users/2147483647/passkeys/${id}`), 404, 'user-not-found')
    assert.equal((await remove(caller, `${path}/${id}`)).status, 204)
    assert.equal((await lastEvent())?.byId, administrator.id)
    assertProblem(await (await signIn(service, user)).get(path), 403, 'permission-denied')
  })

  it('loses its passkeys by a one-time link, which the log records', async () => {
    const passkeys = [await newPasskey(service, user), await newPasskey(service, user)]
    const token = await newLink(service, user)
    const newPassword = 'eleven slow barges at noon'
    assert.equal((await service.client().post('/v1/auth/links/use', { token, newPassword })).status, 204)
    const event = await lastEvent()
    assert.equal(event?.kind, 'link-used')
    assert.deepEqual(event?.data.passkeys.sort(), passkeys.map(({ id }) => id).sort())
    for (const passkey of passkeys) assert.equal(await signsIn(passkey), false)
  })

  it('loses its passkeys when an operator sets the password', async () => {
    const passkey = await newPasskey(service, user)
    await setPassword(service, user)
    assert.deepEqual((await lastEvent())?.data.passkeys, [passkey.id])
    assert.equal(await signsIn(passkey), false)
  })

  it('keeps its passkeys when the user changes the password', async () => {
    const passkey = await newPasskey(service, user)
    const body = { currentPassword: user.password, newPassword: 'eleven slow barges at noon' }
    assert.equal((await (await signIn(service, user)).post('/v1/auth/password', body)).status, 204)
    assert.equal(await signsIn(passkey), true)
  })

  describe('without a password', () => {
    const passkey = setUp(() => newPasskey(service, user), beforeEach)
    const browser = setUp(() => signInByPasskey(service, passkey), beforeEach)
    const removePassword = () => remove(browser, '/v1/auth/password')

    it('signs in by passkey alone, and everything else has ended', async () => {
      const elsewhere = await signIn(service, user)
      assert.equal((await removePassword()).status, 204)
      assert.equal((await lastEvent())?.kind, 'password-removed')
      assert.equal((await browser.get('/v1/auth/me')).status, 200)
      assert.equal((await elsewhere.get('/v1/auth/me')).status, 401)
      assertProblem(
        await service.client().post('/v1/auth/session', user.credentials),
        401,
        'invalid-credentials',
      )
      assert.equal((await browser.get('/v1/auth/me/account')).body.email, user.email)
      assert.equal(await signsIn(passkey), true)
    })

    it('leaves no second event when there is no password to remove', async () => {
      await removePassword()
      const before = await accountEvents(service, user.id)
      const elsewhere = await signInByPasskey(service, passkey)
      assert.equal((await removePassword()).status, 204)
      assert.deepEqual(await accountEvents(service, user.id), before)
      assert.equal((await elsewhere.get('/v1/auth/me')).status, 200)
      assert.equal((await browser.get('/v1/auth/me')).status, 200)
    })

    it('keeps its last passkey, which administrators cannot remove either', async () => {
      await removePassword()
      assertProblem(await remove(browser, `/v1/auth/passkeys/${passkey.id}`), 409, 'last-credential')
      const { caller } = await newAdministrator(service)
      const answer = await remove(caller, `/v1/users/${user.id}/passkeys/${passkey.id}`)
      assertProblem(answer, 409, 'last-credential')
      assert.equal(await signsIn(passkey), true)
    })

    it('keeps the last one that can be used after a move to another host name', async () => {
      await removePassword()
      const former = new Passkey()
      await addPasskey(browser, former)
      await withRawDatabase(service.databaseUrl, (db) =>
        db.updateTable('passkeys').set({ rp_id: 'old.example.com' }).where('id', '=', former.id).execute(),
      )
      assertProblem(await remove(browser, `/v1/auth/passkeys/${passkey.id}`), 409, 'last-credential')
      assert.equal((await remove(browser, `/v1/auth/passkeys/${former.id}`)).status, 204)
      assert.equal(await signsIn(passkey), true)
    })

    it('keeps one of two that are removed at once', async () => {
      await removePassword()
      const second = new Passkey()
      await addPasskey(browser, second)
      const { caller } = await newAdministrator(service)
      const answers = await Promise.all(
        [passkey, second].map(({ id }) => remove(caller, `/v1/users/${user.id}/passkeys/${id}`)),
      )
      assert.deepEqual(answers.map(({ status }) => status).sort(), [204, 409])
    })

    it('sets a new password after a recent touch, without an old one', async () => {
      await removePassword()
      const newPassword = 'eleven slow barges at noon'
      assert.equal((await browser.post('/v1/auth/password', { newPassword })).status, 204)
      assert.equal(
        (await service.client().post('/v1/auth/session', { email: user.email, password: newPassword }))
          .status,
        200,
      )
      await removePassword()
      service.advance(5 * 60_000)
      assertProblem(await browser.post('/v1/auth/password', { newPassword }), 403, 'recent-sign-in-needed')
    })

    it('asks for the old password where there is one', async () => {
      const answer = await browser.post('/v1/auth/password', { newPassword: 'eleven slow barges at noon' })
      assertProblem(answer, 400, 'validation-failed')
    })

    it('needs a recent touch: a password is not enough', async () => {
      assertProblem(
        await remove(await signIn(service, user), '/v1/auth/password'),
        403,
        'recent-sign-in-needed',
      )
      service.advance(5 * 60_000)
      assertProblem(await removePassword(), 403, 'recent-sign-in-needed')
    })
  })

  it('cannot remove its password without a passkey', async () => {
    const passkey = await newPasskey(service, user)
    const browser = await signInByPasskey(service, passkey)
    const { caller } = await newAdministrator(service)
    await remove(caller, `/v1/users/${user.id}/passkeys/${passkey.id}`)
    assertProblem(await remove(browser, '/v1/auth/password'), 401, 'authentication-required')
  })
})

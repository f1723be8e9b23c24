import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { machineStamp } from '../../server/caller/stamp.ts'
import { sha256 } from '../../server/ids.ts'
import {
  bearerOf,
  newUser,
  refresh,
  setEnabled,
  setPassword,
  signIn,
  type TestUser,
  tokenPair,
} from '../support/accounts.ts'
import { accountEvents, newAdministrator } from '../support/administration.ts'
import { Passkey } from '../support/authenticator.ts'
import type { Client } from '../support/client.ts'
import { withRawDatabase } from '../support/database.ts'
import { noteSecret } from '../support/discretion.ts'
import { seal } from '../support/log.ts'
import { type MailServer, mailSettings, postOf, startMailServer, tokenIn } from '../support/mail.ts'
import { newPasskey, signInOptions } from '../support/passkeys.ts'
import { assertProblem } from '../support/problem.ts'
import { testService } from '../support/service.ts'
import { removeExpired } from '../support/upkeep.ts'

const newPassword = 'seven grey herons by the weir'
const minute = 60_000
const hour = 60 * minute

describe('changeEmail', () => {
  const service = testService({ env: mailSettings })
  let server: MailServer
  let post: ReturnType<typeof postOf>
  before(async () => {
    server = await startMailServer()
    post = postOf(service, server)
    await seal(service.db)
    await post.sendAll()
  })
  after(() => server.close())

  const ask = (caller: Client, email: string) => caller.send('PUT', '/v1/auth/email', { email })
  const use = (token: string, { password }: Pick<TestUser, 'password'>) =>
    service.client().post('/v1/auth/email/use', { token, password })
  const mailsNow = async () => {
    await post.sendAll()
    const mails = server.received()
    for (const mail of mails) noteSecret(tokenIn(mail))
    return mails
  }
  beforeEach(mailsNow)
  const person = async () => {
    const user = await newUser(service)
    return { user, caller: await signIn(service, user), email: `new-${user.email}` }
  }
  /** The token of the only mail with a link, which goes to the address. */
  const tokenFor = async (caller: Client, email: string) => {
    assert.equal((await ask(caller, email)).status, 202)
    const links = (await mailsNow()).filter((mail) => tokenIn(mail) !== '')
    assert.deepEqual(
      links.map(({ to }) => to),
      [[email]],
    )
    return tokenIn(links[0] ?? { text: '' })
  }
  const emailOf = async (caller: Client) => (await caller.get('/v1/auth/me/account')).body.email

  it('changes nothing before the link is used, then the email, once, with an event', async () => {
    const { user, caller, email } = await person()
    const answer = await ask(caller, email.toUpperCase())
    assert.deepEqual([answer.status, answer.text], [202, ''])
    const mail = (await mailsNow()).find(({ to }) => to.includes(email))
    assert.ok(mail)
    assert.equal(mail.headers.subject, 'Confirm your new email for Countersign')
    const token = tokenIn(mail)
    assert.equal(await emailOf(caller), user.email)
    const count = (await accountEvents(service, user.id)).length

    assert.equal((await use(token, user)).status, 204)
    assert.equal(await emailOf(caller), email)
    assert.deepEqual((await accountEvents(service, user.id)).slice(count), [
      { kind: 'user-changed', byId: user.id, data: { name: user.userName, email: 'changed' } },
    ])
    const given = { password: user.password }
    assert.equal((await service.client().post('/v1/auth/token', { ...given, email })).status, 200)
    const old = await service.client().post('/v1/auth/token', { ...given, email: user.email })
    assertProblem(old, 401, 'invalid-credentials')
    assertProblem(await use(token, user), 404, 'link-not-found')
    assert.ok(!JSON.stringify(await service.log()).includes(email))
  })

  it('mails the old address that it was changed, and when', async () => {
    const { user, caller, email } = await person()
    await use(await tokenFor(caller, email), user)
    const old = (await mailsNow()).find(({ to }) => to.includes(user.email))
    const text = old?.text.replaceAll('\n', ' ') ?? ''
    assert.match(text, /The email of your account was changed\. It is no longer this address\./)
    assert.match(text, /It happened on [^.]*\(Europe\/Berlin\)\. {2}If it was not you, ask an administrator/)
  })

  it('mails the old address too when an administrator changes it, and names them', async () => {
    const { user, email } = await person()
    const admin = await newAdministrator(service)
    assert.equal((await admin.caller.patch(`/v1/users/${user.id}`, { email })).status, 204)
    const old = (await mailsNow()).find(({ to }) => to.includes(user.email))
    const text = old?.text.replaceAll('\n', ' ') ?? ''
    assert.match(text, new RegExp(`It is no longer this address\\..* by ${admin.user.userName}\\.`))
  })

  it('still mails the old address if that administrator is erased, without the name', async () => {
    const { user, email } = await person()
    const admin = await newAdministrator(service)
    assert.equal((await admin.caller.patch(`/v1/users/${user.id}`, { email })).status, 204)
    await service.db.write('erasePerson', { id: admin.user.id, stamp: machineStamp(service.now()) })
    const old = (await mailsNow()).find(({ to }) => to.includes(user.email))
    const text = old?.text.replaceAll('\n', ' ') ?? ''
    assert.match(text, new RegExp(`It is no longer this address\\..* by person-${admin.user.id}\\.`))
  })

  it('mails each old address, however fast the next change follows', async () => {
    const { user, caller, email } = await person()
    const admin = await newAdministrator(service)
    await use(await tokenFor(caller, email), user)
    await admin.caller.patch(`/v1/users/${user.id}`, { email: `third-${user.email}` })
    const recipients = (await mailsNow()).flatMap(({ to }) => to)
    assert.ok(recipients.includes(user.email) && recipients.includes(email))
  })

  it('stores no token, and the hash of one only when it is mailed', async () => {
    const { user, caller, email } = await person()
    const links = () =>
      service.db.read.selectFrom('one_time_links').selectAll().where('principal_id', '=', user.id).execute()
    const token = await tokenFor(caller, email)
    const [link, ...others] = await links()
    assert.deepEqual(others, [])
    assert.deepEqual([link?.kind, link?.new_email, link?.token_hash], ['email', email, sha256(token)])
    assert.ok(!JSON.stringify(link).includes(token))
  })

  it('is no link to a password, and a link to a password is none to an email', async () => {
    const { user, caller, email } = await person()
    const token = await tokenFor(caller, email)
    const asPassword = await service.client().post('/v1/auth/links/use', { token, newPassword })
    assertProblem(asPassword, 404, 'link-not-found')
    await service.client().post('/v1/auth/links', { email: user.email })
    const [forgotten] = await mailsNow()
    assertProblem(await use(tokenIn(forgotten ?? { text: '' }), user), 404, 'link-not-found')
    assert.equal((await use(token, user)).status, 204)
  })

  it('voids the link that was mailed to the old address for a forgotten password', async () => {
    const { user, caller, email } = await person()
    await service.client().post('/v1/auth/links', { email: user.email })
    const [forgotten] = await mailsNow()
    await use(await tokenFor(caller, email), user)
    const token = tokenIn(forgotten ?? { text: '' })
    assertProblem(
      await service.client().post('/v1/auth/links/use', { token, newPassword }),
      404,
      'link-not-found',
    )
  })

  it('keeps every sign-in', async () => {
    const { user, caller, email } = await person()
    const other = await signIn(service, user)
    await use(await tokenFor(caller, email), user)
    for (const each of [caller, other]) assert.equal((await each.get('/v1/auth/me')).status, 200)
  })

  describe('ends the link', () => {
    it('with a newer request, whose address alone is mailed', async () => {
      const { user, caller, email } = await person()
      const first = await tokenFor(caller, email)
      await ask(caller, `second-${email}`)
      assertProblem(await use(first, user), 404, 'link-not-found')
      const second = await tokenFor(caller, `third-${email}`)
      assert.equal((await use(second, user)).status, 204)
      assert.equal(await emailOf(caller), `third-${email}`)
    })

    it('after 24 hours', async () => {
      const { user, caller, email } = await person()
      const token = await tokenFor(caller, email)
      service.advance(24 * hour)
      assertProblem(await use(token, user), 404, 'link-not-found')
    })

    it('with a new password, before and after it is mailed', async () => {
      const { user, caller, email } = await person()
      const token = await tokenFor(caller, email)
      await ask(caller, email)
      const body = { currentPassword: user.password, newPassword }
      assert.equal((await caller.post('/v1/auth/password', body)).status, 204)
      assert.deepEqual(
        (await mailsNow()).flatMap(({ to }) => to),
        [user.email],
      )
      assertProblem(await use(token, { password: newPassword }), 404, 'link-not-found')
    })
  })

  it('warns the old address at once: what was asked, when, and who can stop it', async () => {
    const { user, caller, email } = await person()
    await ask(caller, email)
    const mails = await mailsNow()
    assert.deepEqual(mails.flatMap(({ to }) => to).sort(), [email, user.email].sort())
    const text = mails.find(({ to }) => to.includes(user.email))?.text.replaceAll(/\s+/g, ' ') ?? ''
    assert.match(text, /asked on \d[^.]*\(Europe\/Berlin\) to change its email to new-/)
    assert.match(text, /If it was not you, .*“Sign out everywhere else” .* or ask an administrator: /)
    assert.equal(tokenIn({ text }), '')
  })

  describe('lets nobody confirm who does not prove that the account is theirs', () => {
    const given = (token: string, proof: object) =>
      service.client().post('/v1/auth/email/use', { token, ...proof })

    it('by exactly one of password and passkey, in the request', async () => {
      const { user, caller, email } = await person()
      const token = await tokenFor(caller, email)
      const credential = new Passkey().get(await signInOptions(service))
      for (const proof of [{}, { password: user.password, credential }]) {
        assertProblem(await given(token, proof), 400, 'validation-failed')
        const inSession = await caller.post('/v1/auth/email/use', { token, ...proof })
        assertProblem(inSession, 400, 'validation-failed')
      }
      assert.equal(await emailOf(caller), user.email)
    })

    it('by a wrong password, which does not use the link up', async () => {
      const { user, caller, email } = await person()
      const token = await tokenFor(caller, email)
      const { user: other } = await person()
      assertProblem(await use(token, { password: `${other.password}.` }), 403, 'wrong-password')
      assert.equal(await emailOf(caller), user.email)
      assert.equal((await use(token, user)).status, 204)
    })

    it('by guesses: they count as failed sign-ins', async () => {
      const { user, caller, email } = await person()
      const token = await tokenFor(caller, email)
      for (let tries = 0; tries < 6; tries += 1) await use(token, { password: 'wrong' })
      assertProblem(await use(token, user), 429, 'too-many-attempts')
      assertProblem(await service.client().post('/v1/auth/token', user.credentials), 429, 'too-many-attempts')
    })

    it('but by a passkey of the account, not by that of another, and once', async () => {
      const { user, caller, email } = await person()
      const { user: other } = await person()
      const [passkey, foreign] = [await newPasskey(service, user), await newPasskey(service, other)]
      const token = await tokenFor(caller, email)
      const options = await signInOptions(service)
      assertProblem(await given(token, { credential: foreign.get(options) }), 403, 'wrong-password')
      const credential = passkey.get(options)
      assert.equal((await given(token, { credential })).status, 204)
      assert.equal(await emailOf(caller), email)
      const again = await tokenFor(caller, `again-${email}`)
      assertProblem(await given(again, { credential }), 403, 'wrong-password')
    })
  })

  describe('is void after', () => {
    const remove = async (caller: Client, path: string) =>
      assert.equal((await caller.send('DELETE', path)).status, 204)
    const asOwner = async (user: TestUser, path: string) => remove(await bearerOf(service, user), path)
    const asAdministrator = async (path: string) => remove((await newAdministrator(service)).caller, path)
    const currentOf = async (caller: Client): Promise<string> => {
      const { items } = (await caller.get('/v1/auth/sessions')).body
      return items.find(({ current }: { current: boolean }) => current).id
    }
    const asked = async () => {
      const { user, caller, email } = await person()
      const { id: passkey } = await newPasskey(service, user)
      return { user, caller, passkey, token: await tokenFor(caller, email) }
    }
    type Asked = Awaited<ReturnType<typeof asked>>

    const ends: Record<string, (asked: Asked) => Promise<unknown>> = {
      'the end of the sign-in that asked': async ({ user, caller }) =>
        asOwner(user, `/v1/auth/sessions/${await currentOf(caller)}`),
      'the end of all others': ({ user }) => asOwner(user, '/v1/auth/sessions'),
      'the end of all others, if none is left': async ({ user, caller }) => {
        await caller.post('/v1/auth/session/logout')
        await withRawDatabase(service.databaseUrl, (trx) =>
          trx.deleteFrom('sessions').where('principal_id', '=', user.id).execute(),
        )
        await asOwner(user, '/v1/auth/sessions')
      },
      'the end of that sign-in by an administrator': async ({ user, caller }) =>
        asAdministrator(`/v1/users/${user.id}/sessions/${await currentOf(caller)}`),
      'a sign-out by an administrator': ({ user }) => asAdministrator(`/v1/users/${user.id}/sessions`),
      'a sign-out of everybody': ({ user }) => {
        const stamp = machineStamp(service.now())
        return service.db.write('signOutUsers', { afterId: user.id - 1, limit: 1, stamp })
      },
      'the removal of a passkey': ({ user, passkey }) => asOwner(user, `/v1/auth/passkeys/${passkey}`),
      'the removal of a passkey by an administrator': ({ user, passkey }) =>
        asAdministrator(`/v1/users/${user.id}/passkeys/${passkey}`),
      'the same password again, set by an operator': ({ user }) => setPassword(service, user),
      'disabling, though the account is enabled again': async ({ user }) => {
        await setEnabled(service, user, false)
        await setEnabled(service, user, true)
      },
    }
    for (const [name, end] of Object.entries(ends)) {
      it(name, async () => {
        const request = await asked()
        await end(request)
        assertProblem(await use(request.token, request.user), 404, 'link-not-found')
      })
    }

    it('the second use of a refresh token of the sign-in that asked', async () => {
      const { user, email } = await person()
      const { accessToken, refreshToken } = await tokenPair(service, user)
      const token = await tokenFor(service.client().withBearer(accessToken), email)
      for (const status of [200, 401]) assert.equal((await refresh(service, refreshToken)).status, status)
      assertProblem(await use(token, user), 404, 'link-not-found')
    })

    it('but not after a sign-out, the expiry of a session, or a new sign-in', async () => {
      const { user, caller, token } = await asked()
      await signIn(service, user)
      await caller.post('/v1/auth/session/logout')
      service.advance(9 * hour)
      await removeExpired(service, 200)
      assert.equal((await use(token, user)).status, 204)
    })
  })

  it('cannot be asked for by a caller who was thrown out, though an instance still knows them', async () => {
    const { user, email } = await person()
    const caller = await bearerOf(service, user)
    assert.equal((await caller.get('/v1/auth/me')).status, 200)
    await service.db.write('signOutUser', { account: user.account, stamp: machineStamp(service.now()) })
    assertProblem(await ask(caller, email), 401, 'authentication-required')
    assert.deepEqual(await mailsNow(), [])
  })

  it('accepts exactly one of five simultaneous uses', async () => {
    const { user, caller, email } = await person()
    const token = await tokenFor(caller, email)
    const answers = await Promise.all(Array.from({ length: 5 }, () => use(token, user)))
    assert.equal(answers.filter(({ status }) => status === 204).length, 1)
    assert.equal(answers.filter(({ status }) => status === 404).length, 4)
  })

  it('answers the same for an address that is taken, and refuses it only at the link', async () => {
    const { user, caller } = await person()
    const { user: other } = await person()
    const token = await tokenFor(caller, other.email)
    assertProblem(await use(token, user), 409, 'email-taken')
    assert.equal(await emailOf(caller), user.email)
    const admin = await newAdministrator(service)
    await admin.caller.patch(`/v1/users/${other.id}`, { email: `moved-${other.email}` })
    assert.equal((await use(token, user)).status, 204)
  })

  it('gives an address that two people confirm at once to one of them', async () => {
    const people = await Promise.all([person(), person()])
    const email = `both-${people[0].email}`
    const tokens = [await tokenFor(people[0].caller, email), await tokenFor(people[1].caller, email)]
    const answers = await Promise.all(
      tokens.map((token, index) => use(token, people[index === 0 ? 0 : 1].user)),
    )
    assert.deepEqual(answers.map(({ status }) => status).sort(), [204, 409])
  })

  it('mails an account at most three times an hour', async () => {
    const { user, caller, email } = await person()
    for (let sent = 0; sent < 2; sent += 1) await tokenFor(caller, `${sent}${email}`)
    const last = await tokenFor(caller, email)
    await ask(caller, email)
    assert.deepEqual(await mailsNow(), [])
    assert.equal((await use(last, user)).status, 204)
  })

  it('ends the link even if the request that replaces it is not mailed', async () => {
    const other = await person()
    const theirs = await tokenFor(other.caller, other.email)
    const { user, caller, email } = await person()
    service.advance(2 * minute)
    for (let sent = 0; sent < 2; sent += 1) await tokenFor(caller, `${sent}${email}`)
    const last = await tokenFor(caller, email)
    await ask(caller, user.email)
    assert.deepEqual(await mailsNow(), [])
    assertProblem(await use(last, user), 404, 'link-not-found')
    assert.equal((await use(theirs, other.user)).status, 204)
    // Those mails were sent by a clock that was ahead.
    service.advance(-2 * minute)
    await tokenFor(caller, email)
  })

  it('mails it no more often if the requests come faster than mail is sent', async () => {
    const mailedAfter = async (...names: string[]) => {
      const { user, caller, email } = await person()
      for (const name of names) await ask(caller, `${name}-${email}`)
      const to = (await mailsNow()).flatMap((mail) => mail.to)
      return to.map((one) => (one === user.email ? 'old' : one.replace(`-${email}`, ''))).sort()
    }
    // The link goes to the last address that the mails to the old one name, or to none.
    assert.deepEqual(await mailedAfter('a', 'b', 'c', 'c', 'c'), ['c', 'old', 'old', 'old'])
    assert.deepEqual(await mailedAfter('a', 'b', 'c', 'd'), ['old', 'old', 'old'])
  })

  it('mails also the link of a request that comes while an older link is on its way', async (t) => {
    const { user, caller, email } = await person()
    const slow = await startMailServer({
      disabledCommands: ['AUTH', 'STARTTLS'],
      onRcptTo({ address }, _session, done) {
        const between = address === `1${email}` ? ask(caller, email) : Promise.resolve()
        between.then(() => done())
      },
    })
    t.after(() => slow.close())
    await ask(caller, `1${email}`)
    await postOf(service, slow).sendAll()
    const links = slow.received().filter((mail) => tokenIn(mail) !== '')
    for (const mail of links) noteSecret(tokenIn(mail))
    assert.deepEqual(
      links.map(({ to: [to] }) => to),
      [`1${email}`, email],
    )
    assert.equal((await use(tokenIn(links[1] ?? { text: '' }), user)).status, 204)
  })

  it('mails the link of a request although an older link could not be sent for more than a day', async () => {
    const { user, email } = await person()
    const askAnew = async (address: string) => ask(await signIn(service, user), address)
    server.refusal = 450
    for (const address of [`1${email}`, `2${email}`]) {
      await askAnew(address)
      for (let hours = 0; hours < 20; hours += 1 / 4) {
        service.advance(hour / 4)
        await post.sendAll()
      }
    }
    server.refusal = 0
    await askAnew(email)
    service.advance(minute)
    const links = (await mailsNow()).filter((mail) => tokenIn(mail) !== '')
    assert.deepEqual(links[0]?.to, [email])
  })

  it('needs a person who signed in lately', async () => {
    const { user, caller, email } = await person()
    assertProblem(await ask(service.client(), email), 401, 'authentication-required')
    assertProblem(await ask(await service.bearer('demo-service'), email), 403, 'not-for-services')
    await newPasskey(service, user)
    service.advance(6 * minute)
    assertProblem(await ask(caller, email), 403, 'recent-sign-in-needed')
  })

  it('rejects what is no email', async () => {
    const { caller } = await person()
    for (const email of [undefined, 1, '', 'jo', '@', 'a@b@c'])
      assertProblem(await caller.send('PUT', '/v1/auth/email', { email }), 400, 'validation-failed')
  })
})

describe('changeEmail without a mail server', () => {
  const service = testService()

  it('is refused, and a change by an administrator queues no mail', async () => {
    const user: TestUser = await newUser(service)
    const caller = await signIn(service, user)
    assertProblem(
      await caller.send('PUT', '/v1/auth/email', { email: 'new@example.com' }),
      409,
      'mail-unavailable',
    )
    const admin = await newAdministrator(service)
    await admin.caller.patch(`/v1/users/${user.id}`, { email: `moved-${user.email}` })
    const queued = service.db.read.selectFrom('mails').selectAll().where('recipient', '=', user.email)
    assert.deepEqual(await queued.execute(), [])
  })
})

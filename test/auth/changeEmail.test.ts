import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { sha256 } from '../../server/ids.ts'
import { newUser, setEnabled, signIn, type TestUser } from '../support/accounts.ts'
import { accountEvents, newAdministrator } from '../support/administration.ts'
import type { Client } from '../support/client.ts'
import { noteSecret } from '../support/discretion.ts'
import { seal } from '../support/log.ts'
import { type MailServer, mailSettings, postOf, startMailServer, tokenIn } from '../support/mail.ts'
import { newPasskey } from '../support/passkeys.ts'
import { assertProblem } from '../support/problem.ts'
import { testService } from '../support/service.ts'

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
  const use = (token: string) => service.client().post('/v1/auth/email/use', { token })
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
  /** The token of the only mail, which went to the address. */
  const tokenFor = async (caller: Client, email: string) => {
    assert.equal((await ask(caller, email)).status, 202)
    const mails = await mailsNow()
    assert.deepEqual(
      mails.map(({ to }) => to),
      [[email]],
    )
    return tokenIn(mails[0] ?? { text: '' })
  }
  const emailOf = async (caller: Client) => (await caller.get('/v1/auth/me/account')).body.email

  it('changes nothing before the link is used, then the email, once, with an event', async () => {
    const { user, caller, email } = await person()
    const answer = await ask(caller, email.toUpperCase())
    assert.deepEqual([answer.status, answer.text], [202, ''])
    const [mail, ...others] = await mailsNow()
    assert.ok(mail && others.length === 0)
    assert.deepEqual(mail.to, [email])
    assert.equal(mail.headers.subject, 'Confirm your new email for Countersign')
    const token = tokenIn(mail)
    assert.equal(await emailOf(caller), user.email)
    const count = (await accountEvents(service, user.id)).length

    assert.equal((await use(token)).status, 204)
    assert.equal(await emailOf(caller), email)
    assert.deepEqual((await accountEvents(service, user.id)).slice(count), [
      { kind: 'user-changed', byId: user.id, data: { name: user.userName, email: 'changed' } },
    ])
    const given = { password: user.password }
    assert.equal((await service.client().post('/v1/auth/token', { ...given, email })).status, 200)
    const old = await service.client().post('/v1/auth/token', { ...given, email: user.email })
    assertProblem(old, 401, 'invalid-credentials')
    assertProblem(await use(token), 404, 'link-not-found')
    assert.ok(!JSON.stringify(await service.log()).includes(email))
  })

  it('mails the old address that it was changed, and when', async () => {
    const { user, caller, email } = await person()
    await use(await tokenFor(caller, email))
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

  it('mails each old address, however fast the next change follows', async () => {
    const { user, caller, email } = await person()
    const admin = await newAdministrator(service)
    await use(await tokenFor(caller, email))
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
    assertProblem(await use(tokenIn(forgotten ?? { text: '' })), 404, 'link-not-found')
    assert.equal((await use(token)).status, 204)
  })

  it('voids the link that was mailed to the old address for a forgotten password', async () => {
    const { user, caller, email } = await person()
    await service.client().post('/v1/auth/links', { email: user.email })
    const [forgotten] = await mailsNow()
    await use(await tokenFor(caller, email))
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
    await use(await tokenFor(caller, email))
    for (const each of [caller, other]) assert.equal((await each.get('/v1/auth/me')).status, 200)
  })

  describe('ends the link', () => {
    it('with a newer request, whose address alone is mailed', async () => {
      const { caller, email } = await person()
      const first = await tokenFor(caller, email)
      await ask(caller, `second-${email}`)
      assertProblem(await use(first), 404, 'link-not-found')
      const second = await tokenFor(caller, `third-${email}`)
      assert.equal((await use(second)).status, 204)
      assert.equal(await emailOf(caller), `third-${email}`)
    })

    it('after 24 hours', async () => {
      const { caller, email } = await person()
      const token = await tokenFor(caller, email)
      service.advance(24 * hour)
      assertProblem(await use(token), 404, 'link-not-found')
    })

    it('with a new password, before and after it is mailed', async () => {
      const { user, caller, email } = await person()
      const token = await tokenFor(caller, email)
      await ask(caller, email)
      const body = { currentPassword: user.password, newPassword }
      assert.equal((await caller.post('/v1/auth/password', body)).status, 204)
      assert.deepEqual(await mailsNow(), [])
      assertProblem(await use(token), 404, 'link-not-found')
    })

    it('with the account', async () => {
      const { user, caller, email } = await person()
      const token = await tokenFor(caller, email)
      await setEnabled(service, user, false)
      assertProblem(await use(token), 404, 'link-not-found')
    })
  })

  it('accepts exactly one of twenty simultaneous uses', async () => {
    const { caller, email } = await person()
    const token = await tokenFor(caller, email)
    const answers = await Promise.all(Array.from({ length: 20 }, () => use(token)))
    assert.equal(answers.filter(({ status }) => status === 204).length, 1)
    assert.equal(answers.filter(({ status }) => status === 404).length, 19)
  })

  it('answers the same for an address that is taken, and refuses it only at the link', async () => {
    const { user, caller } = await person()
    const { user: other } = await person()
    const token = await tokenFor(caller, other.email)
    assertProblem(await use(token), 409, 'email-taken')
    assert.equal(await emailOf(caller), user.email)
    const admin = await newAdministrator(service)
    await admin.caller.patch(`/v1/users/${other.id}`, { email: `moved-${other.email}` })
    assert.equal((await use(token)).status, 204)
  })

  it('gives an address that two people confirm at once to one of them', async () => {
    const people = await Promise.all([person(), person()])
    const email = `both-${people[0].email}`
    const tokens = [await tokenFor(people[0].caller, email), await tokenFor(people[1].caller, email)]
    const answers = await Promise.all(tokens.map(use))
    assert.deepEqual(answers.map(({ status }) => status).sort(), [204, 409])
  })

  it('mails an account at most three times an hour', async () => {
    const { caller, email } = await person()
    for (let sent = 0; sent < 3; sent += 1) await tokenFor(caller, `${sent}${email}`)
    await ask(caller, email)
    assert.deepEqual(await mailsNow(), [])
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

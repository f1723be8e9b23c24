// engine: both
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { emailAsked, emailMoved } from '../../server/auth/credentials/changed.ts'
import { machineStamp } from '../../server/caller/stamp.ts'
import type { MailKind } from '../../server/mail/mail.ts'
import { openAppDatabase } from '../../server/operations.ts'
import { newUser, setEnabled, signIn, type TestUser } from '../support/accounts.ts'
import { accountEvents, newAdministrator } from '../support/administration.ts'
import type { Client } from '../support/client.ts'
import { noteSecret } from '../support/discretion.ts'
import { seal } from '../support/log.ts'
import { type MailServer, mailSettings, postOf, startMailServer, tokenIn } from '../support/mail.ts'
import { newPasskey, signInByPasskey } from '../support/passkeys.ts'
import { assertProblem } from '../support/problem.ts'
import { publicUrl, testService } from '../support/service.ts'

const newPassword = 'seven grey herons by the weir'
const hour = 3_600_000

describe('mail that follows the log', () => {
  const service = testService({ env: mailSettings })
  let server: MailServer
  let post: ReturnType<typeof postOf>
  let admin: { user: TestUser; caller: Client }
  before(async () => {
    server = await startMailServer()
    post = postOf(service, server)
    await seal(service.db)
    await post.sendAll()
  })
  beforeEach(async () => {
    admin = await newAdministrator(service)
  })
  after(() => server.close())

  /** The mails to the user after all that has happened, as text in one line. */
  const mailsTo = async ({ email }: Pick<TestUser, 'email'>) => {
    await seal(service.db)
    await post.sendAll()
    const mails = server.received()
    for (const mail of mails) noteSecret(tokenIn(mail))
    return mails.filter(({ to }) => to.includes(email))
  }
  const textsTo = async (user: Pick<TestUser, 'email'>) =>
    (await mailsTo(user)).map(({ text }) => text.replaceAll('\n', ' '))
  const newMailFor = async (user: TestUser) => {
    const [text = '', ...others] = await textsTo(user)
    assert.deepEqual(others, [])
    return text
  }
  const makeLink = ({ id }: TestUser) => admin.caller.post(`/v1/users/${id}/links`)
  const use = (token: string) => service.client().post('/v1/auth/links/use', { token, newPassword })

  it('begins with what happens from then on', () => {
    assert.deepEqual(server.received(), [])
  })

  describe('says that a credential was changed', () => {
    it('by the user, with the time in the zone of the user', async () => {
      const user = await newUser(service)
      const changes = {
        userName: null,
        email: null,
        timeZone: { value: 'Asia/Tokyo' },
        roles: null,
        enabled: null,
      }
      const stamp = machineStamp(service.now())
      await service.db.write('changeUser', { id: user.id, acceptedVersions: null, changes, stamp })
      assert.deepEqual(await textsTo(user), [])
      const browser = await signIn(service, user)
      assert.equal(
        (await browser.post('/v1/auth/password', { currentPassword: user.password, newPassword })).status,
        204,
      )
      const moment = new Date(service.now() + 9 * hour).toISOString().slice(11, 16)
      const text = await newMailFor(user)
      assert.match(
        text,
        /^Hello user-\w+, {2}The password of your account was changed\. {2}It happened on \d/,
      )
      assert.ok(text.includes(` at ${moment} (Asia/Tokyo).`), text)
    })

    it('by someone else, and names them', async () => {
      const user = await newUser(service)
      await service.db.write('setPassword', {
        account: user.account,
        passwordHash: 'x',
        stamp: machineStamp(service.now()),
      })
      assert.match(await newMailFor(user), /A new password was set.*\(Europe\/Berlin\) by an operator\./)
      const email = `moved-${user.email}`
      assert.equal((await admin.caller.patch(`/v1/users/${user.id}`, { email })).status, 204)
      const text = await newMailFor({ ...user, email })
      assert.match(text, new RegExp(`email of your account was changed.* by ${admin.user.userName}\\.`))
    })

    it('for each passkey that is added or removed', async () => {
      const user = await newUser(service)
      const passkeys = [await newPasskey(service, user), await newPasskey(service, user)] as const
      assert.deepEqual(
        (await textsTo(user)).map((text) => /The passkey “Phone” was added/.test(text)),
        [true, true],
      )
      const browser = await signInByPasskey(service, passkeys[0])
      assert.equal((await browser.send('DELETE', `/v1/auth/passkeys/${passkeys[1].id}`)).status, 204)
      assert.match(await newMailFor(user), /A passkey was removed/)
      assert.equal((await browser.send('DELETE', '/v1/auth/password')).status, 204)
      assert.match(await newMailFor(user), /password of your account was removed/)
    })

    it('but not to a disabled account, and not about other changes', async () => {
      const user = await newUser(service)
      const { caller } = admin
      assert.equal((await caller.patch(`/v1/users/${user.id}`, { roles: ['Viewer'] })).status, 204)
      const browser = await signIn(service, user)
      assert.equal(
        (await browser.post('/v1/auth/password', { currentPassword: user.password, newPassword })).status,
        204,
      )
      await setEnabled(service, user, false)
      assert.deepEqual(await textsTo(user), [])
    })
  })

  describe('mails the link of an administrator', () => {
    it('to the user, as a second link: each works until one is used', async () => {
      const user = await newUser(service)
      const shown = tokenIn({ text: (await makeLink(user)).body.link })
      const [mail] = await mailsTo(user)
      assert.ok(mail)
      assert.match(mail.text, new RegExp(`^Hello ${user.userName},\n\n${admin.user.userName} made a link`))
      const token = tokenIn(mail)
      assert.notEqual(token, shown)
      assert.equal((await use(token)).status, 204)
      assertProblem(await use(shown), 404, 'link-not-found')
      const event = (await accountEvents(service, user.id)).at(-1)
      assert.deepEqual(event, {
        kind: 'link-used',
        byId: user.id,
        data: { name: user.userName, mailed: true },
      })
      assert.match(await newMailFor(user), /set by a link that was mailed to you/)
      await newPasskey(service, { credentials: { email: user.email, password: newPassword } })
      const added = (await accountEvents(service, user.id)).at(-1)
      assert.deepEqual(added?.data.passkey.restedOn, { password: 'set', passwordSetBy: admin.user.id })
      assert.equal(added?.data.passwordSetBy, admin.user.userName)
    })

    it('as an invitation to an account that has no password', async () => {
      const userName = `invited-${Math.floor(service.now())}`
      const email = `${userName}@example.com`
      const { body } = await admin.caller.post('/v1/users', { userName, email, roles: ['Viewer'] })
      await makeLink({ id: body.id } as TestUser)
      const [mail] = await mailsTo({ email })
      assert.equal(mail?.headers.subject, 'Your account at Countersign')
      assert.match(mail?.text ?? '', new RegExp(`${admin.user.userName} invited you to Countersign`))
      assert.equal((await use(tokenIn(mail ?? { text: '' }))).status, 204)
      const { data } = (await accountEvents(service, body.id)).at(-1) ?? assert.fail()
      assert.deepEqual(data, { name: userName, mailed: true, first: true })
      assert.deepEqual(await mailsTo({ email }), [])
    })

    it('is no news if a person uses the link of an invitation that was shown', async () => {
      const userName = `invited-${Math.floor(service.now())}-b`
      const email = `${userName}@example.com`
      const { body } = await admin.caller.post('/v1/users', { userName, email, roles: ['Viewer'] })
      const shown = tokenIn({ text: (await makeLink({ id: body.id } as TestUser)).body.link })
      await mailsTo({ email })
      assert.equal((await use(shown)).status, 204)
      assert.deepEqual(await mailsTo({ email }), [])
    })

    it('ends with the link that was shown, and never later', async () => {
      const user = await newUser(service)
      await makeLink(user)
      server.refusal = 451
      assert.deepEqual(await textsTo(user), [])
      server.refusal = 0
      service.advance(23 * hour)
      const [mail] = await mailsTo(user)
      service.advance(hour)
      assertProblem(await use(tokenIn(mail ?? { text: '' })), 404, 'link-not-found')
    })

    it('only while the link that was shown works', async () => {
      const used = await newUser(service)
      const shown = tokenIn({ text: (await makeLink(used)).body.link })
      assert.equal((await use(shown)).status, 204)
      assert.deepEqual(
        (await textsTo(used)).filter((text) => text.includes('/link#')),
        [],
      )
    })

    it('not to an account with a passkey, which no mail can replace', async () => {
      const user = await newUser(service)
      await newPasskey(service, user)
      assert.equal((await textsTo(user)).length, 1)
      assert.equal((await makeLink(user)).status, 201)
      assert.deepEqual(await textsTo(user), [])
    })
  })

  it('looks at each event once, on any number of instances', async () => {
    const users = await Promise.all(Array.from({ length: 12 }, () => newUser(service)))
    for (const user of users) await makeLink(user)
    await seal(service.db)
    const db = await openAppDatabase({ databaseUrl: service.databaseUrl })
    const other = postOf({ db, now: service.now }, server)
    await Promise.all([post.sendAll(), other.sendAll()])
    await db.close()
    const mails = server.received()
    for (const mail of mails) noteSecret(tokenIn(mail))
    assert.deepEqual(mails.flatMap(({ to }) => to).sort(), users.map(({ email }) => email).sort())
  })

  it('mails nothing that is older than a day', async () => {
    const user = await newUser(service)
    await service.db.write('setPassword', {
      account: user.account,
      passwordHash: 'x',
      stamp: machineStamp(service.now()),
    })
    await seal(service.db)
    service.advance(24 * hour)
    await nextTurn()
    assert.deepEqual(await textsTo(user), [])
  })

  it('goes to an address on the day of the change, while the account is enabled', async () => {
    const user = await newUser(service)
    const { db, now: clock } = service
    const parts = { db, clock, publicUrl: () => publicUrl, defaultTimeZone: 'UTC' }
    const areSent = (ago: number) => {
      const about = JSON.stringify({ principalId: user.id, at: clock() - ago, newEmail: 'new@example.com' })
      const sent = async ({ write }: MailKind) =>
        (await write(parts, { recipient: user.email, about })) !== undefined
      return Promise.all([emailMoved, emailAsked].map(sent))
    }
    assert.deepEqual(
      [await areSent(23 * hour), await areSent(24 * hour)],
      [
        [true, true],
        [false, false],
      ],
    )
    await setEnabled(service, user, false)
    assert.deepEqual(await areSent(0), [false, false])
  })
})

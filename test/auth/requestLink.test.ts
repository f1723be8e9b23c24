// engine: both
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { machineStamp } from '../../server/caller/stamp.ts'
import { sha256 } from '../../server/ids.ts'
import {
  everyCredentialOf,
  liveCredentials,
  newLink,
  newUser,
  setEnabled,
  signIn,
  type TestUser,
  unknownEmail,
} from '../support/accounts.ts'
import { accountEvents } from '../support/administration.ts'
import { withRawDatabase } from '../support/database.ts'
import { noteSecret } from '../support/discretion.ts'
import { type MailServer, mailSettings, postOf, startMailServer, tokenIn } from '../support/mail.ts'
import { atNext } from '../support/moments.ts'
import { newPasskey, signInByPasskey } from '../support/passkeys.ts'
import { assertProblem } from '../support/problem.ts'
import { testService } from '../support/service.ts'
import { removeExpired } from '../support/upkeep.ts'

const newPassword = 'seven grey herons by the weir'
const hour = 3_600_000

describe('requestLink', () => {
  const service = testService({ env: mailSettings })
  let server: MailServer
  let post: ReturnType<typeof postOf>
  before(async () => {
    server = await startMailServer()
    post = postOf(service, server)
  })
  after(() => server.close())
  const ask = (email: string) => service.client().post('/v1/auth/links', { email })
  const mailsAfter = async (...emails: string[]) => {
    for (const email of emails) assert.equal((await ask(email)).status, 204)
    await post.sendAll()
    return server.received()
  }
  /** The token of the mail that follows. */
  const askForToken = async ({ email }: TestUser) => {
    const [mail] = await mailsAfter(email)
    assert.ok(mail)
    const token = tokenIn(mail)
    noteSecret(token)
    return token
  }
  const use = (token: string) => service.client().post('/v1/auth/links/use', { token, newPassword })
  const waiting = () => service.db.read.selectFrom('mails').selectAll().where('sent_at', 'is', null).execute()

  describe('succeeds', () => {
    it('answers 204, and mails a link by which the user sets a new password', async () => {
      const user = await newUser(service)
      const answer = await ask(user.email.toUpperCase())
      assert.deepEqual([answer.status, answer.text], [204, ''])
      const [mail, ...others] = await mailsAfter()
      assert.ok(mail && others.length === 0)
      assert.deepEqual([mail.from, mail.to], ['orders@example.com', [user.email]])
      assert.deepEqual([mail.headers.from, mail.headers.to], ['Orders <orders@example.com>', user.email])
      assert.equal(mail.headers.subject, 'Set a new password for Countersign')
      assert.equal(mail.headers['auto-submitted'], 'auto-generated')
      assert.match(mail.text, new RegExp(`^Hello ${user.userName},`))
      const token = tokenIn(mail)
      noteSecret(token)
      assert.ok(mail.html.includes(`/link#token=${token}&amp;email=${encodeURIComponent(user.email)}"`))
      const before = await everyCredentialOf(service, user)
      assert.equal((await use(token)).status, 204)
      assert.deepEqual(await liveCredentials(service, user), { sessions: 0, families: 0 })
      assertProblem(await before.browser.get('/v1/auth/me'), 401, 'authentication-required')
      const credentials = { email: user.email, password: newPassword }
      assert.equal((await service.client().post('/v1/auth/token', credentials)).status, 200)
      assertProblem(await use(token), 404, 'link-not-found')
    })

    it('leaves an event once the link is used, and none before', async () => {
      const user = await newUser(service)
      const count = (await accountEvents(service, user.id)).length
      const token = await askForToken(user)
      assert.equal((await accountEvents(service, user.id)).length, count)
      await use(token)
      const data = { name: user.userName, mailed: true }
      assert.deepEqual((await accountEvents(service, user.id)).slice(count), [
        { kind: 'link-used', byId: user.id, data },
      ])
    })

    it('says in a passkey added afterwards that a mailed link had set the password', async () => {
      const user = await newUser(service)
      await use(await askForToken(user))
      await newPasskey(service, { credentials: { email: user.email, password: newPassword } })
      const added = (await accountEvents(service, user.id)).at(-1)
      assert.deepEqual(added?.data.passkey.restedOn, { password: 'mailed' })
    })

    it('stores the hash of the token before it mails the link, and the token nowhere', async (t) => {
      const user = await newUser(service)
      await ask(user.email)
      let stored: string | undefined
      const { smtp } = post.post.parts
      t.mock.method(smtp, 'send', async ({ message }: Parameters<typeof smtp.send>[0]) => {
        const token = tokenIn({ text: JSON.stringify(message).replaceAll('"', '\n') })
        const link = await service.db.read
          .selectFrom('one_time_links')
          .selectAll()
          .where('token_hash', '=', sha256(token))
          .executeTakeFirstOrThrow()
        stored = JSON.stringify([link, await waiting()])
        assert.ok(!stored.includes(token))
      })
      await post.sendAll()
      assert.match(stored ?? '', /"kind":"forgotten"/)
    })
  })

  it('answers the same for an address without an account, which leaves nothing behind', async () => {
    const user = await newUser(service)
    const [known, unknown] = [await ask(user.email), await ask(unknownEmail())]
    const headersOf = ({ headers }: typeof known) =>
      [...headers].filter(([name]) => !/^(?:x-request-id|date|ratelimit)/.test(name))
    assert.deepEqual([unknown.status, unknown.text], [known.status, known.text])
    assert.deepEqual(headersOf(unknown), headersOf(known))
    assert.equal((await mailsAfter()).length, 1)
    assert.deepEqual(await waiting(), [])
    const log = JSON.stringify(await service.log())
    assert.ok(!log.includes('nobody-') && !log.includes(user.email))
    assert.ok(!JSON.stringify(post.said()).includes('@'))
  })

  it('queues an address once until its mail is sent', async () => {
    const email = unknownEmail()
    await Promise.all(Array.from({ length: 20 }, () => ask(email)))
    assert.deepEqual(
      (await waiting()).map(({ recipient }) => recipient),
      [email],
    )
    await mailsAfter()
  })

  it('mails once what is asked for again while the mail is written or sent, and later once more', async (t) => {
    const user = await newUser(service)
    for (const [part, method] of [
      [service.db, ['write', 'claimMail']],
      [post.post.parts.smtp, ['send']],
      [service.db, ['write', 'noteSentMail']],
    ] as const) {
      atNext(t, part as never, method as never, async (go) => {
        assert.equal((await ask(user.email)).status, 204)
        await post.queueAll()
        return go()
      })
      assert.equal((await mailsAfter(user.email)).length, 1, method.join())
      assert.deepEqual(await waiting(), [])
    }
  })

  it('keeps at most 10,000 requests, until it has sorted them', async () => {
    const row = { kind: 'link-requested', about: '', queued_at: 0, due_at: 0, attempts: 0 }
    await withRawDatabase(service.databaseUrl, async (trx) => {
      for (let from = 0; from < 10_000; from += 500) {
        const rows = Array.from({ length: 500 }, (_, index) => ({
          ...row,
          recipient: `f${from + index}@x.y`,
        }))
        await trx.insertInto('mails').values(rows).execute()
      }
    })
    const user = await newUser(service)
    assert.deepEqual(await mailsAfter(user.email), [])
    assert.deepEqual(await waiting(), [])
    assert.equal((await mailsAfter(user.email)).length, 1)
    // Otherwise they are due when a later test moves the clock.
    await withRawDatabase(service.databaseUrl, (trx) =>
      trx.deleteFrom('mails').where('recipient', 'like', 'f%@x.y').execute(),
    )
  })

  it('mails an account at most three times an hour', async () => {
    const user = await newUser(service)
    for (let sent = 0; sent < 3; sent += 1) assert.equal((await mailsAfter(user.email)).length, 1)
    service.advance(hour - 1)
    assert.deepEqual(await mailsAfter(user.email), [])
    service.advance(1)
    await removeExpired(service, 200)
    assert.equal((await mailsAfter(user.email)).length, 1)
  })

  describe('sends no link', () => {
    const newMail = async (user: TestUser) => {
      const [mail] = await mailsAfter(user.email)
      assert.ok(mail)
      assert.ok(!mail.raw.includes('/link'))
      return mail.text.replaceAll('\n', ' ')
    }

    it('to an account with a passkey: it says how to sign in, and whom to ask', async () => {
      const user = await newUser(service)
      await newPasskey(service, user)
      assert.match(await newMail(user), /signs in with a passkey.* ask an administrator: admin,/)
      const links = service.db.read
        .selectFrom('one_time_links')
        .selectAll()
        .where('principal_id', '=', user.id)
      assert.deepEqual(await links.execute(), [])
    })

    it('to an account without a password', async () => {
      const stamp = machineStamp(service.now())
      const userName = `u${Math.floor(service.now())}`
      const email = `${userName}@example.com`
      const user = { userName, email, passwordHash: null, timeZone: null, roles: [], stamp }
      const { id } = await service.db.write('addUser', user)
      assert.match(await newMail({ email } as TestUser), /has no password yet.* ask an administrator: admin,/)
      const linked = { issuer: 'https://login.example.com', subject: userName, linked_at: 1 }
      await withRawDatabase(service.databaseUrl, (db) =>
        db
          .insertInto('company_accounts')
          .values({ principal_id: id, ...linked })
          .execute(),
      )
      assert.match(await newMail({ email } as TestUser), /you sign in with your company account.*ask an/)
    })

    it('and nothing at all to a disabled one', async () => {
      const user = await newUser(service)
      await setEnabled(service, user, false)
      assert.deepEqual(await mailsAfter(user.email), [])
      assert.deepEqual(await waiting(), [])
    })
  })

  describe('voids', () => {
    it('the previous mailed link, and none of an administrator', async () => {
      const user = await newUser(service)
      const byAdministrator = await newLink(service, user)
      const first = await askForToken(user)
      const second = await askForToken(user)
      assertProblem(await use(first), 404, 'link-not-found')
      assert.equal((await use(byAdministrator)).status, 204)
      assertProblem(await use(second), 404, 'link-not-found')
    })

    it('while a link of an administrator voids a mailed one', async () => {
      const user = await newUser(service)
      const mailed = await askForToken(user)
      await newLink(service, user)
      assertProblem(await use(mailed), 404, 'link-not-found')
    })

    it('while adding a passkey does too', async () => {
      const user = await newUser(service)
      const mailed = await askForToken(user)
      const passkey = await newPasskey(service, user)
      assertProblem(await use(mailed), 404, 'link-not-found')
      assert.equal((await (await signInByPasskey(service, passkey)).get('/v1/auth/me')).status, 200)
      assert.equal((await (await signIn(service, user)).get('/v1/auth/me')).status, 200)
    })
  })

  it('rejects what is no email', async () => {
    for (const email of [undefined, 1, '', 'jo', '@', 'jo@', 'a@b@c', `jo@${'x'.repeat(260)}`]) {
      const answer = await service.client().post('/v1/auth/links', { email })
      assertProblem(answer, 400, 'validation-failed')
    }
  })
})

describe('requestLink without a mail server', () => {
  const service = testService()

  it('is refused', async () => {
    const answer = await service.client().post('/v1/auth/links', { email: 'admin@example.com' })
    assertProblem(answer, 409, 'mail-unavailable')
  })
})

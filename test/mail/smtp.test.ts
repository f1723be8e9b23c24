// engine: none
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { SMTPServerOptions } from 'smtp-server'
import { isRefusal, reasonOf, Smtp, Unmailable } from '../../server/mail/smtp.ts'
import { type Resolve, systemNames } from '../../server/names.ts'
import type { Sender } from '../../server/setting.ts'
import { certificate } from '../support/certificate.ts'
import { type MailServer, startMailServer } from '../support/mail.ts'

type T = { after(hook: () => unknown): void }

const message = {
  subject: 'Über Maße — and a subject that is too long for one line of a header, which has 76 columns',
  blocks: ['Grüße.', { link: 'https://orders.example.com/x', label: 'Open' }],
  reason: 'Because.',
}
const nowMilliseconds = Date.UTC(2026, 10, 28, 4, 5, 6)
const sender = { name: 'Orders', address: 'orders@example.com' }

async function started(t: T, options?: SMTPServerOptions): Promise<MailServer> {
  const server = await startMailServer(options)
  t.after(() => server.close())
  return server
}

function smtpTo(
  t: T,
  server: MailServer['server'],
  {
    from = sender,
    tls = {},
    resolve = systemNames(),
  }: { from?: Sender; tls?: object; resolve?: Resolve } = {},
) {
  const smtp = new Smtp(server, from, resolve, tls)
  t.after(() => smtp.close())
  return (email: string, settings?: string) =>
    smtp.send({
      email,
      message: settings === undefined ? message : { ...message, settings },
      nowMilliseconds,
    })
}

describe('Smtp', () => {
  it('sends text and HTML, with a date and a sender, and encodes what is not ASCII', async (t) => {
    const server = await started(t)
    await smtpTo(t, server.server, { from: { name: 'Müller, "Söhne"', address: 'a@example.com' } })(
      'jo@example.com',
    )
    const [mail] = server.received()
    assert.ok(mail)
    assert.match(mail.raw, /^[\x20-\x7e\r\n\t]*$/)
    assert.equal(mail.headers.subject, message.subject)
    assert.equal(mail.headers.from, 'Müller, "Söhne" <a@example.com>')
    assert.equal(mail.headers.date, 'Sat, 28 Nov 2026 04:05:06 +0000')
    assert.equal(mail.headers['list-unsubscribe'], undefined)
    assert.match(mail.headers['content-type'] ?? '', /^multipart\/alternative/)
    assert.match(mail.text, /^Grüße\./)
    assert.match(mail.html, /<p>Grüße\.<\/p>/)
  })

  it('greets the server by the domain of the sender', async (t) => {
    const names: (string | false)[] = []
    const server = await started(t, {
      disabledCommands: ['AUTH', 'STARTTLS'],
      onMailFrom(_address, { hostNameAppearsAs }, done) {
        names.push(hostNameAppearsAs)
        done()
      },
    })
    for (const address of ['orders@mail.example.com', 'orders@bücher.example']) {
      await smtpTo(t, server.server, { from: { name: '', address } })('jo@example.com')
    }
    assert.deepEqual(names, ['mail.example.com', 'xn--bcher-kva.example'])
  })

  it('says in words why the server cannot be asked', async (t) => {
    const gone = await startMailServer()
    await gone.close()
    const reasonAt = async (server: MailServer['server']) => {
      const failed = smtpTo(t, server)('jo@example.com')
      return reasonOf(await failed.catch((error: unknown) => error))
    }
    assert.equal(await reasonAt(gone.server), 'it refused the connection (ECONNREFUSED)')
    const nowhere = { ...gone.server, host: 'nobody.invalid' }
    assert.match(await reasonAt(nowhere), /^its name has no address \(ENOTFOUND\)$|^no name server answered/)
    const secret = await started(t, {
      authOptional: false,
      disabledCommands: ['STARTTLS'],
      onAuth: (_auth, _session, done) => done(Object.assign(new Error('no'), { responseCode: 535 })),
    })
    const refused = { ...secret.server, user: 'a', password: 'b' }
    assert.equal(await reasonAt(refused), 'it refused the user or the password (535)')
  })

  it('does not look for the server in another way if the service finds none', async (t) => {
    const server = await started(t)
    const resolve = () => Promise.reject(Object.assign(new Error('no'), { code: 'ESERVFAIL' }))
    const failed = smtpTo(t, { ...server.server, host: 'localhost' }, { resolve })('jo@example.com')
    assert.equal(
      reasonOf(await failed.catch((error: unknown) => error)),
      'its name server failed (ESERVFAIL)',
    )
    assert.deepEqual(server.received(), [])
  })

  it('names the page that ends the mail in List-Unsubscribe', async (t) => {
    const server = await started(t)
    await smtpTo(t, server.server)('jo@example.com', 'https://orders.example.com/account#mail')
    const [mail] = server.received()
    assert.equal(mail?.headers['list-unsubscribe'], '<https://orders.example.com/account#mail>')
  })

  it('sends nothing to an address that could be more than one address, or a header', async (t) => {
    const server = await started(t)
    const send = smtpTo(t, server.server)
    for (const email of [
      'jo@example.com\r\nBcc: eve@example.com',
      'jo@example.com, eve@example.com',
      'jo@example.com,eve@example.com',
      '<jo@example.com>',
      'eve <jo@example.com>',
      '"jo eve"@example.com',
      'jo(eve)@example.com',
      'jo;eve@example.com',
      'group:jo@example.com;',
      'jo@[127.0.0.1]',
      'jo@exa mple.com',
      'jo@-.\\example.com',
      '@example.com',
    ]) {
      const failure = await send(email).catch((error: unknown) => error)
      // Then the mails of others are sent all the same.
      assert.ok(failure instanceof Unmailable && isRefusal(failure), email)
    }
    assert.deepEqual(server.received(), [])
    await send("o'neil+x.y=z@sub-domain.example.com")
    assert.deepEqual(server.received()[0]?.to, ["o'neil+x.y=z@sub-domain.example.com"])
  })

  it('can be sent a header by no name of the sender', async (t) => {
    const server = await started(t)
    const from = { name: 'Orders\r\nBcc: eve@example.com', address: 'orders@example.com' }
    await smtpTo(t, server.server, { from })('jo@example.com')
    const [mail] = server.received()
    assert.deepEqual([mail?.to, mail?.headers.bcc], [['jo@example.com'], undefined])
  })

  describe('over TLS', () => {
    const [key, cert] = certificate('/CN=localhost', 'subjectAltName=DNS:localhost')
    const signed = { key, cert, disabledCommands: ['AUTH'] }

    it('sends by smtps:, and with a user and a password', async (t) => {
      const signIns: unknown[] = []
      const server = await started(t, {
        key,
        cert,
        secure: true,
        onAuth({ username, password }, _session, done) {
          signIns.push([username, password])
          done(null, { user: username })
        },
      })
      const secure = { ...server.server, security: 'tls', user: 'a@b', password: 'p%' } as const
      await smtpTo(t, secure, { tls: { ca: cert, servername: 'localhost' } })('jo@example.com')
      assert.equal(server.received().length, 1)
      assert.deepEqual(signIns, [['a@b', 'p%']])
    })

    it('demands STARTTLS of smtp:', async (t) => {
      const server = await started(t, signed)
      const secure = { ...server.server, security: 'starttls' } as const
      await smtpTo(t, secure, { tls: { ca: cert, servername: 'localhost' } })('jo@example.com')
      assert.equal(server.received().length, 1)
      const without = await started(t)
      const send = smtpTo(t, { ...without.server, security: 'starttls' })
      await assert.rejects(send('jo@example.com'), (error) => {
        assert.match(reasonOf(error), /STARTTLS/)
        return true
      })
      assert.deepEqual(without.received(), [])
    })

    it('refuses a certificate that no known authority signed, or of another name', async (t) => {
      const server = await started(t, signed)
      for (const tls of [{ servername: 'localhost' }, { ca: cert, servername: 'mail.example.com' }]) {
        const send = smtpTo(t, { ...server.server, security: 'starttls' }, { tls })
        await assert.rejects(send('jo@example.com'), (error) => {
          assert.match(reasonOf(error), /self-signed|altnames/)
          return true
        })
      }
      assert.deepEqual(server.received(), [])
    })
  })
})

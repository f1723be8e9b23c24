import assert from 'node:assert/strict'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { describe, it } from 'node:test'
import { Client } from '../support/client.ts'
import { type ReceivedMail, startMailServer, tokenIn } from '../support/mail.ts'
import { freePort } from '../support/process.ts'
import { bearerOf, credentialsOf, newProduction, testProduction } from '../support/production.ts'
import { until } from '../support/stream.ts'

describe('a service with a mail server', () => {
  const production = testProduction()

  it('mails what it is asked for, and counts it', async (t) => {
    const server = await startMailServer()
    t.after(() => server.close())
    const port = await freePort()
    const env = {
      SMTP_URL: `smtp://127.0.0.1:${server.server.port}`,
      MAIL_FROM: 'Orders <orders@example.com>',
      METRICS_PORT: String(port),
    }
    const service = await production.serve(env)
    const ask = () => new Client(service.baseUrl).post('/v1/auth/links', { email: 'admin@example.com' })
    assert.equal((await ask()).status, 204)
    const mails: { text: string }[] = []
    await until(() => mails.push(...server.received()) > 0)
    assert.equal(tokenIn(mails[0] ?? { text: '' }).length, 43)
    const metrics = async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
    const sent = /^countersign_mail_attempts_total\{kind="forgotten-password",outcome="sent"\} 1$/m
    await until(async () => sent.test(await metrics()))
    const text = await metrics()
    assert.match(text, /^countersign_mail_waiting 0$/m)
    assert.match(text, /^countersign_mail_oldest_seconds 0$/m)
    const page = await (await fetch(`${service.baseUrl}/sign-in`)).text()
    assert.match(page, /<meta name="mail" content="on" \/>/)
    assert.equal(await service.stop(), 0)
  })

  it('mails about what happened right after its first start', async (t) => {
    const fresh = await newProduction()
    const server = await startMailServer()
    t.after(async () => {
      await server.close()
      await fresh.remove()
    })
    const env = {
      SMTP_URL: `smtp://127.0.0.1:${server.server.port}`,
      MAIL_FROM: 'Orders <orders@mail.example.com>',
      ORGANISATION_NAME: 'Acme & Sons',
    }
    const service = await fresh.serve(env)
    const { email, password } = credentialsOf('operator')
    const operator = await bearerOf(service.baseUrl, 'operator')
    const body = { currentPassword: password, newPassword: 'Quartz-lantern-4711-x' }
    const answer = await operator.post('/v1/auth/password', body)
    assert.equal(answer.status, 204, answer.text)
    const taken: ReceivedMail[] = []
    await until(() => taken.push(...server.received()) > 0)
    assert.deepEqual(taken[0]?.to, [email])
    assert.match(taken[0]?.text ?? '', /^Countersign at Acme & Sons\. You get this mail/m)
    assert.equal(await service.stop(), 0)
  })

  it('serves and ends while the mail server does not answer', async (t) => {
    const sockets = new Set<Socket>()
    const silent = createServer((socket) => void sockets.add(socket.on('error', () => undefined)))
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    t.after(() => {
      for (const socket of sockets) socket.destroy()
      silent.close()
    })
    const { port } = silent.address() as AddressInfo
    const env = { SMTP_URL: `smtp://127.0.0.1:${port}`, MAIL_FROM: 'orders@example.com' }
    const service = await production.serve(env)
    const caller = new Client(service.baseUrl)
    assert.equal((await caller.post('/v1/auth/links', { email: 'admin@example.com' })).status, 204)
    await until(() => sockets.size > 0)
    const admin = await bearerOf(service.baseUrl, 'admin')
    assert.equal((await admin.post('/v1/orders', { customer: 'Acme', total: 12.5 })).status, 201)
    assert.equal((await caller.get('/health/ready')).status, 200)
    assert.equal(await service.stop(), 0)
  })

  it('does not start with a setting that is wrong', async () => {
    await assert.rejects(production.serve({ SMTP_URL: 'http://mail.example.com' }), {
      message: /Countersign cannot start:\n {2}- SMTP_URL: must be smtps:/,
    })
  })
})

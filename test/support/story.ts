import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Passkey } from './authenticator.ts'
import { type Answer, Client } from './client.ts'
import { companyEnv, linkAs, startProvider } from './company.ts'
import { decide, sign } from './decisions.ts'
import { addDocument, files } from './documents.ts'
import { addPasskey, signInByPasskey } from './passkeys.ts'
import { bearerOf, type Production, sessionOf } from './production.ts'
import { newWebhook, type Received, startReceiver, toReceivers } from './webhooks.ts'

/** The answers that callers of a service got. A later release must give the same of its database. */
export interface Recorded {
  /** Each order with its history and its approvals, in the order of creation. */
  orders: unknown[]
  /** The receipts as JWS, by order. */
  receipts: Record<string, string>
  /** The export of the log. */
  log: string
  checkpoint: string
  verifierKeys: string[]
  /** One webhook message of each type. */
  messages: { headers: string[]; body: unknown }[]
}

const password = 'seven grey herons by the weir'

/** Lives through every kind of event, by requests and commands of the service as it ships. */
export async function liveThroughEverything(production: Production): Promise<Recorded> {
  const provider = await startProvider()
  const { baseUrl, stop } = await production.serve({ ...toReceivers, ...companyEnv(provider.issuer) })
  const ends: (() => unknown)[] = [stop, provider.close]
  try {
    const startOne = () => startReceiver({ after: (end) => void ends.push(end) })
    const [receiver, gone] = [await startOne(), await startOne()]
    gone.answer = (_message, response) => response.writeHead(410).end()
    const story: Story = {
      baseUrl,
      admin: await sessionOf(baseUrl, 'admin'),
      run: (words, input) => runCommand(production, words, input),
    }
    const events = ['order', 'account', 'role', 'policy', 'webhook', 'log']
    const { path } = await newWebhook(story.admin, { url: receiver.url, events })
    await changeRoles(story)
    await changeAccounts(story)
    story.admin = await sessionOf(baseUrl, 'admin')
    const signer = await changeCredentials(story)
    await changeCompanyAccount(signer)
    await changeClients(story)
    await changeOrders(story, await bearerOf(baseUrl, 'operator'), signer)
    await changeWebhooks(story, gone.url)
    await erase(story)
    const log = await story.run(['log', 'export'])
    const last = JSON.parse(log.trimEnd().split('\n').at(-1) ?? '').sequence
    while (!receiver.received.some(({ sequence }) => sequence === last)) await wait(50)
    await done(story.admin.patch(path, { url: 'https://hooks.example.com/', enabled: false }))
    const recorded = await recordOf(story.admin, await story.run(['log', 'export']))
    return { ...recorded, messages: messagesOf(receiver.received) }
  } finally {
    for (const end of ends) await end()
  }
}

interface Story {
  baseUrl: string
  admin: Client
  /** Runs a command of the service, and returns what it printed. */
  run(words: string[], input?: string): Promise<string>
}

const main = fileURLToPath(new URL('../../server/main.ts', import.meta.url))

export async function runCommand({ env }: Production, words: string[], input = ''): Promise<string> {
  const settings = { PATH: process.env.PATH, ...env }
  const command = promisify(execFile)(process.execPath, [main, ...words], { env: settings })
  command.child.stdin?.end(input)
  return (await command).stdout
}

async function done(answering: Promise<Answer>): Promise<Answer> {
  const answer = await answering
  assert.ok(answer.status < 300, `${answer.status} ${answer.text}`)
  return answer
}

const idIn = ({ headers }: Answer) => headers.get('location')?.split('/').at(-1) ?? assert.fail('no location')

async function changeRoles({ admin, run }: Story): Promise<void> {
  await done(admin.post('/v1/roles', { name: 'Auditor', permissions: ['Log.Read'] }))
  await run(['role', 'allow', 'Auditor', 'Orders.Read'])
  await run(['role', 'deny', 'Auditor', 'Log.Read'])
  await done(admin.send('PUT', '/v1/roles/Auditor', { permissions: ['Log.Read'] }))
  await done(admin.post('/v1/roles', { name: 'Passing', permissions: [] }))
  await done(admin.send('DELETE', '/v1/roles/Passing'))
}

/** Ann signs with a passkey. */
interface Signer {
  browser: Client
  passkey: Passkey
}

async function changeAccounts({ baseUrl, admin, run }: Story): Promise<void> {
  const add = async (userName: string, roles: string[]) => {
    const body = { userName, email: `${userName}@example.com`, roles, name: `${userName} Example` }
    return idIn(await done(admin.post('/v1/users', body)))
  }
  const [ann, bo] = [await add('ann', ['Admin']), await add('bo', ['Viewer'])]
  const { body } = await done(admin.post(`/v1/users/${ann}/links`))
  const token = new URLSearchParams(new URL(body.link).hash.slice(1)).get('token')
  await done(new Client(baseUrl).post('/v1/auth/links/use', { token, newPassword: password }))
  await run(['user', 'grant', 'bo', 'Operator'])
  await run(['user', 'revoke', 'bo', 'Operator'])
  await run(['user', 'set-password', 'bo'], password)
  await run(['user', 'disable', 'bo'])
  await run(['user', 'enable', 'bo'])
  await done(admin.patch(`/v1/users/${bo}`, { timeZone: 'Europe/Berlin' }))
  await done(admin.send('DELETE', `/v1/users/${bo}/sessions`))
  await run(['person', 'erase', await add('cy', ['Viewer'])])
  await run(['user', 'sign-out', '--all'])
}

/** Ann, who signs with a passkey. */
interface Signer {
  browser: Client
  passkey: Passkey
}

async function changeCredentials({ baseUrl }: Story): Promise<Signer> {
  const signIn = async () => {
    const browser = new Client(baseUrl)
    await done(browser.post('/v1/auth/session', { email: 'ann@example.com', password }))
    await browser.fetchAntiforgeryToken()
    return browser
  }
  const browser = await signIn()
  await signIn()
  await done(browser.send('DELETE', '/v1/auth/sessions'))
  await signIn()
  const { items } = (await done(browser.get('/v1/auth/sessions'))).body
  const other = items.find(({ current }: { current: boolean }) => !current)
  await done(browser.send('DELETE', `/v1/auth/sessions/${other.id}`))
  await done(
    browser.post('/v1/auth/password', {
      currentPassword: password,
      newPassword: 'another harbour in the evening',
    }),
  )
  await browser.fetchAntiforgeryToken()
  const [passkey, lost] = [new Passkey(), new Passkey()]
  for (const each of [passkey, lost]) await done(addPasskey(browser, each))
  await done(browser.patch(`/v1/auth/passkeys/${passkey.id}`, { name: 'Key' }))
  const signer = await signInByPasskey({ client: () => new Client(baseUrl) }, passkey)
  await done(signer.send('DELETE', `/v1/auth/passkeys/${lost.id}`))
  await done(signer.send('DELETE', '/v1/auth/password'))
  return { browser: signer, passkey }
}

async function changeCompanyAccount({ browser }: Signer): Promise<void> {
  assert.equal(await linkAs(browser, 'ann'), null)
  await done(browser.send('DELETE', '/v1/auth/company'))
}

async function changeClients({ admin, run }: Story): Promise<void> {
  const added = await done(admin.post('/v1/clients', { clientId: 'nightly', roles: ['Operator'] }))
  const path = `/v1/clients/${idIn(added)}`
  await done(admin.patch(path, { displayName: 'Nightly import' }))
  await done(admin.post(`${path}/secrets`))
  await done(admin.send('DELETE', `${path}/secrets`))
  await run(['client', 'disable', 'nightly'])
}

async function changeOrders({ admin, run }: Story, operator: Client, signer: Signer): Promise<void> {
  const { browser, passkey } = signer
  const create = async (values: object = {}) =>
    (await done(operator.post('/v1/orders', { customer: 'Acme', total: 1250.5, ...values }))).body.id
  const path = (id: string) => `/v1/orders/${id}`
  await done(admin.patch(`${path(await create())}/approve`))
  await changeRules(admin, browser)
  const signed = await create({ note: 'By the end of the month.' })
  const [presented] = await sign(browser, passkey, { orders: [signed] })
  await done(decide(browser, signed, presented))
  const twice = await create({ total: 600 })
  for (const each of [admin, browser]) await done(each.patch(`${path(twice)}/approve`))
  const small = await create({ total: 20 })
  await done(browser.patch(`${path(small)}/approve`))
  await done(browser.post(`${path(small)}/notes`, { text: 'Noted.' }))
  const rejected = await create({ total: 30, customer: 'Bolt & Söhne' })
  await done(browser.patch(`${path(rejected)}/reject`, { reason: 'Too much.' }))
  const documented = await create({ total: 25, customer: 'Bolt & Söhne', replaces: rejected })
  const add = async (name: string) =>
    (await done(addDocument(operator, documented, files.png, { name }))).body.id
  const [removed, erased] = [await add('one.png'), await add('two.png'), await add('three.png')]
  await done(operator.send('DELETE', `${path(documented)}/documents/${removed}`))
  await run(['order', 'erase-document', documented, erased])
  await done(operator.patch(`${path(await create({ total: 1 }))}/withdraw`))
  await create({ customer: 'To be forgotten', total: 3 })
  const view = { name: 'Mine', filter: 'createdBy=me', columns: ['customer'] }
  const sort = { orderBy: 'id', order: 'asc' }
  await done(operator.send('PUT', '/v1/views/0198c0de-0000-7000-8000-000000000001', { ...view, sort }))
}

async function changeRules(admin: Client, deputy: Client): Promise<void> {
  const rows = [
    { from: 0, approvals: 1, selfApproval: true, services: true },
    { from: 500, approvals: 2, selfApproval: false, services: false, role: 'Admin' },
    { from: 1000, approvals: 1, selfApproval: false, services: false, passkey: true },
  ]
  await done(admin.send('PUT', '/v1/approval-policy', { rows }, { 'if-match': '*' }))
  const deputyId = (await done(deputy.get('/v1/auth/me'))).body.id
  const [from, until] = [0, 86_400_000].map((later) => new Date(Date.now() + later).toISOString())
  for (const _ of [1, 2]) {
    await admin.send('DELETE', '/v1/auth/absence')
    await done(admin.send('PUT', '/v1/auth/absence', { deputyId, from, until }))
  }
}

/** The receiver of the second one answers 410. */
async function changeWebhooks({ admin }: Story, url: string): Promise<void> {
  const { path } = await newWebhook(admin, { url, events: ['role'] })
  await done(admin.patch(path, { events: ['order', 'policy'] }))
  await done(admin.post(`${path}/secrets`))
  await done(admin.post(`${path}/replay`, { from: 1 }))
  while ((await done(admin.get(path))).body.enabled) await wait(50)
  await done(admin.send('DELETE', path))
}

async function erase({ run }: Story): Promise<void> {
  const lines = (await run(['log', 'export'])).trimEnd().split('\n')
  const noted = lines.findIndex((line) => line.includes('"kind":"noted"')) + 1
  await run(['log', 'erase', String(noted), 'text'])
  await run(['customer', 'erase', 'To be forgotten'])
  await run(['log', 'restored'])
}

export async function recordOf(admin: Client, log: string): Promise<Omit<Recorded, 'messages'>> {
  const { items } = (await done(admin.get('/v1/orders?orderBy=createdAtUtc&order=asc&pageSize=100'))).body
  const orders: unknown[] = []
  const receipts: Recorded['receipts'] = {}
  for (const { id } of items) {
    const path = `/v1/orders/${id}`
    const [order, history, approvals] = await Promise.all(
      ['', '/history?pageSize=100', '/approvals'].map((part) => done(admin.get(path + part))),
    )
    orders.push({ order: order?.body, history: history?.body, approvals: approvals?.body })
    const receipt = await receiptOf(admin, id)
    if (receipt.status === 200) receipts[id] = receipt.body.receipt
  }
  const { keys } = (await done(admin.get('/v1/log/key'))).body
  const checkpoint = (await done(admin.get('/v1/log/checkpoint'))).text
  return { orders, receipts, log, checkpoint, verifierKeys: keys }
}

/** Waits while another process seals. */
export async function receiptOf(admin: Client, id: string): Promise<Answer> {
  const read = () => admin.get(`/v1/orders/${id}/receipt`)
  let receipt = await read()
  for (; receipt.body.code === 'receipt-not-ready'; receipt = await read()) await wait(50)
  return receipt
}

function messagesOf(received: readonly Received[]): Recorded['messages'] {
  const byType = new Map(received.map((message) => [message.type, message]))
  return [...byType.values()].map(({ headers, text }) => ({
    headers: Object.keys(headers).sort(),
    body: JSON.parse(text),
  }))
}

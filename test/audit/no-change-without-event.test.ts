// engine: both
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { before, describe, it } from 'node:test'
import type { Clear } from '../../proof/line.ts'
import { headOfLog } from '../../server/audit/audit.ts'
import { findUserById } from '../../server/auth/accounts/users/store.ts'
import { Passwords } from '../../server/auth/credentials/passwords/passwords.ts'
import { companyStamp, machineStamp } from '../../server/caller/stamp.ts'
import type { AppDatabase } from '../../server/db/port.ts'
import type { Database } from '../../server/db/tables.ts'
import { prepareDemo } from '../../server/demo/demo.ts'
import { makeOrders } from '../../server/demo/orders.ts'
import { newOrderedId, newSecret, sha256 } from '../../server/ids.ts'
import { openAppDatabase, operations } from '../../server/operations.ts'
import { findSubscription } from '../../server/outbox/store.ts'
import {
  newCaller,
  newClient,
  newLink,
  newUser,
  revoke,
  signIn,
  stampBy,
  tokenPair,
} from '../support/accounts.ts'
import { newAdministrator } from '../support/administration.ts'
import { callTool, proposal } from '../support/agents.ts'
import { Passkey } from '../support/authenticator.ts'
import { hashOf } from '../support/cheap-hash.ts'
import { createTestDatabase } from '../support/database.ts'
import { addDocument, files } from '../support/documents.ts'
import { storedEvents } from '../support/kept-log.ts'
import { createdId } from '../support/orders.ts'
import { addPasskey, signInByPasskey } from '../support/passkeys.ts'
import { type InsideService, testService } from '../support/service.ts'
import { mergeTally, removeExpired } from '../support/upkeep.ts'
import { keptView } from '../support/views.ts'
import { newSender, newWebhook, sealAll, sendUntil, startReceiver, toReceivers } from '../support/webhooks.ts'

/**
 * Tables that hold no decisions: credentials and their use, mail, keys, the log itself, what others sign of
 * it, leases, attempts to send events, data derived from orders, views, which only show orders, and receipts.
 * A change of any other table, new ones included, leaves an event.
 */
const undecided =
  /^(?:session|company_sessions$|refresh_|client_uses|one_time_links$|mails$|mail_(?:place|settings)$|used_challenges$|login_|known_addresses|idempotency_|(?:unsealed_)?events$|log_(?:head|tiles|witnesses|cosigned)|delivery_attempts$|order_tally|orders_search|views$|order_receipts$|document_(?:pieces|leftovers)$|leases$|schema_migrations|sqlite_|order_numbers)/

async function decidedTables(db: AppDatabase): Promise<(keyof Database)[]> {
  const tables = await db.read.introspection.getTables()
  const decided = tables.filter(({ name, isView }) => !isView && !undecided.test(name))
  assert.ok(decided.length >= 9, String(decided.map(({ name }) => name)))
  return decided.map(({ name }) => name as keyof Database)
}

/** Operations that make several changes and leave an event for each. */
const several = ['addOrders', 'createOrder', 'seedDemo', 'inviteUser', 'enterByCompany']
/**
 * A note changes nothing but the log, and so does its erasure; links, sessions and tokens
 * are credentials: the service’s own log has them. A replay sends what was sent before.
 */
const changesLogAlone = ['addNote', 'beginEra', 'makeLink', 'endSignIn', 'replayWebhook']

/**
 * Each write by name, whether it changed anything that people decide on, and the kinds of the events that
 * it left.
 */
interface Written {
  name: string
  changed: boolean
  kinds: string[]
}

/** A sign-in, the use of a passkey and the sending of events change these columns, and need no event. */
const progress = {
  ...{ counter: 0, last_used_at: 0, last_signed_in_at: 0 },
  ...{ era: 0, sequence: 0, failures: 0, failing_since: 0, next_attempt_at: 0 },
}

async function rowsOf(db: AppDatabase, table: keyof Database): Promise<string[]> {
  const rows = await db.read.selectFrom(table).selectAll().execute()
  return rows.map((row) => JSON.stringify({ ...row, ...progress }))
}

/** Watches every write of the service, one after another. */
async function watchWrites(db: AppDatabase): Promise<Written[]> {
  const written: Written[] = []
  const decided = await decidedTables(db)
  const write = db.write.bind(db) as (name: string, input: unknown) => Promise<unknown>
  let last: Promise<unknown> = Promise.resolve()
  const look = async () => ({
    // Sorted, because a row that a write only locks may be stored elsewhere afterwards.
    rows: JSON.stringify(await Promise.all(decided.map(async (table) => (await rowsOf(db, table)).sort()))),
    kinds: [
      ...(await db.read.selectFrom('events').select('kind').orderBy('sequence').execute()),
      ...(await db.read.selectFrom('unsealed_events').select('kind').orderBy('number').execute()),
    ].map(({ kind }) => kind),
  })
  let now = await look()
  const watched = async (name: string, input: unknown) => {
    const before = now
    try {
      return await write(name, input)
    } finally {
      now = await look()
      written.push({ name, changed: now.rows !== before.rows, kinds: now.kinds.slice(before.kinds.length) })
    }
  }
  Object.assign(db, {
    write: (name: string, input: unknown) => {
      const result = last.then(() => watched(name, input))
      last = result.catch(() => undefined)
      return result
    },
  })
  return written
}

/** As a provider would have it, whose answers other tests make. */
async function useCompanyAccounts(service: InsideService): Promise<void> {
  const { db } = service
  const [now, issuer] = [service.now(), 'https://login.example.com']
  const names = {
    email: 'first@company.example',
    userName: 'first',
    fullName: null,
    roles: null,
    missingClaim: null,
  }
  const identity = { issuer, subject: 'jo', sid: 'one', authenticatedAt: now, ...names }
  const attempt = () => ({ nonce: newSecret(), expiresAt: now + 600_000 })
  const user = await newUser(service)
  const browser = await signIn(service, user)
  const { items } = (await browser.get('/v1/auth/sessions')).body
  const asker = { principalId: user.id, sessionId: items[0].id }
  const stamp = () => ({ ...machineStamp(now), by: user.userName, byId: user.id })
  const asked = () => ({ attempt: attempt(), identity, asker, stamp: stamp(), sessionIdleTtlSeconds: 1_800 })
  await db.write('linkCompany', { ...asked(), recentSince: now - 60_000 })
  await db.write('confirmByCompany', { ...asked(), newIdHash: sha256(newSecret()), retireAt: now })
  const enter = async (who: Partial<typeof identity>) => {
    const ids = {
      sessionId: newSecret().slice(0, 22),
      idHash: sha256(newSecret()),
      freshBinding: newSecret(),
    }
    const none = { offeredBinding: null, replacedIdHash: null, userAgent: null }
    const times = { nowMilliseconds: now, absoluteExpiresAt: now + 3_600_000, sessionIdleTtlSeconds: 1_800 }
    const session = { ...ids, ...none, ...times }
    const settings = { claimRoles: [], createsAccounts: true, link: null }
    const input = { attempt: attempt(), identity: { ...identity, ...who }, session, ...settings }
    const entered = await db.write('enterByCompany', { ...input, stamp: companyStamp(now, issuer) })
    assert.ok(!('refused' in entered))
  }
  await enter({})
  await enter({ subject: 'new' })
  const account = { kind: 'user', name: names.userName } as const
  await db.write('setPassword', {
    account,
    passwordHash: await hashOf(newSecret()),
    stamp: machineStamp(now),
  })
  const challenge = { nonce: newSecret(), expiresAt: now + 600_000 }
  await db.write('logoutByCompany', { issuer, subject: 'jo', sid: null, challenge, attemptsEndAt: now })
  await db.write('unlinkCompany', { principalId: user.id, rpId: null, stamp: machineStamp(now) })
}

describe('every write operation of the registry', () => {
  const service = testService({ inside: true, env: toReceivers })
  let written: Written[]
  before(async () => {
    const seeded = await seedEmptyDatabase(service.now())
    const watched = await watchWrites(service.db)
    await useSessionsAndTokens(service)
    await changeOrders(service)
    await changeAccounts(service)
    await changeRoles(service)
    const people = { creators: ['seed:one'], approver: 'seed:two' }
    const [made] = makeOrders({ count: 20, days: 5, nowMilliseconds: service.now(), people, batchRows: 20 })
    assert.ok(made)
    await service.db.write('addOrders', made)
    await service.db.write('sealEvents', { limit: 1_000 })
    await eraseNote(service)
    await erasePeople(service)
    await restoreLog(service)
    await askWitnesses(service)
    await changeWebhooks(service)
    await mailLinks(service)
    await useCompanyAccounts(service)
    if (service.db.defersTally) await mergeTally(service.db, 1_000)
    service.advance(100 * 24 * 3_600_000)
    await removeExpired(service, 100)
    written = [...seeded, ...watched]
  })

  it('is run by this test, so that a new one cannot be forgotten', () => {
    const seen = new Set(written.map(({ name }) => name))
    const missing = Object.keys(operations).filter((name) => !seen.has(name))
    assert.deepEqual(missing, [])
  })

  it('leaves one event if it changes accounts, roles, the policy or orders, and otherwise none', () => {
    const wrong = written.filter(({ name, changed, kinds }) => {
      if (several.includes(name)) return changed !== kinds.length > 0
      return kinds.length !== (changed || changesLogAlone.includes(name) ? 1 : 0)
    })
    assert.deepEqual(wrong, [])
  })

  it('leaves no event when nothing changes', () => {
    const again = ['grantRoles', 'revokeRoles', 'setAccountEnabled', 'allowPermissions', 'denyPermissions']
    for (const name of [
      ...again,
      'changeUser',
      'changeClient',
      'changeWebhook',
      'setAbsence',
      'endAbsence',
      'setRolePermissions',
      'dropOldClientSecrets',
      'setApprovalPolicy',
    ]) {
      const changes = written.filter((each) => each.name === name).map(({ changed }) => changed)
      assert.ok(changes.includes(true) && changes.includes(false), name)
    }
  })

  it('leaves only kinds of events that docs/auditing.md explains', async () => {
    const page = await readFile(new URL('../../docs/auditing.md', import.meta.url), 'utf8')
    const kinds = new Set(written.flatMap((each) => each.kinds))
    assert.ok(kinds.size > 15)
    const strays = [...kinds].filter((kind) => !page.includes(`\`${kind}\``))
    assert.deepEqual(strays, [])
  })

  it('leaves events whose data and clear are those of the table in docs/auditing.md', async () => {
    const page = await readFile(new URL('../../docs/auditing.md', import.meta.url), 'utf8')
    const named = (cell: string) => [...cell.matchAll(/`([A-Za-z]+)`/g)].map(([, name = '']) => name)
    const rows = page
      .slice(page.indexOf('## The kinds of events'))
      .split('\n')
      .filter((line) => line.startsWith('| '))
      .map((line) => line.split('|').slice(2, -1))
    const said = new Map(
      rows.flatMap(([kinds = '', , data = '', clear = '']) =>
        [...kinds.matchAll(/`([a-z-]+)`/g)].map(([, kind]) => [
          kind,
          { data: named(data), clear: named(clear) },
        ]),
      ),
    )
    const always: Record<string, { data: string[]; clear: string[] }> = {
      order: { data: ['total', 'program'], clear: ['customer'] },
      account: { data: [], clear: ['name'] },
    }
    for (const event of await storedEvents(service.db.read)) {
      const { kind, subject_kind } = event
      const listed = said.get(kind) ?? assert.fail(kind)
      const { data, clear } = always[subject_kind] ?? { data: [], clear: [] }
      const allowed = { data: [...listed.data, ...data], clear: [...listed.clear, ...clear, 'by', 'for'] }
      for (const part of ['data', 'clear'] as const) {
        const strays = Object.keys(JSON.parse(event[part])).filter((name) => !allowed[part].includes(name))
        assert.deepEqual(strays, [], `${kind}: ${part}`)
      }
      const [hashes, names] = [event.hashes, event.clear].map((part) => Object.keys(JSON.parse(part)).sort())
      assert.deepEqual(hashes, names, kind)
    }
  })

  it('puts no name, customer or text into what a hash or a signature covers', async () => {
    const events = await storedEvents(service.db.read)
    const values = new Set(
      events.flatMap(({ clear }) =>
        Object.values(JSON.parse(clear) as Record<string, Clear>).map(({ value }) => value),
      ),
    )
    assert.ok(values.size > 20, String(values.size))
    for (const event of events) {
      const { signature, ...data } = JSON.parse(event.data)
      const statement = signature === undefined ? null : JSON.parse(signature.statement)
      const strays = textsIn([data, statement, event.subject_kind === 'role' ? null : event.subject_id])
      assert.deepEqual(
        strays.filter((text) => values.has(text)),
        [],
        event.kind,
      )
    }
  })

  it('shows no reader of the log an email, a secret, or the hash of one', async () => {
    const rows = [
      ...(await service.db.read.selectFrom('events').select('data').execute()),
      ...(await service.db.read.selectFrom('unsealed_events').select('data').execute()),
    ]
    const text = rows.map(({ data }) => data).join('\n')
    const users = await service.db.read
      .selectFrom('users')
      .select(['email', 'password_hash'])
      .where('erased_at', 'is', null)
      .execute()
    const secrets = await service.db.read.selectFrom('client_secrets').select('secret_hash').execute()
    const hidden = [...users.flatMap((row) => Object.values(row)), ...secrets.map((row) => row.secret_hash)]
    assert.ok(hidden.length > 8)
    const strays = hidden.filter((one) => one === null || text.includes(one))
    assert.deepEqual(strays, [])
    assert.ok(!text.includes('@') && !text.includes('$argon2'))
  })
})

/** Every text inside a JSON value. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

async function seedEmptyDatabase(nowMilliseconds: number): Promise<Written[]> {
  const { databaseUrl, drop } = await createTestDatabase()
  const db = await openAppDatabase({ databaseUrl })
  const written = await watchWrites(db)
  const demo = await prepareDemo({ nowMilliseconds, passwords: new Passwords(), demoOrders: true })
  for (const _ of [1, 2]) await db.write('seedDemo', demo)
  await db.close()
  await drop()
  return written
}

async function useSessionsAndTokens(service: InsideService): Promise<void> {
  const user = await newUser(service, { roles: ['Admin'] })
  await service.client().post('/v1/auth/session', { ...user.credentials, password: 'wrong' })
  const browser = await signIn(service, user)
  await browser.post('/v1/auth/session/refresh')
  await browser.post('/v1/auth/session/confirm', user.credentials)
  service.advance(61_000)
  await browser.get('/v1/auth/me')
  await browser.send('DELETE', '/v1/auth/sessions')
  const { items } = (await signIn(service, user).then((other) => other.get('/v1/auth/sessions'))).body
  const own = items.find(({ current }: { current: boolean }) => current)
  await browser.send('DELETE', `/v1/auth/sessions/${own.id}`)
  const newPassword = 'another harbour in the evening'
  await browser.post('/v1/auth/password', { currentPassword: user.password, newPassword })
  Object.assign(user.credentials, { password: newPassword })
  await usePasskeys(service)
  await browser.post('/v1/auth/session/logout')
  const { refreshToken } = await tokenPair(service, user)
  await service.client().post('/v1/auth/token/refresh', { refreshToken })
  await service.client().post('/v1/auth/token/refresh', { refreshToken })
  await revoke(service, (await tokenPair(service, user)).refreshToken)
}

async function usePasskeys(service: InsideService): Promise<void> {
  const browser = await signIn(service, await newUser(service))
  const [passkey, other] = [new Passkey(), new Passkey()]
  for (const each of [passkey, other]) assert.equal((await addPasskey(browser, each)).status, 201)
  const path = `/v1/auth/passkeys/${passkey.id}`
  assert.equal((await browser.patch(path, { name: 'Key' })).status, 204)
  const byPasskey = await signInByPasskey(service, other)
  assert.equal((await byPasskey.send('DELETE', path)).status, 204)
  assert.equal((await byPasskey.send('DELETE', '/v1/auth/password')).status, 204)
  const newPassword = 'a third harbour at midnight'
  assert.equal((await byPasskey.post('/v1/auth/password', { newPassword })).status, 204)
}

async function changeOrders(service: InsideService): Promise<void> {
  const [creator, other] = [await newCaller(service, ['Admin']), await newCaller(service, ['Admin'])]
  const create = async () => {
    const { body } = await creator.post(
      '/v1/orders',
      { customer: 'Acme', total: 20 },
      { 'idempotency-key': 'k' },
    )
    const { body: fresh } = await creator.post('/v1/orders', { customer: 'Acme', total: 20 })
    assert.ok(body.id !== undefined && fresh.id !== undefined)
    return `/v1/orders/${fresh.id}`
  }
  const { headers } = await creator.get('/v1/approval-policy')
  const rows = [{ from: 0, approvals: 2, selfApproval: true, services: true }]
  const put = (tag: string) => creator.send('PUT', '/v1/approval-policy', { rows }, { 'if-match': tag })
  assert.equal((await put(headers.get('etag') ?? '')).status, 200)
  assert.equal((await put('*')).status, 200)
  const approved = await create()
  for (const one of [creator, creator, other]) await one.patch(`${approved}/approve`)
  assert.equal((await creator.get(approved)).body.status, 1)
  assert.equal((await creator.get(`${approved}/receipt`)).status, 200)
  assert.equal((await creator.post(`${approved}/notes`, { text: 'Noted.' })).status, 201)
  const documented = await create()
  const add = () => addDocument(creator, documented.slice('/v1/orders/'.length), files.pdf)
  const { body: removed } = await add()
  const { body: erased } = await add()
  await creator.send('DELETE', `${documented}/documents/${removed.id}`)
  await service.db.write('eraseDocument', {
    orderId: documented.slice('/v1/orders/'.length),
    id: erased.id,
    stamp: machineStamp(service.now()),
  })
  assert.equal((await other.patch(`${await create()}/reject`, { reason: 'Too much.' })).status, 204)
  const withdrawn = await create()
  assert.equal((await other.patch(`${withdrawn}/withdraw`)).status, 403)
  assert.equal((await creator.patch(`${withdrawn}/withdraw`)).status, 204)
  const proposed = await callTool(creator, 'propose_order', proposal('k'))
  assert.equal(proposed.replayed, false)
  assert.equal((await creator.send('DELETE', `/v1/views/${await keptView(creator)}`)).status, 204)
}

async function changeAccounts(service: InsideService): Promise<void> {
  const { db } = service
  const stamp = () => machineStamp(service.now())
  const { account, id } = await newUser(service)
  const { account: client, id: clientNumber } = await newClient(service)
  for (const roles of [['Viewer'], ['Viewer']])
    await db.write('grantRoles', { account, roles, stamp: stamp() })
  for (const roles of [['Viewer'], ['Viewer']])
    await db.write('revokeRoles', { account, roles, stamp: stamp() })
  for (const enabled of [true, false, false, true]) {
    await db.write('setAccountEnabled', { account: client, enabled, stamp: stamp() })
  }
  const changes = { userName: null, email: 'moved@example.com', timeZone: null, roles: [], enabled: null }
  for (const _ of [1, 2]) {
    await db.write('changeUser', { id, acceptedVersions: null, changes, stamp: stamp() })
  }
  await db.write('setPassword', { account, passwordHash: 'hash of another', stamp: stamp() })
  const token = await newLink(service, { account })
  const newPassword = 'seven grey herons by the weir'
  assert.equal((await service.client().post('/v1/auth/links/use', { token, newPassword })).status, 204)
  const invited = { userName: 'invited', email: 'invited@example.com', timeZone: null, roles: ['Viewer'] }
  const link = { tokenHash: sha256(newSecret()), linkEventId: newOrderedId(service.now()) }
  await db.write('inviteUser', { ...invited, ...link, stamp: stamp() })
  const passwordHash = 'hash of the invited'
  await db.write('setPassword', { account: { kind: 'user', name: 'invited' }, passwordHash, stamp: stamp() })
  const other = await newUser(service)
  const person = { id: other.id, name: other.userName }
  await db.write('changeUser', {
    id,
    acceptedVersions: null,
    changes: { ...changes, roles: ['Viewer'] },
    stamp: stamp(),
  })
  const absence = { from: service.now(), until: service.now() + 60_000, deputyId: id }
  for (const _ of [1, 2]) await db.write('setAbsence', { person, absence, stamp: stamp() })
  for (const _ of [1, 2]) await db.write('endAbsence', { person, stamp: stamp() })
  await db.write('signOutUser', { account, stamp: stamp() })
  await db.write('signOutUsers', { afterId: 0, limit: 100, stamp: stamp() })
  await db.write('signOutUsers', { afterId: 1_000_000, limit: 100, stamp: stamp() })
  const kept = { ownerId: null, roles: null, enabled: null }
  const details = { displayName: { value: 'Nightly' }, endsAtUtc: { value: 9 }, ...kept }
  for (const _ of [1, 2]) {
    const input = { id: clientNumber, acceptedVersions: null, changes: details, stamp: stamp() }
    await db.write('changeClient', input)
  }
  await db.write('noteClientUse', { principalId: clientNumber, nowMilliseconds: service.now() })
  const secretHash = sha256(newSecret())
  await db.write('rotateClientSecret', { account: client, secretHash, dropOld: false, stamp: stamp() })
  for (const _ of [1, 2]) await db.write('dropOldClientSecrets', { account: client, stamp: stamp() })
  const nobody = { kind: 'user', name: 'nobody' } as const
  const refused = db.write('setAccountEnabled', { account: nobody, enabled: false, stamp: stamp() })
  await assert.rejects(refused, { code: 'user-not-found' })
}

async function changeWebhooks(service: InsideService): Promise<void> {
  const ends: (() => unknown)[] = []
  const receiver = await startReceiver({ after: (end) => void ends.push(end) })
  receiver.answer = (_message, response) => response.writeHead(receiver.received.length > 1 ? 410 : 204).end()
  const { caller } = await newAdministrator(service)
  const { id, path } = await newWebhook(caller, { url: receiver.url, events: ['account'] })
  for (const _ of [1, 2]) assert.equal((await caller.patch(path, { events: ['order'] })).status, 204)
  assert.equal((await caller.post(`${path}/secrets`)).status, 201)
  assert.equal((await caller.post(`${path}/ping`)).status, 200)
  const { db } = service
  const stored = () => findSubscription(db.read, id, 'webhook')
  const sender = newSender(service)
  await sealAll(db)
  await sendUntil(sender, async () => (await stored())?.place.sequence === (await headOfLog(db.read)).size)
  await createdId(caller)
  await sealAll(db)
  await sendUntil(sender, async () => (await stored())?.enabled === false)
  await sender.stop()
  assert.equal((await caller.post(`${path}/replay`, { from: 1 })).status, 204)
  assert.equal((await caller.send('DELETE', path)).status, 204)
  for (const end of ends) await end()
}

async function erasePeople(service: InsideService): Promise<void> {
  const { db, now } = service
  const { id } = await newUser(service)
  await db.write('erasePerson', { id, stamp: machineStamp(now()) })
  const caller = await service.bearer('operator')
  await createdId(caller, { customer: 'To be forgotten' })
  await db.write('eraseCustomer', { customer: 'To be forgotten', stamp: machineStamp(now()) })
}

async function eraseNote({ db, now }: InsideService): Promise<void> {
  const noted = db.read.selectFrom('events').select('sequence').where('kind', '=', 'noted')
  const { sequence } = await noted.executeTakeFirstOrThrow()
  await db.write('eraseFromLog', { sequence, name: 'text', stamp: machineStamp(now()) })
  const event = await db.read
    .selectFrom('events')
    .selectAll()
    .where('sequence', '=', sequence)
    .executeTakeFirstOrThrow()
  assert.deepEqual(JSON.parse(event.clear).text, { salt: null, value: null })
  assert.match(JSON.parse(event.hashes).text, /^[0-9a-f]{64}$/)
}

/** As if one had cosigned. */
async function askWitnesses({ db, now }: InsideService): Promise<void> {
  const term = await db.write('holdLease', { name: 'witnesses', term: null })
  await db.write('endLease', { name: 'witnesses', term })
  const { era, size } = await headOfLog(db.read)
  const findings = [{ witness: 'w', says: 'cosigned', size } as const]
  const cosigned = { size, checkpoint: 'a note' }
  const quorum = { witnesses: ['w'], needed: 1 }
  await db.write('keepFindings', { era, findings, cosigned, quorum, nowMilliseconds: now() })
}

async function mailLinks(service: InsideService): Promise<void> {
  const { db, now } = service
  const user = await newUser(service)
  const { email, id: principalId } = user
  const nowMilliseconds = now()
  for (const each of [email, 'nobody@example.com']) {
    await db.write('requestLink', { email: each, nowMilliseconds })
  }
  await db.write('sortRequests', { nowMilliseconds })
  const stamp = await stampBy(service, user)
  const asked = { email: `new-${email}`, tokenHash: sha256(newSecret()), signInId: null, stamp }
  await db.write('requestEmail', asked)
  const tokenHash = sha256(newSecret())
  const around = { principalId, nowMilliseconds, publicUrl: 'https://x.example', defaultTimeZone: 'UTC' }
  for (const kind of ['forgotten', 'sent'] as const) {
    await db.write('makeMailedLink', { kind, tokenHash: sha256(newSecret()), ...around })
  }
  await db.write('makeMailedLink', { kind: 'email', tokenHash, ...around })
  const { credentialsChangedAt = 0, passwordHash = null } = (await findUserById(db.read, principalId)) ?? {}
  const proof = { principalId, credentialsChangedAt, passwordHash, touch: null }
  await db.write('useEmailLink', { ...proof, tokenHash, stamp })
  await db.write('beginMail', undefined)
  await db.write('queueEventMails', { nowMilliseconds })
  const settings = { waiting: 'daily', hour: 8, decided: true, noted: true } as const
  await db.write('putMailSettings', { settings, timeZone: 'UTC', stamp })
  await db.write('queueDigests', { nowMilliseconds, defaultTimeZone: 'UTC' })
  for (const row of await db.read.selectFrom('mails').select(['id', 'attempts']).execute()) {
    await db.write('claimMail', { ...row, nowMilliseconds })
    const tried = { id: row.id, attempts: row.attempts + 1 }
    await db.write('noteSentMail', { ...tried, principalId, nowMilliseconds, readTo: 1 })
    await db.write('dropMail', tried)
  }
}

async function restoreLog({ db, now }: InsideService): Promise<void> {
  await db.write('beginEra', { atLeast: 1, stamp: machineStamp(now()) })
}

async function changeRoles({ db, now }: InsideService): Promise<void> {
  const change = { role: 'Auditor', permissions: ['Log.Read' as const] }
  const stamp = () => machineStamp(now())
  await db.write('addRole', { ...change, stamp: stamp() })
  await assert.rejects(db.write('addRole', { ...change, stamp: stamp() }), { code: 'name-taken' })
  for (const _ of [1, 2]) await db.write('denyPermissions', { ...change, stamp: stamp() })
  for (const _ of [1, 2]) await db.write('allowPermissions', { ...change, stamp: stamp() })
  const none = { role: 'Auditor', permissions: [], acceptedVersions: null }
  for (const _ of [1, 2]) await db.write('setRolePermissions', { ...none, stamp: stamp() })
  await assert.rejects(db.write('removeRole', { role: 'Admin', stamp: stamp() }), { code: 'role-held' })
  await db.write('removeRole', { role: 'Auditor', stamp: stamp() })
}

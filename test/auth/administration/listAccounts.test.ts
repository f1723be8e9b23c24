// engine: both
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { before, describe, it } from 'node:test'
import { findClients } from '../../../server/auth/accounts/clients/store.ts'
import { findAccountIds } from '../../../server/auth/accounts/query.ts'
import { listRoles } from '../../../server/auth/accounts/roles/store.ts'
import { findUsers } from '../../../server/auth/accounts/users/store.ts'
import { machineStamp } from '../../../server/caller/stamp.ts'
import { grantRoles, newClient, newUser, refresh, signIn, tokenPair } from '../../support/accounts.ts'
import { testEngine } from '../../support/database.ts'
import { newPasskey, signInByPasskey } from '../../support/passkeys.ts'
import { statementsOf, stepsOf } from '../../support/plans.ts'
import { assertProblem } from '../../support/problem.ts'
import { type Service, setUp, startService, testService } from '../../support/service.ts'

/** Only names of accounts of this test begin with this text. */
const mark = `q${randomBytes(4).toString('hex')}`

function addUser(service: Service, userName: string, email: string): Promise<{ id: number }> {
  const stamp = machineStamp(service.now())
  return service.db.write('addUser', {
    userName,
    email,
    passwordHash: null,
    timeZone: null,
    roles: [],
    stamp,
  })
}

function addClient(service: Service, clientId: string, displayName: string | null): Promise<{ id: number }> {
  const stamp = machineStamp(service.now())
  return service.db.write('addClient', { clientId, displayName, roles: [], secretHash: clientId, stamp })
}

describe('listUsers and listClients with a filter', () => {
  const service = testService()
  const admin = setUp(() => service.bearer('admin'))
  before(async () => {
    await addUser(service, `${mark}-Zoe`, `zoe.${mark}@example.com`)
    await addUser(service, `amy-${mark}`, `${mark}-amy%_@example.com`)
    await addUser(service, `${mark}-both`, `${mark}-both@example.com`)
    await addUser(service, `other-${mark}`, `other-${mark}@example.com`)
    await addClient(service, `${mark}-Billing`, null)
    await addClient(service, `night-${mark}`, `${mark}-ÄNIGHTLY run`)
    await addClient(service, `day-${mark}`, 'Day')
  })

  const namesOf = async (path: string, filter: string) => {
    const { status, body } = await admin.get(`${path}?filter=${encodeURIComponent(filter)}`)
    assert.equal(status, 200)
    assert.equal(body.totalCount, body.items.length)
    return body.items.map((item: { userName?: string; clientId?: string }) => item.userName ?? item.clientId)
  }

  it('find users by the beginning of the name or the email, each once, by id, ignoring case', async () => {
    const all = [`${mark}-Zoe`, `amy-${mark}`, `${mark}-both`]
    assert.deepEqual(await namesOf('/v1/users', mark), all)
    assert.deepEqual(await namesOf('/v1/users', mark.toUpperCase()), all)
    assert.deepEqual(await namesOf('/v1/users', `${mark}-z`), [`${mark}-Zoe`])
    assert.deepEqual(await namesOf('/v1/users', `${mark}-AMY%`), [`amy-${mark}`])
    assert.deepEqual(await namesOf('/v1/users', `zoe.${mark}@EXAMPLE.com`), [`${mark}-Zoe`])
  })

  it('find service clients by the beginning of the client ID or the display name', async () => {
    assert.deepEqual(await namesOf('/v1/clients', mark), [`${mark}-Billing`, `night-${mark}`])
    assert.deepEqual(await namesOf('/v1/clients', `${mark}-änight`), [`night-${mark}`])
    await admin.patch(`/v1/clients/${(await admin.get(`/v1/clients?filter=day-${mark}`)).body.items[0].id}`, {
      displayName: `${mark}-Day`,
    })
    assert.deepEqual(await namesOf('/v1/clients', `${mark}-day`), [`day-${mark}`])
  })

  it('find nothing in the middle of a name, and treat no text as a pattern', async () => {
    for (const filter of [
      mark.slice(1),
      `%${mark}`,
      `${mark}_`,
      `${mark}-amy_%`,
      'no such account',
      '\u{10ffff}',
    ]) {
      assert.deepEqual(await namesOf('/v1/users', filter), [])
      assert.deepEqual(await namesOf('/v1/clients', filter), [])
    }
  })

  it('page through the matches, with true totals past the end and links that keep the filter', async () => {
    const page = (number: number) => admin.get(`/v1/users?filter=${mark}&pageSize=2&pageNumber=${number}`)
    const [first, second, third] = await Promise.all([page(1), page(2), page(3)])
    assert.deepEqual(
      [first, second, third].map(({ body }) => [body.items.length, body.totalCount, body.totalPages]),
      [
        [2, 3, 2],
        [1, 3, 2],
        [0, 3, 2],
      ],
    )
    assert.match(first.headers.get('link') ?? '', new RegExp(`filter=${mark}>; rel="next"`))
  })

  it('refuse a text that no name begins with', async () => {
    for (const wrong of ['a%00b', '%0a', 'x'.repeat(255)]) {
      assertProblem(await admin.get(`/v1/users?filter=${wrong}`), 400, 'validation-failed')
    }
    assert.equal((await admin.get('/v1/users?filter=')).status, 200)
  })
})

describe('counts of accounts', () => {
  const service = testService({ inside: true })
  const admin = setUp(() => service.bearer('admin'))

  async function assertCountsKept(): Promise<void> {
    const { read } = service.db
    const [accounts, holders] = await Promise.all([
      read.selectFrom('principals').select('kind').execute(),
      read.selectFrom('principal_roles').select('role').execute(),
    ])
    for (const [path, kind] of [
      ['/v1/users', 'user'],
      ['/v1/clients', 'client'],
    ] as const) {
      const { body } = await admin.get(path)
      assert.equal(body.totalCount, accounts.filter((account) => account.kind === kind).length)
    }
    const { body } = await admin.get('/v1/roles?pageSize=100')
    for (const { name, accounts: count } of body.items) {
      assert.equal(count, holders.filter(({ role }) => role === name).length, name)
    }
  }

  it('stay correct whatever is added, granted, revoked, refused, or done at once', async () => {
    const role = `Role-${mark}`
    assert.equal((await admin.post('/v1/roles', { name: role, permissions: [] })).status, 201)
    const users = await Promise.all(
      Array.from({ length: 5 }, () => newUser(service, { roles: [role, 'Viewer'] })),
    )
    const client = await newClient(service, [role])
    await assertCountsKept()
    await Promise.all([
      ...users.map((user) => grantRoles(service, user, [role, 'Operator'])),
      ...users.map((user) => admin.patch(`/v1/users/${user.id}`, { roles: ['Operator'] })),
      admin.patch(`/v1/clients/${client.id}`, { roles: [] }),
      ...users.map(({ userName }) =>
        addUser(service, userName, `x-${userName}@example.com`).catch(() => null),
      ),
      ...users.map(({ userName, email }) => addUser(service, `x-${userName}`, email).catch(() => null)),
    ])
    await assertCountsKept()
    for (const { id } of users) await admin.patch(`/v1/users/${id}`, { roles: [] })
    await assertCountsKept()
    assert.equal((await admin.send('DELETE', `/v1/roles/${role}`)).status, 204)
  })

  it('are read, not counted: no statement walks a table of accounts', {
    skip: testEngine !== 'sqlite',
  }, async () => {
    const page = { filter: null, offset: 1_000, limit: 10 }
    const statements = await statementsOf(service, async (db) => {
      await listRoles(db)
      await findUsers(db, page)
      await findClients(db, page)
      await findUsers(db, { ...page, filter: 'a' })
      await findClients(db, { ...page, filter: 'a' })
    })
    const steps = stepsOf(service, statements)
    const walked = steps.filter((step) => /^SCAN (?:principals|principal_roles|client_secrets)/.test(step))
    assert.deepEqual(walked, [])
    for (const index of ['principals_by_kind', 'clients_by_display_name', 'sqlite_autoindex_users_1']) {
      assert.ok(
        steps.some((step) => step.includes(`COVERING INDEX ${index} `)),
        index,
      )
    }
  })
})

describe('when a user last signed in', () => {
  const service = testService({ inside: true })
  const admin = setUp(() => service.bearer('admin'))

  it('is in the list after each way in, and changes no version', async () => {
    const user = await newUser(service)
    const listed = async () => (await admin.get(`/v1/users?filter=${user.userName}`)).body.items[0]
    const path = `/v1/users/${user.id}`
    assert.equal((await listed()).lastSignInAtUtc, null)
    const passkey = await newPasskey(service, user)
    const { headers } = await admin.get(path)
    const ways = [
      () => signIn(service, user),
      () => tokenPair(service, user),
      () => signInByPasskey(service, passkey),
    ]
    for (const enter of ways) {
      service.advance(1_000)
      await enter()
      assert.equal((await listed()).lastSignInAtUtc, new Date(service.now()).toISOString())
    }
    assert.equal((await admin.get(path, { 'if-none-match': headers.get('etag') ?? '' })).status, 304)
  })

  it('is not when a session or a token was refreshed, or a sign-in refused', async () => {
    const user = await newUser(service)
    const browser = await signIn(service, user)
    const { refreshToken } = await tokenPair(service, user)
    const before = new Date(service.now()).toISOString()
    service.advance(1_000)
    await refresh(service, refreshToken)
    await browser.post('/v1/auth/session/confirm', { password: user.password })
    const wrong = { ...user.credentials, password: 'not that password' }
    assertProblem(await service.client().post('/v1/auth/session', wrong), 401, 'invalid-credentials')
    const { items } = (await admin.get(`/v1/users?filter=${user.userName}`)).body
    assert.equal(items[0].lastSignInAtUtc, before)
  })
})

describe('every page of a list of accounts', () => {
  it('has the same accounts, whether read from either end or after an id', async (t) => {
    const service = await startService({ inside: true, until: t })
    for (let number = 1; number <= 23; number += 1)
      await addUser(service, `u${number}`, `u${number}@example.com`)
    const { read } = service.db
    const rows = await read.selectFrom('users').select('principal_id as id').orderBy('principal_id').execute()
    const ids = rows.map(({ id }) => id)
    for (const limit of [1, 4, 10, 26, 100]) {
      for (let offset = 0; offset <= ids.length + 3; offset += 1) {
        const found = await findAccountIds(read, 'user', { filter: null, offset, limit })
        assert.deepEqual(
          [...found.items].sort((a, b) => a - b),
          ids.slice(offset, offset + limit),
        )
        assert.equal(found.totalCount, ids.length)
      }
      const after = await findAccountIds(read, 'user', {
        filter: null,
        afterId: ids[4] ?? 0,
        offset: 0,
        limit,
      })
      assert.deepEqual(after.items, ids.slice(5, 5 + limit))
    }
  })
})

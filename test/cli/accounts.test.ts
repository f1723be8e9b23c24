import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { machineStamp } from '../../server/audit/stamp.ts'
import type { AppDatabase } from '../../server/operations.ts'
import { openAppDatabase } from '../../server/operations.ts'
import { type CommandLine, commandLine, insertCredentials, readCredentials } from './command-line.ts'

const addedAt = 1_800_000_000_000
const changedAt = addedAt + 60_123
const jo = { kind: 'user', name: 'jo' } as const
const billing = { kind: 'client', name: 'billing' } as const

const untouched = { sessions: 1, families: 1, changedAt: addedAt }
const revoked = { sessions: 0, families: 0, changedAt }

interface Accounts extends CommandLine {
  db: AppDatabase
  credentials(principalId: number): ReturnType<typeof readCredentials>
}

/** User jo (1), user al (2) and client billing (3), each with one session and one refresh family. */
async function accounts(t: TestContext): Promise<Accounts> {
  const cli = commandLine(t)
  const db = await openAppDatabase({
    databaseUrl: `file:${cli.databaseFile}`,
  })
  t.after(() => db.close())
  const user = {
    passwordHash: 'hash',
    timeZone: null,
    roles: ['Viewer', 'Admin'],
    stamp: machineStamp(addedAt),
  }
  await db.write('addUser', { ...user, userName: 'jo', email: 'jo@example.com' })
  await db.write('addUser', { ...user, userName: 'al', email: 'al@example.com' })
  await db.write('addClient', {
    clientId: 'billing',
    secretHash: 'first',
    roles: ['Operator'],
    stamp: machineStamp(addedAt),
  })
  cli.sql((database) => {
    for (const id of [1, 2, 3]) insertCredentials(database, id)
  })
  const credentials = (principalId: number) => cli.sql((database) => readCredentials(database, principalId))
  return { ...cli, db, credentials }
}

describe('what ends the credentials of an account at once, and of no other', () => {
  it('a new password', async (t) => {
    const { db, credentials } = await accounts(t)
    await db.write('setPassword', { account: jo, passwordHash: 'new', stamp: machineStamp(changedAt) })
    assert.deepEqual([credentials(1), credentials(2)], [revoked, untouched])
  })

  it('disabling a user or a client, the first time', async (t) => {
    const { db, credentials } = await accounts(t)
    await db.write('setAccountEnabled', { account: jo, enabled: false, stamp: machineStamp(changedAt) })
    await db.write('setAccountEnabled', { account: billing, enabled: false, stamp: machineStamp(changedAt) })
    await db.write('setAccountEnabled', {
      account: jo,
      enabled: false,
      stamp: machineStamp(changedAt + 5_000),
    })
    assert.deepEqual([credentials(1), credentials(2), credentials(3)], [revoked, untouched, revoked])
  })

  it('but for sessions and families, a removed role that was there', async (t) => {
    const { db, credentials } = await accounts(t)
    await db.write('revokeRoles', { account: jo, roles: ['Admin'], stamp: machineStamp(changedAt) })
    await db.write('revokeRoles', { account: billing, roles: ['Operator'], stamp: machineStamp(changedAt) })
    const dated = { ...untouched, changedAt }
    const al = { kind: 'user', email: 'AL@example.com' } as const
    const nothing = await db.write('revokeRoles', {
      account: al,
      roles: ['Operator'],
      stamp: machineStamp(changedAt),
    })
    assert.deepEqual(nothing, { name: 'al', changed: [], roles: ['Admin', 'Viewer'] })
    assert.deepEqual([credentials(1), credentials(2), credentials(3)], [dated, untouched, dated])
  })

  it('signing out a user', async (t) => {
    const { db, credentials } = await accounts(t)
    await db.write('signOutUser', { account: jo, stamp: machineStamp(changedAt) })
    assert.deepEqual([credentials(1), credentials(2), credentials(3)], [revoked, untouched, untouched])
  })

  it('a secret that is dropped, not one that is added', async (t) => {
    const { db, credentials } = await accounts(t)
    const rotation = { clientId: 'billing', dropOld: false, stamp: machineStamp(changedAt) }
    await db.write('rotateClientSecret', { ...rotation, secretHash: 'second' })
    assert.deepEqual(credentials(3), untouched)
    await db.write('rotateClientSecret', { ...rotation, secretHash: 'third' })
    assert.deepEqual(credentials(3), revoked)
  })

  it('rotate-secret --now', async (t) => {
    const { db, credentials } = await accounts(t)
    const rotation = { clientId: 'billing', dropOld: true, stamp: machineStamp(changedAt) }
    await db.write('rotateClientSecret', { ...rotation, secretHash: 'second' })
    assert.deepEqual(credentials(3), revoked)
  })

  it('not: enabling, an added role, a denied permission', async (t) => {
    const { db, credentials, sql } = await accounts(t)
    sql((database) => database.exec('update principals set enabled = 0 where id = 1'))
    const enabled = await db.write('setAccountEnabled', {
      account: jo,
      enabled: true,
      stamp: machineStamp(changedAt),
    })
    assert.deepEqual(enabled, { name: 'jo', changed: true })
    await db.write('grantRoles', { account: jo, roles: ['Operator'], stamp: machineStamp(changedAt) })
    const stamp = machineStamp(changedAt)
    await db.write('denyPermissions', { role: 'Viewer', permissions: ['Orders.Read'], stamp })
    assert.deepEqual(credentials(1), untouched)
  })
})

describe('the instant of a change', () => {
  it('is later than the whole second at which a token may have been dated', async (t) => {
    const { db, credentials } = await accounts(t)
    const change = (nowMilliseconds: number) =>
      db.write('setPassword', { account: jo, passwordHash: 'new', stamp: machineStamp(nowMilliseconds) })
    await change(addedAt)
    assert.equal(credentials(1).changedAt, addedAt + 1)
    await change(addedAt + 900)
    assert.equal(credentials(1).changedAt, addedAt + 1_001)
    await change(addedAt + 5_000)
    assert.equal(credentials(1).changedAt, addedAt + 5_001)
  })

  it('moves on when the clock has gone back', async (t) => {
    const { db, credentials } = await accounts(t)
    await db.write('setPassword', {
      account: jo,
      passwordHash: 'new',
      stamp: machineStamp(addedAt - 3_600_000),
    })
    assert.equal(credentials(1).changedAt, addedAt + 1)
  })
})

describe('a refusal', () => {
  it('is a result, and leaves no trace', async (t) => {
    const { db, sql } = await accounts(t)
    const user = { passwordHash: 'hash', timeZone: null, roles: ['Viewer'], stamp: machineStamp(changedAt) }
    const dump = () =>
      sql((database) => [
        database.prepare('select * from principals').all(),
        database.prepare('select * from principal_roles').all(),
        database.prepare('select * from client_secrets').all(),
      ])
    const before = dump()
    assert.deepEqual(
      [
        await db.write('addUser', { ...user, userName: 'new', email: 'jo@example.com' }),
        await db.write('addUser', { ...user, userName: 'BILLING', email: 'new@example.com' }),
        await db.write('addUser', { ...user, userName: 'new', email: 'new@example.com', roles: ['Boss'] }),
        await db.write('grantRoles', { account: billing, roles: ['Boss'], stamp: machineStamp(changedAt) }),
        await db.write('setPassword', {
          account: { kind: 'user', name: 'billing' },
          passwordHash: 'x',
          stamp: machineStamp(changedAt),
        }),
        await db.write('dropOldClientSecrets', { clientId: 'jo', stamp: machineStamp(changedAt) }),
        await db.write('allowPermissions', {
          role: 'Boss',
          permissions: ['Orders.Read'],
          stamp: machineStamp(changedAt),
        }),
      ].map((result) => 'refused' in result && result.refused),
      [
        ...'email-taken name-taken unknown-role unknown-role no-such-user no-such-client'.split(' '),
        ...'unknown-role'.split(' '),
      ],
    )
    assert.deepEqual(dump(), before)
  })
})

import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { machineStamp } from '../../server/caller/stamp.ts'
import type { AppDatabase } from '../../server/db/port.ts'
import { openAppDatabase } from '../../server/operations.ts'
import { commandLine, insertCredentials, readCredentials } from './command-line.ts'

const addedAt = 1_800_000_000_000
const changedAt = addedAt + 60_123
const stamp = machineStamp(changedAt)
const untouched = { sessions: 1, families: 1, changedAt: addedAt }
const revoked = { sessions: 0, families: 0, changedAt }

/** test/auth/revocation.test.ts tests what ends the credentials of an account. */
describe('a change of an account', () => {
  const cli = commandLine({ after })
  let db: AppDatabase
  before(async () => {
    db = await openAppDatabase({ databaseUrl: `file:${cli.databaseFile}` })
  })
  after(() => db.close())

  let made = 0
  let jo: { kind: 'user'; name: string }
  let billing: { kind: 'client'; name: string }
  beforeEach(async () => {
    made += 1
    jo = { kind: 'user', name: `jo${made}` }
    billing = { kind: 'client', name: `billing${made}` }
    const rest = { roles: ['Viewer'], stamp: machineStamp(addedAt) }
    const user = { userName: jo.name, email: `${jo.name}@example.com`, passwordHash: 'hash', timeZone: null }
    await db.write('addUser', { ...rest, ...user })
    await db.write('addClient', { ...rest, clientId: billing.name, secretHash: `first ${made}` })
    for (const { name } of [jo, billing]) cli.sql((database) => insertCredentials(database, idOf(name)))
  })

  const idOf = (name: string) => Number(cli.value('select id from principals where name = ?', name))
  const credentials = ({ name }: { name: string }) =>
    cli.sql((database) => readCredentials(database, idOf(name)))

  it('ends nothing when a secret is added, and everything when the old one is dropped', async () => {
    const rotation = { account: billing, dropOld: false, stamp }
    await db.write('rotateClientSecret', { ...rotation, secretHash: `second ${made}` })
    assert.deepEqual(credentials(billing), untouched)
    await db.write('rotateClientSecret', { ...rotation, secretHash: `third ${made}` })
    assert.deepEqual(credentials(billing), revoked)
  })

  it('ends nothing when it enables, adds a role or denies a permission', async () => {
    cli.exec(`update principals set enabled = 0 where id = ${idOf(jo.name)}`)
    const enabled = await db.write('setAccountEnabled', { account: jo, enabled: true, stamp })
    assert.deepEqual(enabled, { name: jo.name, changed: true })
    await db.write('grantRoles', { account: jo, roles: ['Operator'], stamp })
    await db.write('denyPermissions', { role: 'Viewer', permissions: ['Orders.Read'], stamp })
    assert.deepEqual(credentials(jo), untouched)
  })

  it('ends nothing when repeated', async () => {
    await db.write('setAccountEnabled', { account: jo, enabled: false, stamp })
    const again = { account: jo, enabled: false, stamp: machineStamp(changedAt + 5_000) }
    assert.deepEqual(await db.write('setAccountEnabled', again), { name: jo.name, changed: false })
    assert.deepEqual(credentials(jo), revoked)
  })

  it('is dated after the previous change, whatever the clock says', async () => {
    for (const [now, dated] of [
      [addedAt - 3_600_000, addedAt + 1],
      [addedAt + 1, addedAt + 2],
      [addedAt + 5_000, addedAt + 5_000],
    ] as const) {
      await db.write('setPassword', { account: jo, passwordHash: 'new', stamp: machineStamp(now) })
      assert.equal(credentials(jo).changedAt, dated)
    }
  })

  it('leaves no trace when refused', async () => {
    const tables = ['principals', 'principal_roles', 'client_secrets']
    const dump = () => tables.map((table) => cli.rows(`select * from ${table}`))
    const before = dump()
    const email = 'new@example.com'
    const user = { userName: 'new', email, passwordHash: 'hash', timeZone: null, roles: ['Viewer'], stamp }
    const setPassword = { account: { ...billing, kind: 'user' }, passwordHash: 'x', stamp } as const
    const refusals: [string, () => Promise<unknown>][] = [
      ['email-taken', () => db.write('addUser', { ...user, email: `${jo.name}@example.com` })],
      ['name-taken', () => db.write('addUser', { ...user, userName: billing.name.toUpperCase() })],
      ['unknown-role', () => db.write('addUser', { ...user, roles: ['Boss'] })],
      ['unknown-role', () => db.write('grantRoles', { account: billing, roles: ['Boss'], stamp })],
      ['user-not-found', () => db.write('setPassword', setPassword)],
      [
        'client-not-found',
        () => db.write('dropOldClientSecrets', { account: { ...jo, kind: 'client' }, stamp }),
      ],
      [
        'role-not-found',
        () => db.write('allowPermissions', { role: 'Boss', permissions: ['Orders.Read'], stamp }),
      ],
    ]
    for (const [code, refused] of refusals) await assert.rejects(refused, { code })
    assert.deepEqual(dump(), before)
  })
})

import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { findClients } from '../../server/auth/accounts/clients/store.ts'
import { hasAccounts } from '../../server/auth/accounts/store.ts'
import { findUsers } from '../../server/auth/accounts/users/store.ts'
import { Passwords } from '../../server/auth/credentials/passwords/passwords.ts'
import { machineStamp } from '../../server/caller/stamp.ts'
import type { AppDatabase } from '../../server/db/port.ts'
import { demoAccounts, demoClient, isUnseeded, prepareDemo } from '../../server/demo/demo.ts'
import { instantOfId } from '../../server/ids.ts'
import { openAppDatabase } from '../../server/operations.ts'
import { assertLogKept, storedEvents } from '../support/kept-log.ts'
import { commandLine, goodPassword } from './command-line.ts'

const nowMilliseconds = 1_800_000_000_000
const periodMilliseconds = 90 * 86_400_000
const passwords = new Passwords()

async function open(t: TestContext, databaseFile: string): Promise<AppDatabase> {
  const db = await openAppDatabase({
    databaseUrl: `file:${databaseFile}`,
  })
  t.after(() => db.close())
  return db
}

const all = { filter: null, offset: 0, limit: 10 }

describe('seedDemo', () => {
  it('fills an empty database once, even if two start at once', async (t) => {
    const db = await open(t, commandLine(t).databaseFile)
    assert.equal(await isUnseeded(db.read), true)
    const input = await prepareDemo({ nowMilliseconds, passwords, demoOrders: true })
    const both = await Promise.all([db.write('seedDemo', input), db.write('seedDemo', input)])
    assert.deepEqual(both, [{ seeded: true }, { seeded: false }])
    assert.equal(await isUnseeded(db.read), false)
    assert.equal(await hasAccounts(db.read, true), true)
    const made = (await findUsers(db.read, all)).items
    assert.equal(made.length, 4)
    assert.partialDeepStrictEqual(made, [
      { userName: 'admin', email: 'admin@example.com', roles: ['Admin'], demo: true },
      { userName: 'operator', email: 'operator@example.com', roles: ['Operator'], demo: true },
      { userName: 'viewer', email: 'viewer@example.com', roles: ['Viewer'], demo: true },
      { userName: 'approver', email: 'approver@example.com', roles: ['Admin'], demo: true },
    ])
    assert.partialDeepStrictEqual((await findClients(db.read, all)).items, [
      { clientId: 'demo-service', roles: ['Operator'], secrets: 1, demo: true },
    ])
    const users = await db.read.selectFrom('users').select('password_hash').orderBy('principal_id').execute()
    const verified = users.map((user, index) =>
      passwords.verify(user.password_hash ?? '', demoAccounts[index]?.password ?? ''),
    )
    assert.deepEqual(await Promise.all(verified), [true, true, true, true])
    const columns = ['status', 'modified_by', 'created_by', 'approved_by'] as const
    const stored = await db.read.selectFrom('orders').select(columns).execute()
    assert.equal(stored.length, 250)
    assert.ok(stored.every(({ created_by, approved_by }) => created_by !== approved_by))
    const decided = input.orders
      .flatMap(({ orders }) => orders)
      .filter(({ updated_at }) => updated_at !== null)
    assert.equal(stored.filter(({ modified_by }) => modified_by !== null).length, decided.length)
    assert.ok(stored.every(({ status, modified_by }) => (status !== 0) === (modified_by !== null)))
    await assertLogKept(db.read)
    const events = await storedEvents(db.read)
    assert.equal(events.filter(({ kind }) => kind === 'created').length, 250)
    const kinds = new Set(events.map(({ kind }) => kind))
    assert.ok(kinds.isSupersetOf(new Set(['approved', 'rejected', 'withdrawn'])))
  })

  it('makes realistic orders of the last 90 days, the same every time', async () => {
    const made = await prepareDemo({ nowMilliseconds, passwords, demoOrders: true })
    const again = await prepareDemo({ nowMilliseconds, passwords, demoOrders: true })
    assert.deepEqual(made.orders, again.orders)
    const orders = made.orders.flatMap((batch) => batch.orders)
    const approved = orders.filter(({ status }) => status === 1)
    assert.equal(approved.length > 140 && approved.length < 160, true, `${approved.length} approved`)
    const start = nowMilliseconds - periodMilliseconds
    const instants = orders.map(({ id }) => instantOfId(id))
    assert.ok(instants.every((instant) => instant >= start && instant < nowMilliseconds))
    for (const { created_at, updated_at: at } of approved) {
      assert.ok(Number(at) > created_at && Number(at) <= nowMilliseconds)
    }
    const decimals = new Set(orders.map(({ total_e4 }) => /0*$/.exec(String(total_e4).slice(-4))?.[0].length))
    assert.deepEqual([...decimals].sort(), [0, 1, 2, 3, 4])
    const creators = new Set(orders.map(({ created_by }) => created_by))
    assert.deepEqual(creators, new Set(['operator', 'admin', 'demo-service']))
    assert.equal(new Set(orders.map(({ customer }) => customer)).size > 70, true)
  })

  it('omits the orders on request, and adds nothing to a database with accounts', async (t) => {
    const db = await open(t, commandLine(t).databaseFile)
    const input = await prepareDemo({ nowMilliseconds, passwords, demoOrders: false })
    assert.deepEqual(input.orders, [])
    const user = { userName: 'jo', email: 'jo@example.com', passwordHash: 'x', timeZone: null, roles: [] }
    await db.write('addUser', { ...user, stamp: machineStamp(nowMilliseconds) })
    assert.deepEqual(await db.write('seedDemo', input), { seeded: false })
    assert.equal(await hasAccounts(db.read, true), false)
  })
})

it('a new password or secret removes the mark of a demo account, and the published secret', async (t) => {
  const cli = commandLine(t)
  const db = await open(t, cli.databaseFile)
  await db.write('seedDemo', await prepareDemo({ nowMilliseconds, passwords, demoOrders: false }))
  await cli.run('user set-password admin', goodPassword)
  const { clientSecret } = await cli.json<{ clientSecret: string }>('client rotate-secret demo-service')
  assert.notEqual(clientSecret, demoClient.clientSecret)
  assert.partialDeepStrictEqual((await findClients(db.read, all)).items, [
    { clientId: 'demo-service', secrets: 1, demo: false },
  ])
  assert.deepEqual(
    (await findUsers(db.read, all)).items.map(({ demo }) => demo),
    [false, true, true, true],
  )
})

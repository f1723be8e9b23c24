import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import type { Permission } from '../../server/caller/permissions.ts'
import { machineStamp } from '../../server/caller/stamp.ts'
import {
  bearerOf,
  machineOf,
  newClient,
  newUser,
  setEnabled,
  signIn,
  type TestClient,
  type TestUser,
} from '../support/accounts.ts'
import { newAdministrator } from '../support/administration.ts'
import { hashOf } from '../support/cheap-hash.ts'
import type { Answer, Client } from '../support/client.ts'
import { testEngine } from '../support/database.ts'
import { storedEvents } from '../support/kept-log.ts'
import { createdId, storedState } from '../support/orders.ts'
import { storedPolicy } from '../support/policy.ts'
import { connectTo, lockWaiters } from '../support/postgres.ts'
import { assertProblem } from '../support/problem.ts'
import { testService } from '../support/service.ts'
import { until } from '../support/stream.ts'

/**
 * The permissions of a caller are cached for five minutes, and a request may be admitted long before its
 * write. Neither may decide anything.
 */
describe('a caller who may no longer decide', () => {
  const service = testService({ inside: true })
  const deciding: Permission[] = ['Orders.Create', 'Orders.Approve', 'Policy.Manage']
  const stamp = () => machineStamp(service.now())
  let roles = 0

  interface Decider {
    caller: Client
    role: string
    account: TestUser | TestClient
    deeds: (() => Promise<Answer>)[]
  }

  async function newDecider(how: 'bearer' | 'session' | 'service'): Promise<Decider> {
    roles += 1
    const role = `Decider${roles}`
    await service.db.write('addRole', { role, permissions: deciding, stamp: stamp() })
    if (how === 'service') {
      const account = await newClient(service, [role, 'Viewer'])
      return withDeeds(await machineOf(service, account), role, account)
    }
    const account = await newUser(service, { roles: [role, 'Viewer'] })
    const caller = await (how === 'session' ? signIn : bearerOf)(service, account)
    return withDeeds(caller, role, account)
  }

  async function withDeeds(caller: Client, role: string, account: TestUser | TestClient): Promise<Decider> {
    const order = await createdId(caller)
    const { headers, body } = await caller.get('/v1/approval-policy')
    const ifMatch = { 'if-match': headers.get('etag') ?? '' }
    const deeds = [
      () => caller.patch(`/v1/orders/${order}/approve`),
      () => caller.patch(`/v1/orders/${order}/reject`, { reason: 'Twice.' }),
      () => caller.patch(`/v1/orders/${order}/withdraw`),
      () => caller.patch(`/v1/orders/${randomUUID()}/approve`),
      () => caller.send('PUT', '/v1/approval-policy', { rows: [{ ...body.rows[0], approvals: 2 }] }, ifMatch),
    ]
    // A service cannot change the policy.
    return { caller, role, account, deeds: 'clientId' in account ? deeds.slice(0, -1) : deeds }
  }

  const changes: Record<string, (decider: Decider) => Promise<unknown>> = {
    'has been disabled': ({ account }) => setEnabled(service, account, false),
    'has lost the role': ({ account, role }) =>
      service.db.write('revokeRoles', { account: account.account, roles: [role], stamp: stamp() }),
    'has a role that lost the permissions': ({ role }) =>
      service.db.write('denyPermissions', { role, permissions: deciding, stamp: stamp() }),
    'has another password': async ({ account }) =>
      service.db.write('setPassword', {
        account: account.account as TestUser['account'],
        passwordHash: await hashOf('another quiet harbour at dawn'),
        stamp: stamp(),
      }),
    'has signed out': async ({ account: { id } }) => {
      const { id: sessionId } = await service.db.read
        .selectFrom('sessions')
        .select('id')
        .where('principal_id', '=', id)
        .executeTakeFirstOrThrow()
      await service.db.write('endSession', { sessionId })
    },
  }
  const cases: [how: Parameters<typeof newDecider>[0], what: string, code: string][] = [
    ['bearer', 'has been disabled', 'authentication-required'],
    ['bearer', 'has lost the role', 'authentication-required'],
    ['bearer', 'has a role that lost the permissions', 'permission-denied'],
    ['bearer', 'has another password', 'authentication-required'],
    ['session', 'has been disabled', 'authentication-required'],
    ['session', 'has lost the role', 'permission-denied'],
    ['session', 'has a role that lost the permissions', 'permission-denied'],
    ['session', 'has another password', 'authentication-required'],
    ['session', 'has signed out', 'authentication-required'],
    ['service', 'has been disabled', 'authentication-required'],
    ['service', 'has lost the role', 'authentication-required'],
    ['service', 'has a role that lost the permissions', 'permission-denied'],
  ]

  const stored = async () => [await storedState(service), await storedPolicy(service)]
  const refusalOf = ({ status, headers, body }: Answer) => ({
    status,
    code: body?.code,
    detail: body?.detail,
    permission: body?.permission,
    challenge: headers.get('www-authenticate'),
  })

  /** The change comes between the guard of the next request and its write. Returns what was stored then. */
  function changeBeforeNextWrite(change: () => Promise<unknown>): Promise<unknown> {
    const { write } = service.db
    return new Promise((resolve) => {
      const hold = async () => {
        service.db.write = write
        await change()
        resolve(await stored())
      }
      service.db.write = (name, input) => hold().then(() => write(name, input))
    })
  }

  for (const [how, what, code] of cases) {
    it(`${what} after the request was admitted (${how}): is refused, as a new request is`, async () => {
      const status = code === 'permission-denied' ? 403 : 401
      let decider = await newDecider(how)
      for (const index of decider.deeds.keys()) {
        const { deeds } = decider
        const deed = deeds[index] ?? assert.fail()
        const before = changeBeforeNextWrite(async () => changes[what]?.(decider))
        const refused = await deed()
        assertProblem(refused, status, code)
        assert.deepEqual(await stored(), await before)
        assert.equal((await decider.caller.get('/v1/auth/me')).status, status === 401 ? 401 : 200)
        // By now, nothing is remembered.
        service.advance(301_000)
        assert.deepEqual(refusalOf(await deed()), refusalOf(refused))
        decider = await newDecider(how)
      }
    })
  }

  it('has no decision in the log after the change that took the permission away', {
    skip: testEngine === 'sqlite' ? 'one thread writes' : false,
  }, async (t) => {
    const { caller, account } = await newDecider('bearer')
    const order = await createdId(caller)
    const holder = await connectTo(service.databaseUrl)
    t.after(() => holder.end())
    await holder.query('begin')
    await holder.query('select * from orders where id = $1 for update', [order])
    const approval = caller.patch(`/v1/orders/${order}/approve`)
    await until(async () => (await lockWaiters(service.databaseUrl)) === 1)
    let isDisabled = false
    const disabling = setEnabled(service, account, false).then(() => {
      isDisabled = true
    })
    await until(async () => isDisabled || (await lockWaiters(service.databaseUrl)) === 2)
    await holder.query('commit')
    await Promise.all([approval, disabling])
    assert.equal((await approval).status, 204)
    const kinds = (await storedEvents(service.db.read)).map(({ kind }) => kind)
    assert.ok(kinds.lastIndexOf('approved') < kinds.lastIndexOf('disabled'))
  })

  const administrative: [
    what: string,
    status: number,
    change: (admin: Client, one: Decider) => Promise<Answer>,
  ][] = [
    ['disables', 401, (admin, { account: { id } }) => admin.patch(`/v1/users/${id}`, { enabled: false })],
    ['demotes', 401, (admin, { account: { id } }) => admin.patch(`/v1/users/${id}`, { roles: ['Viewer'] })],
    ['denies', 403, (admin, { role }) => admin.send('PUT', `/v1/roles/${role}`, { permissions: [] })],
  ]
  for (const [what, status, change] of administrative) {
    it(`does nothing else at the instance that ${what} either, because its cache is cleared`, async () => {
      const { caller: admin } = await newAdministrator(service)
      const decider = await newDecider('bearer')
      const create = () => decider.caller.post('/v1/orders', { customer: 'Acme', total: 1 })
      assert.equal((await create()).status, 201)
      assert.equal((await change(admin, decider)).status, 204)
      assert.equal((await create()).status, status)
    })
  }
})

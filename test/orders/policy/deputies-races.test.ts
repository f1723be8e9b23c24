// engine: both
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, it } from 'node:test'
import fc from 'fast-check'
import { revokeRoles, setAccountEnabled } from '../../../server/auth/accounts/accounts.ts'
import { endAbsence } from '../../../server/auth/accounts/users/absence.ts'
import { machineStamp } from '../../../server/caller/stamp.ts'
import type { Trx } from '../../../server/db/tables.ts'
import { newSalt } from '../../../server/ids.ts'
import { openAppDatabase } from '../../../server/operations.ts'
import { refusalsOf } from '../../../server/orders/conditions.ts'
import { Problem } from '../../../server/problems/problems.ts'
import {
  bearerOf,
  grantRoles,
  newClient,
  newUser,
  setEnabled,
  signIn,
  type TestUser,
} from '../../support/accounts.ts'
import { testEngine, withRawDatabase } from '../../support/database.ts'
import { forAllAsync } from '../../support/for-all.ts'
import { storedEvents } from '../../support/kept-log.ts'
import { createdId, insertOrders, orderRow } from '../../support/orders.ts'
import { approvalState, approve, policyRow, putPolicy } from '../../support/policy.ts'
import { connectTo, lockWaiters } from '../../support/postgres.ts'
import { addRole } from '../../support/roles.ts'
import { type InsideService, setUp, testService } from '../../support/service.ts'
import { until } from '../../support/stream.ts'

const hour = 3_600_000

function absences(service: InsideService) {
  const person = ({ id, userName: name }: TestUser) => ({ id, name })
  const stamp = () => machineStamp(service.now())
  return {
    set: (absent: TestUser, deputy: { id: number }, db = service.db) => {
      const absence = { from: service.now(), until: service.now() + hour, deputyId: deputy.id }
      return db.write('setAbsence', { person: person(absent), absence, stamp: stamp() })
    },
    end: (absent: TestUser, db = service.db) =>
      db.write('endAbsence', { person: person(absent), stamp: stamp() }),
  }
}

const peopleCount = 10
const world = fc.record({
  approvals: fc.integer({ min: 1, max: 5 }),
  selfApproval: fc.boolean(),
  services: fc.boolean(),
  needsRole: fc.boolean(),
  /** Among the people; undefined for no account. */
  creator: fc.option(fc.nat(peopleCount - 1), { nil: undefined }),
  /** By the absent; undefined for nobody. */
  deputies: fc.array(fc.option(fc.nat(peopleCount - 1), { nil: undefined }), {
    minLength: peopleCount,
    maxLength: peopleCount,
  }),
  callers: fc.array(fc.nat(peopleCount + 1), { minLength: 50, maxLength: 50 }),
})

interface Account {
  id: number
  name: string
  kind: 'user' | 'client'
  approves: boolean
  holds: boolean
  ownerId: number | null
}

describe('fifty approvals at once by people, deputies and services', () => {
  const service = testService({ inside: true })
  const { set, end } = absences(service)
  const accounts: Account[] = []
  const users: TestUser[] = []
  let role: string
  before(async () => {
    role = await addRole(service, 'Finance', [])
    for (let index = 0; index < peopleCount; index += 1) {
      const [approves, holds] = [index % 3 !== 0, index % 4 === 1]
      const roles = [approves ? 'Admin' : 'Viewer', ...(holds ? [role] : [])]
      const user = await newUser(service, { roles })
      users.push(user)
      accounts.push({ id: user.id, name: user.userName, kind: 'user', approves, holds, ownerId: null })
    }
    for (const owner of [null, users[1] ?? assert.fail()]) {
      const { id, clientId } = await newClient(service, ['Admin', role], owner?.id)
      accounts.push({
        id,
        name: clientId,
        kind: 'client',
        approves: true,
        holds: true,
        ownerId: owner?.id ?? null,
      })
    }
  })
  const accountOf = (id: number | null) => accounts.find((account) => account.id === id) ?? assert.fail()

  async function attempt(id: string, { id: byId, name: by, kind, approves }: Account): Promise<boolean> {
    const { credentials_changed_at: credentialsChangedAt } = await service.db.read
      .selectFrom('principals')
      .select('credentials_changed_at')
      .where('id', '=', byId)
      .executeTakeFirstOrThrow()
    const standing = { via: 'bearer', credentialsChangedAt } as const
    const stamp = {
      ...machineStamp(service.now()),
      eventId: randomUUID(),
      seed: newSalt(),
      by,
      byId,
      standing,
    }
    const actor = { ...stamp, isService: kind === 'client', asDeputy: !approves }
    const input = { id, acceptedVersions: null, text: null, signature: null, idempotency: null, actor }
    return service.db.write('approveOrder', input).then(
      () => true,
      (problem) => {
        const codes = [...refusalsOf('approve'), 'permission-denied']
        assert.ok(problem instanceof Problem && codes.includes(problem.code), problem)
        return false
      },
    )
  }

  it('give as many as are needed, with the role, and nobody takes part twice: 20 policies', async () => {
    await forAllAsync(20, world, async ({ deputies, callers, creator, needsRole, ...row }) => {
      for (const [absent, deputy] of deputies.entries()) {
        const user = users[absent] ?? assert.fail()
        if (deputy === undefined || deputy === absent) await end(user)
        else await set(user, users[deputy] ?? assert.fail())
      }
      const createdBy = creator === undefined ? null : (users[creator]?.id ?? null)
      const [order] = await insertOrders(service, [
        orderRow({
          created_by_id: createdBy,
          approvals_needed: row.approvals,
          self_approval: Number(row.selfApproval),
          service_approval: Number(row.services),
          role_needed: needsRole ? role : null,
        }),
      ])
      const id = order?.id ?? assert.fail()
      const people = callers.map((index) => accounts[index] ?? assert.fail())
      const outcomes = await Promise.all(people.map((caller) => attempt(id, caller)))

      const standsIn = (by: Account, right: Account) => {
        const deputy = deputies[users.findIndex((user) => user.id === right.id)]
        return deputy !== undefined && by.id !== right.id && users[deputy]?.id === by.id
      }
      const isCreator = ({ id: by, ownerId }: Account) =>
        createdBy !== null && (by === createdBy || ownerId === createdBy)
      const mayUse = (by: Account, right: Account) =>
        right.approves &&
        (by === right || standsIn(by, right)) &&
        (by.kind === 'user' || row.services) &&
        (row.selfApproval || !(isCreator(by) || isCreator(right)))
      const readGiven = async () => {
        const events = (await storedEvents(service.db.read, id)).filter(({ kind }) =>
          kind.startsWith('appro'),
        )
        return events.map(({ by_id: by, for_id: right }) => [accountOf(by), accountOf(right ?? by)] as const)
      }
      const check = async (successes: number) => {
        const given = await readGiven()
        const state = await approvalState(service, id)
        assert.deepEqual([state.approvals_given, given.length, state.events.length], Array(3).fill(successes))
        assert.equal(state.status, successes === row.approvals ? 1 : 0)
        for (const [by, right] of given) assert.ok(mayUse(by, right), `${by.name} for ${right.name}`)
        const parts = given.flatMap(([by, right]) => (by === right ? [by.id] : [by.id, right.id]))
        assert.equal(new Set(parts).size, parts.length, 'someone takes part twice')
        const isHeld = given.some(([, right]) => right.holds)
        if (state.status === 1 && needsRole) assert.ok(isHeld, 'approved without the role')
        return { isDone: state.status === 1, parts, isLast: given.length + 1 === row.approvals, isHeld }
      }
      let successes = outcomes.filter(Boolean).length
      await check(successes)
      // Two may have wanted the same right at the same moment; one of them can have another.
      for (const caller of people) if (await attempt(id, caller)) successes += 1
      const { isDone, parts, isLast, isHeld } = await check(successes)
      const left = new Set(people).values().flatMap((by) => accounts.map((right) => [by, right] as const))
      const couldGive = left.some(
        ([by, right]) =>
          mayUse(by, right) &&
          !parts.includes(by.id) &&
          !parts.includes(right.id) &&
          !(needsRole && isLast && !isHeld && !right.holds),
      )
      assert.ok(isDone || !couldGive, 'a needed approval was refused')
    })
  })
})

describe('an approval in someone’s place while that changes', {
  skip: testEngine === 'sqlite' ? 'one thread writes' : false,
}, () => {
  const service = testService({ inside: true })
  const operator = setUp(() => service.bearer('operator'))
  const { set, end } = absences(service)
  const carl = setUp(() => person('Viewer'))
  const person = (...roles: string[]) => newUser(service, { roles })
  let role: string
  before(async () => {
    role = await addRole(service, 'Finance', [])
  })
  const codes = ['permission-denied', 'authentication-required', 'concurrency-conflict', 'role-needed']

  interface Pair {
    ann: TestUser
    bo: TestUser
  }
  const stamp = () => machineStamp(service.now())
  const asAbsent = ({ id, userName: name }: TestUser) => ({ person: { id, name }, stamp: stamp() })
  const lose = (trx: Trx, { account }: TestUser, role: string) =>
    revokeRoles(trx, { account, roles: [role], stamp: stamp() })
  const disable = (trx: Trx, { account }: TestUser) =>
    setAccountEnabled(trx, { account, enabled: false, stamp: stamp() })
  const changes: Record<string, (trx: Trx, pair: Pair) => Promise<unknown>> = {
    'the absence ends': (trx, { ann }) => endAbsence(trx, asAbsent(ann)),
    'another becomes the deputy': (trx, { ann }) =>
      trx.updateTable('absences').set('deputy_id', carl.id).where('principal_id', '=', ann.id).execute(),
    'the absent person is disabled': (trx, { ann }) => disable(trx, ann),
    'the absent person loses the right': (trx, { ann }) => lose(trx, ann, 'Admin'),
    'the absent person loses the role': (trx, { ann }) => lose(trx, ann, role),
    'the deputy is disabled': (trx, { bo }) => disable(trx, bo),
    'the deputy loses the right to read': (trx, { bo }) => lose(trx, bo, 'Viewer'),
  }
  for (const [what, change] of Object.entries(changes)) {
    for (const how of ['bearer', 'session']) {
      it(`is refused if it waited while ${what} (${how})`, async () => {
        const [ann, bo] = [await person('Admin', role), await person('Viewer')]
        await set(ann, bo)
        await assertRefusedAfter(bo, how, (trx) => change(trx, { ann, bo }))
      })
    }
  }
  for (const lost of ['Admin', 'Finance']) {
    it(`and so is one’s own by session if it waited while one lost the role ${lost}`, async () => {
      const ann = await person('Admin', 'Viewer', role)
      await assertRefusedAfter(ann, 'session', (trx) => lose(trx, ann, lost))
    })
  }

  /** The change is made, but not committed, when the approval begins. */
  async function assertRefusedAfter(user: TestUser, how: string, change: (trx: Trx) => Promise<unknown>) {
    await putPolicy(service, [policyRow({ role })])
    const id = await createdId(operator)
    const caller = await (how === 'session' ? signIn : bearerOf)(service, user)
    const { approving } = await withRawDatabase(service.databaseUrl, async (trx) => {
      await change(trx)
      const approving = approve(caller, id)
      await until(async () => (await lockWaiters(service.databaseUrl)) > 0)
      return { approving }
    })
    const { status, body } = await approving
    assert.ok(status >= 401 && codes.includes(body?.code), `${status} ${body?.code}`)
    assert.equal((await approvalState(service, id)).approvals_given, 0)
  }

  it('comes before the change in the log, at two instances, without a deadlock', async (t) => {
    const second = await openAppDatabase(service.config.database)
    t.after(() => second.close())
    await putPolicy(service, [policyRow({ approvals: 2 })])
    for (let round = 0; round < 8; round += 1) {
      const [ann, bo, carl] = [await person('Admin'), await person('Admin'), await person('Viewer')]
      await set(ann, carl)
      await set(bo, ann)
      const orders = await Promise.all(Array.from({ length: 5 }, () => createdId(operator)))
      const bearers = await Promise.all([ann, bo, carl].map((user) => bearerOf(service, user)))
      const deeds: (() => Promise<unknown>)[] = [
        ...orders.flatMap((id) => bearers.map((caller) => () => approve(caller, id))),
        () => end(bo, second),
        ...(round % 2 === 0
          ? [() => end(ann, second)]
          : [() => set(ann, bo, second), () => setEnabled(service, ann, false)]),
        () => grantRoles(service, carl, ['Operator']),
      ]
      const answers = await Promise.all(deeds.map((deed) => deed()))
      for (const answer of answers as { status?: number }[]) assert.ok((answer.status ?? 0) < 500)
      const events = await storedEvents(service.db.read)
      const endings = ['absence-ended', 'disabled']
      for (const absent of [ann, bo]) {
        const last = events.findLastIndex(({ for_id: id }) => id === absent.id)
        const ended = events.findIndex(
          ({ kind, subject_id: id }) => endings.includes(kind) && id === String(absent.id),
        )
        assert.ok(ended > last, `${absent.userName}: approval ${last}, end ${ended}`)
      }
    }
    const holder = await connectTo(service.databaseUrl)
    t.after(() => holder.end())
    const { rows } = await holder.query(
      'select deadlocks from pg_stat_database where datname = current_database()',
    )
    assert.deepEqual(rows, [{ deadlocks: '0' }])
  })
})

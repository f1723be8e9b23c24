// engine: both
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import type { Permission } from '../../../server/caller/permissions.ts'
import type { Principal } from '../../../server/caller/principal.ts'
import { authoritiesOf } from '../../../server/caller/standing.ts'
import { newOrderedId, newSalt } from '../../../server/ids.ts'
import { refusalsOf } from '../../../server/orders/conditions.ts'
import { readApprovals } from '../../../server/orders/life/history.ts'
import { listOrders } from '../../../server/orders/list/list.ts'
import { Problem } from '../../../server/problems/problems.ts'
import { newClient, newUser } from '../../support/accounts.ts'
import { testEngine, withRawDatabase } from '../../support/database.ts'
import { forAllAsync } from '../../support/for-all.ts'
import { storedEvents } from '../../support/kept-log.ts'
import { type Asked, type AskedOrder, rightToApprove } from '../../support/may-approve.ts'
import { orderIdAt, orderRow, replaceOrders, stamp } from '../../support/orders.ts'
import { addRole } from '../../support/roles.ts'
import { testService } from '../../support/service.ts'

/** The rules are the same SQL on both engines; so few still find most of what one of them has wrong. */
const worlds = testEngine === 'sqlite' ? 50 : 20
const peopleCount = 5
const ordersCount = 20
/** How many kinds of account there are to draw people from. */
const accountsCount = 16

interface DrawnOrder {
  status: number
  approvals_needed: number
  self_approval: number
  service_approval: number
  /** Undefined for none. */
  roleNeeded: 'first' | 'second' | undefined
  role_held: number
  passkey_needed: number
  /** Among the people; undefined for no account. */
  creator: number | undefined
  /** The owner of the service that created it. */
  owner: number | undefined
  /** Each with the person in whose right they approved. */
  approvals: { by: number; right: number }[]
  /** The person who tries to approve it in the end. */
  trying: number
}

const flag = fc.constantFrom(0, 1)
const person = fc.nat(peopleCount - 1)
const order: fc.Arbitrary<DrawnOrder> = fc.record({
  status: fc.constantFrom(0, 0, 0, 0, 1, 2, 3),
  approvals_needed: fc.integer({ min: 1, max: 4 }),
  self_approval: flag,
  service_approval: flag,
  roleNeeded: fc.constantFrom('first', 'second', undefined),
  role_held: flag,
  passkey_needed: flag,
  creator: fc.option(person, { nil: undefined }),
  owner: fc.option(person, { nil: undefined }),
  approvals: fc.uniqueArray(fc.record({ by: person, right: person }), {
    comparator: (a, b) => [a.by, a.right].includes(b.by) || [a.by, a.right].includes(b.right),
    maxLength: 3,
  }),
  trying: person,
})
const hour = 3_600_000
/** When an absence is, from now. */
const absences = {
  now: [-hour, hour],
  beginning: [0, hour],
  ending: [-hour, 0],
  over: [-hour, -1],
  ahead: [1, hour],
} as const
const world = fc.record({
  people: fc.uniqueArray(
    fc.record({
      account: fc.nat(accountsCount - 1),
      /** Whether the credential has the permission. It may be older than the roles of the account. */
      isPermitted: fc.boolean(),
      isEnabled: fc.constantFrom(1, 1, 1, 0),
      hasPasskey: fc.boolean(),
      /** Only services end. */
      hasEnded: fc.constantFrom(false, false, true),
      deputy: person,
      // Mostly there is one now: only then does its deputy matter.
      absence: fc.oneof(
        { weight: 2, arbitrary: fc.constant('now' as const) },
        fc.constantFrom(...(Object.keys(absences) as (keyof typeof absences)[]), undefined),
      ),
    }),
    { selector: ({ account }) => account, minLength: peopleCount, maxLength: peopleCount },
  ),
  orders: fc.array(order, { minLength: ordersCount, maxLength: ordersCount }),
})

describe('whether someone may approve an order', () => {
  // Its accounts are disabled, so no other test may use it.
  const service = testService({})
  const accounts: Omit<Principal, 'permissions'>[] = []
  const roleNames: Record<'first' | 'second', string> = { first: '', second: '' }

  /** One account of each kind: user or service, with and without each role that an order may need. */
  before(async () => {
    const suffix = randomUUID().slice(0, 8)
    const approving = await addRole(service, `Approving-${suffix}`, ['Orders.Read', 'Orders.Approve'])
    roleNames.first = await addRole(service, `First-${suffix}`, [])
    roleNames.second = await addRole(service, `Second-${suffix}`, [])
    for (let index = 0; index < accountsCount; index += 1) {
      const roles = [
        ...(index & 1 ? [approving] : ['Viewer']),
        ...(index & 2 ? [roleNames.first] : []),
        ...(index & 4 ? [roleNames.second] : []),
      ]
      const kind = index & 8 ? 'client' : 'user'
      const { id, account } =
        kind === 'user' ? await newUser(service, { roles }) : await newClient(service, roles)
      const { credentials_changed_at: credentialsChangedAt } = await service.db.read
        .selectFrom('principals')
        .select('credentials_changed_at')
        .where('id', '=', id)
        .executeTakeFirstOrThrow()
      const standing = { via: 'bearer', credentialsChangedAt } as const
      const unused = { fullName: null, timeZone: null, signIn: null, session: null }
      accounts.push({ id, kind, userName: account.name, roles, via: 'bearer', standing, ...unused })
    }
  })

  type DrawnPerson = (typeof world extends fc.Arbitrary<infer World extends { people: unknown[] }>
    ? World
    : never)['people'][number]

  /** The people as callers, after their accounts and absences were made as drawn. */
  async function makePeople(drawn: DrawnPerson[]): Promise<Principal[]> {
    const people = drawn.map(({ account, isPermitted }): Principal => {
      const permissions: Permission[] = isPermitted ? ['Orders.Read', 'Orders.Approve'] : ['Orders.Read']
      return { ...(accounts[account] ?? assert.fail()), permissions: new Set(permissions) }
    })
    const now = service.now()
    const kept = drawn.flatMap(({ absence, deputy }, index) => {
      const [person, other] = [people[index], people[deputy]]
      if (absence === undefined || person?.kind !== 'user' || other?.kind !== 'user') return []
      const [from, until] = absences[absence]
      const ends = { from_at: now + from, until_at: now + until }
      return person === other ? [] : [{ principal_id: person.id, deputy_id: other.id, ...ends }]
    })
    const passkeys = drawn.flatMap(({ hasPasskey }, index) => {
      const { id = 0, kind } = people[index] ?? {}
      return hasPasskey && kind === 'user' ? [passkeyOf(id)] : []
    })
    await withRawDatabase(service.databaseUrl, async (db) => {
      await db.deleteFrom('absences').execute()
      const ids = accounts.map(({ id }) => id)
      await db.deleteFrom('passkeys').where('principal_id', 'in', ids).execute()
      if (kept.length > 0) await db.insertInto('absences').values(kept).execute()
      if (passkeys.length > 0) await db.insertInto('passkeys').values(passkeys).execute()
      // Nobody else could approve anything.
      await db.updateTable('principals').set({ enabled: 0 }).execute()
      for (const [index, { isEnabled: enabled, hasEnded }] of drawn.entries()) {
        const { id = 0 } = people[index] ?? {}
        await db.updateTable('principals').set({ enabled }).where('id', '=', id).execute()
        const ends = { ends_at: hasEnded ? now : now + 1 }
        await db.updateTable('clients').set(ends).where('principal_id', '=', id).execute()
      }
    })
    return people
  }

  const passkeyOf = (principal_id: number) => ({
    ...{ id: `passkey-${principal_id}`, principal_id, rp_id: 'orders.example.com', name: 'x' },
    ...{ public_key: 'x', counter: 0, synced: 0, created_at: 1, last_used_at: null },
  })

  const approvalsOf = ({ status, approvals_needed, approvals }: DrawnOrder) =>
    approvals.slice(0, status === 0 ? approvals_needed - 1 : approvals_needed)

  /** The people as they are asked about. Only users are absent, or have a passkey. */
  function askedOf(drawn: DrawnPerson[], people: Principal[]): Asked[] {
    const isUser = (index: number) => people[index]?.kind === 'user'
    return drawn.map((person, index) => {
      const isAbsent = person.absence === 'now' || person.absence === 'beginning'
      return {
        id: people[index]?.id ?? 0,
        isService: !isUser(index),
        isEnabled: person.isEnabled === 1,
        mayApprove: (person.account & 1) === 1,
        isPermitted: person.isPermitted,
        roles: [
          ...(person.account & 2 ? [roleNames.first] : []),
          ...(person.account & 4 ? [roleNames.second] : []),
        ],
        hasPasskey: person.hasPasskey && isUser(index),
        deputy: isAbsent && isUser(person.deputy) ? people[person.deputy]?.id : undefined,
      }
    })
  }

  const askedOrder = (people: Principal[], order: DrawnOrder): AskedOrder => ({
    isPending: order.status === 0,
    approvalsNeeded: order.approvals_needed,
    selfApproval: order.self_approval === 1,
    serviceApproval: order.service_approval === 1,
    roleNeeded: order.roleNeeded ? roleNames[order.roleNeeded] : null,
    isRoleHeld: order.role_held === 1,
    isPasskeyNeeded: order.passkey_needed === 1,
    creators: [order.creator, order.owner].map((index) => people[index ?? -1]?.id),
    approvals: approvalsOf(order).map(({ by, right }) => ({
      by: people[by]?.id ?? 0,
      right: people[right]?.id ?? 0,
    })),
  })

  /** Whether nobody could approve it, by the roles that the accounts have now. */
  function isStuck(drawn: DrawnPerson[], people: Principal[], order: DrawnOrder): boolean {
    const present = askedOf(drawn, people).map((person) => ({ ...person, isPermitted: true }))
    return (
      order.status === 0 &&
      !present.some((asking, person) => {
        const canAsk = asking.isEnabled && !(drawn[person]?.hasEnded && asking.isService)
        return canAsk && rightToApprove(present, asking, askedOrder(people, order)) !== undefined
      })
    )
  }

  async function makeOrders(people: Principal[], drawn: DrawnOrder[]): Promise<string[]> {
    const ids = drawn.map((_, index) => orderIdAt(Date.UTC(2026, 0, 1), index))
    const rows = drawn.map((each, index) => {
      const { creator, owner, approvals: _, trying: __, roleNeeded, ...columns } = each
      const given = approvalsOf(each).length
      return orderRow({
        ...columns,
        id: ids[index] ?? '',
        created_by_id: people[creator ?? -1]?.id ?? null,
        created_by_owner_id: people[owner ?? -1]?.id ?? null,
        role_needed: roleNeeded ? roleNames[roleNeeded] : null,
        role_held: each.status === 1 ? 1 : each.role_held,
        approvals_given: each.status === 1 ? each.approvals_needed : given,
      })
    })
    await replaceOrders(service, rows)
    const approvals = drawn.flatMap((each, index) =>
      approvalsOf(each)
        .flatMap(({ by, right }) => [...new Set([by, right])])
        .map((account) => ({
          order_id: ids[index] ?? '',
          account_id: people[account]?.id ?? 0,
        })),
    )
    if (approvals.length > 0) {
      await withRawDatabase(service.databaseUrl, (db) =>
        db.insertInto('order_approvals').values(approvals).execute(),
      )
    }
    // SQLite reads one snapshot for all of a turn of the event loop.
    await setImmediate()
    return ids
  }

  const query = {
    ...{
      pageNumber: undefined,
      pageSize: undefined,
      orderBy: undefined,
      order: undefined,
      columns: undefined,
    },
    paginated: false,
  }
  const readerOf = (caller: Principal) => ({ caller, nowMilliseconds: service.now() })
  async function idsFound(filter: string, reader: Principal): Promise<string[]> {
    const { json, description } = await listOrders(service.db, { ...query, filter }, readerOf(reader))
    const { items } = JSON.parse(json) as { items: { id: string }[] }
    assert.equal(description.totalCount, items.length)
    return items.map(({ id }) => id).sort()
  }

  /** The person in whose right the guard and the write let the caller approve; undefined if in nobody's. */
  async function attempt(id: string, caller: Principal): Promise<number | undefined> {
    const { id: byId, kind, userName: by, standing, permissions } = caller
    const now = service.now()
    const isAdmitted = permissions.has('Orders.Approve') || (await isDeputy(caller))
    if (!isAdmitted) return undefined
    const actor = {
      ...stamp({ eventId: newOrderedId(now), seed: newSalt(), nowMilliseconds: now, by, standing }),
      byId,
    }
    try {
      await service.db.write('approveOrder', {
        ...{ id, acceptedVersions: null, text: null, signature: null, idempotency: null },
        actor: { ...actor, isService: kind === 'client', asDeputy: !permissions.has('Orders.Approve') },
      })
    } catch (problem) {
      const codes = [...refusalsOf('approve'), 'permission-denied', 'authentication-required']
      assert.ok(problem instanceof Problem && codes.includes(problem.code), `${problem}`)
      return undefined
    }
    await setImmediate()
    const { for_id: right } = (await storedEvents(service.db.read, id)).at(-1) ?? assert.fail()
    return right ?? byId
  }

  async function isDeputy({ id: byId }: Principal): Promise<boolean> {
    const asking = { byId, nowMilliseconds: service.now() }
    return (await authoritiesOf(service.db.read, asking, 'Orders.Approve', false)).length > 0
  }

  it(`mayApprove, waits and an attempt follow the rules, for ${peopleCount} people and ${worlds * ordersCount} orders`, async () => {
    await forAllAsync(worlds, world, async ({ people: drawn, orders }) => {
      const people = await makePeople(drawn)
      const ids = await makeOrders(people, orders)
      /** For each person, in whose right they may approve each order. */
      const told: (number | undefined)[][] = []
      for (const reader of people) {
        const answers = await Promise.all(
          ids.map((id) => readApprovals(service.db.read, id, reader, service.now())),
        )
        const [may, mayNot] = [true, false].map((wanted) =>
          ids.filter((_, index) => answers[index]?.mayApprove === wanted).sort(),
        )
        assert.deepEqual(await idsFound('waits:me', reader), may)
        assert.deepEqual(await idsFound('NOT waits:me', reader), mayNot)
        told.push(
          answers.map(({ mayApprove, mayApproveFor }) =>
            mayApprove ? (mayApproveFor?.id ?? reader.id) : undefined,
          ),
        )
      }
      const asked = askedOf(drawn, people)
      const expected = asked.map((caller) =>
        orders.map((each) => rightToApprove(asked, caller, askedOrder(people, each))),
      )
      assert.deepEqual(told, expected)
      const [stuck, others] = [true, false].map((wanted) =>
        ids.filter((_, index) => isStuck(drawn, people, orders[index] ?? assert.fail()) === wanted).sort(),
      )
      const [reader = assert.fail()] = people
      assert.deepEqual(await idsFound('waits:nobody', reader), stuck)
      assert.deepEqual(await idsFound('NOT waits:nobody', reader), others)
      const attempts = orders.map(async ({ trying, passkey_needed }, index) => {
        // Nobody who is disabled can ask, and nothing here signs.
        if (drawn[trying]?.isEnabled !== 1 || passkey_needed === 1) return
        const right = await attempt(ids[index] ?? '', people[trying] ?? assert.fail())
        assert.equal(right, told[trying]?.[index])
      })
      await Promise.all(attempts)
    })
  })
})

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, beforeEach, describe, it } from 'node:test'
import { judgeReceipt } from '../../../proof/verdict.ts'
import { authoritiesOf } from '../../../server/caller/standing.ts'
import { prepareDecisions } from '../../../server/orders/life/decisions.ts'
import { bearerOf, newUser, revokeRoles, type TestUser } from '../../support/accounts.ts'
import type { Client } from '../../support/client.ts'
import { createdId, stamp } from '../../support/orders.ts'
import { newPasskey } from '../../support/passkeys.ts'
import {
  approvalState,
  approve,
  endAbsence,
  policyRow,
  putPolicy,
  putsPolicyBack,
  setAbsence,
} from '../../support/policy.ts'
import { assertProblem } from '../../support/problem.ts'
import { addRole } from '../../support/roles.ts'
import { setUp, testService } from '../../support/service.ts'

describe('a deputy', () => {
  const service = testService()
  putsPolicyBack(service)
  const admin = setUp(() => service.bearer('admin'))
  const operator = setUp(() => service.bearer('operator'))
  let finance: string
  before(async () => {
    finance = await addRole(service, `Finance-${randomUUID().slice(0, 8)}`, [])
  })

  interface Person extends TestUser {
    caller: Client
  }
  async function person(...roles: string[]): Promise<Person> {
    const user = await newUser(service, { roles })
    return { ...user, caller: await bearerOf(service, user) }
  }
  const ann = setUp(() => person('Admin'), beforeEach)
  const bo = setUp(() => person('Viewer'), beforeEach)

  const reject = ({ caller }: Person, id: string) =>
    caller.patch(`/v1/orders/${id}/reject`, { reason: 'Too dear.' })
  const may = async ({ caller }: Person, id: string) => {
    const { mayApprove, mayApproveFor, reason } = (await caller.get(`/v1/orders/${id}/approvals`)).body
    return [mayApprove, mayApproveFor?.name ?? null, reason]
  }
  async function orderOf(creator: Client, row: Parameters<typeof policyRow>[0] = {}): Promise<string> {
    await putPolicy(service, [policyRow(row)])
    return createdId(creator)
  }
  const refusedIn = async (caller: Person, id: string, code: string) => {
    const state = await approvalState(service, id)
    assert.deepEqual(await may(caller, id), [false, null, code])
    assertProblem(await approve(caller.caller, id), 403, code)
    assert.deepEqual(await approvalState(service, id), state)
  }

  it('approves for the absent person, and every record of it names both', async () => {
    await setAbsence(service, ann, bo)
    const id = await orderOf(operator)
    assert.deepEqual(await may(bo, id), [true, ann.userName, null])
    assert.equal((await approve(bo.caller, id)).status, 204)
    const named = { by: bo.userName, byId: bo.id, for: ann.userName, forId: ann.id }
    const history = (await operator.get(`/v1/orders/${id}/history`)).body.items
    const [created, approved] = history
    assert.deepEqual([created.for, created.forId], [null, null])
    const of = ({ by, byId, for: absent, forId }: typeof named) => ({ by, byId, for: absent, forId })
    assert.deepEqual(of(approved), named)
    assert.deepEqual(of((await operator.get(`/v1/orders/${id}/approvals`)).body.given[0]), named)
    const { receipt } = (await operator.get(`/v1/orders/${id}/receipt`)).body
    const { order } = await judgeReceipt(receipt, [])
    const [{ by: deputy, for: person } = assert.fail()] = order?.approvals ?? []
    const shown = { by: deputy.name, byId: deputy.id, for: person?.name, forId: person?.id }
    assert.deepEqual(shown, named)
    const log = (await admin.get(`/v1/log?subject=order:${id}&kind=approved`)).body.items[0]
    const { by, for: absent } = log.clear
    assert.deepEqual(of({ ...log, by: by.value, for: absent.value }), named)
    const columns = 'columns=id,approvedBy,modifiedBy'
    const { items } = (await operator.get(`/v1/orders?filter=id:${id}&${columns}`)).body
    assert.equal(items[0].approvedBy, `${bo.userName} for ${ann.userName}`)
    const found = `filter=id:${id} approvedBy=${ann.userName}`
    assert.equal((await operator.get(`/v1/orders?${found}`)).body.items.length, 1)
  })

  for (const [owners, isAsked] of [
    ['neither', false],
    ['only the absent person', false],
    ['only the deputy', true],
    ['each of them', true],
  ] as const) {
    it(`is ${isAsked ? '' : 'not '}asked for a signed approval if ${owners} has a passkey`, async () => {
      await setAbsence(service, ann, bo)
      const keepers = {
        neither: [],
        'only the absent person': [ann],
        'only the deputy': [bo],
        'each of them': [ann, bo],
      }
      for (const { credentials } of keepers[owners]) await newPasskey(service, { credentials })
      const id = await orderOf(operator, { passkey: true })
      assert.deepEqual(
        await may(bo, id),
        isAsked ? [true, ann.userName, null] : [false, null, 'passkey-needed'],
      )
      const { items } = (await bo.caller.get(`/v1/orders?filter=id:${id} waits:me`)).body
      assert.equal(items.length, isAsked ? 1 : 0)
    })
  }

  it('rejects for the absent person', async () => {
    await setAbsence(service, ann, bo)
    const id = await orderOf(operator)
    assert.equal((await reject(bo, id)).status, 204)
    const { by, for: absent } = (await operator.get(`/v1/orders/${id}/history`)).body.items.at(-1)
    assert.deepEqual([by, absent], [bo.userName, ann.userName])
  })

  it('leaves lines without a deputy without the other person', async () => {
    const id = await orderOf(operator)
    await approve(admin, id)
    await operator.get(`/v1/orders/${id}/receipt`)
    const { items } = (await admin.get(`/v1/log?subject=order:${id}`)).body
    assert.equal(items.length, 2)
    for (const { clear, forId } of items) assert.deepEqual([clear.for, forId], [undefined, null])
  })

  it('may do so from the first millisecond to the last, whatever was remembered', async () => {
    await setAbsence(service, ann, bo, { from: 1_000, until: 2_000 })
    const ids = [await orderOf(operator), await createdId(operator), await createdId(operator)]
    const [first = '', second = '', third = ''] = ids
    service.advance(999)
    await refusedIn(bo, first, 'permission-denied')
    service.advance(1)
    assert.equal((await approve(bo.caller, first)).status, 204)
    service.advance(999)
    assert.equal((await approve(bo.caller, second)).status, 204)
    service.advance(1)
    await refusedIn(bo, third, 'permission-denied')
  })

  it('uses their own right first, and then that of the absent person with the lowest id', async () => {
    const [early, late] = [await person('Admin', finance), await person('Admin', finance)]
    const deputy = await person('Admin')
    await setAbsence(service, late, deputy)
    await setAbsence(service, early, deputy)
    const own = await orderOf(operator)
    assert.deepEqual(await may(deputy, own), [true, null, null])
    const forEarly = await orderOf(operator, { role: finance })
    assert.deepEqual(await may(deputy, forEarly), [true, early.userName, null])
    const waiting = await deputy.caller.get(`/v1/orders?filter=waits:me id:${forEarly}`)
    assert.equal(waiting.body.totalCount, 1)
    assert.equal((await approve(deputy.caller, forEarly)).status, 204)
    const [given] = (await operator.get(`/v1/orders/${forEarly}/approvals`)).body.given
    assert.equal(given.forId, early.id)
    const forLate = await orderOf(operator, { role: finance, approvals: 2 })
    assert.equal((await approve(early.caller, forLate)).status, 204)
    assert.equal((await approve(deputy.caller, forLate)).status, 204)
  })

  it('uses no right of someone who has another deputy or is back, even if it was read just now', async () => {
    const carl = await person('Admin')
    await setAbsence(service, ann, bo)
    await setAbsence(service, carl, ann)
    const id = await orderOf(operator)
    const { changed } = await service.db.read
      .selectFrom('principals')
      .select('credentials_changed_at as changed')
      .where('id', '=', bo.id)
      .executeTakeFirstOrThrow()
    const standing = { via: 'bearer', credentialsChangedAt: changed } as const
    const caller = { by: bo.userName, byId: bo.id, isService: false, standing }
    const actor = {
      ...stamp({ nowMilliseconds: service.now() }),
      ...caller,
      for: { id: carl.id, name: carl.userName },
    }
    const input = { id, acceptedVersions: null, text: null, signature: null, idempotency: null, actor }
    await service.db.write('approveOrder', input)
    const [{ forId } = assert.fail()] = (await operator.get(`/v1/orders/${id}/approvals`)).body.given
    assert.equal(forId, ann.id)
    await endAbsence(service, ann)
    const other = await orderOf(operator)
    const late = { ...input, id: other, actor: { ...actor, for: undefined, asDeputy: true } }
    await assert.rejects(service.db.write('approveOrder', late), { code: 'permission-denied' })
    const parts = { db: service.db, clock: () => service.now() } as never
    const reader = { id: bo.id, kind: 'user', permissions: new Set() } as never
    const wanted = { action: 'approve' as const, orders: [{ id: other, version: 1 }], reason: null }
    await assert.rejects(prepareDecisions(parts, reader, wanted), { code: 'permission-denied' })
  })

  it('gets the refusal of the right that they hold themselves, if all are refused', async () => {
    const deputy = await person('Admin')
    await setAbsence(service, ann, deputy)
    const id = await orderOf(operator, { role: finance, approvals: 2 })
    assert.equal((await approve(ann.caller, id)).status, 204)
    await refusedIn(deputy, id, 'role-needed')
  })

  it('has nothing without the permission to read orders', async () => {
    await setAbsence(service, ann, bo)
    const id = await orderOf(operator)
    const rights = () =>
      authoritiesOf(service.db.read, { byId: bo.id, nowMilliseconds: service.now() }, 'Orders.Approve')
    assert.deepEqual(await rights(), [{ id: ann.id, name: ann.userName, fullName: null }])
    await revokeRoles(service, bo, ['Viewer'])
    assert.deepEqual(await rights(), [])
    assertProblem(await approve(bo.caller, id), 401, 'authentication-required')
    assertProblem(await approve(await bearerOf(service, bo), id), 403, 'permission-denied')
  })

  it('can do nothing else in that right', async () => {
    await setAbsence(service, ann, bo)
    const id = await orderOf(ann.caller)
    const refused = [
      await bo.caller.patch(`/v1/orders/${id}/withdraw`),
      await bo.caller.post('/v1/orders', { customer: 'Acme', total: 1 }),
      await bo.caller.post(`/v1/orders/${id}/notes`, { text: 'Hm.' }),
      await bo.caller.get('/v1/users'),
      await bo.caller.get('/v1/log'),
    ]
    for (const answer of refused) assertProblem(answer, 403, 'permission-denied')
  })
})

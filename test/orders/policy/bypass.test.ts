import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, beforeEach, describe, it } from 'node:test'
import { machineStamp } from '../../../server/caller/stamp.ts'
import {
  bearerOf,
  grantRoles,
  machineOf,
  newClient,
  newUser,
  revokeRoles,
  setEnabled,
  setPassword,
  signIn,
  type TestUser,
} from '../../support/accounts.ts'
import type { Client } from '../../support/client.ts'
import { withRawDatabase } from '../../support/database.ts'
import { createdId } from '../../support/orders.ts'
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

interface Person extends TestUser {
  caller: Client
}
type Row = Parameters<typeof policyRow>[0]

/** Each row is one attempt to get an approval that nobody should get: who tries, and on which order. */
describe('no way round', () => {
  const service = testService()
  putsPolicyBack(service)
  const operator = setUp(() => service.bearer('operator'), beforeEach)
  let finance: string
  let approving: string
  before(async () => {
    const suffix = randomUUID().slice(0, 8)
    finance = await addRole(service, `Finance-${suffix}`, [])
    approving = await addRole(service, `Approving-${suffix}`, ['Orders.Read', 'Orders.Approve'])
  })

  async function person(...roles: string[]): Promise<Person> {
    const user = await newUser(service, { roles })
    return { ...user, caller: await bearerOf(service, user) }
  }
  const hour = 3_600_000
  const away = (absent: TestUser, deputy: { id: number }, ends?: { from: number; until: number }) =>
    setAbsence(service, absent, deputy, ends)
  /** Ann with the roles, who is away, and Bo with the others, who is her deputy. */
  async function annAndBo(roles: string[] = ['Admin'], ofDeputy: string[] = ['Viewer']) {
    const [ann, bo] = [await person(...roles), await person(...ofDeputy)]
    await away(ann, bo)
    return { ann, bo }
  }
  const machineOwnedBy = async (owner: TestUser) =>
    machineOf(service, await newClient(service, ['Admin'], owner.id))
  async function orderOf(creator: Client, row: Row = {}): Promise<string> {
    await putPolicy(service, [policyRow(row)])
    return createdId(creator)
  }
  async function given(caller: Client, id: string): Promise<void> {
    const { status, text } = await approve(caller, id)
    assert.equal(status, 204, text)
  }
  const rename = ({ id }: TestUser, name: string) =>
    withRawDatabase(service.databaseUrl, (db) =>
      db.updateTable('principals').set({ name, name_folded: name }).where('id', '=', id).execute(),
    )

  type Attempt = () => Promise<[caller: Client, id: string]>
  async function assertRefused(code: string, attempt: Attempt) {
    const [caller, id] = await attempt()
    const state = await approvalState(service, id)
    if (code !== 'authentication-required') {
      const told = await caller.get(`/v1/orders/${id}/approvals`)
      const { mayApprove, mayApproveFor = null, reason = told.body.code } = told.body
      assert.deepEqual([mayApprove ?? false, mayApproveFor, reason], [false, null, code])
    }
    const status = { 'already-approved-by-you': 409, 'authentication-required': 401 }[code] ?? 403
    for (const headers of [{}, { 'if-match': '*' }, { 'idempotency-key': randomUUID() }]) {
      assertProblem(await approve(caller, id, headers), status, code)
    }
    assert.deepEqual(await approvalState(service, id), state)
  }
  function refusing(code: string, attempts: Record<string, Attempt>) {
    for (const [name, attempt] of Object.entries(attempts)) it(name, () => assertRefused(code, attempt))
  }

  const noSelf = { selfApproval: false }

  describe('the creator’s own approval', () => {
    refusing('self-approval', {
      'by a deputy who acts for the creator alone': async () => {
        const { ann, bo } = await annAndBo()
        return [bo.caller, await orderOf(ann.caller, noSelf)]
      },
      'by the creator in the place of someone else': async () => {
        const { bo } = await annAndBo(['Admin'], ['Operator'])
        return [bo.caller, await orderOf(bo.caller, noSelf)]
      },
      'by either of two who stand in for each other': async () => {
        const { ann, bo } = await annAndBo()
        await away(bo, ann)
        return [bo.caller, await orderOf(ann.caller, noSelf)]
      },
      'by the creator, whose deputy is the one they stand in for': async () => {
        const { ann, bo } = await annAndBo(['Admin'], ['Operator'])
        await away(bo, ann)
        return [bo.caller, await orderOf(bo.caller, noSelf)]
      },
      'by a deputy of the creator who has another name by now': async () => {
        const { ann, bo } = await annAndBo()
        const id = await orderOf(ann.caller, noSelf)
        await rename(ann, `renamed-${ann.id}`)
        return [bo.caller, id]
      },
      'by a deputy of the owner of the service that created it': async () => {
        const { ann, bo } = await annAndBo()
        return [bo.caller, await orderOf(await machineOwnedBy(ann), noSelf)]
      },
      'by the owner of that service in the place of someone else': async () => {
        const { bo } = await annAndBo()
        return [bo.caller, await orderOf(await machineOwnedBy(bo), noSelf)]
      },
      'by a service of the creator, who is away': async () => {
        const { ann } = await annAndBo()
        return [await machineOwnedBy(ann), await orderOf(ann.caller, noSelf)]
      },
      'by a deputy of the creator with the role that it needs': async () => {
        const { ann, bo } = await annAndBo(['Admin', finance], ['Viewer', finance])
        return [bo.caller, await orderOf(ann.caller, { ...noSelf, role: finance })]
      },
      'by a deputy of the creator to whom a role was given after the sign-in': async () => {
        const { ann, bo } = await annAndBo()
        await grantRoles(service, bo, [approving])
        return [bo.caller, await orderOf(ann.caller, noSelf)]
      },
    })
  })

  describe('a right that nobody has', () => {
    refusing('permission-denied', {
      'before the absence': async () => {
        const [ann, bo] = [await person('Admin'), await person('Viewer')]
        await away(ann, bo, { from: 1, until: hour })
        return [bo.caller, await orderOf(operator)]
      },
      'after it': async () => {
        const { bo } = await annAndBo()
        service.advance(hour)
        return [await bearerOf(service, bo), await orderOf(await service.bearer('operator'))]
      },
      'after it was ended': async () => {
        const { ann, bo } = await annAndBo()
        await given(bo.caller, await orderOf(operator))
        await endAbsence(service, ann)
        return [bo.caller, await orderOf(operator)]
      },
      'after it was put off': async () => {
        const { ann, bo } = await annAndBo()
        await given(bo.caller, await orderOf(operator))
        await away(ann, bo, { from: 1, until: hour })
        return [bo.caller, await orderOf(operator)]
      },
      'after someone else became the deputy': async () => {
        const { ann, bo } = await annAndBo()
        await given(bo.caller, await orderOf(operator))
        await away(ann, await person('Viewer'))
        return [bo.caller, await orderOf(operator)]
      },
      'of someone who is disabled': async () => {
        const { ann, bo } = await annAndBo()
        await given(bo.caller, await orderOf(operator))
        await setEnabled(service, ann, false)
        return [bo.caller, await orderOf(operator)]
      },
      'of someone who just lost the role': async () => {
        const { ann, bo } = await annAndBo()
        await given(bo.caller, await orderOf(operator))
        await revokeRoles(service, ann, ['Admin'])
        return [bo.caller, await orderOf(operator)]
      },
      'of someone whose role just lost the permission': async () => {
        const role = `Passing-${randomUUID().slice(0, 8)}`
        const permissions = ['Orders.Approve'] as ['Orders.Approve']
        await service.db.write('addRole', { role, permissions, stamp: machineStamp(service.now()) })
        const { bo } = await annAndBo([role])
        await given(bo.caller, await orderOf(operator))
        await service.db.write('denyPermissions', { role, permissions, stamp: machineStamp(service.now()) })
        return [bo.caller, await orderOf(operator)]
      },
      'of someone who may not approve': async () => {
        const { bo } = await annAndBo(['Operator'])
        return [bo.caller, await orderOf(operator)]
      },
      'of those for whom the absent person stands in': async () => {
        const { bo } = await annAndBo()
        const carl = await person('Viewer')
        await away(bo, carl)
        return [carl.caller, await orderOf(operator)]
      },
      'of oneself, by way of someone who may not approve either': async () => {
        const { ann, bo } = await annAndBo(['Viewer'], ['Viewer'])
        await away(bo, ann)
        return [bo.caller, await orderOf(operator)]
      },
      'of one’s own deputy': async () => {
        const [ann, bo] = [await person('Viewer'), await person('Admin')]
        await away(ann, bo)
        return [ann.caller, await orderOf(operator)]
      },
      'of a service that one owns': async () => {
        const ann = await person('Viewer')
        await machineOwnedBy(ann)
        return [ann.caller, await orderOf(operator)]
      },
      'by a service whose owner is a deputy': async () => {
        const { bo } = await annAndBo()
        const machine = await machineOf(service, await newClient(service, ['Viewer'], bo.id))
        return [machine, await orderOf(operator)]
      },
      'by a deputy whose credential knows no role': async () => {
        const [ann, bo] = [await person('Admin'), await person()]
        await grantRoles(service, bo, ['Viewer'])
        await away(ann, bo)
        return [bo.caller, await orderOf(operator)]
      },
    })
    refusing('authentication-required', {
      'by a deputy who was disabled': async () => {
        const { bo } = await annAndBo()
        await given(bo.caller, await orderOf(operator))
        await setEnabled(service, bo, false)
        return [bo.caller, await orderOf(operator)]
      },
      'by a token of the deputy from before another password': async () => {
        const { bo } = await annAndBo()
        await given(bo.caller, await orderOf(operator))
        await setPassword(service, bo)
        return [bo.caller, await orderOf(operator)]
      },
      'by a session of the deputy that has ended': async () => {
        const { bo } = await annAndBo()
        const browser = await signIn(service, bo)
        await given(browser, await orderOf(operator))
        await browser.copy().post('/v1/auth/session/logout')
        return [browser, await orderOf(operator)]
      },
    })
    refusing('service-approval', {
      'of a service whose owner is a deputy': async () => {
        const { bo } = await annAndBo()
        return [await machineOwnedBy(bo), await orderOf(operator, { services: false })]
      },
    })
  })

  describe('the role that it needs', () => {
    refusing('role-needed', {
      'held by the deputy alone': async () => {
        const { bo } = await annAndBo(['Admin'], ['Viewer', finance])
        return [bo.caller, await orderOf(operator, { role: finance })]
      },
      'held by an absent person who may not approve, though the deputy may': async () => {
        const { bo } = await annAndBo(['Viewer', finance], ['Admin'])
        return [bo.caller, await orderOf(operator, { role: finance })]
      },
      'split between two absent people: one has the role, the other may approve': async () => {
        const { bo } = await annAndBo(['Viewer', finance])
        await away(await person('Admin'), bo)
        return [bo.caller, await orderOf(operator, { role: finance })]
      },
      'held by the absent person until a moment ago': async () => {
        const { ann, bo } = await annAndBo(['Admin', finance])
        await given(bo.caller, await orderOf(operator, { role: finance }))
        await revokeRoles(service, ann, [finance])
        return [bo.caller, await orderOf(operator, { role: finance })]
      },
      'held by someone whose absence has ended': async () => {
        const { ann, bo } = await annAndBo(['Admin', finance], ['Admin'])
        await endAbsence(service, ann)
        return [bo.caller, await orderOf(operator, { role: finance })]
      },
      'held by the deputy’s deputy': async () => {
        const { bo } = await annAndBo()
        await away(bo, await person('Admin', finance))
        return [bo.caller, await orderOf(operator, { role: finance })]
      },
      'held by the owner of a service': async () => {
        const ann = await person('Admin', finance)
        return [await machineOwnedBy(ann), await orderOf(operator, { role: finance })]
      },
    })
  })

  describe('a second approval', () => {
    const two = { approvals: 3 }
    refusing('already-approved-by-you', {
      'by one holder of the role, for the group': async () => {
        const ann = await person('Admin', finance)
        const id = await orderOf(operator, { approvals: 2, role: finance })
        await given(ann.caller, id)
        return [ann.caller, id]
      },
      'in the place of someone, after one’s own': async () => {
        const { bo } = await annAndBo(['Admin'], ['Admin'])
        const id = await orderOf(operator, two)
        await given(bo.caller, id)
        return [bo.caller, id]
      },
      'in one’s own right, after one in the place of someone': async () => {
        const { bo } = await annAndBo()
        const id = await orderOf(operator, two)
        await given(bo.caller, id)
        await grantRoles(service, bo, [approving])
        return [await bearerOf(service, bo), id]
      },
      'in the places of two who are absent': async () => {
        const { bo } = await annAndBo()
        await away(await person('Admin'), bo)
        const id = await orderOf(operator, two)
        await given(bo.caller, id)
        return [bo.caller, id]
      },
      'in the place of someone who has approved': async () => {
        const { ann, bo } = await annAndBo()
        const id = await orderOf(operator, two)
        await given(ann.caller, id)
        return [bo.caller, id]
      },
      'by someone in whose place one was given': async () => {
        const { ann, bo } = await annAndBo()
        const id = await orderOf(operator, two)
        await given(bo.caller, id)
        return [ann.caller, id]
      },
      'by the next deputy in the same place': async () => {
        const { ann, bo } = await annAndBo()
        const id = await orderOf(operator, two)
        await given(bo.caller, id)
        const carl = await person('Viewer')
        await away(ann, carl)
        return [carl.caller, id]
      },
      'by the deputy of a second absence': async () => {
        const { ann, bo } = await annAndBo()
        const id = await orderOf(operator, two)
        await given(bo.caller, id)
        await endAbsence(service, ann)
        const carl = await person('Viewer')
        await away(ann, carl)
        return [carl.caller, id]
      },
      'by someone in whose place one was given, in another’s place': async () => {
        const { ann, bo } = await annAndBo()
        await away(await person('Admin'), ann)
        const id = await orderOf(operator, two)
        await given(bo.caller, id)
        return [ann.caller, id]
      },
      'in the place of someone who has approved in another’s place': async () => {
        const { ann, bo } = await annAndBo(['Viewer'])
        await away(await person('Admin'), ann)
        const id = await orderOf(operator, two)
        await given(ann.caller, id)
        await grantRoles(service, ann, [approving])
        return [bo.caller, id]
      },
      'by each of two who stand in for each other': async () => {
        const { ann, bo } = await annAndBo(['Admin'], ['Admin'])
        await away(bo, ann)
        const id = await orderOf(operator, { approvals: 4 })
        await given(bo.caller, id)
        await given(ann.caller, id)
        return [bo.caller, id]
      },
      'in the place of someone who has another name by now': async () => {
        const { ann, bo } = await annAndBo()
        const id = await orderOf(operator, two)
        await given(bo.caller, id)
        await rename(ann, `renamed-${ann.id}`)
        return [ann.caller, id]
      },
    })
  })
})

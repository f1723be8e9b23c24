import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { permissions } from '../../../server/caller/permissions.ts'
import { bearerOf, grantRoles, setPassword, signIn } from '../../support/accounts.ts'
import type { Client } from '../../support/client.ts'
import { withRawDatabase } from '../../support/database.ts'
import { createdId, insertOrders, orderRow } from '../../support/orders.ts'
import {
  approvalState,
  approve,
  newApprover,
  policyRow,
  putPolicy,
  putsPolicyBack,
} from '../../support/policy.ts'
import { assertProblem } from '../../support/problem.ts'
import { addRole } from '../../support/roles.ts'
import { sampleId, tableOfRoutes } from '../../support/routes.ts'
import { setUp, testService } from '../../support/service.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** Mistakes that other systems made, each under its name. */
describe('four eyes', () => {
  const service = testService()
  putsPolicyBack(service)
  const admin = setUp(() => service.bearer('admin'))
  const operator = setUp(() => service.bearer('operator'))

  /** The id of an order that was created under this row. */
  async function orderUnder(row: Parameters<typeof policyRow>[0], creator = operator): Promise<string> {
    await putPolicy(service, [policyRow(row)])
    return createdId(creator)
  }
  const statusOf = async (id: string) => (await admin.get(`/v1/orders/${id}`)).body.status
  const untouched = { status: 0, version: 1, approvals_given: 0, approvers: [], events: [] }
  async function assertUntouched(id: string) {
    const { approvals_needed: _, ...state } = await approvalState(service, id)
    assert.deepEqual(state, untouched)
  }

  describe('no caller is above the policy', () => {
    it('the creator is refused, even with every permission and however the request is made', async () => {
      const id = await orderUnder({ selfApproval: false }, admin)
      const everything = await addRole(service, `Everything-${randomUUID().slice(0, 8)}`, permissions)
      const { user, caller } = await newApprover(service)
      await grantRoles(service, user, [everything, 'Operator'])
      const own = await createdId(caller)
      const browser = await signIn(service, user)
      const later = await bearerOf(service, user)
      const ways: [Client, string, Record<string, string>][] = [
        [admin, id, {}],
        [await service.session('admin'), id, {}],
        [caller, own, {}],
        [browser, own, {}],
        [later, own, {}],
        [later, own.toUpperCase(), {}],
        [later, own, { 'if-match': '*' }],
        [later, own, { 'if-match': '"1"' }],
        [later, own, { 'idempotency-key': randomUUID() }],
        [
          later,
          own,
          { 'time-zone': 'Asia/Tokyo', 'x-http-method-override': 'PUT', 'x-forwarded-user': 'admin' },
        ],
      ]
      for (const [who, order, headers] of ways) {
        assertProblem(await approve(who, order, headers), 403, 'self-approval')
      }
      await assertUntouched(id)
      await assertUntouched(own)
    })

    it('nobody approves twice, by session, bearer or a new sign-in', async () => {
      const id = await orderUnder({ approvals: 2 })
      const { user, caller } = await newApprover(service)
      assert.equal((await approve(caller, id)).status, 204)
      await setPassword(service, user)
      const ways = [await signIn(service, user), await bearerOf(service, user)]
      for (const again of ways) {
        for (const headers of [{}, { 'if-match': '"2"' }, { 'idempotency-key': randomUUID() }]) {
          assertProblem(await approve(again, id, headers), 409, 'already-approved-by-you')
        }
      }
      const state = await approvalState(service, id)
      assert.deepEqual([state.status, state.approvals_given, state.approvers], [0, 1, [user.id]])
    })
  })

  it('an approver may still reject the order', async () => {
    const id = await orderUnder({ approvals: 2 })
    const { caller } = await newApprover(service)
    assert.equal((await approve(caller, id)).status, 204)
    assert.equal((await caller.patch(`/v1/orders/${id}/reject`, { reason: 'Twice.' })).status, 204)
  })

  it('anyone approves an order that no account created', async () => {
    const [row] = await insertOrders(service, [orderRow({ created_by_id: null, self_approval: 0 })])
    assert.equal((await approve(admin, row?.id ?? '')).status, 204)
  })

  describe('no other way in', () => {
    it('only one route approves an order, whatever its creator sends', async () => {
      const id = await orderUnder({ approvals: 2, selfApproval: false }, admin)
      const routes = (await tableOfRoutes()).filter(({ method }) => method !== 'GET' && method !== 'HEAD')
      const ending = ['/v1/orders/:id/reject', '/v1/orders/:id/withdraw']
      const tried = routes.filter(({ url }) => url.startsWith('/v1/orders') && !ending.includes(url))
      assert.ok(tried.length >= 3)
      const methods = ['POST', 'PUT', 'PATCH', 'DELETE']
      const paths = ['', '/approve', '/approvals', '/notes', '/history', '/receipt', '/status', '/policy']
      const everything = {
        ...{ id, status: 1, currentStatus: 1, approvalsNeeded: 1, approvalsGiven: 5, selfApproval: true },
        ...{
          required: 1,
          createdBy: 'operator',
          createdById: 2,
          byId: 2,
          text: 'approved',
          customer: 'x',
          total: 1,
        },
      }
      for (const path of [
        ...tried.map((route) => route.path.replace(sampleId, id)),
        ...paths.map((path) => `/v1/orders/${id}${path}`),
      ]) {
        for (const method of methods) await admin.send(method, path, everything, { 'if-match': '*' })
      }
      await assertUntouched(id)
    })

    it('only the statement of the transitions changes an order or counts an approval', () => {
      const sources = globSync('server/**/*.ts', { cwd: root }).map((path) => ({
        path,
        text: readFileSync(join(root, path), 'utf8'),
      }))
      const having = (pattern: RegExp) =>
        sources.filter(({ text }) => pattern.test(text)).map(({ path }) => path)
      // A new order is noted on the one that it replaces, and a document raises the version.
      const others = ['server/orders/documents/store.ts', 'server/orders/store.ts']
      const naming = 'server/orders/names.ts'
      assert.deepEqual(having(/updateTable\('orders'\)|update\s+orders\b/i).toSorted(), [
        others[0],
        'server/orders/life/store.ts',
        naming,
        others[1],
      ])
      const names = sources.find(({ path }) => path === naming)?.text ?? assert.fail()
      assert.match(names, /Object\.entries\(\{ created_by, modified_by, approved_by \}\)/)
      assert.doesNotMatch(names, /\bstatus\b|approvals_given|total/)
      for (const { path, text } of sources.filter(({ path }) => others.includes(path))) {
        const [, statement = ''] = /updateTable\('orders'\)([\s\S]*?)\.where/.exec(text) ?? []
        assert.match(statement, /version|replaced_by/, path)
        assert.doesNotMatch(statement, /status|approv|total/, path)
      }
      assert.deepEqual(having(/insertInto\('order_approvals'\)|into order_approvals/i), [
        'server/orders/life/store.ts',
      ])
      assert.deepEqual(having(/insertInto\('orders'\)|into orders\b(?! \()|into orders \(/i).toSorted(), [
        'server/orders/postgres.ts',
        'server/orders/store.ts',
      ])
    })

    it('the database itself refuses an order that is approved with fewer approvals than it needs', async () => {
      const id = await orderUnder({ approvals: 2 })
      await approve(admin, id)
      const forced = withRawDatabase(service.databaseUrl, (db) =>
        db.updateTable('orders').set({ status: 1 }).where('id', '=', id).execute(),
      )
      await assert.rejects(forced, /check/i)
      assert.equal(await statusOf(id), 0)
    })
  })

  describe('people are identified by id, not by name', () => {
    const rename = (id: number, name: string) =>
      withRawDatabase(service.databaseUrl, (db) =>
        db
          .updateTable('principals')
          .set({ name, name_folded: name.toLowerCase() })
          .where('id', '=', id)
          .execute(),
      )

    it('the creator stays the creator under another name; a user who takes the old name is not the creator', async () => {
      const [creator, other] = [await newApprover(service), await newApprover(service)]
      const id = await orderUnder({ selfApproval: false }, creator.caller)
      await rename(creator.user.id, `was-${creator.user.userName}`)
      await rename(other.user.id, creator.user.userName)
      service.advance(301_000)
      const renamed = await bearerOf(service, creator.user)
      const namesake = await bearerOf(service, other.user)
      assert.equal((await renamed.get('/v1/auth/me')).body.userName, `was-${creator.user.userName}`)
      assertProblem(await approve(renamed, id), 403, 'self-approval')
      assert.equal((await approve(namesake, id)).status, 204)
    })

    it('an approver cannot approve again under another name', async () => {
      const approver = await newApprover(service)
      const id = await orderUnder({ approvals: 2 })
      assert.equal((await approve(approver.caller, id)).status, 204)
      await rename(approver.user.id, `now-${approver.user.userName}`)
      service.advance(301_000)
      const renamed = await bearerOf(service, approver.user)
      assertProblem(await approve(renamed, id), 409, 'already-approved-by-you')
    })
  })

  describe('one of several reviewers is not enough', () => {
    it('an order that needs three is pending until the third, which approves it; each is reported with a version', async () => {
      const id = await orderUnder({ approvals: 3 })
      const people = [await newApprover(service), await newApprover(service), await newApprover(service)]
      for (const [index, { caller, user }] of people.entries()) {
        const answer = await approve(caller, id)
        assert.deepEqual([answer.status, answer.headers.get('etag')], [204, `"${index + 2}"`])
        const { body } = await admin.get(`/v1/orders/${id}`)
        assert.deepEqual([body.status, body.modifiedBy], [index === 2 ? 1 : 0, user.userName])
      }
      const ids = people.map(({ user }) => user.id)
      const { events, approvers, approvals_given } = await approvalState(service, id)
      assert.deepEqual([approvals_given, approvers], [3, ids])
      assert.deepEqual(
        events,
        ids.map((by_id, index) => ({
          kind: index === 2 ? 'approved' : 'approval-given',
          version: index + 2,
          by_id,
        })),
      )
    })
  })

  describe('approvals do not outlive an edit', () => {
    it('no change affects what was approved, or how many approvals are needed', async () => {
      const row = async (id: string) =>
        service.db.read
          .selectFrom('orders')
          .select(['id', 'customer', 'total_e4', 'created_at', 'created_by', 'created_by_id'])
          .select(['approvals_needed', 'self_approval', 'service_approval'])
          .where('id', '=', id)
          .executeTakeFirstOrThrow()
      for (const change of [
        (id: string) => approve(admin, id),
        (id: string) => admin.patch(`/v1/orders/${id}/reject`, { reason: 'No.' }),
        (id: string) => operator.patch(`/v1/orders/${id}/withdraw`),
        (id: string) => admin.post(`/v1/orders/${id}/notes`, { text: 'Noted.' }),
      ]) {
        const id = await orderUnder({ approvals: 2 })
        const asItWas = await row(id)
        assert.ok((await change(id)).status < 300)
        assert.deepEqual(await row(id), asItWas)
      }
    })

    for (const [name, end] of [
      ['rejected', (id: string) => admin.patch(`/v1/orders/${id}/reject`, { reason: 'No.' })],
      ['withdrawn', (id: string) => operator.patch(`/v1/orders/${id}/withdraw`)],
    ] as const) {
      it(`approvals of an order that is ${name} no longer count`, async () => {
        const id = await orderUnder({ approvals: 2 })
        const [first, second] = [await newApprover(service), await newApprover(service)]
        await approve(first.caller, id)
        assert.equal((await end(id)).status, 204)
        assertProblem(await approve(second.caller, id), 409, 'order-not-pending')
        assert.notEqual(await statusOf(id), 1)
        const likeIt = await createdId(operator)
        assert.deepEqual((await admin.get(`/v1/orders/${likeIt}/approvals`)).body.given, [])
        assert.equal((await approve(second.caller, likeIt)).status, 204)
        assert.equal(await statusOf(likeIt), 0)
      })
    }
  })
})

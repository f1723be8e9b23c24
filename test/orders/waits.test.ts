// engine: both
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, it } from 'node:test'
import { machineOf, newCaller, newClient, newUser, setEnabled, type TestUser } from '../support/accounts.ts'
import type { Client } from '../support/client.ts'
import { withRawDatabase } from '../support/database.ts'
import { addDocument } from '../support/documents.ts'
import { createdId, onlyOrders, sortKeys } from '../support/orders.ts'
import { newPasskey } from '../support/passkeys.ts'
import { approve, newApprover, policyRow, putPolicy, putsPolicyBack } from '../support/policy.ts'
import { assertProblem } from '../support/problem.ts'
import { addRole } from '../support/roles.ts'
import { setUp, testService } from '../support/service.ts'

describe('what a filter asks about approvals', () => {
  const service = testService()
  putsPolicyBack(service)
  onlyOrders(service)
  const admin = setUp(() => service.bearer('admin'))
  const viewer = setUp(() => service.bearer('viewer'))
  let [ann, bo, cy, machine]: Client[] = []
  let annName: string
  let boName: string
  const ids: Record<string, string> = {}

  before(async () => {
    const role = await addRole(service, `Finance-${randomUUID().slice(0, 8)}`, [])
    const [first, second] = [await newApprover(service), await newApprover(service)]
    ;[ann, bo] = [first.caller, second.caller]
    ;[annName, boName] = [first.user.userName, second.user.userName]
    cy = await newCaller(service, ['Admin', role])
    machine = await machineOf(service, await newClient(service, ['Admin']))
    const make = async (name: string, row: Parameters<typeof policyRow>[0], creator = admin) => {
      await putPolicy(service, [policyRow(row)])
      ids[name] = await createdId(creator, { customer: name })
    }
    const approveBy = async (name: string, ...callers: (Client | undefined)[]) => {
      for (const caller of callers) {
        assert.equal((await approve(caller ?? assert.fail(), ids[name] ?? '')).status, 204)
      }
    }
    await make('anyone', {})
    await make('not the creator', { selfApproval: false }, ann)
    await make('no services', { services: false })
    await make('the role', { role })
    await make('the role or one more', { role, approvals: 2 })
    await make('a second one', { approvals: 2 })
    await approveBy('a second one', ann)
    await make('nobody any more', { approvals: 3 })
    await approveBy('nobody any more', ann, bo, cy)
    await make('rejected', { approvals: 2 })
    await approveBy('rejected', bo)
    await ann?.patch(`/v1/orders/${ids.rejected}/reject`, { reason: 'x' })
  })

  /** The names of the matches, by creation. */
  const found = async (filter: string, caller = admin, more = ''): Promise<string[]> => {
    const answer = await caller.get(
      `/v1/orders?order=Asc&paginated=false&filter=${encodeURIComponent(filter)}${more}`,
    )
    assert.equal(answer.status, 200, answer.text)
    assert.equal(answer.body.totalCount, answer.body.items.length)
    return answer.body.items.map(({ customer }: { customer: string }) => customer)
  }
  const all = () => Object.keys(ids)

  describe('waits:me finds what the reader may approve now:', () => {
    const waiting: [who: string, caller: () => Client | undefined, names: string[]][] = [
      ['who created one and approved another', () => ann, ['anyone', 'no services', 'the role or one more']],
      [
        'another person',
        () => bo,
        ['anyone', 'not the creator', 'no services', 'the role or one more', 'a second one'],
      ],
      [
        'a holder of the role',
        () => cy,
        ['anyone', 'not the creator', 'no services', 'the role', 'the role or one more', 'a second one'],
      ],
      ['a service', () => machine, ['anyone', 'not the creator', 'the role or one more', 'a second one']],
      ['who may approve nothing', () => viewer, []],
    ]
    for (const [who, caller, names] of waiting) {
      it(who, async () => {
        assert.deepEqual(await found('waits:me', caller()), names)
        const others = all().filter((name) => !names.includes(name))
        assert.deepEqual(await found('NOT waits:me', caller()), others)
        assert.deepEqual(
          await found('-(waits:me OR status=Approved)', caller()),
          others.filter((name) => name !== 'nobody any more'),
        )
      })
    }

    it('as a column of every list, and of an export', async () => {
      interface Item {
        customer: string
        mayApprove: boolean
      }
      const marked = (items: Item[]) =>
        items.filter(({ mayApprove }) => mayApprove).map(({ customer }) => customer)
      for (const [who, caller, names] of waiting) {
        for (const query of [
          '',
          'orderBy=total',
          'filter=e%20OR%20a',
          'paginated=false',
          'filter=waits:me',
        ]) {
          const { body } =
            (await caller()?.get(`/v1/orders?pageSize=100&columns=mayApprove&${query}`)) ?? assert.fail()
          assert.deepEqual(marked(body.items).sort(), names.toSorted(), `${who}, ${query}`)
          for (const { mayApprove } of body.items) assert.equal(typeof mayApprove, 'boolean')
        }
        const accept = { accept: 'application/jsonl' }
        const { text } =
          (await caller()?.get('/v1/orders?order=Asc&columns=mayApprove', accept)) ?? assert.fail()
        const lines: Item[] = text
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line))
        assert.deepEqual(marked(lines), names, who)
      }
      const { text } = await admin.get('/v1/orders?columns=mayApprove', { accept: 'text/csv' })
      assert.match(text, /createdAtUtc,mayApprove\r\n.*,(?:true|false)\r\n/)
    })

    it('each reader gets their own total, though nothing was written between', async () => {
      const totals = async () => {
        const counts: number[] = []
        for (const caller of [ann, bo, cy, viewer]) {
          const { body } = (await caller?.get('/v1/orders?filter=waits:me&pageSize=1')) ?? assert.fail()
          counts.push(body.totalCount)
        }
        return counts
      }
      assert.deepEqual(await totals(), [3, 5, 6, 0])
      assert.deepEqual(await totals(), [3, 5, 6, 0])
    })

    for (const sortKey of sortKeys) {
      it(`by ${sortKey}, from either end`, async () => {
        for (const order of ['Asc', 'Desc']) {
          const page = async (number: number) => {
            const query = `filter=waits:me&orderBy=${sortKey}&order=${order}&pageSize=3&pageNumber=${number}`
            return ((await bo?.get(`/v1/orders?${query}`)) ?? assert.fail()).body.items
          }
          const items: { customer: string }[] = [...(await page(1)), ...(await page(2))]
          assert.deepEqual(items.map(({ customer }) => customer).sort(), (await found('waits:me', bo)).sort())
        }
      })
    }

    it('in an export, too', async () => {
      const { text } =
        (await ann?.get('/v1/orders?filter=waits:me', { accept: 'application/jsonl' })) ?? assert.fail()
      const rows: { customer: string }[] = text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
      assert.deepEqual(rows.map(({ customer }) => customer).sort(), [
        'anyone',
        'no services',
        'the role or one more',
      ])
    })

    it('takes no other value and no other operator', async () => {
      for (const filter of ['waits:you', 'waits:*', 'waits=me', 'waits>me']) {
        assertProblem(await admin.get(`/v1/orders?filter=${filter}`), 400, 'invalid-filter')
      }
    })
  })

  describe('waits:nobody finds what nobody could approve now,', () => {
    let [role, chief, deputy]: string[] = []
    let holder: TestUser
    const service = testService({})
    const stuck = async (viewer?: Client) => {
      viewer ??= await service.bearer('viewer')
      const { status, body, text } = await viewer.get('/v1/orders?filter=waits:nobody&order=Asc')
      assert.equal(status, 200, text)
      assert.equal(body.totalCount, body.items.length)
      return body.items.map(({ customer }: { customer: string }) => customer)
    }
    const make = async (customer: string, row: Parameters<typeof policyRow>[0]) => {
      await putPolicy(service, [policyRow(row)])
      return createdId(await service.bearer('admin'), { customer })
    }
    before(async () => {
      role = await addRole(service, 'Finance', [])
      chief = await addRole(service, 'Chief', ['Orders.Approve', 'Orders.Read'])
      deputy = await addRole(service, 'Deputy', ['Orders.Read'])
      holder = await newUser(service, { roles: [role, chief] })
      await make('the role', { role })
      await make('the role or one more', { role, approvals: 2 })
      await make('a passkey', { passkey: true })
      await make('the role, and not the creator', { role, selfApproval: false })
    })

    it('by the rules that were written onto it, not by those of today', async () => {
      await putPolicy(service, [policyRow()])
      assert.deepEqual(await stuck(), ['a passkey'])
      await setEnabled(service, holder, false)
      assert.deepEqual(await stuck(), ['the role', 'a passkey', 'the role, and not the creator'])
    })

    it('until an absence gives someone the right, for as long as it lasts', async () => {
      await setEnabled(service, holder, true)
      const other = await newUser(service, { roles: [deputy ?? ''] })
      await newPasskey(service, other)
      const reader = await service.bearer('viewer')
      const [from_at, until_at] = [service.now() + 1_000, service.now() + 2_000]
      await withRawDatabase(service.databaseUrl, (db) =>
        db
          .insertInto('absences')
          .values({ principal_id: holder.id, deputy_id: other.id, from_at, until_at })
          .execute(),
      )
      const found = []
      for (const moved of [999, 1, 999, 1]) {
        service.advance(moved)
        found.push(await stuck(reader))
      }
      assert.deepEqual(found, [['a passkey'], [], [], ['a passkey']])
    })
  })

  describe('me is the reader in createdBy and approvedBy:', () => {
    const unapproved = ['anyone', 'not the creator', 'no services', 'the role', 'the role or one more']
    const filters: [filter: string, caller: () => Client | undefined, names: string[]][] = [
      ['createdBy=me', () => ann, ['not the creator']],
      ['createdBy:ME', () => ann, ['not the creator']],
      ['createdBy=me', () => bo, []],
      ['createdBy="me"', () => ann, []],
      ['NOT createdBy=me status=Rejected', () => ann, ['rejected']],
      [
        'createdBy!=me status=Pending',
        () => ann,
        ['anyone', 'no services', 'the role', 'the role or one more', 'a second one'],
      ],
      ['approvedBy=me', () => bo, ['nobody any more', 'rejected']],
      ['approvedBy!=me', () => bo, ['a second one']],
      ['NOT approvedBy!=me', () => bo, [...unapproved, 'nobody any more', 'rejected']],
      ['-approvedBy:me', () => ann, [...unapproved, 'rejected']],
    ]
    for (const [filter, caller, names] of filters) {
      it(`${filter}, ${names.length} orders`, async () =>
        assert.deepEqual(await found(filter, caller()), names))
    }
  })

  describe('approvalsMissing finds as many as its column says:', () => {
    const filters: [filter: string, names: string[]][] = [
      ['approvalsMissing=2', ['the role or one more']],
      ['approvalsMissing>1', ['the role or one more']],
      [
        'approvalsMissing>=1 approvalsMissing<2',
        ['anyone', 'not the creator', 'no services', 'the role', 'a second one'],
      ],
      ['approvalsMissing=0', ['nobody any more', 'rejected']],
      ['NOT approvalsMissing>=1', ['nobody any more', 'rejected']],
      ['approvalsMissing!=1', ['the role or one more', 'nobody any more', 'rejected']],
      ['approvalsMissing!=0 -approvalsMissing=1', ['the role or one more']],
      ['approvalsMissing<=1 role', ['the role']],
      ['approvalsMissing=2 OR approvalsMissing=0', ['the role or one more', 'nobody any more', 'rejected']],
      ['approvalsMissing>999999999', []],
    ]
    for (const [filter, names] of filters) {
      it(filter, async () => assert.deepEqual(await found(filter), names))
    }
  })

  describe('approvedBy finds any of the approvers:', () => {
    const filters: [filter: () => string, names: string[]][] = [
      [() => `approvedBy=${annName}`, ['a second one', 'nobody any more']],
      [() => `approvedBy=${boName.toUpperCase()}`, ['nobody any more', 'rejected']],
      [() => `approvedBy!=${annName}`, ['rejected']],
      [() => `approvedBy:${annName.slice(2)}`, ['a second one', 'nobody any more']],
      [() => `approvedBy=${annName.slice(0, -1)}*`, ['a second one', 'nobody any more']],
      [() => `approvedBy=*${annName.slice(1)}`, ['a second one', 'nobody any more']],
      [() => `approvedBy=${annName.slice(0, -1)}`, []],
      [() => `approvedBy=${annName.slice(1)}`, []],
      [() => `approvedBy:"${annName}, ${boName}"`, []],
      [() => `approvedBy:"${annName},${boName}"`, []],
      [() => `approvedBy=${annName} approvedBy=${boName}`, ['nobody any more']],
      [() => 'approvedBy:*', ['a second one', 'nobody any more', 'rejected']],
      [() => 'approvedBy=""', []],
      [() => `approvedBy:user- NOT approvedBy=${annName}`, ['rejected']],
    ]
    for (const [filter, names] of filters) {
      it(filter.toString().slice(6), async () => assert.deepEqual(await found(filter()), names))
    }

    it('and is null for an order that nobody has approved', async () => {
      const unapproved = ['anyone', 'not the creator', 'no services', 'the role', 'the role or one more']
      assert.deepEqual(await found('-approvedBy:*'), unapproved)
      assert.deepEqual(await found(`NOT approvedBy=${annName}`), [...unapproved, 'rejected'])
      assert.deepEqual(await found(`NOT approvedBy!=${annName}`), [
        ...unapproved,
        'a second one',
        'nobody any more',
      ])
    })
  })

  it('waitingSince is the last approval, else the creation, and null once the order is decided', async () => {
    await putPolicy(service, [policyRow({ approvals: 3 })])
    const id = await createdId(admin, { customer: 'since' })
    const since = async () => {
      const query = new URLSearchParams({ filter: `id=${id}`, columns: 'waitingSince' })
      return (await admin.get(`/v1/orders?${query}`)).body.items[0].waitingSince
    }
    const { createdAtUtc } = (await admin.get(`/v1/orders/${id}`)).body
    const findsFrom = async (instant: string) => {
      const from = ['>=', '<', '='].map((operator) => found(`since waitingSince${operator}${instant}`))
      assert.deepEqual(await Promise.all(from), [['since'], [], ['since']], instant)
    }
    service.advance(60_000)
    assert.equal((await addDocument(admin, id, 'An offer.')).status, 201)
    assert.equal(await since(), createdAtUtc)
    await findsFrom(createdAtUtc)
    service.advance(60_000)
    assert.equal((await approve(ann ?? assert.fail(), id)).status, 204)
    const approved = new Date(service.now()).toISOString()
    service.advance(60_000)
    assert.equal((await admin.post(`/v1/orders/${id}/notes`, { text: 'x' })).status, 201)
    assert.equal(await since(), approved)
    await findsFrom(approved)
    assert.deepEqual(await found('since waitingSince:*'), ['since'])
    assert.equal((await admin.patch(`/v1/orders/${id}/reject`, { reason: 'x' })).status, 204)
    assert.equal(await since(), null)
    assert.deepEqual(await found('since waitingSince>=1970-01-01'), [])
    assert.deepEqual(await found('since NOT waitingSince>=1970-01-01'), ['since'])
  })
})

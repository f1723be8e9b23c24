import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { columnNames, fieldNames, summaryNames } from '../../server/orders/order.ts'
import type { Client } from '../support/client.ts'
import { addDocument } from '../support/documents.ts'
import { createdId, onlyOrders } from '../support/orders.ts'
import { approve, newApprover, policyRow, putPolicy, putsPolicyBack } from '../support/policy.ts'
import { assertProblem } from '../support/problem.ts'
import { setUp, testService } from '../support/service.ts'

type Item = Record<string, unknown>

describe('the columns of a list', () => {
  const service = testService()
  putsPolicyBack(service)
  onlyOrders(service)
  const admin = setUp(() => service.bearer('admin'))
  let colleague: { caller: Client; user: { userName: string } }
  let third: typeof colleague
  let pending: string
  let halfway: string
  let approved: string
  let rejected: string
  before(async () => {
    colleague = await newApprover(service)
    const create = () => createdId(admin, { customer: 'Müller, "Söhne"', total: 2_000 })
    pending = await create()
    await putPolicy(service, [policyRow({ approvals: 3 })])
    const make = async (approvers: Client[]) => {
      const id = await create()
      for (const one of approvers) assert.equal((await approve(one, id)).status, 204)
      return id
    }
    third = await newApprover(service)
    halfway = await make([admin])
    approved = await make([admin, third.caller, colleague.caller])
    rejected = await make([admin])
    await admin.patch(`/v1/orders/${rejected}/reject`, { reason: 'Too much.' })
  })

  const further = columnNames.filter((name) => !summaryNames.some((summary) => summary === name))
  const itemsOf = async (query: string): Promise<Item[]> => {
    const answer = await admin.get(`/v1/orders?pageSize=100&${query}`)
    assert.equal(answer.status, 200, answer.text)
    return answer.body.items
  }
  const find = async (id: string, query: string) => (await itemsOf(query)).find((item) => item.id === id)

  it('are those of a summary by default', async () => {
    for (const item of await itemsOf('')) assert.deepEqual(Object.keys(item), summaryNames)
    for (const item of await itemsOf('columns=')) assert.deepEqual(Object.keys(item), summaryNames)
  })

  it('include requested ones, with the values that the order by itself has', async () => {
    for (const item of await itemsOf(`columns=${further}`)) {
      const { body } = await admin.get(`/v1/orders/${item.id}`)
      assert.deepEqual(Object.fromEntries(fieldNames.map((name) => [name, item[name]])), body)
      assert.deepEqual(Object.keys(item).sort(), [...columnNames].sort())
    }
  })

  it('come with pages of every plan: walked, found and sorted, by text, backwards, and all at once', async () => {
    const wanted = [...summaryNames, 'createdBy', 'approvalsMissing'].sort()
    for (const query of [
      'orderBy=total',
      'orderBy=updatedAtUtc&order=desc',
      'filter=m%C3%BCller',
      'filter=status%3DPending',
      'filter=createdBy%3Dadmin%20AND%20total%3E1',
      'pageNumber=2&pageSize=2',
      'paginated=false',
    ]) {
      const answer = await admin.get(`/v1/orders?${query}&columns=approvalsMissing,createdBy`)
      assert.ok(answer.body.items.length > 0, query)
      for (const item of answer.body.items) assert.deepEqual(Object.keys(item).sort(), wanted, query)
    }
  })

  it('say who approved, how many approvals there are, and how many are missing', async () => {
    const told = async (id: string) => {
      const item = await find(id, 'columns=approvedBy,approvalsGiven,approvalsMissing')
      return [item?.approvedBy, item?.approvalsGiven, item?.approvalsMissing]
    }
    assert.deepEqual(await told(pending), [null, 0, 1])
    assert.deepEqual(await told(halfway), ['admin', 1, 2])
    const names = ['admin', third.user.userName, colleague.user.userName]
    assert.deepEqual(await told(approved), [names.join(', '), 3, 0])
    assert.deepEqual(await told(rejected), ['admin', 1, 0])
  })

  it('count the documents that the version has', async () => {
    const id = await createdId(admin)
    const counted = async () => {
      const item = await find(id, 'columns=documents,version')
      return [item?.documents, item?.version]
    }
    assert.deepEqual(await counted(), [0, 1])
    for (const text of ['offer', 'contract']) await addDocument(admin, id, text)
    assert.deepEqual(await counted(), [2, 3])
  })

  it('are the same in any order, even if named twice', async () => {
    const one = await itemsOf('columns=createdBy,approvedBy')
    assert.deepEqual(await itemsOf('columns=approvedBy,createdBy,id,createdBy'), one)
  })

  it('are repeated in the links to the other pages', async () => {
    const { headers } = await admin.get('/v1/orders?pageSize=1&columns=createdBy')
    assert.match(headers.get('link') ?? '', /pageNumber=2&pageSize=1&columns=createdBy>; rel="next"/)
  })

  for (const wrong of ['password', 'ID', 'createdBy,', ',', 'createdBy, approvedBy', "id'--", 'toString']) {
    it(`are refused if there is no such column: ${wrong}`, async () => {
      const answer = await admin.get(`/v1/orders?columns=${encodeURIComponent(wrong)}`)
      assertProblem(answer, 400, 'validation-failed')
      assert.deepEqual([answer.body.errors[0].parameter, answer.body.errors[0].code], ['columns', 'enum'])
    })
  }

  it('are columns of an export, empty where an order has no value', async () => {
    const query =
      'filter=status%3DPending&orderBy=id&columns=approvedBy,approvalsMissing,updatedAtUtc,createdBy'
    const csv = await admin.get(`/v1/orders?${query}`, { accept: 'text/csv' })
    const [head, ...rows] = csv.text.split('\r\n')
    assert.equal(
      head,
      'id,customer,total,status,createdAtUtc,updatedAtUtc,createdBy,approvedBy,approvalsMissing',
    )
    const order = (await admin.get(`/v1/orders/${pending}`)).body
    const row = rows.find((each) => each.startsWith(pending))
    assert.equal(row, `${pending},"Müller, ""Söhne""",2000,Pending,${order.createdAtUtc},,admin,,1`)
    const lines = await admin.get(`/v1/orders?${query}`, { accept: 'application/jsonl' })
    const line = lines.text.split('\n').find((each) => each.includes(pending)) ?? ''
    assert.deepEqual(JSON.parse(line), await find(pending, query))
  })
})

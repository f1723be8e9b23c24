// engine: both
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, it } from 'node:test'
import { createdId } from '../support/orders.ts'
import { assertProblem } from '../support/problem.ts'
import { setUp, testService } from '../support/service.ts'

type Item = { id: string; customer: string; number: number }

describe('the number of an order', () => {
  const service = testService()
  const admin = setUp(() => service.bearer('admin'))

  const list = (filter: string) =>
    admin.get(`/v1/orders?columns=number&pageSize=100&filter=${encodeURIComponent(filter)}`)
  const find = async (filter: string): Promise<Item[]> => (await list(filter)).body.items
  const numbersOf = async (filter: string) => (await find(filter)).map(({ number }) => number)
  const numberOf = async (id: string) => (await numbersOf(`id=${id}`))[0] ?? Number.NaN

  it('rises with each order, is distinct among fifty created at once, and may leave gaps', async () => {
    const customer = randomUUID()
    const before = await numberOf(await createdId(admin))
    const key = { 'idempotency-key': customer }
    await admin.post('/v1/orders', { customer: 'Taken', total: 1 }, key)
    // Every third is refused in the transaction that others may share.
    const answers = await Promise.all(
      Array.from({ length: 75 }, (_, index) =>
        admin.post('/v1/orders', { customer, total: 1 }, index % 3 === 0 ? key : {}),
      ),
    )
    const numbers = await numbersOf(`customer=${customer}`)
    assert.equal(answers.filter(({ status }) => status === 201).length, 50)
    assert.equal(new Set(numbers).size, 50)
    assert.ok(numbers.every((number) => Number.isInteger(number) && number > before))
    assert.ok((await numberOf(await createdId(admin))) > Math.max(...numbers))
  })

  it('stays the same when its create is repeated, and when the order changes', async () => {
    const create = () =>
      admin.post('/v1/orders', { customer: 'Again', total: 1 }, { 'idempotency-key': 'again' })
    const { id } = (await create()).body
    const number = await numberOf(id)
    assert.equal((await create()).body.id, id)
    assert.equal((await admin.patch(`/v1/orders/${id}/approve`)).status, 204)
    assert.equal(await numberOf(id), number)
  })

  it('is in the answer about approvals, and no field of the order itself', async () => {
    const id = await createdId(admin)
    assert.equal((await admin.get(`/v1/orders/${id}/approvals`)).body.number, await numberOf(id))
    assert.ok(!('number' in (await admin.get(`/v1/orders/${id}`)).body))
    const [item] = (await admin.get('/v1/orders?pageSize=1')).body.items
    assert.deepEqual(Object.keys(item), ['id', 'customer', 'total', 'status', 'createdAtUtc'])
  })

  describe('in a filter', () => {
    const customer = randomUUID()
    let first: number
    let last: number
    before(async () => {
      first = await numberOf(await createdId(admin, { customer: `${customer} A` }))
      last = await numberOf(await createdId(admin, { customer: `${customer} #10` }))
    })

    const finds = (filters: string[], wanted: () => number[]) => {
      for (const filter of filters) {
        it(`${filter} finds the right orders`, async () => {
          const text = filter.replaceAll('FIRST', `${first}`).replaceAll('LAST', `${last}`)
          assert.deepEqual((await numbersOf(`${text} ${customer}`)).sort(), wanted().sort())
        })
      }
    }
    finds(
      [
        ...['#FIRST', '#00FIRST', 'number:FIRST', 'number = FIRST', 'NUMBER=#FIRST', 'number="FIRST"'],
        ...['number<LAST', 'number>=FIRST number<LAST', '-#LAST', '-number>FIRST'],
      ],
      () => [first],
    )
    finds(['number!=FIRST', 'number>FIRST', '#LAST', '#', '"#10"', 'customer:#10'], () => [last])
    finds(['#FIRST OR #LAST', 'number:*', 'number>0', '-#0'], () => [first, last])
    finds(
      [
        ...['#0', '##FIRST', '#FIRSTabc', '#FIRST*', '"#FIRST"', '#-FIRST', '＃FIRST', '#FIRST.0'],
        ...['#99999999999999999999', `#${'9'.repeat(900)}`, 'number=9007199254740993'],
        ...['number>9223372036854775808'],
      ],
      () => [],
    )

    for (const value of ['-1', '1e400', '1.5', '#', '##1', '#1042abc', '', '0x10', '1 OR 1=1', '*']) {
      it(`a value that is not a number is refused: ${value}`, async () => {
        const answer = await list(`number=${value === '1 OR 1=1' ? `"${value}"` : value}`)
        assertProblem(answer, 400, 'invalid-filter')
        assert.match(answer.body.detail, /`number` needs a whole number, such as 1042\.$/)
      })
    }
  })

  it('is a column of an export', async () => {
    const id = await createdId(admin)
    const number = await numberOf(id)
    const csv = await admin.get(`/v1/orders?columns=number&filter=id%3D${id}`, { accept: 'text/csv' })
    const [head, row = ''] = csv.text.split('\r\n')
    assert.equal(head, 'id,customer,total,status,createdAtUtc,number')
    assert.ok(row.endsWith(`,${number}`), row)
  })
})

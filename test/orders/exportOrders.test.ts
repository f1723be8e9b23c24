import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { insertOrders, onlyOrders, orderIdAt, orderRow } from '../support/orders.ts'
import { assertProblem } from '../support/problem.ts'
import { testService } from '../support/service.ts'

const jsonl = { accept: 'application/jsonl' }
const csv = { accept: 'text/csv' }
const start = Date.UTC(2026, 0, 1)

/**
 * More than two batches, with ties in every sort: names, totals, states and instants of change repeat.
 */
const rows = Array.from({ length: 2_345 }, (_, index) => {
  const isChanged = index % 3 > 0
  return orderRow({
    id: orderIdAt(start + Math.floor(index / 4), index % 4),
    customer: index % 2 === 0 ? 'Acme' : `Müller ${index % 7}`,
    total_e4: 10_000 + (index % 11) * 2_501,
    status: isChanged ? 1 + (index % 3) : 0,
    updated_at: isChanged ? start + (index % 5) : null,
    updated_at_time_zone: isChanged ? 'UTC' : null,
    modified_by: isChanged ? 'admin' : null,
  })
})

describe('listOrders, as an export', () => {
  const service = testService()
  let admin: Client
  onlyOrders(service, rows)
  before(async () => {
    admin = await service.bearer('admin')
  })

  const linesOf = async (query: string) => {
    const { status, text } = await admin.get(`/v1/orders?${query}`, jsonl)
    assert.equal(status, 200)
    return text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))
  }

  describe('holds what the list holds, in its order', () => {
    for (const sort of ['id', 'customer', 'total', 'status', 'createdAtUtc', 'updatedAtUtc']) {
      for (const order of ['Asc', 'Desc']) {
        it(`by ${sort} ${order}`, async () => {
          const query = `orderBy=${sort}&order=${order}`
          const { body } = await admin.get(`/v1/orders?${query}&paginated=false`)
          assert.equal(body.items.length, rows.length)
          assert.deepEqual(await linesOf(query), body.items)
        })
      }
    }

    for (const filter of [
      '',
      'status!=Approved',
      'müller total>1.3',
      'NOT acme',
      'updatedAtUtc:*',
      'nobody',
    ]) {
      it(`with the filter "${filter}", and without the parameters of pages`, async () => {
        const query = `filter=${encodeURIComponent(filter)}`
        const { body } = await admin.get(`/v1/orders?${query}&paginated=false`)
        assert.deepEqual(await linesOf(`${query}&pageNumber=7&pageSize=3`), body.items)
      })
    }
  })

  describe('as CSV', () => {
    const cells = async (customer: string, query = '') => {
      const id = orderIdAt(start - 1_000, customers.indexOf(customer))
      const { text } = await admin.get(`/v1/orders?filter=id=${id}${query}`, csv)
      return { id, text }
    }
    const customers = ['=1+1', '+1', '-1', '@sum', 'it\'s, "so"', 'Ünï 🥪', '1-1']
    before(() =>
      insertOrders(
        service,
        customers.map((customer, index) =>
          orderRow({ id: orderIdAt(start - 1_000, index), customer, total_e4: 12_500_001 }),
        ),
      ),
    )

    it('has a line of names, exact totals, states by name, and CR LF behind each line (RFC 4180)', async () => {
      const { id, text } = await cells('Ünï 🥪')
      assert.equal(
        text,
        `id,customer,total,status,createdAtUtc\r\n${id},Ünï 🥪,1250.0001,Pending,2025-12-31T23:59:59.000Z\r\n`,
      )
    })

    it('quotes what needs quotes, and leads what a spreadsheet would compute by an apostrophe', async () => {
      const shown = async (customer: string) => {
        const { id, text } = await cells(customer)
        return text
          .split('\r\n')[1]
          ?.slice(id.length + 1)
          .split(',1250.0001,')[0]
      }
      const all: (string | undefined)[] = []
      for (const customer of customers) all.push(await shown(customer))
      assert.deepEqual(all, ["'=1+1", "'+1", "'-1", "'@sum", '"it\'s, ""so"""', 'Ünï 🥪', '1-1'])
    })

    it('begins with a byte-order mark on request, and with nothing else', async () => {
      const plain = await cells('+1')
      const marked = await admin.get(`/v1/orders?filter=id=${plain.id}&bom=true`, csv)
      assert.deepEqual([...Buffer.from(marked.text).subarray(0, 5)], [...Buffer.from('id,cu')])
      assert.equal(marked.text, plain.text)
      const raw = await fetch(`${service.baseUrl}/v1/orders?filter=id=${plain.id}&bom=true`, {
        headers: { ...admin.headers, ...csv },
      })
      const bytes = Buffer.from(await raw.arrayBuffer())
      assert.deepEqual([...bytes.subarray(0, 5)], [0xef, 0xbb, 0xbf, 0x69, 0x64])
    })

    it('is a file with a name, and of no match the line of names alone', async () => {
      const { headers, text } = await admin.get('/v1/orders?filter=nobody', csv)
      assert.equal(headers.get('content-type'), 'text/csv; charset=utf-8')
      assert.equal(headers.get('content-disposition'), 'attachment; filename="orders.csv"')
      assert.equal(text, 'id,customer,total,status,createdAtUtc\r\n')
    })
  })

  describe('refuses', () => {
    it('a faulty filter, sort or page before anything is sent', async () => {
      assertProblem(await admin.get('/v1/orders?filter=(', csv), 400, 'invalid-filter')
      assertProblem(await admin.get('/v1/orders?orderBy=nothing', csv), 400, 'validation-failed')
      assertProblem(await admin.get('/v1/orders?pageNumber=0', csv), 400, 'validation-failed')
      assertProblem(await admin.get('/v1/orders?bom=2', csv), 400, 'validation-failed')
    })

    it('nobody who may read, and everybody else', async () => {
      assert.equal((await (await service.bearer('viewer')).get('/v1/orders?filter=nobody', csv)).status, 200)
      assertProblem(await service.client().get('/v1/orders', csv), 401, 'authentication-required')
    })
  })

  it('is JSON wherever JSON is accepted as much, or anything', async () => {
    for (const accept of ['*/*', 'application/json', 'application/json, text/csv;q=0.9', 'text/csv;q=0']) {
      const { headers } = await admin.get('/v1/orders?pageSize=1', { accept })
      assert.match(headers.get('content-type') ?? '', /^application\/json/, accept)
    }
  })
})

// engine: both
import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { insertOrders, onlyOrders, orderIdAt, orderRow } from '../support/orders.ts'
import { assertProblem } from '../support/problem.ts'
import { setUp, testService } from '../support/service.ts'

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
  const admin = setUp(() => service.bearer('admin'))
  onlyOrders(service, rows)

  const linesOf = async (query: string) => {
    const { status, text } = await admin.get(`/v1/orders?${query}`, jsonl)
    assert.equal(status, 200)
    return text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))
  }

  describe('has the orders of the list, in the same order', () => {
    for (const sort of ['id', 'customer', 'total', 'status', 'createdAtUtc', 'updatedAtUtc']) {
      for (const order of ['Asc', 'Desc']) {
        it(`sorted by ${sort} ${order}`, async () => {
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
    /** Customers, and what the file has for them. */
    const cellsOf: Record<string, string> = {
      'Ünï 🥪': 'Ünï 🥪',
      'it\'s, "so"': '"it\'s, ""so"""',
      '1-1': '1-1',
      'a;b=c': 'a;b=c',
      '=1+1': "'=1+1",
      '+1': "'+1",
      '-1': "'-1",
      '@sum': "'@sum",
      '＝1+1': "'＝1+1",
      '＋1': "'＋1",
      '－1': "'－1",
      '＠sum': "'＠sum",
      'a;=1+1;@sum': "a;'=1+1;'@sum",
      'a; ＋1': "a; '＋1",
      'a;"=1+1"': `"a;""'=1+1"""`,
      'a\t-1': "a\t'-1",
      '\t=1+1': "'\t'=1+1",
    }
    const customers = Object.keys(cellsOf)
    before(() =>
      insertOrders(
        service,
        customers.map((customer, index) =>
          orderRow({ id: orderIdAt(start - 1_000, index), customer, total_e4: 12_500_001 }),
        ),
      ),
    )

    it('has a header line, exact totals, states by name, and CR LF after each line (RFC 4180)', async () => {
      const { id, text } = await cells('Ünï 🥪')
      assert.equal(
        text,
        `id,customer,total,status,createdAtUtc\r\n${id},Ünï 🥪,1250.0001,Pending,2025-12-31T23:59:59.000Z\r\n`,
      )
    })

    it('quotes fields that need it, and puts an apostrophe before anything that a spreadsheet would compute', async () => {
      const shown: typeof cellsOf = {}
      for (const customer of customers) {
        const { id, text } = await cells(customer)
        const row = text.split('\r\n')[1] ?? ''
        shown[customer] = row.slice(id.length + 1).split(',1250.0001,')[0] ?? ''
      }
      assert.deepEqual(shown, cellsOf)
    })

    it('has one header line above all orders, and empty cells where they have no value', async () => {
      const query = 'orderBy=updatedAtUtc&columns=updatedAtUtc,modifiedBy'
      const { body } = await admin.get(`/v1/orders?${query}&paginated=false`)
      const expected = body.items.map((item: Record<string, string | null>) =>
        [item.id, item.updatedAtUtc ?? '', item.modifiedBy ?? ''].join(),
      )
      const [header, ...lines] = (await admin.get(`/v1/orders?${query}`, csv)).text.split('\r\n')
      assert.equal(header, 'id,customer,total,status,createdAtUtc,updatedAtUtc,modifiedBy')
      assert.equal(lines.pop(), '')
      const shown = lines.map((line) => [line.split(',', 1), ...line.split(',').slice(-2)].join())
      assert.deepEqual(shown, expected)
    })

    it('begins with a byte-order mark only on request', async () => {
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

    it('is a file with a name, and has only the header line if nothing matches', async () => {
      const { headers, text } = await admin.get('/v1/orders?filter=nobody', csv)
      assert.equal(headers.get('content-type'), 'text/csv; charset=utf-8')
      assert.equal(headers.get('content-disposition'), 'attachment; filename="orders.csv"')
      assert.equal(text, 'id,customer,total,status,createdAtUtc\r\n')
    })
  })

  describe('refuses', () => {
    it('an invalid filter, sort or page before anything is sent', async () => {
      assertProblem(await admin.get('/v1/orders?filter=(', csv), 400, 'invalid-filter')
      assertProblem(await admin.get('/v1/orders?orderBy=nothing', csv), 400, 'validation-failed')
      assertProblem(await admin.get('/v1/orders?pageNumber=0', csv), 400, 'validation-failed')
      assertProblem(await admin.get('/v1/orders?bom=2', csv), 400, 'validation-failed')
    })

    it('a caller without the permission to read', async () => {
      assert.equal((await (await service.bearer('viewer')).get('/v1/orders?filter=nobody', csv)).status, 200)
      assertProblem(await service.client().get('/v1/orders', csv), 401, 'authentication-required')
    })
  })

  it('is JSON unless Accept prefers another form', async () => {
    for (const accept of ['*/*', 'application/json', 'application/json, text/csv;q=0.9', 'text/csv;q=0']) {
      const { headers } = await admin.get('/v1/orders?pageSize=1', { accept })
      assert.match(headers.get('content-type') ?? '', /^application\/json/, accept)
    }
  })
})

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import '../../support/page.ts'

const { judge, keyOf, nameOf } = await import('../../../web/src/orders/sheet/judging.ts')
const { readSheet } = await import('../../../web/src/orders/sheet/reading.ts')
const { csvOf, failuresOf } = await import('../../../web/src/orders/sheet/failures.ts')
const { fields } = await import('../../../web/src/orders/create/form.ts')

function rowsOf(text: string, recent: Parameters<typeof judge>[1] = []) {
  const reading = readSheet(text)
  assert.ok(reading.ok)
  return judge(reading.rows, recent)
}

const order = (customer: string, total: number) => ({
  id: '0198a4f0-0000-7000-8000-000000000000',
  customer,
  total,
  status: 0 as const,
  createdAtUtc: '2026-11-28T00:00:00.000Z',
})

describe('a row', () => {
  it('is judged as in the form for one order, in the same words', () => {
    const customers = ['', ' ', 'x'.repeat(201), 'a\u202eb', 'a\u0007b', '\u200b', '\ud800', 'Acme']
    const totals = ['', '0', '-1', '1e400', '1.23456', '=1+1', '€ 5', '999999999999', 'NaN', '7']
    for (const customer of customers) {
      for (const total of totals) {
        const [row] = judge([{ number: 1, customer, total }])
        const readings = { customer: fields.customer(customer), total: fields.total(total) }
        const expected = Object.entries(readings).flatMap(([name, reading]) =>
          reading.ok ? [] : [[name, reading.fault]],
        )
        assert.deepEqual(row?.faults, Object.fromEntries(expected))
        assert.equal(row?.values === undefined, expected.length > 0)
      }
    }
  })

  it('takes totals as people write them in five countries', () => {
    const rows = rowsOf(
      ['1,250.50', '1.250,50', '1 250,50', '1’250.50', '1250.5']
        .map((total, at) => `C${at}\t${total}`)
        .join('\n'),
    )
    assert.deepEqual(
      rows.map(({ values }) => values?.total),
      ['1250.5', '1250.5', '1250.5', '1250.5', '1250.5'],
    )
  })

  it('is pointed out when it repeats another one, or an order of the last day', () => {
    const rows = rowsOf('Acme\t7\nBolt\t8\nACME\t7.00\nCoil\t9\nAcme\t\nAcme\t', [order('coil', 9)])
    assert.deepEqual(
      rows.map(({ double }) => double),
      [undefined, undefined, 1, 'recent', undefined, undefined],
    )
    assert.equal(rows.filter(({ values }) => values).length, 4)
  })
})

describe('the key of a row', () => {
  const name = (text: string, user = 1) => nameOf(rowsOf(text), user)

  it('is the same for the same rows, from any program', async () => {
    const pasted = await name('Acme\t1,250.50\nBolt\t7')
    assert.equal(await name('customer,total\r\n"Acme","1,250.50"\r\nBolt,7\r\n'), pasted)
    assert.match(keyOf(pasted, 0), /^sheet-[0-9a-f]{64}-0$/)
  })

  it('differs for another account, row, order of rows or content', async () => {
    const names = await Promise.all([
      name('Acme\t7\nBolt\t8'),
      name('Acme\t7\nBolt\t8', 2),
      name('Bolt\t8\nAcme\t7'),
      name('Acme\t7\nBolt\t9'),
      name('Acme\t7\nBolt\t'),
      name('Acme\t7\nBolt\tx'),
    ])
    assert.equal(new Set(names).size, names.length)
    assert.notEqual(keyOf(names[0] as string, 0), keyOf(names[0] as string, 1))
  })
})

describe('the file of the rows that failed', () => {
  it('has each with its reason, as an export is written, and can be sent again', () => {
    const rows = rowsOf('customer\ttotal\tnote\nAcme\t7\n=1+1\t€ 7\tSoon\n"Bolt, Inc"\t8\n')
    const failures = failuresOf(rows, { 2: { kind: 'created' }, 4: { kind: 'failed', why: 'No.' } })
    const text = csvOf(failures)
    assert.equal(
      text,
      'customer,total,note,row,why\r\n' +
        `'=1+1,€ 7,Soon,3,"Enter only the number, without “€”."\r\n` +
        '"Bolt, Inc",8,,4,No.\r\n',
    )
    assert.deepEqual(
      rowsOf(text).map(({ customer, total, note }) => [customer, total, note]),
      [
        ['=1+1', '€ 7', 'Soon'],
        ['Bolt, Inc', '8', ''],
      ],
    )
  })
})

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { instantOfId } from '../../server/ids.ts'
import { idsBySearch, idsByText } from '../../server/orders/filter/id.ts'
import { byCodePoint, customers, filterTable, ids } from '../support/filter-table.ts'
import { type OrderRow, orderIdAt, orderRow } from '../support/orders.ts'

const rows: OrderRow[] = customers.map((customer, index) =>
  orderRow({
    id: ids[index] ?? orderIdAt(index, 0),
    customer,
    total_e4: 10_000 * (index + 1),
    status: index % 2,
    created_at: instantOfId(ids[index] ?? orderIdAt(index, 0)),
    created_at_time_zone: 'UTC',
    created_by: 'admin',
    updated_at: index % 3 === 0 ? index : null,
    updated_at_time_zone: index % 3 === 0 ? 'UTC' : null,
    modified_by: index % 3 === 0 ? 'Operator' : null,
  }),
)

const idsFound = filterTable(rows)
const customersFound = (text: string) => idsFound(text, 'customer')

describe('text search finds', () => {
  const searches: [string, string[]][] = [
    ['acme', ['ACME', 'Acme GmbH']],
    ['"ACME g"', ['Acme GmbH']],
    ['strasse', ['STRASSE 12', 'Straße 12']],
    ['STRAẞE', ['STRASSE 12', 'Straße 12']],
    ['οδος', ['ΟΔΟΣ']],
    ['full', ['Ｆｕｌｌ']],
    ['ＡＣＭＥ', ['ACME', 'Acme GmbH']],
    ['istanbul', ['İstanbul']],
    ['ISPARTA', ['ısparta']],
    ['%', ['100% Pure_Oil']],
    ['_', ['100% Pure_Oil']],
    ['\\', ['a\\b']],
    ['*', ['*', 'a*b']],
    ['a*', ['a*b']],
    ["O'Brien", ["O'Brien"]],
    ['cafe', []],
    ['"cafe\u0301"', ['Café']],
    ['😀', ['😀 smile']],
    ['customer=acme', ['ACME']],
    ['customer=acme*', ['ACME', 'Acme GmbH']],
    ['customer=*12', ['STRASSE 12', 'Straße 12']],
    ['customer="*% p*"', ['100% Pure_Oil']],
    ['customer=\\*', ['*']],
    ['customer=a*b', ['a*b']],
    ['NOT customer=*a* customer:* NOT customer>c', ['*', '100 Pure Oil', '100% Pure_Oil']],
    ['customer>=zz', ['zz', '\ufffd odd', '😀 smile', 'ΟΔΟΣ', 'οδός'].sort(byCodePoint)],
    ['customer>"\ufffd odd"', ['😀 smile']],
  ]
  for (const [text, customersExpected] of searches) {
    it(text, async () => assert.deepEqual(await customersFound(text), customersExpected))
  }
})

const idsOfCustomer019a = rows.filter((row) => row.customer === '019a').map((row) => row.id)

describe('an id', () => {
  const [first, second, third] = ids as [string, string, string]
  const family = [first, second]
  const searches: [string, string[]][] = [
    ['019a0000', family],
    ['019A', [...family, third]],
    ['"019a0000-0000-7"', family],
    ['019a000000007000', family],
    ['019a0000-', family],
    ['019a0000-00007000', family],
    [first.toUpperCase(), [first]],
    [first.replaceAll('-', ''), [first]],
    ['０１９ａ００００', family],
    ['019', []],
    ['019-a0000', []],
    ['019a0000--0000', []],
    ['-019a0000-', rows.map((row) => row.id).filter((id) => !family.includes(id))],
    [`${first}0`, []],
    [`id=${first.toUpperCase()}`, [first]],
    [`id="${first} "`, []],
    [`id=${first.replaceAll('-', '')}`, []],
    ['id=019a0000', []],
    ['id=019a*', [...family, third]],
    ['id=019A0000-*', family],
    ['id=019a00000*', []],
    ['id=*00f', [second]],
    ['id=*A0000-0000-7*', family],
    ['id:FFF-7fff', [third]],
    ['id=x*', []],
    ['id=*', rows.map((row) => row.id)],
    ['id!=*', []],
    ['id:*', rows.map((row) => row.id)],
    ['id!=x', rows.map((row) => row.id)],
    [`id!=${first}`, rows.map((row) => row.id).filter((id) => id !== first)],
    ['id!=0*', ['deadbeef-0000-4000-8000-123456789abc']],
  ]
  for (const [text, idsExpected] of searches) {
    it(text, async () => {
      const expected = idsExpected.filter((id) => !idsOfCustomer019a.includes(id))
      assert.deepEqual(await idsFound(`${text} customer!=019a`), expected.sort())
    })
  }
})

describe('a null', () => {
  const nulls = rows
    .filter((row) => row.modified_by === null)
    .map((row) => row.id)
    .sort()
  const others = rows
    .filter((row) => row.modified_by !== null)
    .map((row) => row.id)
    .sort()
  const comparisons = [
    '= x',
    '!= x',
    '< x',
    '<= x',
    '> x',
    '>= x',
    ': x',
    '= *',
    '!= *',
    '!= x*',
    ': ""',
  ].map((comparison) => `modifiedBy ${comparison}`)

  it('matches no comparison, but matches the negation of each', async () => {
    for (const comparison of comparisons) {
      const found = await idsFound(comparison)
      const refused = await idsFound(`NOT ${comparison}`)
      assert.ok(
        nulls.every((id) => !found.includes(id) && refused.includes(id)),
        comparison,
      )
      assert.equal(found.length + refused.length, rows.length, comparison)
    }
  })

  it('is found by a search for a missing value', async () => {
    assert.deepEqual(await idsFound('modifiedBy:*'), others)
    assert.deepEqual(await idsFound('NOT modifiedBy:*'), nulls)
  })
})

describe('the bounds of a range of ids, uuids because PostgreSQL refuses anything else,', () => {
  const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
  const whole = '019a0000-0000-7000-8000-00000000000f'
  const hex = whole.replaceAll('-', '')

  it('exist if a text begins an id', () => {
    const prefixes = Array.from({ length: whole.length + 1 }, (_, length) =>
      idsByText(whole.slice(0, length), true),
    )
    const searches = Array.from({ length: 29 }, (_, index) => idsBySearch(hex.slice(0, index + 4)))
    for (const range of [...prefixes, ...searches]) {
      assert.match(range?.low ?? '', uuid)
      assert.match(range?.high ?? '', uuid)
    }
  })

  it('do not exist otherwise', () => {
    const texts = [`${whole}0`, `${hex}0`, `${whole}-`, `${hex}-`, hex, 'g', '019a0000_', '019a%', '-', '😀']
    const strays = [...texts, `${whole.slice(0, 35)}g`, `${whole.slice(0, 35)}٣`, `${hex}0000`]
    for (const text of strays) assert.equal(idsByText(text, true), null, text)
    const searches = [`${whole}0`, `${hex}0`, `${whole}-`, '019g', '019', '-019a', '', 'face it']
    for (const text of searches) assert.equal(idsBySearch(text), null, text)
  })
})

import '../../support/page.ts'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { forAll } from '../../support/for-all.ts'

const { judge } = await import('../../../web/src/orders/sheet/judging.ts')
const { notationIn } = await import('../../../web/src/orders/sheet/notation.ts')
const { notation } = await import('../../../web/src/orders/create/notation.ts')
const { readSheet } = await import('../../../web/src/orders/sheet/reading.ts')
type Columns = import('../../../web/src/orders/sheet/reading.ts').Pointed

/** What would be created of a pasted sheet, or why nothing is: `?` and the total that has to be explained. */
function createdOf(text: string, { currency, columns }: { currency?: string; columns?: Columns } = {}) {
  const reading = readSheet(text, columns)
  if (!reading.ok) return reading.fault
  const { decimal, doubt } = notationIn(
    reading.rows.map(({ total }) => total),
    { ...notation, currency },
  )
  if (doubt !== undefined) return `? ${doubt}`
  return judge(reading.rows, [], decimal)
    .filter(({ values, isSum }) => values && !isSum)
    .map(({ values }) => [values?.customer, values?.total, values?.note].filter(Boolean).join(' | '))
}

describe('a sheet as people have it', () => {
  const sheets: Record<string, [text: string, created: string | string[]]> = {
    English: ['Customer\tTotal\nAcme\t1,250.50\nBolt\t900', ['Acme | 1250.5', 'Bolt | 900']],
    German: [
      'Kunde;Summe;Bemerkung\nMüller;1.234;Eilt\nMeier;12,50;\n',
      ['Müller | 1234 | Eilt', 'Meier | 12.5'],
    ],
    French: ['Client;Total\nDupont;1 234,50\nDurand;12.345,00', ['Dupont | 1234.5', 'Durand | 12345']],
    Swiss: ["client\tamount\nRösti AG\t12'500.05\nKäse AG\t1’000", ['Rösti AG | 12500.05', 'Käse AG | 1000']],
    Indian: ['name,amount\nTata,"12,34,567.50"\nBirla,"1,250"', ['Tata | 1234567.5', 'Birla | 1250']],
    'ambiguous in thousands': ['customer\ttotal\nAcme\t12.000\nBolt\t1.234', '? 12.000'],
    'with a column of the currency': [
      'date\tcustomer\tcurrency\ttotal\n2026-01-02\tAcme\tEUR\t7.50\n2026-01-03\tBolt\tEUR\t8',
      ['Acme | 7.5', 'Bolt | 8'],
    ],
    'with a column of other currencies': [
      'customer\tcurrency\ttotal\nAcme\tEUR\t7.50\nBolt\tUSD\t8\nCoil\t\t9',
      ['Coil | 9'],
    ],
    'with currencies that no heading names': ['customer\ttotal\tin\nAcme\t7.50\t€\nBolt\t8\t$', []],
    'with currencies that only their heading shows': [
      'customer\tcurrency\ttotal\nAcme\tpounds\t7\nBolt\tcrowns\t8\nCoil\t\t9',
      ['Coil | 9'],
    ],
    'with an empty column before the currencies': ['customer\t\t\ttotal\nAcme\t\t€\t7\nBolt\t\t$\t8', []],
    'with notes before the rest': ['note\tcustomer\tworth\nsoon\tAcme\t7', ['Acme | 7 | soon']],
    'with currencies in small letters': ['customer\ttotal\tin\nAcme\t7.50\teur\nBolt\t8\tusd', []],
    'with a total row': ['Acme\t7\nBolt\t8\nTotal\t15', ['Acme | 7', 'Bolt | 8']],
    'with notes': ['customer\ttotal\tcomment\nAcme\t7\tAs agreed', ['Acme | 7 | As agreed']],
    'with headings that are not understood': [
      'Ref\tFirm\tWorth\tDue\nA1\tAcme\t7\t2026-01-02\nA2\tBolt\t8\t2026-01-03',
      'It is not clear which columns to use. Choose them below.',
    ],
  }
  for (const [name, [text, created]] of Object.entries(sheets)) {
    it(`creates what was meant, or nothing: ${name}`, () => assert.deepEqual(createdOf(text), created))
  }

  it('has the currencies of rows below one without', () => {
    const columns = { customer: 0, total: 1 }
    assert.deepEqual(createdOf('Acme\t7\nBolt\t8\tUSD\nCoil\t9\tGBP', { columns }), ['Acme | 7'])
  })

  it('has the columns that the person points at', () => {
    const text = 'Ref\tFirm\tWorth\tDue\nA1\tAcme\t7\tsoon\nA2\tBolt\t8\tlate'
    assert.deepEqual(readSheet('a\tb\tc\nd\te\tf\ng\t\t\nj\tk\tl').samples, ['a, d, g', 'b, e', 'c, f'])
    assert.equal(readSheet(text, { customer: 1, total: 2 }).samples?.length, 4)
    assert.equal('samples' in readSheet('Acme\t7'), false)
    assert.deepEqual(createdOf(text, { columns: { customer: 1, total: 2 } }), ['Acme | 7', 'Bolt | 8'])
    for (const [columns, fault] of [
      [{ customer: 2, total: 2 }, 'Choose different columns for customer and total.'],
      [{ customer: undefined, total: 2 }, 'It is not clear which columns to use. Choose them below.'],
      [{ customer: 1, total: undefined }, 'It is not clear which columns to use. Choose them below.'],
    ] as const) {
      const { samples, ...reading } = readSheet(text, columns)
      assert.deepEqual([reading, samples?.length], [{ ok: false, fault }, 4])
    }
    const noted = createdOf(text, { columns: { customer: 1, total: 2, note: 3 } })
    assert.deepEqual(noted, ['Acme | 7 | soon', 'Bolt | 8 | late'])
  })

  it('may have a thousand rows', () => {
    const rows = Array.from({ length: 1_000 }, (_, at) => `Acme ${at}\t${at + 1},50`)
    assert.equal(createdOf(`Kunde\tBetrag\n${rows.join('\n')}`).length, 1_000)
  })

  it('creates of any table what its writer meant, or asks, or leaves a row out', () => {
    const writer = fc.constantFrom('en', 'de', 'fr', 'de-CH', 'en-IN')
    const name = fc.stringMatching(/^[A-Z][a-z]{2,8} (?:Ltd|GmbH|SA)$/)
    const order = fc.record({ name, units: fc.integer({ min: 1, max: 999_999_999 }) })
    const headings = fc.constantFrom('customer\ttotal', 'Kunde\tBetrag', 'name\tamount', undefined)
    forAll(
      300,
      fc.array(order, { minLength: 1, maxLength: 12 }),
      writer,
      headings,
      (orders, locale, head) => {
        const format = new Intl.NumberFormat(locale, { maximumFractionDigits: 3 })
        const lines = orders.map((each) => `${each.name}\t${format.format(each.units / 1_000)}`)
        const created = createdOf([...(head === undefined ? [] : [head]), ...lines].join('\n'))
        if (typeof created === 'string') return assert.match(created, /^\? /)
        const meant = orders.map((each) => `${each.name} | ${each.units / 1_000}`)
        for (const each of created) assert.ok(meant.includes(each), `${each} of ${lines.join(', ')}`)
      },
    )
  })
})

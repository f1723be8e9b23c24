import '../../support/page.ts'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'

const { notationIn, withDecimal } = await import('../../../web/src/orders/sheet/notation.ts')
const { judge } = await import('../../../web/src/orders/sheet/judging.ts')
const { notation } = await import('../../../web/src/orders/create/notation.ts')
const { readTotal } = await import('../../../web/src/orders/create/total-input.ts')

const read = (...texts: string[]) => notationIn(texts, notation)

describe('the notation of a column of totals', () => {
  it('is that of the rows that show one', () => {
    assert.deepEqual(read('1.234', '12,50'), { decimal: ',', doubt: undefined })
    assert.deepEqual(read('1,234', '12.50'), { decimal: '.', doubt: undefined })
    assert.deepEqual(read('1.234', '1.234.567'), { decimal: ',', doubt: undefined })
    assert.deepEqual(read('12,500', '1,00,000'), { decimal: '.', doubt: undefined })
    assert.deepEqual(read('1.234', '1 234,50'), { decimal: ',', doubt: undefined })
    assert.deepEqual(read('1,234', '0.123'), { decimal: '.', doubt: undefined })
    assert.deepEqual(read('1.234', '1234.567'), { decimal: '.', doubt: undefined })
  })

  it('is asked for where nothing decides, or rows contradict each other', () => {
    assert.deepEqual(read('7', '12.000', '1.234'), { decimal: undefined, doubt: '12.000' })
    assert.deepEqual(read('1.234', '12,50', '7.25'), { decimal: undefined, doubt: '1.234' })
    // A sign at the end may be that of a sentence.
    for (const text of ['7.', '7,'])
      assert.deepEqual(read(text, '12.000'), { decimal: undefined, doubt: '12.000' })
    // Those that are no totals decide nothing.
    for (const text of ['$1.234', '01.02.2026', 'ca. 7'])
      assert.equal(read(text, '12.000').doubt, '12.000', text)
  })

  it('does not matter where no total could be another number', () => {
    for (const texts of [[], ['7'], ['12,50', '7.25'], ['1.234,50', '1,234.50'], ['', 'x', '1’234']]) {
      assert.equal(read(...texts).doubt, undefined, texts.join())
    }
  })

  it('leaves out the currency of the service', () => {
    assert.deepEqual(notationIn(['1.234 €', '€ 12,50'], { ...notation, currency: 'EUR' }), {
      decimal: ',',
      doubt: undefined,
    })
  })

  it('makes of any column what its writer meant, or asks, or refuses a row', () => {
    const writers = { en: '.', de: ',', fr: ',', 'de-CH': '.', 'en-IN': '.' } as const
    const total = fc.integer({ min: 1, max: 999_999_999 }).map((units) => units / 1_000)
    const writer = fc.constantFrom(...(Object.keys(writers) as (keyof typeof writers)[]))
    fc.assert(
      fc.property(fc.array(total, { minLength: 1, maxLength: 20 }), writer, (totals, locale) => {
        const format = new Intl.NumberFormat(locale, { maximumFractionDigits: 3 })
        const texts = totals.map((each) => format.format(each))
        const { decimal, doubt } = notationIn(texts, notation)
        assert.ok(decimal === undefined || decimal === writers[locale], texts.join(' '))
        const chosen = decimal ?? (doubt === undefined ? undefined : writers[locale])
        for (const [at, text] of texts.entries()) {
          const reading = readTotal(text, withDecimal(notation, chosen))
          assert.ok(!reading.ok || Number(reading.wire) === totals[at], `${text} in ${locale}`)
        }
      }),
    )
  })
})

describe('a row that sums up others', () => {
  const sumsIn = (...rows: [customer: string, total: string][]) =>
    judge(rows.map(([customer, total], at) => ({ number: at + 1, customer, total })))
      .filter(({ isSum }) => isSum)
      .map(({ number }) => number)

  it('is known by its name', () => {
    assert.deepEqual(sumsIn(['Acme', '7'], ['Bolt', '8'], ['Total', '15']), [3])
    assert.deepEqual(sumsIn(['Acme', '7'], ['Zwischensumme', '99']), [2])
  })

  it('is not any other row', () => {
    assert.deepEqual(sumsIn(['Totally Fine Ltd', '7'], ['Sumitomo', '8'], ['Acme', '16']), [])
    assert.deepEqual(sumsIn(['Acme', '7'], ['Bolt', '8'], ['Coil', '15']), [])
  })
})

it('a note of the sheet is sent with its order, and judged like that of the form', () => {
  const [noted, none, long] = judge([
    { number: 1, customer: 'Acme', total: '7', note: ' As agreed. ' },
    { number: 2, customer: 'Acme', total: '7', note: ' ' },
    { number: 3, customer: 'Acme', total: '7', note: 'x'.repeat(1_001) },
  ])
  assert.deepEqual(noted?.values, { customer: 'Acme', total: '7', note: 'As agreed.' })
  assert.deepEqual(none?.values, { customer: 'Acme', total: '7' })
  assert.equal(long?.faults.note, 'Write at most 1,000 characters.')
})

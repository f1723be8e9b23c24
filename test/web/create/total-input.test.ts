import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { Fault } from '../../../server/http/fields.ts'
import { totalField } from '../../../server/orders/schemas.ts'
import { notationOf, readTotal } from '../../../web/src/orders/create/total-input.ts'
import { forAll } from '../../support/for-all.ts'

const locales = [
  'en-US',
  'en-IN',
  'en-ZA',
  'de-DE',
  'de-CH',
  'de-AT',
  'fr-FR',
  'fr-CH',
  'es-ES',
  'es-MX',
  'it-IT',
  'pl-PL',
  'pt-PT',
  'pt-BR',
  'sv-SE',
  'cs-CZ',
  'bg-BG',
  'ru-RU',
  'tr-TR',
  'he-IL',
  'ar-EG',
  'ar-MA',
  'fa-IR',
  'hi-IN-u-nu-deva',
  'bn-BD',
  'mr-IN',
  'my-MM',
  'th-TH-u-nu-thai',
  'ja-JP',
  'zh-CN-u-nu-fullwide',
  'ff-Adlm',
  'ccp',
] as const
const [en, de, fr, swiss, hindi, egypt] = (
  ['en-US', 'de-DE', 'fr-FR', 'de-CH', 'hi-IN', 'ar-EG'] as const
).map(notationOf) as [Notation, Notation, Notation, Notation, Notation, Notation]
type Notation = ReturnType<typeof notationOf>

const wireOf = (text: string, notation: Notation) => {
  const reading = readTotal(text, notation)
  return reading.ok ? reading.wire : undefined
}
const faultOf = (text: string, notation: Notation) => {
  const reading = readTotal(text, notation)
  return reading.ok ? `read as ${reading.wire}` : reading.fault
}

/** Ten-thousandths, from the least to the largest total of the contract. */
const amount = fc.bigInt({ min: 1n, max: 999_999_999_999_999n })
const shortAmount = fc.bigInt({ min: 1n, max: 99_999_999n })

function decimalOf(tenThousandths: bigint): string {
  const digits = String(tenThousandths).padStart(5, '0')
  return `${digits.slice(0, -4)}.${digits.slice(-4)}`.replace(/\.?0+$/, '')
}

describe('readTotal reads', () => {
  for (const locale of locales) {
    it(`numbers as ${locale} writes them, digit for digit`, () => {
      const notation = notationOf(locale)
      const options = fc.record({
        useGrouping: fc.constantFrom(true, false, 'always' as const, 'min2' as const),
        minimumFractionDigits: fc.integer({ min: 0, max: 4 }),
      })
      forAll(100, fc.oneof(amount, shortAmount), options, (value, given) => {
        const decimal = decimalOf(value)
        const written = new Intl.NumberFormat(locale, { ...given, maximumFractionDigits: 4 })
        assert.equal(wireOf(written.format(decimal as `${number}`), notation), decimal)
      })
    })
  }

  it('numbers that it wrote itself', () => {
    forAll(500, amount, fc.constantFrom(...locales), (value, locale) => {
      const notation = notationOf(locale)
      const reading = readTotal(notation.write(decimalOf(value)), notation)
      assert.ok(reading.ok)
      assert.equal(reading.meaning, notation.write(reading.wire))
      assert.deepEqual(readTotal(reading.meaning, notation), reading)
    })
  })

  it('numbers exactly, even if a double could not hold them', () => {
    const reading = readTotal('99,999,999,999.9999', en)
    assert.deepEqual(reading, { ok: true, wire: '99999999999.9999', meaning: '99,999,999,999.9999' })
    assert.equal(wireOf('0,0001', de), '0.0001')
  })

  const table: [text: string, notation: Notation, wire: string][] = [
    ['1250', en, '1250'],
    [' 1250.50 ', en, '1250.5'],
    ['1,250.5', en, '1250.5'],
    ['1,250', en, '1250'],
    ['007', en, '7'],
    ['.5', en, '0.5'],
    ['5.', en, '5'],
    ['1.50000', en, '1.5'],
    ['1.250,50', de, '1250.5'],
    ['1.234.567', de, '1234567'],
    ['1250.5', de, '1250.5'],
    ['0.123', de, '0.123'],
    ['1,250.50', de, '1250.5'],
    ['1,234,567', de, '1234567'],
    ['1.250,50', en, '1250.5'],
    ['1.234.567', en, '1234567'],
    ['1 250,50', fr, '1250.5'],
    ['1\u202f250,50', fr, '1250.5'],
    ['1\u00a0250.50', fr, '1250.5'],
    ['12 345', en, '12345'],
    ['1’250.50', swiss, '1250.5'],
    ["1'250", en, '1250'],
    ['12,34,567.5', hindi, '1234567.5'],
    ['1,234,567', hindi, '1234567'],
    ['१२,३४,५६७.५', hindi, '1234567.5'],
    ['١٬٢٥٠٫٥', egypt, '1250.5'],
    ['١٢٥٠٫٥', en, '1250.5'],
    ['\u200f١٢٥٠\u200e', de, '1250'],
    ['１２５０．５', en, '1250.5'],
    ['𝟏𝟐𝟓𝟎', en, '1250'],
  ]
  for (const [text, notation, wire] of table) {
    it(`${JSON.stringify(text)} in ${notation.write('1234.5')} as ${wire}`, () => {
      assert.equal(wireOf(text, notation), wire)
    })
  }
})

describe('readTotal takes the currency of the service', () => {
  const wireOf = (text: string, currency: string) => {
    const reading = readTotal(text, { ...en, currency })
    return reading.ok ? reading.wire : undefined
  }

  it('by its sign or code, before or after the number', () => {
    for (const text of [
      '€1,250.50',
      '1,250.50 €',
      'EUR 1,250.50',
      '1,250.50EUR',
      '1250.50 eur',
      '\u200f€ 1,250.50',
    ]) {
      assert.equal(wireOf(text, 'EUR'), '1250.5', text)
    }
    for (const text of ['$7', '7 USD']) assert.equal(wireOf(text, 'USD'), '7', text)
    assert.equal(wireOf('CHF 7', 'CHF'), '7')
  })

  it('and no other one', () => {
    for (const text of ['$7', '7 USD', '€', '€ 7 €', 'EURO 7', '7 €uro'])
      assert.equal(wireOf(text, 'EUR'), undefined, text)
  })
})

describe('readTotal says what it understood', () => {
  it('and what it would mean in another notation', () => {
    const asGroups = { ok: true, wire: '1234', meaning: '1.234,00', otherwise: '1,234' }
    assert.deepEqual(readTotal('1.234', de), asGroups)
    const asDecimal = { ok: true, wire: '1.234', meaning: '1.234', otherwise: '1,234.00' }
    assert.deepEqual(readTotal('1.234', en), asDecimal)
    assert.deepEqual(readTotal('1,234', de), { ...asDecimal, meaning: '1,234', otherwise: '1.234,00' })
  })

  it('and nothing else if there is no doubt', () => {
    for (const [text, notation] of [
      ['1,234', en],
      ['0.123', en],
      ['1.23', de],
      ['1.234,00', de],
      ['1234', de],
      ['1 234', fr],
    ] as const) {
      const reading = readTotal(text, notation)
      assert.ok(reading.ok && reading.otherwise === undefined, text)
    }
  })
})

describe('readTotal refuses', () => {
  const unclear = 'Write the total like 1,250.50.'
  const table: [text: string, notation: Notation, fault: string][] = [
    ['', en, 'Enter the total.'],
    ['   ', en, 'Enter the total.'],
    ['0', en, 'The total must be greater than 0.'],
    ['0.0000', en, 'The total must be greater than 0.'],
    ['-5', en, 'The total must be greater than 0.'],
    ['−5', en, 'The total must be greater than 0.'],
    ['100,000,000,000', en, 'The total can be at most 99,999,999,999.9999.'],
    ['100.000.000.000', de, 'The total can be at most 99.999.999.999,9999.'],
    ['1.00001', en, 'The total can have at most 4 decimal places.'],
    ['€ 12', en, 'Enter only the number, without “€”.'],
    ['12 USD', en, 'Enter only the number, without “USD”.'],
    ['€ 12', { ...en, currency: 'CHF' }, 'Totals are in CHF. Enter the number without “€”.'],
    ['1e5', en, 'Enter only the number, without a currency or other words.'],
    ['12²', en, 'Enter only the number, without a currency or other words.'],
    // Shown as 1200.
    ['\u202e0021', en, 'Enter only the number, without a currency or other words.'],
    ['.', en, unclear],
    ['12,50', en, unclear],
    ['1,23', hindi, unclear],
    ['0,123', en, unclear],
    ['1,2345', en, unclear],
    ['1,23,456', en, unclear],
    ['12 34', en, unclear],
    ['1  234', en, unclear],
    ['1,,234', en, unclear],
    [',234', en, unclear],
    ['1.2.3', en, unclear],
    ['1.234.5', en, unclear],
    ['1,234.567.8', en, unclear],
    ['1,234 567', en, unclear],
    ['1.5 000', en, unclear],
    ['1.234,', en, unclear],
    ['1٫234٫567', en, unclear],
    ['5.', de, 'Write the total like 1.250,50.'],
    ['1,234', swiss, `Write the total like ${swiss.write('1250.5')}.`],
  ]
  for (const [text, notation, fault] of table) {
    it(`${JSON.stringify(text)} in ${notation.write('1234.5')}`, () => {
      assert.equal(faultOf(text, notation), fault)
    })
  }
})

describe('readTotal, for any text,', () => {
  const character = fc.constantFrom(
    ...'0123456789',
    ...".,  ’'٬٫",
    '٣',
    '५',
    '\u00a0',
    '\u202f',
    '-',
    'e',
    'x',
  )
  const text = fc.oneof(
    fc.array(character, { maxLength: 16 }).map((all) => all.join('')),
    fc.string(),
  )
  const notation = fc.constantFrom(...locales.map(notationOf))

  it('sends only what the service accepts, and never drops or adds a digit', () => {
    const digitsOf = (given: string) =>
      [...given.normalize('NFKD')]
        .map((digit) => ({ '٣': '3', '५': '5' })[digit] ?? digit)
        .filter((digit) => /\d/.test(digit))
        .join('')
        .replace(/^0+|0+$/g, '')
    forAll(5_000, text, notation, (given, how) => {
      const reading = readTotal(given, how)
      if (!reading.ok) return assert.notEqual(reading.fault, '')
      assert.ok(!(totalField.read(reading.wire) instanceof Fault), reading.wire)
      assert.match(reading.wire, /^(?:0|[1-9]\d{0,10})(?:\.\d{0,3}[1-9])?$/)
      return assert.equal(digitsOf(reading.wire), digitsOf(given))
    })
  })

  it('knows every decimal digit of Unicode, in and beyond the basic plane', () => {
    const digits: string[] = []
    for (let codePoint = 0; codePoint <= 0x10ffff; codePoint += 1) {
      const character = String.fromCodePoint(codePoint)
      if (/\p{Nd}/u.test(character)) digits.push(character)
    }
    assert.ok(digits.length >= 760)
    for (const [index, digit] of digits.entries()) {
      // Each script has its ten side by side, zero first (Unicode 4.6).
      const reading = readTotal(`1${digit}${digit}`, notationOf('en-US'))
      assert.equal(reading.ok && reading.wire, `1${index % 10}${index % 10}`, digit)
    }
    for (const system of Intl.supportedValuesOf('numberingSystem')) {
      const written = new Intl.NumberFormat(`en-u-nu-${system}`, { useGrouping: false }).format(1023456789)
      const isDecimal = [...written].every((character) => /\p{Nd}/u.test(character))
      const reading = readTotal(written, notationOf('en-US'))
      if (isDecimal) assert.equal(reading.ok && reading.wire, '1023456789', system)
    }
  })

  it('is fast with long texts', () => {
    const before = process.cpuUsage()
    for (const unit of ['1', ' ', '1,', '٣', '0']) faultOf(unit.repeat(100_000), en)
    assert.ok(process.cpuUsage(before).user < 2_000_000)
  })
})

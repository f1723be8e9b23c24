// engine: both
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { Fault } from '../../server/http/fields.ts'
import { customerField, totalField } from '../../server/orders/schemas.ts'
import { anyCharacter } from '../support/any-character.ts'
import { forAll } from '../support/for-all.ts'
import { canBeSeen } from '../support/orders.ts'
import { testService } from '../support/service.ts'

/** Integer ten-thousandths of every size: 1 to 15 significant digits. */
const tenThousandths = fc
  .tuple(fc.integer({ min: 1, max: 15 }), fc.integer({ min: 1, max: 999_999_999_999_999 }))
  .map(([digits, value]) => Number(String(value).slice(0, digits)))
const edges = [1, 9, 10, 9_999, 10_000, 10_001, 999_999_999_999_999, 999_999_999_999_990, 123_456_789_012_345]
/** The ways in which JSON may write a total. */
const literals = [
  plainDecimal,
  fixedDecimal,
  (e4: number) => `"${plainDecimal(e4)}"`,
  (e4: number) => `"${fixedDecimal(e4)}"`,
  (e4: number) => `${e4}e-4`,
]

describe('the total of an order', () => {
  const readTotal = (literal: string) => totalField.read(JSON.parse(literal))

  it('is read as it was sent, with up to 15 significant digits, however it is written', () => {
    const property = fc.property(tenThousandths, (e4) => {
      assert.deepEqual(
        literals.map((literal) => readTotal(literal(e4))),
        literals.map(() => e4),
      )
    })
    fc.assert(property, { numRuns: 500, examples: edges.map((e4) => [e4]) })
  })

  const hundredThousandths = fc
    .integer({ min: 1, max: 999_999_999_999_999 })
    .map((e5) => (e5 % 10 === 0 ? e5 + 1 : e5))
  const nearDecimal = fc.string({ unit: fc.constantFrom(...'0159.-+eE, _x'), maxLength: 8 })
  const refused: Record<string, fc.Arbitrary<string[]>> = {
    'with more than 4 decimal places is refused and never rounded': hundredThousandths.map((e5) => [
      decimal(e5, 5),
      `"${decimal(e5, 5)}"`,
      `${e5}e-5`,
    ]),
    'with a fifth decimal place in a text is refused even when that is 0': fc
      .tuple(tenThousandths, fc.integer({ min: 1, max: 20 }))
      .map(([e4, zeros]) => [`"${fixedDecimal(e4)}${'0'.repeat(zeros)}"`]),
    'out of range is refused': fc
      .oneof(
        fc.double({ min: 100_000_000_000, noNaN: true, noDefaultInfinity: true }),
        fc.double({ max: 0, noNaN: true, noDefaultInfinity: true }),
      )
      .map((value) => [String(value), `"${BigInt(Math.trunc(value))}"`]),
    'that is a text and no plain decimal is refused': fc
      .oneof(nearDecimal, fc.string({ unit: 'grapheme', maxLength: 8 }))
      .filter((value) => !/^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(value))
      .map((value) => [JSON.stringify(value)]),
    'that is neither a number nor text is refused': fc
      .jsonValue()
      .filter((value) => typeof value !== 'number' && typeof value !== 'string')
      .map((value) => [JSON.stringify(value)]),
  }
  for (const [what, anyLiterals] of Object.entries(refused)) {
    it(what, () => {
      forAll(200, anyLiterals, (written) => {
        for (const literal of written) assert.ok(readTotal(literal) instanceof Fault, literal)
      })
    })
  }

  describe('a stored total', () => {
    const service = testService()

    it('comes back as it was sent, and is found by its exact value', async () => {
      const admin = await service.bearer('admin')
      const totals = [...edges, ...fc.sample(tenThousandths, 51)]
      const found = totals.map(async (e4, index) => {
        const literal = literals[index % literals.length]?.(e4)
        const { body } = await admin.post('/v1/orders', `{"customer":"A","total":${literal}}`)
        const order = await admin.get(`/v1/orders/${body.id}`)
        const list = await admin.get(`/v1/orders?filter=total%3D${fixedDecimal(e4)}+id%3D${body.id}`)
        return [order, list].map(({ text }) => /"total":([^,}]*)/.exec(text)?.[1])
      })
      assert.deepEqual(
        await Promise.all(found),
        totals.map((e4) => [plainDecimal(e4), plainDecimal(e4)]),
      )
    })
  })
})

it('the customer of an order is kept trimmed and composed, or refused, as its characters say', () => {
  const units = [
    ...['a', 'É', 'e\u0301', '😀', ' ', '\u3000', '\u00a0', '\n', '\u0000', '\u0085', '\u200d', '\u202e'],
    ...['\u2069', '\u3164', '\ud83d', 'x'.repeat(60), '😀'.repeat(65), 'y'.repeat(190)],
  ]
  const anyCustomer = fc.oneof(
    fc.array(fc.constantFrom(...units), { maxLength: 12 }).map((parts) => parts.join('')),
    fc.string({ unit: anyCharacter, maxLength: 220 }),
  )
  forAll(1_000, anyCustomer, (customer) => {
    const read = customerField.read(customer)
    assert.equal(read instanceof Fault ? undefined : read, expectedCustomer(customer))
  })
})

/** `value` / 10^places with all its places. */
function decimal(value: number, places: number): string {
  const digits = String(value).padStart(places + 1, '0')
  return `${digits.slice(0, -places)}.${digits.slice(-places)}`
}

function fixedDecimal(e4: number): string {
  return decimal(e4, 4)
}

/** Without trailing zeros. */
function plainDecimal(e4: number): string {
  return fixedDecimal(e4).replace(/\.?0+$/, '')
}

/**
 * The rule of section 2 of the contract, written differently from the service; undefined if the text is
 * refused.
 */
function expectedCustomer(sent: string): string | undefined {
  const trimmed = sent.replace(/^[\s\ufeff]+/u, '').replace(/[\s\ufeff]+$/u, '')
  const points = Array.from(trimmed, (character) => character.codePointAt(0) ?? 0)
  const isControl = (point: number) => point < 0x20 || (point >= 0x7f && point < 0xa0)
  const isSurrogate = (point: number) => point >= 0xd800 && point < 0xe000
  const marks = [0x61c, 0x200e, 0x200f]
  const isReordering = (point: number) =>
    marks.includes(point) || (point >= 0x202a && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069)
  const isForbidden = points.some((point) => isControl(point) || isSurrogate(point) || isReordering(point))
  const isRefused = points.length > 200 || isForbidden || !canBeSeen(trimmed)
  return isRefused ? undefined : trimmed.normalize('NFC')
}

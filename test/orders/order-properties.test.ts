import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { anyCharacter } from '../support/any-character.ts'
import type { Client } from '../support/client.ts'
import { canBeSeen } from '../support/orders.ts'
import { type Service, startService } from '../support/service.ts'

/** Values of one run, sent together. */
const batch = { minLength: 30, maxLength: 30 }
const numRuns = 5

describe('order properties', () => {
  let service: Service
  let admin: Client
  before(async () => {
    service = await startService()
    admin = await service.bearer('admin')
  })
  after(() => service.close())

  const create = (customer: string, total: string) =>
    admin.post('/v1/orders', `{"customer":${customer},"total":${total}}`)
  const stored = async (customer: string, total: string) => {
    const created = await create(customer, total)
    assert.equal(created.status, 201, `${customer} ${total}: ${created.text}`)
    return admin.get(`/v1/orders/${created.body.id}`)
  }

  /** Integer ten-thousandths of every size: 1 to 15 significant digits. */
  const tenThousandths = fc
    .tuple(fc.integer({ min: 1, max: 15 }), fc.integer({ min: 1, max: 999_999_999_999_999 }))
    .map(([digits, value]) => Number(String(value).slice(0, digits)))

  it('every total of up to 15 significant digits comes back as sent, as number and as string', async () => {
    const property = fc.asyncProperty(
      fc.array(fc.record({ e4: tenThousandths, zeros: fc.boolean() }), batch),
      async (values) => {
        const expected = values.map(({ e4 }) => plainDecimal(e4))
        for (const literal of [
          ({ e4, zeros }: { e4: number; zeros: boolean }) => (zeros ? fixedDecimal(e4) : plainDecimal(e4)),
          ({ e4, zeros }: { e4: number; zeros: boolean }) =>
            `"${zeros ? fixedDecimal(e4) : plainDecimal(e4)}"`,
          ({ e4 }: { e4: number }) => `${e4}e-4`,
        ]) {
          const answers = await Promise.all(values.map((value) => stored('"A"', literal(value))))
          assert.deepEqual(
            answers.map(({ text }) => /"total":([^,}]*)/.exec(text)?.[1]),
            expected,
          )
        }
      },
    )
    await fc.assert(property, {
      numRuns,
      examples: [
        [
          [
            1, 9, 10, 9_999, 10_000, 10_001, 999_999_999_999_999, 999_999_999_999_990, 123_456_789_012_345,
          ].map((e4) => ({ e4, zeros: true })),
        ],
      ],
    })
  })

  it('a listing shows the same totals, and finds each by its exact value', async () => {
    const property = fc.asyncProperty(
      fc.array(tenThousandths, { ...batch, maxLength: 30 }),
      async (values) => {
        const found = values.map(async (e4) => {
          const { body: order } = await stored('"Found"', plainDecimal(e4))
          const { text } = await admin.get(`/v1/orders?filter=total%3D${fixedDecimal(e4)}+id%3D${order.id}`)
          return /"total":([^,}]*)/.exec(text)?.[1]
        })
        assert.deepEqual(await Promise.all(found), values.map(plainDecimal))
      },
    )
    await fc.assert(property, { numRuns: 3 })
  })

  const json = (values: unknown[]) => values.map((value) => JSON.stringify(value))
  const hundredThousandths = fc
    .integer({ min: 1, max: 999_999_999_999_999 })
    .map((e5) => (e5 % 10 === 0 ? e5 + 1 : e5))
  const nearDecimal = fc.string({ unit: fc.constantFrom(...'0159.-+eE, _x'), maxLength: 8 })
  const refusedTotals: Record<string, fc.Arbitrary<string[]>> = {
    'a total with more than 4 decimal places is refused and never rounded': fc
      .array(hundredThousandths, batch)
      .map((values) => values.flatMap((e5) => [decimal(e5, 5), `"${decimal(e5, 5)}"`, `${e5}e-5`])),
    'a fifth decimal place is refused in a text even when it is 0': fc
      .array(fc.tuple(tenThousandths, fc.integer({ min: 1, max: 20 })), batch)
      .map((values) => values.map(([e4, zeros]) => `"${fixedDecimal(e4)}${'0'.repeat(zeros)}"`)),
    'a total out of range is refused': fc
      .array(
        fc.oneof(
          fc.double({ min: 100_000_000_000, noNaN: true, noDefaultInfinity: true }),
          fc.double({ max: 0, noNaN: true, noDefaultInfinity: true }),
        ),
        batch,
      )
      .map((values) => values.flatMap((value) => [String(value), `"${BigInt(Math.trunc(value))}"`])),
    'a text that is no plain decimal is refused as a total': fc
      .array(
        fc
          .oneof(nearDecimal, fc.string({ unit: 'grapheme', maxLength: 8 }))
          .filter((value) => !/^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(value)),
        batch,
      )
      .map(json),
    'what is no number and no text is refused as a total': fc
      .array(
        fc
          .jsonValue()
          .filter((value) => typeof value !== 'number' && typeof value !== 'string')
          .filter((value) => !/__proto__|constructor/.test(JSON.stringify(value))),
        batch,
      )
      .map(json),
  }
  for (const [what, batches] of Object.entries(refusedTotals)) {
    it(what, async () => {
      const property = fc.asyncProperty(batches, async (literals) => {
        const answers = await Promise.all(literals.map((total) => create('"A"', total)))
        assert.deepEqual(
          answers.map(({ status, body }, index) => [literals[index], status, body.errors?.[0]?.pointer]),
          literals.map((literal) => [literal, 400, '#/total']),
        )
      })
      await fc.assert(property, { numRuns: 5 })
    })
  }

  it('a customer is kept trimmed and composed, or refused, as its characters say', async () => {
    const units = [
      'a',
      'É',
      'e\u0301',
      '😀',
      ' ',
      '\u3000',
      '\u00a0',
      '\n',
      '\u0000',
      '\u0085',
      '\u200d',
      '\u202e',
      '\u2069',
      '\u3164',
      '\ud83d',
    ]
    const unit = fc.constantFrom(...units, 'x'.repeat(60), '😀'.repeat(65), 'y'.repeat(190))
    const customer = fc.oneof(
      fc.array(unit, { maxLength: 12 }).map((parts) => parts.join('')),
      fc.string({ unit: anyCharacter, maxLength: 220 }),
    )
    const property = fc.asyncProperty(fc.array(customer, batch), async (values) => {
      const answers = values.map(async (value) => {
        const created = await create(JSON.stringify(value), '1')
        const order = await admin.get(`/v1/orders/${created.body.id ?? 'none'}`)
        return [created.status, order.body.customer ?? created.body.errors[0].pointer]
      })
      assert.deepEqual(await Promise.all(answers), values.map(expectedCustomer))
    })
    await fc.assert(property, { numRuns })
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

/** Without zeros at the end of its fraction. */
function plainDecimal(e4: number): string {
  return fixedDecimal(e4).replace(/\.?0+$/, '')
}

/** The rule of section 2 of the contract, told in another way than the service does. */
function expectedCustomer(sent: string): [status: number, kept: string] {
  const trimmed = sent.replace(/^[\s\ufeff]+/u, '').replace(/[\s\ufeff]+$/u, '')
  const points = Array.from(trimmed, (character) => character.codePointAt(0) ?? 0)
  const isControl = (point: number) => point < 0x20 || (point >= 0x7f && point < 0xa0)
  const isSurrogate = (point: number) => point >= 0xd800 && point < 0xe000
  const marks = [0x61c, 0x200e, 0x200f]
  const isReordering = (point: number) =>
    marks.includes(point) || (point >= 0x202a && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069)
  const isForbidden = points.some((point) => isControl(point) || isSurrogate(point) || isReordering(point))
  const isRefused = points.length > 200 || isForbidden || !canBeSeen(trimmed)
  return isRefused ? [400, '#/customer'] : [201, trimmed.normalize('NFC')]
}

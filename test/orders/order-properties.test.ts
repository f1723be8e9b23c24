import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import type { Client } from '../support/client.ts'
import {
  canBeSeen,
  compareOrders,
  insertOrders,
  type OrderRow,
  sortKeys,
  variedOrders,
} from '../support/orders.ts'
import { type Service, startService } from '../support/service.ts'

/** Values of one run, sent together. */
const batch = { minLength: 30, maxLength: 30 }
const numRuns = 10

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
  const statuses = async (literals: string[]) => {
    const answers = await Promise.all(literals.map((total) => create('"A"', total)))
    return answers.map(({ status, body }, index) => [literals[index], status, body.errors?.[0]?.pointer])
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

  it('a total with more than 4 decimal places is refused and never rounded', async () => {
    const hundredThousandths = fc
      .integer({ min: 1, max: 999_999_999_999_999 })
      .map((e5) => (e5 % 10 === 0 ? e5 + 1 : e5))
    const property = fc.asyncProperty(fc.array(hundredThousandths, batch), async (values) => {
      const texts = values.map((e5) => decimal(e5, 5))
      const literals = [...texts, ...texts.map((text) => `"${text}"`), ...values.map((e5) => `${e5}e-5`)]
      assert.deepEqual(
        await statuses(literals),
        literals.map((literal) => [literal, 400, '#/total']),
      )
    })
    await fc.assert(property, { numRuns })
  })

  it('a fifth decimal place is refused in a text even when it is 0', async () => {
    const property = fc.asyncProperty(
      fc.array(fc.tuple(tenThousandths, fc.integer({ min: 1, max: 20 })), batch),
      async (values) => {
        const literals = values.map(([e4, zeros]) => `"${fixedDecimal(e4)}${'0'.repeat(zeros)}"`)
        assert.deepEqual(
          await statuses(literals),
          literals.map((literal) => [literal, 400, '#/total']),
        )
      },
    )
    await fc.assert(property, { numRuns: 4 })
  })

  it('a total out of range is refused', async () => {
    const tooLarge = fc.double({ min: 100_000_000_000, noNaN: true, noDefaultInfinity: true })
    const tooSmall = fc.double({ max: 0, noNaN: true, noDefaultInfinity: true })
    const property = fc.asyncProperty(fc.array(fc.oneof(tooLarge, tooSmall), batch), async (values) => {
      const literals = values.flatMap((value) => [String(value), `"${BigInt(Math.trunc(value))}"`])
      assert.deepEqual(
        await statuses(literals),
        literals.map((literal) => [literal, 400, '#/total']),
      )
    })
    await fc.assert(property, { numRuns })
  })

  it('a text that is no plain decimal is refused as a total', async () => {
    const nearDecimal = fc.string({ unit: fc.constantFrom(...'0159.-+eE, _x'), maxLength: 8 })
    const text = fc.oneof(nearDecimal, fc.string({ unit: 'grapheme', maxLength: 8 }))
    const noDecimal = text.filter((value) => !/^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(value))
    const property = fc.asyncProperty(fc.array(noDecimal, batch), async (values) => {
      const literals = values.map((value) => JSON.stringify(value))
      assert.deepEqual(
        await statuses(literals),
        literals.map((literal) => [literal, 400, '#/total']),
      )
    })
    await fc.assert(property, { numRuns })
  })

  it('what is no number and no text is refused as a total', async () => {
    const value = fc.jsonValue().filter((json) => typeof json !== 'number' && typeof json !== 'string')
    const harmless = value.filter((json) => !/__proto__|constructor/.test(JSON.stringify(json)))
    const property = fc.asyncProperty(fc.array(harmless, batch), async (values) => {
      const literals = values.map((json) => JSON.stringify(json))
      assert.deepEqual(
        await statuses(literals),
        literals.map((literal) => [literal, 400, '#/total']),
      )
    })
    await fc.assert(property, { numRuns: 4 })
  })

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
      fc.string({ unit: 'binary', maxLength: 220 }),
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

  describe('a walk over the pages, while nothing is written', () => {
    let walked: Service
    let viewer: Client
    let rows: OrderRow[]
    before(async () => {
      walked = await startService()
      viewer = await walked.bearer('viewer')
      rows = await insertOrders(walked, variedOrders(41))
    })
    after(() => walked.close())

    const sees = async (
      orderBy: (typeof sortKeys)[number],
      order: 'Asc' | 'Desc',
      pageSize: number,
      start = '',
    ) => {
      const matches = rows.filter(({ customer }) => start === '' || customer.toLowerCase().includes(start))
      const sorted = matches.toSorted(compareOrders(orderBy, order)).map(({ id }) => id)
      const totalPages = Math.ceil(sorted.length / pageSize)
      const query = `orderBy=${orderBy}&order=${order}&pageSize=${pageSize}&filter=${start}`
      const pages = Array.from({ length: totalPages + 1 }, async (_, index) => {
        const { body } = await viewer.get(`/v1/orders?${query}&pageNumber=${index + 1}`)
        assert.deepEqual(
          [body.pageNumber, body.totalPages, body.totalCount, body.hasPreviousPage, body.hasNextPage],
          [index + 1, totalPages, sorted.length, index > 0, index + 1 < totalPages],
        )
        return body.items.map(({ id }: { id: string }): string => id)
      })
      const seen = await Promise.all(pages)
      assert.deepEqual(seen.flat(), sorted, query)
      assert.equal(new Set(seen.flat()).size, matches.length)
      assert.deepEqual(
        seen.slice(0, -1).map(({ length }) => length),
        Array.from({ length: totalPages }, (_, index) =>
          Math.min(pageSize, sorted.length - index * pageSize),
        ),
      )
    }

    for (const orderBy of sortKeys) {
      for (const order of ['Asc', 'Desc'] as const) {
        it(`by ${orderBy} ${order} sees every order exactly once, in order, at every page size`, async () => {
          for (const pageSize of [1, 2, 7, 10, 40, 41, 42, 100]) await sees(orderBy, order, pageSize)
        })
      }
    }

    it('sees every match exactly once with a filter too', async () => {
      const property = fc.asyncProperty(
        fc.constantFrom(...sortKeys),
        fc.constantFrom('Asc', 'Desc'),
        fc.integer({ min: 1, max: 50 }),
        fc.constantFrom('zebra', 'apfel', '10', 'clair'),
        sees,
      )
      await fc.assert(property, { numRuns: 30 })
    })
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

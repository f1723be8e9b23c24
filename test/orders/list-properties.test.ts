// engine: both
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { foldText } from '../../server/orders/fold.ts'
import { forAllAsync } from '../support/for-all.ts'
import { compareOrders, type OrderRow, onlyOrders, sortKeys, variedOrders } from '../support/orders.ts'
import { setUp, testService } from '../support/service.ts'

/** Enough that most pages are far from both ends. */
const orderCount = 2_000
const numRuns = 150

/** A part of a filter with its meaning. */
interface Part {
  text: string
  holds(row: OrderRow): boolean
}

const quoted = (text: string) => `"${text.replace(/[\\"*]/g, '\\$&')}"`
const pieces = [...'zebra apfel ra " "" \\" \' _x % 10 straße'.split(' '), 'say "yes"', '" or "']

const anyWord = fc.constantFrom(...pieces).map((piece): Part => {
  return { text: quoted(piece), holds: ({ customer }) => foldText(customer).includes(foldText(piece)) }
})
const anyStatus = fc.constantFrom(0, 1).map((status): Part => {
  return { text: `status=${status}`, holds: (row) => row.status === status }
})
const anyTotal = fc.record({ low: fc.nat(12), width: fc.nat(4) }).map(({ low, width }): Part => {
  const [from, to] = [10_000 + low * 2_500, 10_000 + (low + width) * 2_500]
  const text = `total>=${from / 10_000} total<=${to / 10_000}`
  return { text, holds: ({ total_e4 }) => total_e4 >= from && total_e4 <= to }
})
const anyTime = fc.record({ second: fc.nat(9), isBefore: fc.boolean() }).map(({ second, isBefore }): Part => {
  const instant = Date.UTC(2026, 0, 1) + second * 1_000
  const text = `createdAtUtc${isBefore ? '<' : '>='}${new Date(instant).toISOString()}`
  return { text, holds: ({ created_at }) => created_at < instant === isBefore }
})
const anyCreator = fc.constantFrom('alice', 'bob', 'zoe').map((name): Part => {
  return { text: `createdBy=${name}`, holds: (row) => row.created_by?.toLowerCase() === name }
})

const anyList = fc.record({
  parts: fc.array(fc.oneof(anyWord, anyStatus, anyTotal, anyTime, anyCreator), { maxLength: 2 }),
  isNegated: fc.boolean(),
  orderBy: fc.constantFrom(...sortKeys),
  order: fc.constantFrom('Asc' as const, 'Desc' as const),
  pageSize: fc.constantFrom(1, 7, 10, 100),
  /** The place in the list, from its first page to its last. */
  place: fc.oneof(fc.constantFrom(0, 1), fc.double({ min: 0, max: 1, noNaN: true })),
})

describe('a list of thousands of orders, while nothing is written', () => {
  const service = testService()
  const viewer = setUp(() => service.bearer('viewer'))
  const rows = variedOrders(orderCount)
  onlyOrders(service, rows)

  for (const orderBy of sortKeys) {
    it(`by ${orderBy} has every order once on its pages, in order, in either direction`, async () => {
      for (const order of ['Asc', 'Desc'] as const) {
        const seen: string[] = []
        for (let page = 1; page <= orderCount / 100; page += 1) {
          const { body } = await viewer.get(
            `/v1/orders?orderBy=${orderBy}&order=${order}&pageSize=100&pageNumber=${page}`,
          )
          seen.push(...idsOf(body.items))
        }
        assert.deepEqual(seen, idsOf(rows.toSorted(compareOrders(orderBy, order))))
      }
    })
  }

  it('has the items and the total of exactly its filter, sort and page, whatever was asked before', async () => {
    await forAllAsync(numRuns, anyList, async ({ parts, isNegated, ...list }) => {
      const { orderBy, order, pageSize, place } = list
      const all = parts.map(({ text }) => text).join(' ')
      const filter = isNegated && all !== '' ? `NOT (${all})` : all
      const isNot = isNegated && all !== ''
      const matches = rows
        .filter((row) => parts.every(({ holds }) => holds(row)) !== isNot)
        .toSorted(compareOrders(orderBy, order))
      const totalPages = Math.ceil(matches.length / pageSize)
      const pageNumber = 1 + Math.floor(place * Math.max(totalPages - 1, 0))
      const query = new URLSearchParams({ filter, orderBy, order, pageSize: `${pageSize}` })
      const { status, body, text } = await viewer.get(`/v1/orders?${query}&pageNumber=${pageNumber}`)
      assert.equal(status, 200, text)
      const expected = matches.slice((pageNumber - 1) * pageSize, pageNumber * pageSize)
      const { items, ...page } = body
      assert.deepEqual(
        { ...page, ids: idsOf(items) },
        {
          pageNumber,
          totalPages,
          totalCount: matches.length,
          hasPreviousPage: pageNumber > 1 && totalPages > 0,
          hasNextPage: pageNumber < totalPages,
          ids: idsOf(expected),
        },
      )
    })
  })
})

function idsOf(items: { id: string }[]): string[] {
  return items.map(({ id }) => id)
}

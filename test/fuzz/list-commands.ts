import assert from 'node:assert/strict'
import fc from 'fast-check'
import { compareOrders, type OrderRow, sortKeys } from '../support/orders.ts'
import { anyCaller, ask, command, weighted } from './command.ts'
import { type Model, required } from './model.ts'
import { toSummary } from './order-commands.ts'

const dayMilliseconds = 86_400_000

/** Filters, with what they mean. */
const filters: Record<string, (row: OrderRow) => boolean> = {
  '': () => true,
  'status=Pending': ({ status }) => status === 0,
  'status=Approved': ({ status }) => status === 1,
  acme: ({ customer }) => customer.toLowerCase().includes('acme'),
  '-acme': ({ customer }) => !customer.toLowerCase().includes('acme'),
  'total>=1 total<3.5': ({ total_e4 }) => total_e4 >= 10_000 && total_e4 < 35_000,
  'modifiedBy:*': ({ modified_by }) => modified_by !== null,
  'customer="100%" OR customer=_': ({ customer }) => customer === '100%' || customer === '_',
  'updatedAtTimeZone=Europe/Berlin': (row) => row.updated_at_time_zone === 'Europe/Berlin',
}

const anyList = fc.record({
  choice: anyCaller,
  filter: fc.constantFrom(...Object.keys(filters)),
  orderBy: fc.constantFrom(undefined, ...sortKeys),
  order: fc.constantFrom(undefined, 'Asc' as const, 'Desc' as const),
  pageNumber: fc.constantFrom(1, 1, 2, 5),
  pageSize: fc.constantFrom(1, 3, 10, 100, 500),
  isPaginated: fc.constantFrom(true, true, true, false),
})

const listOrders = command('listOrders', anyList, async (model, world, input) => {
  const { filter, orderBy, order, pageNumber, pageSize, isPaginated } = input
  const query = new URLSearchParams({ filter, pageNumber: `${pageNumber}`, pageSize: `${pageSize}` })
  if (orderBy !== undefined) query.set('orderBy', orderBy)
  if (order !== undefined) query.set('order', order)
  if (!isPaginated) query.set('paginated', 'false')
  const request = { method: 'GET', path: `/v1/orders?${query}`, access: 'Orders.Read' } as const
  const { answer, caller } = await ask(model, world, input, request)
  if (caller === undefined) return
  const matches = [...model.orders.values()]
    .filter(required(filters[filter]))
    .sort(compareOrders(orderBy ?? 'createdAtUtc', order ?? (orderBy === undefined ? 'Desc' : 'Asc')))
  const size = isPaginated ? Math.min(pageSize, 100) : Math.max(1, matches.length)
  const page = isPaginated ? pageNumber : 1
  const totalPages = Math.ceil(matches.length / size)
  assert.equal(answer.status, 200, answer.text)
  assert.deepEqual(answer.body, {
    items: matches.slice((page - 1) * size, page * size).map(toSummary),
    pageNumber: page,
    totalPages,
    totalCount: matches.length,
    hasPreviousPage: page > 1 && totalPages > 0,
    hasNextPage: page < totalPages,
  })
})

const anyOverview = fc.record({ choice: anyCaller, days: fc.constantFrom(1, 2, 40) })

const getOverview = command('getOrdersOverview', anyOverview, async (model, world, input) => {
  const { days } = input
  const request = { method: 'GET', path: `/v1/orders/summary?days=${days}`, access: 'Orders.Read' } as const
  const { answer, caller } = await ask(model, world, input, request)
  if (caller === undefined) return
  const today = Math.floor(world.now / dayMilliseconds)
  const pending = [...model.orders.values()].filter(({ status }) => status === 0)
  assert.equal(answer.status, 200, answer.text)
  assert.deepEqual(answer.body, {
    ...tallies(model, () => true),
    timeZone: 'UTC',
    days: Array.from({ length: days }, (_, index) => {
      const day = today - days + 1 + index
      const isOfDay = ({ created_at }: OrderRow) => Math.floor(created_at / dayMilliseconds) === day
      const date = new Date(day * dayMilliseconds).toISOString().slice(0, 10)
      return { date, ...tallies(model, isOfDay) }
    }),
    oldestPending: pending.sort(compareOrders('createdAtUtc', 'Asc')).slice(0, 5).map(toSummary),
  })
})

function tallies(model: Model, isCounted: (row: OrderRow) => boolean) {
  const rows = [...model.orders.values()].filter(isCounted)
  const of = (wanted: number) => {
    const those = rows.filter(({ status }) => status === wanted)
    const sum = those.reduce((total, row) => total + BigInt(row.total_e4), 0n)
    const digits = String(sum).padStart(5, '0')
    return { count: those.length, total: Number(`${digits.slice(0, -4)}.${digits.slice(-4)}`) }
  }
  return { pending: of(0), approved: of(1), rejected: of(2), withdrawn: of(3) }
}

export const listCommands = weighted([4, listOrders], [2, getOverview])

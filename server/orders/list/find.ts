import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import { orderSqlOf } from '../../db/order-sql.ts'
import { allDays, type Database } from '../../db/tables.ts'
import { Problem } from '../../http/problems.ts'
import type { Filter } from '../filter/parser.ts'
import type { OrderStatus } from '../order.ts'
import { toSummaryResponse } from '../responses.ts'
import { countByDay, countByStatus } from '../tally.ts'
import { countOrders, everything, hasAllTimes, tallyFilterOf } from './count.ts'
import { findNearPage } from './near.ts'
import { findNewest } from './newest.ts'
import {
  containedText,
  findPlainPage,
  isPlain,
  type Ordering,
  type OrderSummary,
  type PlainPage,
  sortMatches,
  type Window,
  walkToMatches,
  windowOf,
} from './query.ts'
import { findOrdersQuickly, quickSteps } from './quick.ts'

const unpagedLimit = 10_000

export interface FindOrdersInput {
  ordering: Ordering
  filter: Filter | null
  /** Null for all, up to `unpagedLimit`. */
  page: { offset: number; limit: number } | null
}

export interface FoundOrders {
  items: OrderSummary[]
  totalCount: number
}

type Db = Kysely<Database>

/** A page of the orders that match, and how many match, of one snapshot. */
export async function findOrders(db: Db, input: FindOrdersInput): Promise<FoundOrders> {
  const isNumbered = orderSqlOf(db).sequence !== undefined
  const near = isNumbered ? undefined : await findNearPage(db, input)
  return near ?? (await findOrdersQuickly(db, input)) ?? findAnyOrders(db, input)
}

/**
 * The items as JSON in UTF-8: thousands of them are text in the reader's thread, or bit by bit, before they meet the event
 * loop, which they would hold for longer than a moment.
 */
export async function findOrdersAsJson(
  db: Db,
  input: FindOrdersInput,
): Promise<{ itemsJson: Uint8Array; count: number }> {
  const { items } = await findAnyOrders(db, input)
  const parts: Buffer[] = []
  for (let start = 0; start < items.length; start += itemsAtOnce) {
    const some = items
      .slice(start, start + itemsAtOnce)
      .map((item) => JSON.stringify(toSummaryResponse(item)))
    parts.push(Buffer.from(`${start === 0 ? '' : ','}${some.join()}`))
    await nextTurn()
  }
  return { itemsJson: Buffer.concat([Buffer.from('['), ...parts, Buffer.from(']')]), count: items.length }
}

/** They take about half a millisecond. */
const itemsAtOnce = 500

async function findAnyOrders(db: Db, { ordering, filter, page }: FindOrdersInput): Promise<FoundOrders> {
  const totalCount = await countOrders(db, filter)
  if (page === null && totalCount > unpagedLimit) throw tooLarge(totalCount)
  const window = windowOf(totalCount, page ?? { offset: 0, limit: unpagedLimit })
  if (window.take === 0) return { items: [], totalCount }
  return { items: await findItems(db, filter, ordering, window, totalCount), totalCount }
}

/** How many matches an index finds in the time in which the row of one order is read. */
const findingGain = 5
/** More matches than these are not held in memory to be sorted. */
const sortedLimit = 100_000

async function findItems(
  db: Db,
  filter: Filter | null,
  ordering: Ordering,
  window: Window,
  matches: number,
): Promise<OrderSummary[]> {
  const counts = [...(await countByStatus(db))].filter(([, count]) => count > 0)
  const all = counts.reduce((sum, [, count]) => sum + count, 0)
  const tallied = matches === all ? everything : tallyFilterOf(filter)
  if (tallied !== undefined && hasAllTimes(tallied)) {
    const statuses = counts.map(([status]) => status).filter(tallied.hasStatus)
    const status = statuses.length === counts.length ? undefined : statuses[0]
    const isOneList = status === undefined || statuses.length === 1
    if (isOneList && isPlain(ordering, status))
      return findPlainPage(db, await startingNear(db, { ...ordering, ...window, status }))
  }
  if (filter === null) return findPlainPage(db, { ...ordering, ...window, status: undefined })
  // The rows that a walk looks at for each match, if matches lie evenly.
  const walked = (window.skip + window.take) * (all / matches)
  const newest = await findNewest(db, filter, ordering, window, { matches, walked })
  if (newest !== undefined) return newest
  const isSorted = matches <= sortedLimit && (matches <= walked || liesTogether(filter, ordering))
  if (isSorted) return sortMatches(db, filter, ordering, window)
  return walkToMatches(db, filter, ordering, window, walked > matches / findingGain)
}

/** Customers whose names contain a text stand beside one another among the names: a walk passes all others first. */
function liesTogether(filter: Filter, ordering: Ordering): boolean {
  if (filter.kind === 'and') return filter.operands.some((operand) => liesTogether(operand, ordering))
  return ordering.sortKey === 'customer' && containedText(filter) !== undefined
}

const dayMilliseconds = 86_400_000
const lastDay = 2 ** 31

interface Walk extends Ordering, Window {
  status: OrderStatus | undefined
}

/**
 * By creation the tally tells how many orders the days before the page hold, so the walk begins on its own day. Days
 * before 1970 it does not tell apart: those are walked through.
 */
async function startingNear(db: Db, walk: Walk): Promise<PlainPage> {
  if (walk.sortKey !== 'createdAtUtc' || walk.skip <= quickSteps) return walk
  const counts = (await countByDay(db, 0, lastDay)).filter(
    ({ status }) => walk.status === undefined || status === walk.status,
  )
  const byDay = new Map<number, number>()
  for (const { day, orders } of counts) byDay.set(day, (byDay.get(day) ?? 0) + orders)
  const inAll = byDay.get(allDays) ?? 0
  byDay.delete(allDays)
  const days = [...byDay]
  const beforeDays = inAll - days.reduce((sum, [, orders]) => sum + orders, 0)
  const isAscending = (walk.direction === 'asc') !== walk.isReversed
  let passed = isAscending ? beforeDays : 0
  let start: number | undefined
  for (const [day, orders] of isAscending ? days : days.toReversed()) {
    if (passed + orders > walk.skip) {
      start = day
      break
    }
    passed += orders
  }
  if (start === undefined || passed > walk.skip) return walk
  const from = isAscending ? start * dayMilliseconds : Number.NEGATIVE_INFINITY
  const to = isAscending ? Number.POSITIVE_INFINITY : (start + 1) * dayMilliseconds
  return { ...walk, skip: walk.skip - passed, between: { column: 'created_at', from, to } }
}

function tooLarge(totalCount: number): Problem {
  return new Problem('result-too-large', {
    detail: `${totalCount} orders match; at most ${unpagedLimit} are returned as one page.`,
    members: { totalCount, limit: unpagedLimit },
  })
}

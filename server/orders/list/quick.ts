import type { Kysely } from 'kysely'
import { orderSqlOf } from '../../db/order-sql.ts'
import type { Database } from '../../db/tables.ts'
import type { Filter } from '../filter/parser.ts'
import { countByStatus } from '../tally.ts'
import {
  countOnce,
  countTallied,
  hasAllTimes,
  type Interval,
  type TallyFilter,
  tallyFilterOf,
  totalsOf,
} from './count.ts'
import type { FindOrdersInput, FoundOrders } from './find.ts'
import { findNewest, patience } from './newest.ts'
import {
  countBetween,
  findPlainPage,
  isPlain,
  type Ordering,
  type OrderSummary,
  type Window,
  windowOf,
} from './query.ts'

type Db = Kysely<Database>

/** Entries of an index that the main thread passes over without holding others up; counts; and rows that it looks at. */
export const quickSteps = 5_000
const quickCount = 20_000
const quickWalk = 10_000
const quickRows = 100

/** A page whose cost has a bound, however many orders there are and however they lie; undefined for any other. */
export async function findOrdersQuickly(
  db: Db,
  { ordering, filter, page }: FindOrdersInput,
): Promise<FoundOrders | undefined> {
  if (page === null || page.limit > quickRows) return undefined
  const tallied = tallyFilterOf(filter)
  if (tallied !== undefined) return findTallied(db, tallied, ordering, page)
  if (filter === null) return undefined
  const totals = totalsOf(filter)
  return totals && findOfTotals(db, { filter, totals, ordering, page })
}

type Place = NonNullable<FindOrdersInput['page']>

/** All orders, or those of one status, or of certain times, near either end of the list. */
async function findTallied(
  db: Db,
  filter: TallyFilter,
  ordering: Ordering,
  page: Place,
): Promise<FoundOrders | undefined> {
  const isOfAllTimes = hasAllTimes(filter)
  if (!isOfAllTimes && ordering.sortKey !== 'createdAtUtc') return undefined
  const statuses = [...(await countByStatus(db))].filter(([, count]) => count > 0).map(([status]) => status)
  const wanted = statuses.filter(filter.hasStatus)
  const totalCount = await countTallied(db, filter, quickCount)
  if (!Number.isFinite(totalCount)) return undefined
  const window = windowOf(totalCount, page)
  if (window.take === 0) return { items: [], totalCount }
  const isOneList = wanted.length === statuses.length || wanted.length === 1
  const status = wanted.length < statuses.length ? wanted[0] : undefined
  if (!isOneList || window.skip > quickSteps || !isPlain(ordering, status)) return undefined
  const { from, to } = filter
  const between = isOfAllTimes ? undefined : ({ column: 'created_at', from, to } as const)
  return { items: await findPlainPage(db, { ...ordering, ...window, status, between }), totalCount }
}

interface OfTotals {
  filter: Filter
  totals: Interval
  ordering: Ordering
  page: Place
}

/** Those of certain totals, by total or the newest first. */
async function findOfTotals(
  db: Db,
  { filter, totals, ordering, page }: OfTotals,
): Promise<FoundOrders | undefined> {
  if (orderSqlOf(db).sequence === undefined) return undefined
  if (ordering.sortKey !== 'total' && ordering.sortKey !== 'createdAtUtc') return undefined
  const between = { ...totals, column: 'total_e4' } as const
  const totalCount = await countOnce(db, `${quickCount} ${JSON.stringify(filter)}`, () =>
    countBetween(db, { ...between, status: undefined, limit: quickCount }),
  )
  if (!Number.isFinite(totalCount)) return undefined
  const window = windowOf(totalCount, page)
  if (window.take === 0) return { items: [], totalCount }
  if (ordering.sortKey === 'total') {
    if (window.skip > quickSteps) return undefined
    return {
      items: await findPlainPage(db, { ...ordering, ...window, status: undefined, between }),
      totalCount,
    }
  }
  const items = await findNewestQuickly(db, filter, ordering, window, totalCount)
  return items && { items, totalCount }
}

async function findNewestQuickly(
  db: Db,
  filter: Filter,
  ordering: Ordering,
  window: Window,
  matches: number,
): Promise<OrderSummary[] | undefined> {
  const all = [...(await countByStatus(db)).values()].reduce((sum, count) => sum + count, 0)
  const walked = (window.skip + window.take) * (all / matches)
  return walked * patience > quickWalk
    ? undefined
    : findNewest(db, filter, ordering, window, { matches, walked })
}

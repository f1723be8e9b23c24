import { type Kysely, type RawBuilder, sql } from 'kysely'
import { prepared } from '../../db/prepared.ts'
import type { Database } from '../../db/tables.ts'
import { type OrderStatus, orderStatus } from '../order.ts'
import { countsByStatus } from '../tally.ts'
import { hasAllTimes, tallyFilterOf } from './count.ts'
import type { FindOrdersInput, FoundOrders } from './find.ts'
import { directionOf, isPlain, type Ordering, orderTerms, sortColumn } from './query.ts'

/** What a page may have before it, counted from its end of the list, and hold. */
const nearSkip = 100
const nearTake = 100

/** All orders, or those of one status, in the order of an index. */
interface NearPage extends Ordering {
  status: OrderStatus | undefined
  isReversed: boolean
}

type Item = [id: string, customer: string, totalE4: number, status: OrderStatus, createdAt: number]

interface NearRow {
  counts: Record<string, number> | null
  items: Item[] | null
}

const nearPages = new Map<string, ReturnType<typeof prepareNearPage>>()
const statuses = Object.values(orderStatus)

/**
 * A page near either end of a list that an index holds, with its total: one statement, so one snapshot, and at a cost
 * that has a bound however many orders there are. Undefined for any other page. PostgreSQL only.
 */
export async function findNearPage(
  db: Kysely<Database>,
  { ordering, filter, page }: FindOrdersInput,
): Promise<FoundOrders | undefined> {
  const tallied = tallyFilterOf(filter)
  if (page === null || page.limit > nearTake || tallied === undefined || !hasAllTimes(tallied))
    return undefined
  const wanted = statuses.filter(tallied.hasStatus)
  const status = wanted.length === statuses.length ? undefined : wanted[0]
  if (wanted.length === 0 || (status !== undefined && wanted.length > 1) || !isPlain(ordering, status))
    return undefined
  const isReversed = page.offset > nearSkip
  const [row] = await prepareOnce({ ...ordering, status, isReversed })(
    db,
    page.limit,
    page.offset,
    status ?? 0,
  )
  const counts = Object.entries(row?.counts ?? {}).filter(([of]) =>
    tallied.hasStatus(Number(of) as OrderStatus),
  )
  // A later version may know other statuses.
  if (status !== undefined && counts.some(([of]) => Number(of) !== status)) return undefined
  const totalCount = counts.reduce((sum, [, count]) => sum + count, 0)
  if (isReversed && totalCount - page.offset - page.limit > nearSkip) return undefined
  const items = (row?.items ?? []).map(toSummary)
  return { items: isReversed ? items.reverse() : items, totalCount }
}

function toSummary([id, customer, totalE4, status, createdAt]: Item) {
  return { id, customer, totalE4, status, createdAt }
}

function prepareOnce(page: NearPage): ReturnType<typeof prepareNearPage> {
  const shape = [page.sortKey, page.direction, page.isReversed, page.status === undefined].join()
  let find = nearPages.get(shape)
  if (find === undefined) {
    find = prepareNearPage(page)
    nearPages.set(shape, find)
  }
  return find
}

/**
 * The bound of the innermost query is a constant: of a bound value the planner would not know that it is small, and
 * without it one plan cannot serve every page. Rows that nobody takes are never read. As one JSON value the page costs
 * half of what its rows cost.
 */
function prepareNearPage(page: NearPage) {
  // Of a range, unlike of one value, the planner takes the order only from the index that begins with the status.
  const byStatus = page.status === undefined ? sql`` : sql`status ${directionOf(page, page.isReversed)}, `
  const terms = sql`${byStatus}${orderTerms(page, page.isReversed)}`
  const outer = sql`${byStatus}${orderTerms(page, page.isReversed, sql.ref('sort_key'))}`
  return prepared((_db, limit: number, offset: number, status: number) => {
    const ofStatus = page.status === undefined ? sql`1 = 1` : sql`status >= ${status} and status <= ${status}`
    const near = (
      condition: RawBuilder<unknown>,
      take: RawBuilder<unknown>,
      skip: RawBuilder<unknown>,
    ) => sql<NearRow>`
      with tally as materialized (${countsByStatus}),
      place as materialized (
        select least(${limit}, greatest(remaining, 0)) as take, greatest(remaining - ${limit}, 0) as skip
        from (select coalesce(sum(orders), 0) - ${offset} as remaining from tally where ${ofStatus}) as total
      ),
      page as (
        select * from (
          select id, customer, total_e4, status, created_at, ${sortColumn(page)} as sort_key from orders
          where ${ofStatus} and ${condition} order by ${terms} limit ${sql.lit(nearSkip + nearTake)}
        ) as near
        order by ${outer} limit ${take} offset ${skip}
      )
      select (select json_object_agg(status, orders) from tally) as counts, (
        select json_agg(json_build_array(id, customer, total_e4, status, created_at) order by ${outer}) from page
      ) as items`
    return page.isReversed
      ? near(
          sql`(select skip from place) <= ${sql.lit(nearSkip)}`,
          sql`(select take from place)`,
          sql`(select skip from place)`,
        )
      : near(sql`1 = 1`, sql`${limit}`, sql`${offset}`)
  })
}

import { expressionBuilder, type Kysely, type RawBuilder, sql } from 'kysely'
import { type OrderIndex, orderSqlOf } from '../../db/order-sql.ts'
import { prepared } from '../../db/prepared.ts'
import type { Database, OrdersTable } from '../../db/tables.ts'
import { compileFilter } from '../filter/compile.ts'
import { idsBySearch } from '../filter/id.ts'
import type { Filter } from '../filter/parser.ts'
import { foldText } from '../fold.ts'
import type { Order, OrderStatus } from '../order.ts'

type Db = Kysely<Database>
type Direction = 'asc' | 'desc'

interface Sort {
  column: RawBuilder<unknown>
  nullable: boolean
  index: OrderIndex
}

/** Sort keys of a listing; text by its folded form. Nullable ones sort their nulls last both ways. */
const sorts = {
  createdAtUtc: { column: sql.ref('created_at'), nullable: false, index: 'orders_by_created_at' },
  updatedAtUtc: { column: sql.ref('updated_at'), nullable: true, index: 'orders_by_updated_at' },
  customer: { column: sql.ref('customer_folded'), nullable: false, index: 'orders_by_customer' },
  total: { column: sql.ref('total_e4'), nullable: false, index: 'orders_by_total' },
  status: { column: sql.ref('status'), nullable: false, index: 'orders_by_status' },
  createdBy: { column: sql`lower(created_by)`, nullable: true, index: 'orders_by_created_by' },
  id: { column: sql.ref('id'), nullable: false, index: 'orders_by_id' },
} as const satisfies Record<string, Sort>

export type SortKey = keyof typeof sorts
export const sortKeyNames = Object.keys(sorts) as SortKey[]

export type OrderSummary = Pick<Order, 'id' | 'customer' | 'totalE4' | 'status' | 'createdAt'>

/** Ties are broken by id in the same direction, so that pages neither overlap nor miss an order. */
export interface Ordering {
  sortKey: SortKey
  direction: Direction
}

/**
 * A page as it is reached from the nearer end of a list: with `isReversed` that is its end, and the rows come in the
 * opposite order until they are turned round.
 */
export interface Window {
  isReversed: boolean
  skip: number
  take: number
}

/** What stands before the page and after it costs as much as the lesser of both. */
export function windowOf(total: number, { offset, limit }: { offset: number; limit: number }): Window {
  const take = Math.max(0, Math.min(limit, total - offset))
  const after = Math.max(0, total - offset - take)
  return after < offset ? { isReversed: true, skip: after, take } : { isReversed: false, skip: offset, take }
}

const columns = ['id', 'customer', 'total_e4', 'status', 'created_at'] as const
export const selected = sql.join(columns.map((column) => sql.ref(column)))
export type Row = Pick<OrdersTable, (typeof columns)[number]>

export function sortColumn({ sortKey }: Ordering): RawBuilder<unknown> {
  return sorts[sortKey].column
}

export function directionOf({ direction }: Pick<Ordering, 'direction'>, isReversed: boolean) {
  return sql.raw((direction === 'asc') === isReversed ? 'desc' : 'asc')
}

/** The list's own order, or its opposite. */
export function orderTerms(
  { sortKey, direction }: Ordering,
  isReversed: boolean,
  column?: RawBuilder<unknown>,
) {
  const sort = sorts[sortKey]
  const way = directionOf({ direction }, isReversed)
  const nulls = sort.nullable ? sql.raw(isReversed ? ' nulls first' : ' nulls last') : sql``
  return sql`${column ?? sort.column} ${way}${nulls}, id ${way}`
}

export function toSummaries(rows: Row[], isReversed: boolean): OrderSummary[] {
  const summaries = rows.map((row) => ({
    id: row.id,
    customer: row.customer,
    totalE4: row.total_e4,
    status: row.status as OrderStatus,
    createdAt: row.created_at,
  }))
  return isReversed ? summaries.reverse() : summaries
}

/** Of a whole number of an order those from `from` up to, not including, `to`, either of which may be infinite. */
export interface Between {
  column: 'created_at' | 'total_e4'
  from: number
  to: number
}

/** A page of all orders, or of those of one status, which an index holds in the order of the page. */
export interface PlainPage extends Ordering, Window {
  status: OrderStatus | undefined
  /** Of the column of the sort, so that what lies outside is not passed over one by one. */
  between?: Between | undefined
}

const plainPages = new Map<string, ReturnType<typeof preparePlainPage>>()

/** Whether an index holds the orders of one status in this order too. */
export function isPlain({ sortKey }: Ordering, status: OrderStatus | undefined): boolean {
  return status === undefined || sortKey === 'createdAtUtc' || sortKey === 'id' || sortKey === 'status'
}

/** So many rows are rather passed over than found again by their ids. */
const nearSteps = 20

/** Its cost is that of `skip` entries of an index and of `take` rows. `isPlain` must hold. */
export async function findPlainPage(db: Db, page: PlainPage): Promise<OrderSummary[]> {
  const { sortKey, direction, isReversed, status, between, skip } = page
  const isNear = skip <= nearSteps
  const shape = [sortKey, direction, isReversed, status === undefined, between?.column, isNear].join()
  let find = plainPages.get(shape)
  if (find === undefined) {
    find = preparePlainPage(page)
    plainPages.set(shape, find)
  }
  const { from, to } = finite(between)
  return toSummaries(await find(db, page.take, page.skip, status ?? 0, from, to), isReversed)
}

function preparePlainPage(page: PlainPage) {
  const terms = orderTerms(page, page.isReversed)
  return prepared((db, take: number, skip: number, status: number, from: number, to: number) => {
    const { along, limited } = orderSqlOf(db)
    const orders = along(plainIndex(page))
    const hasStatus = page.status === undefined ? sql`1 = 1` : sql`status = ${status}`
    const column = sql.ref(page.between?.column ?? 'id')
    const isBetween =
      page.between === undefined ? sql`1 = 1` : sql`${column} >= ${from} and ${column} < ${to}`
    const listed = sql`from orders as ${orders} where ${hasStatus} and ${isBetween}
      order by ${terms} ${limited(take, skip)}`
    if (page.skip <= nearSteps) return sql<Row>`select ${selected} ${listed}`
    // Ids by the index alone, then their rows: each row that OFFSET passes over would be looked up.
    return sql<Row>`select ${selected} from orders where id in (select id ${listed}) order by ${terms}`
  })
}

function plainIndex({ sortKey, status }: PlainPage): OrderIndex {
  if (status === undefined) return sorts[sortKey].index
  return sortKey === 'createdAtUtc' ? 'orders_by_status_and_created_at' : 'orders_by_status'
}

/** Integers that both engines take in place of infinity, beyond all that an order has. */
function finite(between: Between | undefined): { from: number; to: number } {
  return {
    from: Math.max(between?.from ?? 0, Number.MIN_SAFE_INTEGER),
    to: Math.min(between?.to ?? 0, Number.MAX_SAFE_INTEGER),
  }
}

const counts = new Map<string, ReturnType<typeof prepareCount>>()

/** How many there are, by entries of an index alone; infinitely many for more than `limit`. */
export async function countBetween(
  db: Db,
  { status, limit, ...between }: Between & { status: OrderStatus | undefined; limit: number },
): Promise<number> {
  if (between.from >= between.to) return 0
  const shape = [between.column, status === undefined].join()
  let count = counts.get(shape)
  if (count === undefined) {
    count = prepareCount(between.column, status === undefined)
    counts.set(shape, count)
  }
  const { from, to } = finite(between)
  const [row] = await count(db, from, to, status ?? 0, Math.min(limit, Number.MAX_SAFE_INTEGER - 1) + 1)
  const counted = Number(row?.count)
  return counted > limit ? Number.POSITIVE_INFINITY : counted
}

function prepareCount(column: Between['column'], isOfAll: boolean) {
  return prepared((db, from: number, to: number, status: number, limit: number) => {
    const { withinTime, along } = orderSqlOf(db)
    const ofStatus = isOfAll ? 'orders_by_created_at' : 'orders_by_status_and_created_at'
    const orders = along(column === 'total_e4' ? 'orders_by_total' : ofStatus)
    const hasStatus = isOfAll ? sql`1 = 1` : sql`status = ${status}`
    return sql<{ count: number }>`select count(*) as count from (
      select 1 from orders as ${orders} where ${withinTime} and ${hasStatus}
        and ${sql.ref(column)} >= ${from} and ${sql.ref(column)} < ${to} limit ${limit}
    ) as counted`
  })
}

/** How many orders match, by looking at those that an index finds, or at all. */
export async function countMatches(db: Db, filter: Filter): Promise<number> {
  const { withinTime } = orderSqlOf(db)
  const counted = countContaining(db, filter)
  const { rows } = await (
    counted ??
    sql<{
      count: number
    }>`select count(*) as count from orders where ${withinTime} and ${conditionOf(db, filter, true)}`
  ).execute(db)
  return Number(rows[0]?.count)
}

/** Of a filter that is nothing but a text which the customer contains. */
function countContaining(db: Db, filter: Filter): RawBuilder<{ count: number }> | undefined {
  const text = containedText(filter)
  return text === undefined ? undefined : orderSqlOf(db).countContaining(text)
}

/** The folded text, if the filter is nothing but a text which the customer contains. */
export function containedText(filter: Filter): string | undefined {
  if (filter.kind === 'search') {
    const folded = foldText(filter.text)
    return idsBySearch(folded) === null ? folded : undefined
  }
  const isContained = filter.kind === 'text' && filter.field === 'customer' && filter.operator === ':'
  return isContained ? foldText(filter.pattern.text) : undefined
}

/** All matches are found first, by whatever index the filter has, and then sorted: at a cost by their number. */
export async function sortMatches(
  db: Db,
  filter: Filter,
  ordering: Ordering,
  { isReversed, skip, take }: Window,
): Promise<OrderSummary[]> {
  const { withinTime, limited } = orderSqlOf(db)
  const { rows } = await sql<Row>`with matches as materialized (
      select ${selected}, ${sorts[ordering.sortKey].column} as sort_key from orders
      where ${withinTime} and ${conditionOf(db, filter, true)}
    )
    select ${selected} from matches order by ${orderTerms(ordering, isReversed, sql.ref('sort_key'))}
    ${limited(take, skip)}`.execute(db)
  return toSummaries(rows, isReversed)
}

/**
 * Orders are looked at in the order of the list until the page is full: at a cost by how rare matches are. With
 * `isFinding` all that contain a text are found before, and of the others no row is read.
 */
export async function walkToMatches(
  db: Db,
  filter: Filter,
  ordering: Ordering,
  { isReversed, skip, take }: Window,
  isFinding: boolean,
): Promise<OrderSummary[]> {
  const { withinTime, along, limited } = orderSqlOf(db)
  const { rows } = await sql<Row>`select ${selected} from orders as ${along(sorts[ordering.sortKey].index)}
    where ${withinTime} and ${conditionOf(db, filter, isFinding)}
    order by ${orderTerms(ordering, isReversed)} ${limited(take, skip)}`.execute(db)
  return toSummaries(rows, isReversed)
}

/** With `isFinding` the customers that contain a text are found by the index of trigrams, else each is looked at. */
export function conditionOf(db: Db, filter: Filter, isFinding: boolean): RawBuilder<unknown> {
  const { containing, looking } = orderSqlOf(db)
  const eb = expressionBuilder<Database, 'orders'>()
  return sql`(${compileFilter(filter, eb, { containing: isFinding ? containing : undefined, looking })})`
}

import { expressionBuilder, type RawBuilder, sql } from '#kysely'
import { ofEngine } from '../../db/engine.ts'
import { Latest } from '../../db/latest.ts'
import { prepared } from '../../db/prepared.ts'
import type { Database, Db } from '../../db/tables.ts'
import { mayDecide, nobodyMay } from '../conditions.ts'
import { compileFilter } from '../filter/compile.ts'
import type { Whom } from '../filter/parser.ts'
import { type Count, isIndexed, type ListRequest, type Page, sumOf, type Table, type Window } from './plan.ts'
import * as postgres from './postgres.ts'
import * as sqlite from './sqlite.ts'
import { oncePerList, orderOf, sortColumn, wayOf } from './statement.ts'

/** The facts that `waits` in a filter depends on. */
type Waits = Pick<ListRequest, 'askings' | 'asOf'>

/** Counts the matches in this snapshot as the plan says. */
export async function countBy(
  db: Db,
  count: Count,
  byStatus: Table['byStatus'],
  waits: Waits = {},
): Promise<number> {
  switch (count.by) {
    case 'tally':
      return sumOf(byStatus, count.statuses)
    case 'rest':
      return sumOf(byStatus, null) - (await countBy(db, count.of, byStatus, waits))
    case 'text':
    case 'looking':
      return countOnce(db, count, waits)
  }
}

/** How many counts are kept for one snapshot. */
const keptCounts = 1_000

/** Keyed by the adapter of a database, which its transactions share. */
const countsOf = new WeakMap<object, { version: number | string; byPlan: Map<string, number> }>()

/**
 * Counts once, and keeps the result until something is written. Callers ask for several pages of one list,
 * and in a million orders the count of a text costs 30 times as much as a page.
 */
async function countOnce(
  db: Db,
  count: Exclude<Count, { by: 'tally' | 'rest' }>,
  waits: Waits,
): Promise<number> {
  const { snapshotVersion, countContaining } = ofEngine(db, { sqlite, postgres })
  const version = await snapshotVersion(db)
  const { adapter } = db.getExecutor()
  const before = countsOf.get(adapter)
  const byPlan = before?.version === version ? before.byPlan : new Latest<number>(keptCounts)
  countsOf.set(adapter, { version, byPlan })
  const plan = JSON.stringify([count, waits])
  const known = byPlan.get(plan)
  if (known !== undefined) return known
  const counted = await firstCount(
    db,
    count.by === 'text'
      ? countContaining(count.text)
      : sql`select count(*) as count from orders where ${conditionOf(db, { filter: count.filter, ...waits }, count.ofFew ? 'findingFew' : 'finding')}`,
  )
  byPlan.set(plan, counted)
  return counted
}

async function firstCount(db: Db, query: RawBuilder<unknown>): Promise<number> {
  const { rows } = await (query as RawBuilder<{ count: number }>).execute(db)
  return Number(rows[0]?.count)
}

/** The orders of the page, in the order of the list, as JSON. */
export async function findBy(db: Db, request: ListRequest, page: Page): Promise<string> {
  if (page.by === 'nothing') return '[]'
  const { rows } = await statementOf(request, page)(db, page)
  return rows[0]?.items ?? '[]'
}

type FoundPage = Exclude<Page, { by: 'nothing' }>

/**
 * Finds the ids first, so that no row of a skipped order is read if the index has everything that is needed.
 */
const statementOf = oncePerList((request, page: FoundPage) => {
  const ownOrder = orderOf(request, { isReversed: false })
  return prepared((db, { take, skip }: Window) => {
    const { items, limited } = ofEngine(db, { sqlite, postgres })
    return sql<{ items: string }>`select ${items(ownOrder, request)} as items from orders
      where id in (${idsOf(db, request, page, { take, skip })} ${limited(take, skip)})`
  })
})

/** The ids of all matches, in the order of the page. */
function idsOf(
  db: Db,
  request: ListRequest,
  page: FoundPage,
  window: Pick<Window, 'take' | 'skip'>,
): RawBuilder<unknown> {
  const engine = ofEngine(db, { sqlite, postgres })
  const way = wayOf(request, page)
  if (page.by === 'sort') {
    const found = conditionOf(db, request, page.ofFew ? 'findingFew' : 'finding')
    return sql`with matches as materialized (
        select id, ${sortColumn(request)} as sort_key from orders where ${found}
      ) select id from matches order by ${orderOf(request, page, sql.ref('sort_key'))}`
  }
  if (page.by === 'text') {
    const { matches, key } = engine.alongText(page.text)
    const looked = conditionOf(db, request, 'looking')
    return sql`select orders.id from ${matches} and ${looked} order by ${key} ${way}`
  }
  if (page.by === 'customer') {
    // A range, unlike one value, makes PostgreSQL take the order from the index that begins with customers.
    const { customer } = page
    return sql`select id from orders as ${engine.along('orders_by_customer')}
      where ${engine.withinTime} and customer_folded between ${customer} and ${customer}
      order by customer_folded ${way}, id ${way}`
  }
  const looked = conditionOf(db, { ...request, filter: page.looking }, 'looking')
  if (page.index === 'orders') {
    const { orders, key } = engine.alongCreation
    return sql`select orders.id from ${orders} where ${looked} order by ${key} ${way}`
  }
  const walked = sql`select id from orders as ${engine.along(page.index)} where ${looked}`
  if (page.statuses === null) return sql`${walked} order by ${orderOf(request, page)}`
  const parts = page.statuses.map((status) => sql`${walked} and ${engine.hasStatus(status)}`)
  return engine.together(parts, way, window)
}

/**
 * `finding` uses the index of trigrams for customers that contain a text, and any index for a range.
 * `findingFew` uses no index for a range. With `looking` each order is read.
 */
export function conditionOf(
  db: Db,
  { filter, askings = [], asOf = 0 }: Pick<ListRequest, 'filter'> & Waits,
  how: 'finding' | 'findingFew' | 'looking',
): RawBuilder<unknown> {
  const { withinTime, ...engine } = ofEngine(db, { sqlite, postgres })
  if (filter === null) return withinTime
  const eb = expressionBuilder<Database, 'orders'>()
  const waits = (whom: Whom) => (whom === 'me' ? mayDecide('approve', askings) : nobodyMay('approve', asOf))
  const finds = how === 'looking' ? () => false : isIndexed
  return sql`${withinTime} and (${compileFilter(filter, eb, { ...engine, finds, findsRanges: how !== 'findingFew', waits })})`
}

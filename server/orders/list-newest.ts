import { type Kysely, sql } from 'kysely'
import { orderSqlOf } from '../db/order-sql.ts'
import type { Database } from '../db/tables.ts'
import type { Filter } from './filter/parser.ts'
import {
  conditionOf,
  containedText,
  type Ordering,
  type OrderSummary,
  type Row,
  selected,
  toSummaries,
  type Window,
} from './list-store.ts'

type Db = Kysely<Database>

/** A page that ends beyond so many matches is found in another way. */
const reachLimit = 1_000
/** Matches may lie so many times less evenly than the walk hopes before it is given up. */
const patience = 4

/**
 * A page near the newest end of a list by creation, where the numbers of orders tell which are newer. A text is found
 * from the last order down; otherwise rows are looked at from there, `walked` of them if matches lie evenly. Undefined
 * where numbers do not tell, or where that would take longer than to sort all matches.
 */
export async function findNewest(
  db: Db,
  filter: Filter,
  { sortKey, direction }: Ordering,
  { isReversed, skip, take }: Window,
  { matches, walked }: { matches: number; walked: number },
): Promise<OrderSummary[] | undefined> {
  const isNewestFirst = (direction === 'desc') !== isReversed
  const reach = skip + take
  if (sortKey !== 'createdAtUtc' || !isNewestFirst || reach > reachLimit) return undefined
  const rows = await lastMatches(db, filter, reach, walked < matches ? walked : undefined)
  const last = rows?.at(-1)
  if (rows === undefined || last === undefined || rows.length < reach) return undefined
  // Orders of the last one's instant come before or after it by their id: all of them are looked at.
  const { withinTime } = orderSqlOf(db)
  const ties = await sql<Row>`select ${selected} from orders where ${withinTime}
    and created_at = ${last.created_at} and seq < ${last.seq} and ${conditionOf(db, filter, false)}`.execute(
    db,
  )
  const sorted = [...rows, ...ties.rows].sort(newestFirst).slice(skip, reach)
  return toSummaries(sorted, isReversed)
}

type NumberedRow = Row & { seq: number }

/** The matches with the greatest numbers, among those whose numbers are in the order of creation. */
async function lastMatches(
  db: Db,
  filter: Filter,
  limit: number,
  walked: number | undefined,
): Promise<NumberedRow[] | undefined> {
  const { sequence, withinTime, lastContaining } = orderSqlOf(db)
  const numbers = (await sequence?.execute(db))?.rows[0]
  if (numbers === undefined) return undefined
  const { last, inOrderFrom } = numbers
  const text = containedText(filter)
  const found = text === undefined ? undefined : lastContaining(text, inOrderFrom, limit)
  if (found !== undefined) {
    const { rows } = await sql<NumberedRow>`select ${selected}, seq from ${found} order by seq desc`.execute(
      db,
    )
    return rows
  }
  if (walked === undefined) return undefined
  const from = Math.max(inOrderFrom, last - Math.ceil(walked * patience))
  const { rows } = await sql<NumberedRow>`select ${selected}, seq from orders not indexed
    where ${withinTime} and seq >= ${from} and ${conditionOf(db, filter, false)}
    order by seq desc limit ${limit}`.execute(db)
  return rows
}

function newestFirst(a: Row, b: Row): number {
  return b.created_at - a.created_at || (a.id < b.id ? 1 : -1)
}

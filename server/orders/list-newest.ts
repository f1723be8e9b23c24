import { type Kysely, sql } from 'kysely'
import { type NumberedOrder, orderSqlOf } from '../db/order-sql.ts'
import { unseen } from '../db/prepared.ts'
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
/** So many rows are looked at one after the other in the time in which a match is found by an index, read and sorted. */
const walkingGain = 8
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
  const isWalked = walked < matches * walkingGain && !restrictsCreation(filter)
  // One more than wanted tells whether there are others of the last one's instant.
  const rows = await lastMatches(db, filter, reach + 1, isWalked ? walked : undefined)
  const last = rows?.[reach - 1]
  if (rows === undefined || last === undefined) return undefined
  const beyond = rows[reach]
  const isCut = beyond === undefined ? reach < matches : beyond.created_at === last.created_at
  const found = isCut ? [...rows, ...(await restOfInstant(db, filter, rows))] : rows
  return toSummaries(found.sort(newestFirst).slice(skip, reach), isReversed)
}

/** Those of the instant of the last of `rows` which they lack: their ids tell where in the list they come. */
async function restOfInstant(db: Db, filter: Filter, rows: NumberedOrder[]): Promise<Row[]> {
  const { withinTime } = orderSqlOf(db)
  const last = rows.at(-1)
  const rest = await sql<Row>`select ${selected} from orders where ${withinTime}
    and created_at = ${unseen(last?.created_at)} and seq < ${unseen(last?.seq)}
    and ${conditionOf(db, filter, false)}`.execute(db)
  return rest.rows
}

/** What was created at certain times lies together, and is found by the index of those. */
function restrictsCreation(filter: Filter): boolean {
  if (filter.kind === 'and' || filter.kind === 'or') return filter.operands.some(restrictsCreation)
  if (filter.kind === 'not') return restrictsCreation(filter.operand)
  return filter.kind === 'number' && filter.field === 'createdAtUtc'
}

/** The matches with the greatest numbers, among those whose numbers are in the order of creation. */
async function lastMatches(
  db: Db,
  filter: Filter,
  limit: number,
  walked: number | undefined,
): Promise<NumberedOrder[] | undefined> {
  const { sequence, withinTime, lastContaining } = orderSqlOf(db)
  const numbers = (await sequence?.execute(db))?.rows[0]
  if (numbers === undefined) return undefined
  const { last, inOrderFrom } = numbers
  const text = containedText(filter)
  const found = text === undefined ? undefined : lastContaining(db, text, inOrderFrom, limit)
  if (found !== undefined) return found
  if (walked === undefined) return undefined
  const from = Math.max(inOrderFrom, last - Math.ceil(walked * patience))
  const { rows } = await sql<NumberedOrder>`select ${selected}, seq from orders not indexed
    where ${withinTime} and seq >= ${unseen(from)} and ${conditionOf(db, filter, false)}
    order by seq desc limit ${unseen(limit)}`.execute(db)
  return rows
}

function newestFirst(a: Row, b: Row): number {
  return b.created_at - a.created_at || (a.id < b.id ? 1 : -1)
}

import { type Kysely, sql } from 'kysely'
import { type NumberedOrder, orderSqlOf } from '../../db/order-sql.ts'
import { unseen } from '../../db/prepared.ts'
import type { Database } from '../../db/tables.ts'
import type { Filter } from '../filter/parser.ts'
import {
  conditionOf,
  containedText,
  type Ordering,
  type OrderSummary,
  type Row,
  selected,
  toSummaries,
  type Window,
} from './query.ts'

type Db = Kysely<Database>

/** A page that ends beyond so many matches is found in another way. */
const reachLimit = 1_000
/** So many rows are looked at one after the other in the time in which a match is found by an index, read and sorted. */
const walkingGain = 8
/** Where the page is expected within so many rows, what is likely to contain a text is as good as what does. */
const commonWithin = 10_000
/** Matches may lie so many times less evenly than the walk hopes before it is given up. */
export const patience = 4

/**
 * A page near either end of a list by creation, where the numbers of orders tell which are newer. A text is found
 * from that end on; otherwise rows are looked at from there, `walked` of them if matches lie evenly. Undefined
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
  if (sortKey !== 'createdAtUtc' || reach > reachLimit) return undefined
  const isWalked = walked < matches * walkingGain && !restrictsCreation(filter)
  // One more than wanted tells whether there are others of the last one's instant.
  const limits = { limit: reach + 1, walked, isWalked }
  const rows = await endMatches(db, filter, isNewestFirst, limits)
  const last = rows?.[reach - 1]
  if (rows === undefined || last === undefined) return undefined
  const beyond = rows[reach]
  const isCut = beyond === undefined ? reach < matches : beyond.created_at === last.created_at
  const found = isCut ? [...rows, ...(await restOfInstant(db, filter, rows, isNewestFirst))] : rows
  return toSummaries(found.sort(isNewestFirst ? newestFirst : oldestFirst).slice(skip, reach), isReversed)
}

/** Those of the instant of the last of `rows` which they lack: their ids tell where in the list they come. */
async function restOfInstant(
  db: Db,
  filter: Filter,
  rows: NumberedOrder[],
  isNewestFirst: boolean,
): Promise<Row[]> {
  const { withinTime } = orderSqlOf(db)
  const last = rows.at(-1)
  const beyond = sql.raw(isNewestFirst ? '<' : '>')
  const rest = await sql<Row>`select ${selected} from orders where ${withinTime}
    and created_at = ${unseen(last?.created_at)} and seq ${beyond} ${unseen(last?.seq)}
    and ${conditionOf(db, filter, false)}`.execute(db)
  return rest.rows
}

/** What was created at certain times lies together, and is found by the index of those. */
function restrictsCreation(filter: Filter): boolean {
  if (filter.kind === 'and' || filter.kind === 'or') return filter.operands.some(restrictsCreation)
  if (filter.kind === 'not') return restrictsCreation(filter.operand)
  return filter.kind === 'number' && filter.field === 'createdAtUtc'
}

/** The matches with the greatest numbers, or the least, among those whose numbers are in the order of creation. */
async function endMatches(
  db: Db,
  filter: Filter,
  isNewestFirst: boolean,
  { limit, walked, isWalked }: { limit: number; walked: number; isWalked: boolean },
): Promise<NumberedOrder[] | undefined> {
  const { sequence, withinTime, endContaining } = orderSqlOf(db)
  const numbers = await sequence?.(db)
  if (numbers === undefined) return undefined
  const { first, last, inOrderFrom } = numbers
  if (!isNewestFirst && inOrderFrom > first) return undefined
  const text = containedText(filter)
  const found =
    text === undefined
      ? undefined
      : endContaining(db, text, { from: inOrderFrom, limit, isNewestFirst, isCommon: walked <= commonWithin })
  if (found !== undefined) return found
  if (!isWalked) return undefined
  const reach = Math.ceil(walked * patience)
  const [from, to] = isNewestFirst ? [Math.max(inOrderFrom, last - reach), last] : [first, first + reach]
  const { rows } = await sql<NumberedOrder>`select ${selected}, seq from orders not indexed
    where ${withinTime} and seq between ${unseen(from)} and ${unseen(to)} and ${conditionOf(db, filter, false)}
    order by seq ${sql.raw(isNewestFirst ? 'desc' : 'asc')} limit ${unseen(limit)}`.execute(db)
  return rows
}

function newestFirst(a: Row, b: Row): number {
  return b.created_at - a.created_at || (a.id < b.id ? 1 : -1)
}

function oldestFirst(a: Row, b: Row): number {
  return newestFirst(b, a)
}

import type { Place } from '../../../proof/place.ts'
import type { Asking } from '../conditions.ts'
import { isAllowed } from '../filter/fields.ts'
import { idsBySearch } from '../filter/id.ts'
import type { Filter } from '../filter/parser.ts'
import { foldText } from '../fold.ts'
import { type ColumnName, columnOf, type OrderIndex, orderFields, type SortKey } from '../order.ts'

/**
 * A request for a list. Ties are broken by id in the same direction, so pages neither overlap nor miss an
 * order.
 */
export interface ListRequest {
  filter: Filter | null
  /** The rights in which the reader may approve, if the filter or a column asks for them. */
  askings?: readonly Asking[] | undefined
  /** When `waits:nobody` is judged, if the filter asks that. */
  asOf?: number | undefined
  sortKey: SortKey
  direction: 'asc' | 'desc'
  /** Null for every match as one page. */
  page: { offset: number; limit: number } | null
  /** What the list shows of each order: a summary unless more is requested. */
  columns?: readonly ColumnName[]
}

export interface FoundOrders {
  /** A JSON array of summaries, ready to be sent. */
  items: string
  totalCount: number
  /** The end of the log. Changes that are not in the list come after it. */
  place: Place
}

/** The facts about the table when the page is planned, all of one snapshot. */
export interface Table {
  /** How many orders have each status. A later version may know other statuses. */
  byStatus: ReadonlyMap<number, number>
  /** How many orders match the filter. */
  matches: number
  /** Whether the table itself, and the index of texts, is in the order of creation. */
  isInOrder: boolean
}

/**
 * How the matches are counted:
 * - `tally`: from the tally of each status. No order is looked at.
 * - `rest`: all orders except another count, because a text does not match nearly all orders.
 * - `text`: the customers that contain the text (folded), by the index of trigrams.
 * - `looking`: by looking at the orders that an index of the filter finds, or else at all of them. `ofFew`:
 *   no index of a range is used, because few orders have the statuses of the filter.
 */
export type Count =
  | { by: 'tally'; statuses: number[] }
  | { by: 'rest'; of: Count }
  | { by: 'text'; text: string }
  | { by: 'looking'; filter: Filter | null; ofFew: boolean }

/**
 * How the page is found:
 * - `nothing`: it is empty.
 * - `walk`: along an index that has the order of the list, looking at each order until the page is full. With
 *   statuses, only their parts of the index are walked, in parallel, and the rest of the filter is checked on
 *   each order. The index `orders` is the table itself.
 * - `text`: along the customers that contain the text (folded), in the order of creation.
 * - `customer`: along the orders of one customer (folded), in the order of creation.
 * - `sort`: all matches are found by an index of the filter, as when they are counted, and then sorted.
 */
export type Page =
  | { by: 'nothing' }
  | ({ by: 'walk'; index: OrderIndex | 'orders'; statuses: number[] | null; looking: Filter | null } & Window)
  | ({ by: 'text'; text: string } & Window)
  | ({ by: 'customer'; customer: string } & Window)
  | ({ by: 'sort'; ofFew: boolean } & Window)

/**
 * Where the page lies, seen from the nearer end of the list, so that at most half of the list is skipped.
 * With `isReversed`, the nearer end is the last one, and the orders are found in reverse.
 */
export interface Window {
  isReversed: boolean
  skip: number
  take: number
}

/** Every number that tunes a plan. */
export const tuning = {
  /** The most matches that one page may have (section 3 of the contract). */
  unpagedLimit: 10_000,
  /** No index finds a shorter text: both engines index trigrams. */
  shortestIndexedText: 3,
  /** In a million orders, a range of totals among 10,000 pending ones took 100 times as long by its index. */
  fewOrders: 20_000,
  /** A page that ends further on would delay the single reads, which share one connection (postgres.ts). */
  nearLimit: 200,
}

export function planCount(filter: Filter | null, byStatus: Table['byStatus']): Count {
  const parts = conjunctsOf(filter)
  if (parts.every(isOfStatus)) return { by: 'tally', statuses: statusesIn(parts, byStatus) }
  if (filter?.kind === 'not') return { by: 'rest', of: planCount(filter.operand, byStatus) }
  const text = parts.length === 1 ? parts.map(indexedText)[0] : undefined
  return text === undefined
    ? { by: 'looking', filter, ofFew: isOfFew(parts, byStatus) }
    : { by: 'text', text }
}

export function planPage({ filter, sortKey, page }: ListRequest, table: Table): Page {
  const { byStatus, matches, isInOrder } = table
  const window = windowOf(matches, page ?? { offset: 0, limit: tuning.unpagedLimit })
  if (window.take === 0) return { by: 'nothing' }
  const { column, index } = orderFields[sortKey].sort
  const parts = conjunctsOf(filter)
  const text = parts.map(indexedText).find((each) => each !== undefined)
  if (text !== undefined && column === 'id' && isInOrder) return { by: 'text', text, ...window }
  const customer = parts.length === 1 ? parts.map(wholeCustomer)[0] : undefined
  if (customer !== undefined && column === 'id') return { by: 'customer', customer, ...window }
  const statuses = column === 'id' && parts.some(isOfStatus) ? statusesIn(parts, byStatus) : null
  const walk = walkOf(statuses, filter, index, window)
  const bound = parts.filter((part) => isBoundBy(part, column, statuses))
  if (bound.length === parts.length) return walk
  // Names that contain a text may lie together, so a walk may have to pass all others first.
  const sort: Page = { by: 'sort', ofFew: isOfFew(parts, byStatus), ...window }
  if (text !== undefined && sortKey === 'customer') return sort
  // Compares how many orders the walk looks at, if matches are spread evenly, with how many would be found
  // and sorted.
  const walked = (sumOf(byStatus, statuses) / matches) * (window.skip + window.take)
  if (walked > matches) return sort
  return index === 'orders_by_id' && isInOrder && statuses === null && bound.length === 0
    ? { ...walk, index: 'orders' }
    : walk
}

function windowOf(matches: number, { offset, limit }: { offset: number; limit: number }): Window {
  const take = Math.max(0, Math.min(limit, matches - offset))
  const after = Math.max(0, matches - offset - take)
  return after < offset ? { isReversed: true, skip: after, take } : { isReversed: false, skip: offset, take }
}

function conjunctsOf(filter: Filter | null): Filter[] {
  if (filter === null) return []
  return filter.kind === 'and' ? filter.operands : [filter]
}

/** Whether the filter restricts only the status. */
function isOfStatus(filter: Filter): boolean {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return filter.operands.every(isOfStatus)
    case 'not':
      return isOfStatus(filter.operand)
    default:
      return filter.kind === 'number' && filter.field === 'status'
  }
}

/** Whether a filter on the status alone allows this status. */
function allows(filter: Filter, status: number): boolean {
  switch (filter.kind) {
    case 'and':
      return filter.operands.every((operand) => allows(operand, status))
    case 'or':
      return filter.operands.some((operand) => allows(operand, status))
    case 'not':
      return !allows(filter.operand, status)
    case 'number':
      return isAllowed(status, filter)
    default:
      return true
  }
}

/** The statuses that exist and that every restriction on the status allows. */
function statusesIn(parts: Filter[], byStatus: Table['byStatus']): number[] {
  const restrictions = parts.filter(isOfStatus)
  return [...byStatus.keys()].filter((status) => restrictions.every((part) => allows(part, status)))
}

/** Whether few orders have the statuses of the filter. SQLite does not know how many have which. */
function isOfFew(parts: Filter[], byStatus: Table['byStatus']): boolean {
  return parts.some(isOfStatus) && sumOf(byStatus, statusesIn(parts, byStatus)) <= tuning.fewOrders
}

type Walk = Extract<Page, { by: 'walk' }>

function walkOf(statuses: number[] | null, filter: Filter | null, index: OrderIndex, window: Window): Walk {
  if (statuses === null) return { by: 'walk', index, statuses, looking: filter, ...window }
  const operands = conjunctsOf(filter).filter((part) => !isOfStatus(part))
  const looking: Filter | null = operands.length === 0 ? null : { kind: 'and', operands }
  return { by: 'walk', index: 'orders_by_status', statuses, looking, ...window }
}

/** Whether every order in the walked part of the index meets this restriction. */
function isBoundBy(part: Filter, column: string, statuses: number[] | null): boolean {
  // In a million orders, passing 300,000 entries of this index takes 8 ms; sorting 400,000 matches took 1.4
  // s.
  if (isOfStatus(part)) return statuses !== null || column === 'status'
  if (part.kind === 'idRange') return column === 'id'
  if (part.kind !== 'number') return false
  return part.operator !== '!=' && columnOf(part.field).sort?.column === column
}

/** The folded text of a filter that is one text in the customer's name, long enough for an index. */
function indexedText(filter: Filter): string | undefined {
  const text = containedText(filter)
  return text !== undefined && isIndexed(text) ? text : undefined
}

/** Whether an index finds the folded texts that contain this one. */
export function isIndexed(text: string): boolean {
  return [...text].length >= tuning.shortestIndexedText
}

function containedText(filter: Filter): string | undefined {
  if (filter.kind === 'text' && filter.field === 'customer' && filter.operator === ':') {
    return foldText(filter.pattern.text)
  }
  const text = filter.kind === 'search' ? foldText(filter.text) : undefined
  return text === undefined || idsBySearch(text) !== null ? undefined : text
}

/** The folded name of the customer if the filter is for exactly one. */
function wholeCustomer(filter: Filter): string | undefined {
  if (filter.kind !== 'text' || filter.field !== 'customer' || filter.operator !== '=') return undefined
  const { text, anyBefore, anyAfter } = filter.pattern
  return anyBefore || anyAfter ? undefined : foldText(text)
}

/** Null counts all statuses. */
export function sumOf(byStatus: Table['byStatus'], statuses: readonly number[] | null): number {
  return (statuses ?? [...byStatus.keys()]).reduce((sum, status) => sum + (byStatus.get(status) ?? 0), 0)
}

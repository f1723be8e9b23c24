import { type Expression, type ExpressionBuilder, type RawBuilder, type SqlBool, sql } from '#kysely'
import type { Database } from '../../db/tables.ts'
import { foldText } from '../fold.ts'
import { type ColumnName, columnOf } from '../order.ts'
import type { CallerFieldName, Comparison, NumberFieldName, Operator } from './fields.ts'
import { firstIdFrom, type IdRange, idsBySearch, idsByText } from './id.ts'
import type { Filter, TextPattern, Whom } from './parser.ts'
import { namesOfZone } from './zones.ts'

type Builder = ExpressionBuilder<Database, 'orders'>
type Condition = Expression<SqlBool>

/** How the engine compares texts, and where in the filter the part is. */
interface Place {
  contains(column: Expression<string>, text: string): Condition
  endsWith(column: Expression<string>, text: string): Condition
  /** The orders whose folded customer contains the text, by an index. */
  containing(text: string): Condition
  /** Whether to use `containing`. Not for a negated part, which would find nearly everything. */
  finds(text: string): boolean
  /** Whether a range may use an index of its column; else `unindexed` hides it. */
  findsRanges: boolean
  unindexed(column: RawBuilder<unknown>): RawBuilder<unknown>
  /** Whether the reader may approve the order, or nobody could; never null. */
  waits(whom: Whom): Condition
  /** Under a NOT, a comparison with null must be false. Elsewhere null excludes an order just as well. */
  isNegated?: boolean
}

/**
 * The condition on `orders` that a filter means: one SQL text for both engines, every value bound. Each part
 * of it under a NOT is true or false and never null, so that NOT of a comparison with a null is true. Text
 * columns must compare by code point (SQLite BINARY, PostgreSQL COLLATE "C"); `id` may be text or uuid.
 */
export function compileFilter(filter: Filter, eb: Builder, place: Place): Condition {
  switch (filter.kind) {
    case 'and':
      return eb.and(filter.operands.map((operand) => compileFilter(operand, eb, place)))
    case 'or':
      return eb.or(filter.operands.map((operand) => compileFilter(operand, eb, place)))
    case 'not':
      return eb.not(
        eb.parens(compileFilter(filter.operand, eb, { ...place, finds: () => false, isNegated: true })),
      )
    case 'search':
      return compileSearch(filter.text, eb, place)
    case 'hasValue':
      return hasValue(filter.field)
    case 'text':
      return falseWhenNull(filter.field, compileText(filter, eb, place), place)
    case 'id':
      return falseWhenNull(filter.field, compileId(filter, eb, place), place)
    case 'idRange':
      return eb('orders.id', filter.operator, filter.id)
    case 'number':
      return falseWhenNull(filter.field, compileNumber(filter.field, filter, place), place)
    case 'waits':
      return place.waits(filter.whom)
    case 'caller':
      return compileCaller(filter.field, filter.id)
  }
}

/** By the account, whatever it was called then. */
function compileCaller(field: CallerFieldName, id: number): Condition {
  return field === 'createdBy'
    ? sql<SqlBool>`coalesce(created_by_id = ${id}, false)`
    : sql<SqlBool>`exists (select 1 from order_approvals where order_id = orders.id and account_id = ${id})`
}

function storedValue(field: ColumnName) {
  return sql.raw<string>(columnOf(field).expression)
}

function hasValue(field: ColumnName): Condition {
  return sql<SqlBool>`${storedValue(field)} is not null`
}

function falseWhenNull(field: ColumnName, condition: Condition, { isNegated }: Place): Condition {
  return isNegated && columnOf(field).nullable
    ? sql<SqlBool>`(${hasValue(field)} and ${condition})`
    : condition
}

const anywhere = { anyBefore: true, anyAfter: true }

function compileSearch(text: string, eb: Builder, place: Place): Condition {
  const folded = foldText(text)
  const inCustomer = inFoldedCustomer({ text: folded, ...anywhere }, eb, place)
  const ids = idsBySearch(folded)
  return ids === null ? inCustomer : eb.or([inCustomer, idIn(ids, sql.ref('orders.id'))])
}

type TextRestriction = Filter & { kind: 'text' }

function compileText({ field, operator, pattern }: TextRestriction, eb: Builder, place: Place): Condition {
  const folded = { ...pattern, text: foldText(pattern.text) }
  if (columnOf(field).kind === 'names') return compileNames(field, operator, folded, place)
  // User names and zones are ASCII, where lower() is the fold on both engines.
  const column =
    field === 'customer' ? eb.ref('orders.customer_folded') : sql<string>`lower(${storedValue(field)})`
  const isWhole = !pattern.anyBefore && !pattern.anyAfter
  const zones = isWhole && field.endsWith('TimeZone') ? namesOfZone(folded.text) : []
  if (zones.length > 1 && operator === '=') return eb(column, 'in', zones)
  if (zones.length > 1 && operator === '!=') return eb(column, 'not in', zones)
  if (operator !== ':' && isWhole) return eb(column, operator, folded.text)
  const wanted = operator === ':' ? { ...folded, ...anywhere } : folded
  if (operator === '!=') return eb.not(matching(column, wanted, place))
  if (zones.length > 1) return eb.or([eb(column, 'in', zones), matching(column, wanted, place)])
  return field === 'customer' ? inFoldedCustomer(wanted, eb, place) : matching(column, wanted, place)
}

/** Any of the names in `ann, bo for cy` may match. No name has a comma or a space in it. */
function compileNames(
  field: ColumnName,
  operator: Operator,
  { text, ...wildcards }: TextPattern,
  { contains }: Place,
): Condition {
  const lower = sql<string>`lower(${storedValue(field)})`
  const names = sql<string>`',' || replace(replace(${lower}, ', ', ','), ' for ', ',') || ','`
  const { anyBefore, anyAfter } = operator === ':' ? anywhere : wildcards
  const name = text.replaceAll(',', ' ')
  const found = contains(names, `${anyBefore ? '' : ','}${name}${anyAfter ? '' : ','}`)
  return operator === '!=' ? sql<SqlBool>`not (${found})` : found
}

function inFoldedCustomer(pattern: TextPattern, eb: Builder, place: Place): Condition {
  const { text, anyBefore, anyAfter } = pattern
  const looked = matching(eb.ref('orders.customer_folded'), pattern, place)
  if (!anyBefore || !place.finds(text)) return looked
  return anyAfter ? place.containing(text) : eb.and([place.containing(text), looked])
}

/** The text is taken literally, and must be folded already. */
function matching(
  column: Expression<string>,
  { text, anyBefore, anyAfter }: TextPattern,
  { contains, endsWith }: Place,
): Condition {
  if (!anyBefore) return beginningWith(column, text)
  return anyAfter ? contains(column, text) : endsWith(column, text)
}

/** A range of code points, for which both engines use an index of the column. */
function beginningWith(column: Expression<string>, text: string): Condition {
  const end = afterAllBeginningWith(text)
  const atLeast = sql<SqlBool>`${column} >= ${text}`
  return end === undefined ? atLeast : sql<SqlBool>`(${atLeast} and ${column} < ${end})`
}

const lastCodePoint = 0x10ffff

/** The first text greater than all that begin with this one; undefined if there is none. */
export function afterAllBeginningWith(text: string): string | undefined {
  const points = Array.from(text, (character) => character.codePointAt(0) ?? 0)
  while (points.at(-1) === lastCodePoint) points.pop()
  const last = points.pop()
  if (last === undefined) return undefined
  // Halves of surrogate pairs lie between the two. They are not characters.
  const next = last === 0xd7ff ? 0xe000 : last + 1
  return String.fromCodePoint(...points, next)
}

/**
 * `!=` takes both sides of the range, so every value differs from an empty range. A time of creation is
 * compared by the ids of that time, which have an index.
 */
function compileNumber(
  field: NumberFieldName,
  { operator, range: { low, high } }: Comparison,
  { findsRanges, unindexed }: Place,
): Condition {
  const isCreation = field === 'createdAtUtc'
  const column = isCreation ? sql.ref('orders.id') : storedValue(field)
  const from = (value: number) => (isCreation ? firstIdFrom(value) : value)
  const ranged = findsRanges || isCreation ? column : unindexed(column)
  const below = (value: number) => sql<SqlBool>`${ranged} < ${from(value)}`
  const atLeast = (value: number) => sql<SqlBool>`${ranged} >= ${from(value)}`
  switch (operator) {
    case '=':
      return high === low + 1 && !isCreation
        ? sql<SqlBool>`${column} = ${low}`
        : sql<SqlBool>`(${atLeast(low)} and ${below(high)})`
    case '!=':
      return sql<SqlBool>`(${below(low)} or ${atLeast(high)})`
    case '<':
      return below(low)
    case '<=':
      return below(high)
    case '>':
      return atLeast(high)
    case '>=':
      return atLeast(low)
  }
}

function compileId({ field, operator, pattern }: IdRestriction, eb: Builder, place: Place): Condition {
  if (operator === '!=') return eb.not(compileId({ field, operator: '=', pattern }, eb, place))
  const column = field === 'id' ? sql.ref<string>('orders.id') : storedValue(field)
  const text = foldText(pattern.text)
  const asText = eb.cast<string>(column, 'text')
  if (operator === ':') return matching(asText, { text, ...anywhere }, place)
  if (pattern.anyBefore) return matching(asText, { ...pattern, text }, place)
  const ids = idsByText(text, pattern.anyAfter)
  return ids === null ? eb.lit(false) : idIn(ids, column)
}

type IdRestriction = Pick<Filter & { kind: 'id' }, 'field' | 'operator' | 'pattern'>

function idIn({ low, high }: IdRange, column: Expression<string>): Condition {
  return sql<SqlBool>`(${column} >= ${low} and ${column} <= ${high})`
}

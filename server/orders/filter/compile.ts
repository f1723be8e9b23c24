import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely'
import type { OrderSql } from '../../db/order-sql.ts'
import type { Database } from '../../db/tables.ts'
import { foldText } from '../fold.ts'
import type { FieldName, NumberFieldName, NumberRange, Operator } from './fields.ts'
import { type IdRange, idsBySearch, idsByText } from './id.ts'
import type { Filter, TextPattern } from './parser.ts'

type Builder = ExpressionBuilder<Database, 'orders'>
type Condition = Expression<SqlBool>

const columns = {
  id: 'orders.id',
  customer: 'orders.customer',
  total: 'orders.total_e4',
  status: 'orders.status',
  createdAtUtc: 'orders.created_at',
  createdAtTimeZone: 'orders.created_at_time_zone',
  updatedAtUtc: 'orders.updated_at',
  updatedAtTimeZone: 'orders.updated_at_time_zone',
  createdBy: 'orders.created_by',
  modifiedBy: 'orders.modified_by',
} as const satisfies Record<FieldName, string>

const nullableFields: ReadonlySet<FieldName> = new Set<FieldName>([
  'createdAtTimeZone',
  'updatedAtUtc',
  'updatedAtTimeZone',
  'createdBy',
  'modifiedBy',
])

/** Where a part of a filter stands. */
interface Place {
  /**
   * The condition that an index answers for "the folded customer contains the text", undefined where none can. What is
   * negated has none: it is looked at.
   */
  containing?: ((text: string) => Condition | undefined) | undefined
  /** In place of LIKE. */
  looking?: OrderSql['looking']
  /** Under a NOT a comparison with a null must be false; elsewhere null keeps an order out as well. */
  isNegated?: boolean
}

/**
 * The condition on `orders` that a filter means: one SQL text for both engines, every value bound. Each part of it
 * under a NOT is true or false and never null, so that NOT of a comparison with a null is true. Text columns must compare by
 * code point (SQLite BINARY, PostgreSQL COLLATE "C"); `id` may be text or uuid.
 */
export function compileFilter(filter: Filter, eb: Builder, place: Place = {}): Condition {
  switch (filter.kind) {
    case 'and':
      return eb.and(filter.operands.map((operand) => compileFilter(operand, eb, place)))
    case 'or':
      return eb.or(filter.operands.map((operand) => compileFilter(operand, eb, place)))
    case 'not':
      return eb.not(eb.parens(compileFilter(filter.operand, eb, { looking: place.looking, isNegated: true })))
    case 'search':
      return compileSearch(filter.text, eb, place)
    case 'hasValue':
      return eb(columns[filter.field], 'is not', null)
    case 'text':
      return falseWhenNull(filter.field, compileText(filter, eb, place), eb, place)
    case 'id':
      return compileId(filter.operator, filter.pattern, eb, place)
    case 'number':
      return falseWhenNull(
        filter.field,
        compileNumber(filter.field, filter.operator, filter.range, eb),
        eb,
        place,
      )
  }
}

function falseWhenNull(field: FieldName, condition: Condition, eb: Builder, { isNegated }: Place): Condition {
  return isNegated && nullableFields.has(field)
    ? eb.and([eb(columns[field], 'is not', null), condition])
    : condition
}

function compileSearch(text: string, eb: Builder, { containing, looking }: Place): Condition {
  const folded = foldText(text)
  const contains = { text: folded, anyBefore: true, anyAfter: true }
  const inCustomer = containing?.(folded) ?? matching(eb.ref('orders.customer_folded'), contains, looking)
  const ids = idsBySearch(folded)
  return ids === null ? inCustomer : eb.or([inCustomer, idIn(ids, eb)])
}

type TextRestriction = Filter & { kind: 'text' }

function compileText(
  { field, operator, pattern }: TextRestriction,
  eb: Builder,
  { containing, looking }: Place,
): Condition {
  const folded = { ...pattern, text: foldText(pattern.text) }
  // User names and zones are ASCII, where lower() is the fold on both engines.
  const column =
    field === 'customer' ? eb.ref('orders.customer_folded') : eb.fn<string>('lower', [columns[field]])
  if (operator !== ':' && !pattern.anyBefore && !pattern.anyAfter) return eb(column, operator, folded.text)
  const wanted = operator === ':' ? { ...folded, anyBefore: true, anyAfter: true } : folded
  if (operator === '!=') return eb.not(matching(column, wanted, looking))
  const matches = matching(column, wanted, looking)
  const candidates = field === 'customer' && wanted.anyBefore ? containing?.(wanted.text) : undefined
  if (candidates === undefined) return matches
  return wanted.anyAfter ? candidates : eb.and([candidates, matches])
}

/** The text is taken literally, and must be folded already: SQLite's LIKE ignores the case of ASCII. */
function matching(
  column: Expression<string>,
  { text, anyBefore, anyAfter }: TextPattern,
  looking: Place['looking'],
): Condition {
  if (!anyBefore && text !== '') return beginningWith(column, text)
  if (looking !== undefined && text !== '') return looking[anyAfter ? 'contains' : 'endsWith'](column, text)
  const literal = text.replace(/[\\%_]/g, '\\$&')
  const pattern = `${anyBefore ? '%' : ''}${literal}${anyAfter ? '%' : ''}`
  return sql<SqlBool>`${column} like ${pattern} escape '\\'`
}

/** As a range of code points, which an index of the column finds on both engines. */
function beginningWith(column: Expression<string>, text: string): Condition {
  const end = afterAllBeginningWith(text)
  const atLeast = sql<SqlBool>`${column} >= ${text}`
  return end === undefined ? atLeast : sql<SqlBool>`(${atLeast} and ${column} < ${end})`
}

const lastCodePoint = 0x10ffff

/** The first text that is greater than all that begin with this one; undefined when there is none. */
export function afterAllBeginningWith(text: string): string | undefined {
  const points = Array.from(text, (character) => character.codePointAt(0) ?? 0)
  while (points.at(-1) === lastCodePoint) points.pop()
  const last = points.pop()
  if (last === undefined) return undefined
  // What is between is no character of its own: halves of a pair.
  const next = last === 0xd7ff ? 0xe000 : last + 1
  return String.fromCodePoint(...points, next)
}

/** `!=` takes both sides of the range, so an empty one, which nothing equals, differs from everything. */
function compileNumber(
  field: NumberFieldName,
  operator: Exclude<Operator, ':'>,
  { low, high }: NumberRange,
  eb: Builder,
): Condition {
  const column = columns[field]
  switch (operator) {
    case '=':
      return high === low + 1 ? eb(column, '=', low) : eb.and([eb(column, '>=', low), eb(column, '<', high)])
    case '!=':
      return high === low + 1 ? eb(column, '!=', low) : eb.or([eb(column, '<', low), eb(column, '>=', high)])
    case '<':
      return eb(column, '<', low)
    case '<=':
      return eb(column, '<', high)
    case '>':
      return eb(column, '>=', high)
    case '>=':
      return eb(column, '>=', low)
  }
}

function compileId(
  operator: '=' | '!=' | ':',
  pattern: TextPattern,
  eb: Builder,
  { looking }: Place,
): Condition {
  if (operator === '!=') return eb.not(compileId('=', pattern, eb, { looking }))
  const text = foldText(pattern.text)
  const asText = eb.cast<string>('orders.id', 'text')
  if (operator === ':') return matching(asText, { text, anyBefore: true, anyAfter: true }, looking)
  if (pattern.anyBefore) return matching(asText, { ...pattern, text }, looking)
  const ids = idsByText(text, pattern.anyAfter)
  return ids === null ? eb.lit(false) : idIn(ids, eb)
}

function idIn({ low, high }: IdRange, eb: Builder): Condition {
  return eb.and([eb('orders.id', '>=', low), eb('orders.id', '<=', high)])
}

import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely'
import type { Database } from '../../db/tables.ts'
import { foldText } from '../fold.ts'
import type { FieldName, NumberFieldName, NumberRange, Operator, TextFieldName } from './fields.ts'
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

/**
 * The condition on `orders` that a filter means: one SQL text for both engines, every value bound. Each part of it
 * is true or false and never null, so that NOT of a comparison with a null is true. Text columns must compare by
 * code point (SQLite BINARY, PostgreSQL COLLATE "C"); `id` may be text or uuid.
 */
export function compileFilter(filter: Filter, eb: Builder): Condition {
  switch (filter.kind) {
    case 'and':
      return eb.and(filter.operands.map((operand) => compileFilter(operand, eb)))
    case 'or':
      return eb.or(filter.operands.map((operand) => compileFilter(operand, eb)))
    case 'not':
      return eb.not(eb.parens(compileFilter(filter.operand, eb)))
    case 'search':
      return compileSearch(filter.text, eb)
    case 'hasValue':
      return eb(columns[filter.field], 'is not', null)
    case 'text':
      return falseWhenNull(filter.field, compileText(filter.field, filter.operator, filter.pattern, eb), eb)
    case 'id':
      return compileId(filter.operator, filter.pattern, eb)
    case 'number':
      return falseWhenNull(filter.field, compileNumber(filter.field, filter.operator, filter.range, eb), eb)
  }
}

function falseWhenNull(field: FieldName, condition: Condition, eb: Builder): Condition {
  return nullableFields.has(field) ? eb.and([eb(columns[field], 'is not', null), condition]) : condition
}

function compileSearch(text: string, eb: Builder): Condition {
  const folded = foldText(text)
  const inCustomer = like(eb.ref('orders.customer_folded'), { text: folded, anyBefore: true, anyAfter: true })
  const ids = idsBySearch(folded)
  return ids === null ? inCustomer : eb.or([inCustomer, idIn(ids, eb)])
}

function compileText(field: TextFieldName, operator: Operator, pattern: TextPattern, eb: Builder): Condition {
  const folded = { ...pattern, text: foldText(pattern.text) }
  // User names and zones are ASCII, where lower() is the fold on both engines.
  const column =
    field === 'customer' ? eb.ref('orders.customer_folded') : eb.fn<string>('lower', [columns[field]])
  if (operator === ':') return like(column, { ...folded, anyBefore: true, anyAfter: true })
  if (!pattern.anyBefore && !pattern.anyAfter) return eb(column, operator, folded.text)
  const matches = like(column, folded)
  return operator === '!=' ? eb.not(matches) : matches
}

/** LIKE with `text` taken literally. The text must be folded already: SQLite ignores the case of ASCII here. */
function like(column: Expression<string>, { text, anyBefore, anyAfter }: TextPattern): Condition {
  const literal = text.replace(/[\\%_]/g, '\\$&')
  const pattern = `${anyBefore ? '%' : ''}${literal}${anyAfter ? '%' : ''}`
  return sql<SqlBool>`${column} like ${pattern} escape '\\'`
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

function compileId(operator: '=' | '!=' | ':', pattern: TextPattern, eb: Builder): Condition {
  if (operator === '!=') return eb.not(compileId('=', pattern, eb))
  const text = foldText(pattern.text)
  const asText = eb.cast<string>('orders.id', 'text')
  if (operator === ':') return like(asText, { text, anyBefore: true, anyAfter: true })
  if (pattern.anyBefore) return like(asText, { ...pattern, text })
  const ids = idsByText(text, pattern.anyAfter)
  return ids === null ? eb.lit(false) : idIn(ids, eb)
}

function idIn({ low, high }: IdRange, eb: Builder): Condition {
  return eb.and([eb('orders.id', '>=', low), eb('orders.id', '<=', high)])
}

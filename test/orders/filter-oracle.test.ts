import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { instantOfId } from '../../server/ids.ts'
import { foldText } from '../../server/orders/fold.ts'
import { byCodePoint, customers, filterTable, ids } from '../support/filter-table.ts'
import { forAllAsync } from '../support/for-all.ts'
import { type OrderRow, orderIdAt, orderRow } from '../support/orders.ts'

/** Those, and two with quotes in them. */
const names = [...customers, 'say "yes" or "no"', '""']
const totalsE4 = [1, 50_000, 124_999, 125_000, 125_001, 999_999_999_999_999]
const instantsMs = [
  '2026-02-27T23:59:59.999Z',
  '2026-02-28T00:00:00.000Z',
  '2026-02-28T23:59:59.999Z',
  '2026-03-01T00:00:00.000Z',
  '1969-12-31T23:59:59.999Z',
].map((text) => Date.parse(text))
const zones = ['Europe/Berlin', 'UTC', null, 'America/New_York']
const users = ['admin', 'Operator', null, 'demo-service', 'a_b']

function pick<T>(values: readonly T[], index: number): T {
  return values[index % values.length] as T
}

/** Every list has a different length, so that the values meet in ever new combinations. */
const rows: OrderRow[] = Array.from({ length: 84 }, (_, index) => {
  const id = ids[index] ?? orderIdAt(Math.max(0, pick(instantsMs, index)), index)
  return orderRow({
    id,
    customer: pick(names, index),
    total_e4: pick(totalsE4, index),
    status: index % 4,
    created_at: instantOfId(id),
    created_at_time_zone: pick(zones, index),
    created_by: pick(users, index),
    updated_at: pick([...instantsMs, null, null], index),
    updated_at_time_zone: pick([...zones, null], index),
    modified_by: pick([...users, null, null], index),
  })
})

const idsFound = filterTable(rows)

/** A filter as its author thinks of it; the oracle below knows nothing about tokens, ranges or SQL. */
type Clause =
  | { kind: 'all' | 'any'; clauses: Clause[] }
  | { kind: 'not'; clause: Clause }
  | { kind: 'word'; text: string }
  | { kind: 'has'; column: keyof OrderRow }
  | { kind: 'text'; column: keyof OrderRow; operator: string; text: string; before: boolean; after: boolean }
  | { kind: 'total' | 'status' | 'time'; column: keyof OrderRow; operator: string; text: string }

const fieldOf: Partial<Record<keyof OrderRow, string>> = {
  id: 'id',
  customer: 'customer',
  total_e4: 'total',
  status: 'status',
  created_at: 'createdAtUtc',
  created_at_time_zone: 'createdAtTimeZone',
  created_by: 'createdBy',
  updated_at: 'updatedAtUtc',
  updated_at_time_zone: 'updatedAtTimeZone',
  modified_by: 'modifiedBy',
}

function textOf(clause: Clause): string {
  switch (clause.kind) {
    case 'all':
      return `(${clause.clauses.map(textOf).join(' ')})`
    case 'any':
      return `(${clause.clauses.map(textOf).join(' OR ')})`
    case 'not':
      return `NOT ${clause.clause.kind === 'not' ? `(${textOf(clause.clause)})` : textOf(clause.clause)}`
    case 'word':
      return quoted(clause.text)
    case 'has':
      return `${fieldOf[clause.column]}:*`
    case 'text': {
      const inner = quoted(clause.text).slice(1, -1)
      const value = `"${clause.before ? '*' : ''}${inner}${clause.after ? '*' : ''}"`
      return `${fieldOf[clause.column]} ${clause.operator} ${value}`
    }
    default:
      return `${fieldOf[clause.column]}${clause.operator}${clause.text}`
  }
}

function quoted(text: string): string {
  return `"${text.replace(/[\\"*]/g, '\\$&')}"`
}

function matches(clause: Clause, row: OrderRow): boolean {
  switch (clause.kind) {
    case 'all':
      return clause.clauses.every((inner) => matches(inner, row))
    case 'any':
      return clause.clauses.some((inner) => matches(inner, row))
    case 'not':
      return !matches(clause.clause, row)
    case 'word':
      return foldText(row.customer).includes(foldText(clause.text)) || isIdPrefix(clause.text, row.id)
    case 'has':
      return row[clause.column] !== null
  }
  const stored = row[clause.column]
  if (stored === null) return false
  switch (clause.kind) {
    case 'text':
      return textHolds(clause, foldText(`${stored}`), foldText(clause.text))
    case 'total':
      return holds(clause.operator, compareDecimals(stored as number, clause.text))
    case 'status':
      return holds(clause.operator, (stored as number) - (/^(0|pending)$/i.test(clause.text) ? 0 : 1))
    case 'time':
      return holds(clause.operator, compareTimes(stored as number, clause.text))
  }
}

function holds(operator: string, order: number): boolean {
  const rules: Record<string, boolean> = {
    '=': order === 0,
    ':': order === 0,
    '!=': order !== 0,
    '<': order < 0,
    '<=': order <= 0,
    '>': order > 0,
    '>=': order >= 0,
  }
  return rules[operator] ?? assert.fail(operator)
}

function textHolds(
  { operator, before, after }: Clause & { kind: 'text' },
  stored: string,
  text: string,
): boolean {
  const isEqual =
    (before && after && stored.includes(text)) ||
    (before && !after && stored.endsWith(text)) ||
    (!before && after && stored.startsWith(text)) ||
    stored === text
  if (operator === ':') return stored.includes(text)
  return operator === '=' || operator === '!='
    ? isEqual === (operator === '=')
    : holds(operator, byCodePoint(stored, text))
}

const partOfUuid =
  /^[0-9a-f]{4,8}$|^[0-9a-f]{8}-?([0-9a-f]{0,4}$|[0-9a-f]{4}-?([0-9a-f]{0,4}$|[0-9a-f]{4}-?))/i

function isIdPrefix(text: string, id: string): boolean {
  return partOfUuid.test(text) && id.replaceAll('-', '').startsWith(text.replaceAll('-', '').toLowerCase())
}

function compareDecimals(storedE4: number, text: string): number {
  const decimals = text.split('.')[1] ?? ''
  const left = BigInt(storedE4) * 10n ** BigInt(decimals.length)
  const right = BigInt(text.replace('.', '')) * 10_000n
  return left < right ? -1 : Number(left > right)
}

function compareTimes(storedMs: number, text: string): number {
  const stored = Temporal.Instant.fromEpochMilliseconds(storedMs)
  return text.includes('T')
    ? Temporal.Instant.compare(stored, Temporal.Instant.from(text))
    : Temporal.PlainDate.compare(
        stored.toZonedDateTimeISO('UTC').toPlainDate(),
        Temporal.PlainDate.from(text),
      )
}

const anyOrder = fc.constantFrom('=', '!=', '<', '<=', '>', '>=', ':')
const storedTexts = [...names, ...ids, 'Europe/Berlin', 'UTC', 'admin', 'Operator', 'demo-service', 'a_b', '']
/** A stored text or a part of it, in another case now and then. */
const anyText = fc
  .record({
    text: fc.constantFrom(...storedTexts).map((text) => Array.from(text)),
    from: fc.constantFrom(0, 0, 1, 3),
    to: fc.constantFrom(40, 40, 4, 9),
    cased: fc.constantFrom(
      (text: string) => text,
      (text: string) => text.toUpperCase(),
      (text: string) => text.toLowerCase(),
    ),
  })
  .map(({ text, from, to, cased }) => cased(text.slice(from, to).join('')))
const anyDecimal = fc.oneof(
  fc.constantFrom(...'0 0.0001 0.00011 5 12.5 12.50 12.49990 12.4999000001 12.50005 -1'.split(' ')),
  fc.constantFrom(
    '99999999999.9999',
    '99999999999.99995',
    '-0.00001',
    `${'9'.repeat(40)}.9`,
    `-${'9'.repeat(40)}`,
  ),
)
const anyTime = fc.constantFrom(
  ...['2026-02-28', '2026-03-01', '1969-12-31', '1970-01-01', '2000-02-29', '9999-12-31'],
  ...['2026-02-28T00:00:00Z', '2026-02-28T23:59:59.999Z', '2026-02-28T23:59:59.9991Z'],
  ...['2026-02-28T23:59:59.99899Z'],
  ...['2026-03-01T01:00:00+01:00', '2026-02-28T18:30:00-05:30', '1969-12-31T23:59:59.999000000Z'],
)

const leaf: fc.Arbitrary<Clause> = fc.oneof(
  anyText.map((text): Clause => ({ kind: 'word', text })),
  fc
    .constantFrom('id', 'customer', 'created_at_time_zone', 'updated_at', 'modified_by', 'total_e4' as const)
    .map((column): Clause => ({ kind: 'has', column: column as keyof OrderRow })),
  fc.record({
    kind: fc.constant('text'),
    column: fc.constantFrom(
      'customer',
      'created_at_time_zone',
      'updated_at_time_zone',
      'created_by',
      'modified_by',
    ),
    operator: anyOrder,
    text: anyText,
    before: fc.constant(false),
    after: fc.constant(false),
  }),
  fc.record({
    kind: fc.constant('text'),
    column: fc.constantFrom('customer', 'id', 'created_by', 'modified_by', 'updated_at_time_zone'),
    operator: fc.constantFrom('=', '!='),
    text: anyText,
    before: fc.boolean(),
    after: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant('text'),
    column: fc.constant('id'),
    operator: fc.constant(':'),
    text: anyText,
    before: fc.constant(false),
    after: fc.constant(false),
  }),
  fc.record({
    kind: fc.constant('total'),
    column: fc.constant('total_e4'),
    operator: anyOrder,
    text: anyDecimal,
  }),
  fc.record({
    kind: fc.constant('status'),
    column: fc.constant('status'),
    operator: fc.constantFrom('=', '!=', ':'),
    text: fc.constantFrom('0', '1', 'pending', 'APPROVED'),
  }),
  fc.record({
    kind: fc.constant('time'),
    column: fc.constantFrom('created_at', 'updated_at'),
    operator: anyOrder,
    text: anyTime,
  }),
)

function clauseOfDepth(depth: number): fc.Arbitrary<Clause> {
  if (depth === 0) return leaf
  const inner = clauseOfDepth(depth - 1)
  const clauses = fc.array(inner, { minLength: 1, maxLength: 3 })
  return fc.oneof(
    leaf,
    clauses.map((operands): Clause => ({ kind: 'all', clauses: operands })),
    clauses.map((operands): Clause => ({ kind: 'any', clauses: operands })),
    inner.map((clause): Clause => ({ kind: 'not', clause })),
  )
}

/**
 * Mistakes planted into the compiler were found within a hundred restrictions, or not within four thousand.
 */
describe('the matches are those of the oracle', () => {
  const sortedIds = (clause: Clause) =>
    rows
      .filter((row) => matches(clause, row))
      .map((row) => row.id)
      .sort()

  it('for any one restriction', async () => {
    await forAllAsync(1_000, leaf, async (clause) => {
      assert.deepEqual(await idsFound(textOf(clause)), sortedIds(clause))
    })
  })

  it('for any combination of restrictions', async () => {
    const fitting = clauseOfDepth(2).filter((clause) => textOf(clause).length <= 1000)
    await forAllAsync(500, fitting, async (clause) => {
      assert.deepEqual(await idsFound(textOf(clause)), sortedIds(clause))
    })
  })
})

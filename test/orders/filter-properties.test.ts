// engine: none
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import Sqlite from 'better-sqlite3'
import fc from 'fast-check'
import { Kysely, SqliteDialect, sql } from '#kysely'
import type { Database } from '../../server/db/tables.ts'
import { compileFilter } from '../../server/orders/filter/compile.ts'
import { FilterError } from '../../server/orders/filter/fault.ts'
import {
  type FilterColumn,
  filterNames,
  type IdFieldName,
  type NumberFieldName,
  type NumberRange,
  type Operator,
  type TextFieldName,
} from '../../server/orders/filter/fields.ts'
import {
  type Filter,
  maximumNesting,
  maximumRestrictions,
  parseFilter,
} from '../../server/orders/filter/parser.ts'
import * as engineSql from '../../server/orders/list/sqlite.ts'
import { type ColumnKind, columnOf } from '../../server/orders/order.ts'
import { anyCharacter } from '../support/any-character.ts'
import { forAll } from '../support/for-all.ts'
import { printFilter } from '../support/print-filter.ts'

const db = new Kysely<Database>({ dialect: new SqliteDialect({ database: new Sqlite(':memory:') }) })
after(() => db.destroy())

/** Pieces of the language, so that random texts get far into the parser. */
const pieces = [
  ...`AND OR NOT - ( ) " ' \\ * ; ! \0 \ud83d 😀 ß`.split(' '),
  ...[' ', '  ', '\t', '"a b"', 'total = 5', 'customer = *x*', '(a OR b)', 'NOT a'],
  ...'= != < <= > >= : a 019a0000 5 12.50 2026-01-01 2026-01-01T00:00:00Z'.split(' '),
  ...'Pending createdBy:* approvedBy:a approvalsMissing>0 #1042'.split(' '),
  ...filterNames,
]
const almostFilter = fc
  .array(fc.oneof(fc.constantFrom(...pieces), fc.string({ unit: anyCharacter, maxLength: 2 })), {
    maxLength: 40,
  })
  .map((parts) => parts.join(''))
const anyText = fc.oneof(
  almostFilter,
  almostFilter,
  fc.string({ unit: anyCharacter, maxLength: 1100 }),
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 50 })
    .map((units) => String.fromCharCode(...units)),
)

type Outcome = { kind: 'fault'; error: FilterError } | { kind: 'filter'; filter: Filter | null }

function outcomeOf(text: string): Outcome {
  try {
    return { kind: 'filter', filter: parseFilter(text) }
  } catch (error) {
    assert.ok(error instanceof FilterError, `${error}`)
    return { kind: 'fault', error }
  }
}

function sqlOf(filter: Filter): { sql: string; parameters: readonly unknown[] } {
  return db
    .selectFrom('orders')
    .select('orders.id')
    .where((eb) =>
      compileFilter(filter, eb, {
        ...engineSql,
        finds: () => false,
        findsRanges: true,
        waits: () => sql`true`,
      }),
    )
    .compile()
}

const withoutControls = fc.string({ unit: 'grapheme', maxLength: 8 })
const awkwardText = fc.oneof(
  withoutControls,
  fc.string({
    unit: fc.constantFrom('*', '\\', '"', "'", '%', '_', '(', ' ', '-', ';', '=', 'a'),
    maxLength: 6,
  }),
  fc.constantFrom('AND', 'OR', 'NOT', 'a', 'and'),
)
const operators: readonly Operator[] = ['=', '!=', '<', '<=', '>', '>=', ':']
const comparisons = ['=', '!=', '<', '<=', '>', '>='] as const

const literalPattern = awkwardText.map((text) => ({ text, anyBefore: false, anyAfter: false }))
const wildPattern = fc.oneof(
  literalPattern,
  fc.constant({ text: '', anyBefore: true, anyAfter: true }),
  fc
    .record({ text: awkwardText, anyBefore: fc.boolean(), anyAfter: fc.boolean() })
    .filter(({ text }) => text !== ''),
)
const single = (numbers: fc.Arbitrary<number>) => numbers.map((low): NumberRange => ({ low, high: low + 1 }))
const empty = (numbers: fc.Arbitrary<number>) => numbers.map((low): NumberRange => ({ low, high: low }))
const anyTotal = fc.oneof(fc.maxSafeInteger(), fc.integer({ min: -20_000, max: 20_000 }))
const anyInstant = fc.integer({ min: -62_167_219_199_999, max: 253_402_300_799_999 })
const anyDay = fc
  .integer({ min: -719_528, max: 2_932_896 })
  .map((day): NumberRange => ({ low: day * 86_400_000, high: (day + 1) * 86_400_000 }))

const columns = filterNames.filter((name): name is FilterColumn => name !== 'waits')
/** The columns of these kinds, of which `Name` is the type. */
function columnsOf<Name extends FilterColumn>(...kinds: ColumnKind[]): fc.Arbitrary<Name> {
  return fc.constantFrom(...columns.filter((name): name is Name => kinds.includes(columnOf(name).kind)))
}
const idField = columnsOf<IdFieldName>('id')
const leaf: fc.Arbitrary<Filter> = fc.oneof(
  awkwardText.map((text): Filter => ({ kind: 'search', text })),
  fc.constantFrom(...columns).map((field): Filter => ({ kind: 'hasValue', field })),
  fc.record({
    kind: fc.constant('id'),
    field: idField,
    operator: fc.constantFrom('=', '!='),
    pattern: wildPattern,
  }),
  fc.record({ kind: fc.constant('id'), field: idField, operator: fc.constant(':'), pattern: literalPattern }),
  fc.record({ kind: fc.constant('idRange'), operator: fc.constantFrom('<', '<=', '>', '>='), id: fc.uuid() }),
  fc.record({
    kind: fc.constant('text'),
    field: columnsOf<TextFieldName>('text', 'names'),
    operator: fc.constantFrom('=', '!='),
    pattern: wildPattern,
  }),
  fc.record({
    kind: fc.constant('text'),
    field: fc.constantFrom('customer', 'createdBy'),
    operator: fc.constantFrom(...operators),
    pattern: literalPattern,
  }),
  fc.record({
    kind: fc.constant('number'),
    field: fc.constant('total'),
    operator: fc.constantFrom(...comparisons),
    range: fc.oneof(single(anyTotal), empty(anyTotal), fc.constantFrom(2 ** 53, -(2 ** 53)).map(emptyAt)),
  }),
  fc.record({
    kind: fc.constant('number'),
    field: fc.constant('status'),
    operator: fc.constantFrom('=', '!='),
    range: single(fc.constantFrom(0, 1)),
  }),
  fc.record({
    kind: fc.constant('number'),
    field: fc.constant('approvalsMissing'),
    operator: fc.constantFrom('<', '<='),
    range: single(fc.integer({ min: 1, max: 999_999_999 })),
  }),
  fc.record({
    kind: fc.constant('number'),
    field: fc.constant('number'),
    operator: fc.constantFrom(...comparisons),
    range: fc.oneof(single(fc.maxSafeNat()), fc.constant(emptyAt(2 ** 53))),
  }),
  fc.record({
    kind: fc.constant('number'),
    // The parser gives a restriction of waitingSince as two.
    field: columnsOf<NumberFieldName>('instant').filter((name) => name !== 'waitingSince'),
    operator: fc.constantFrom(...comparisons),
    range: fc.oneof(single(anyInstant), empty(anyInstant), anyDay),
  }),
)

function emptyAt(end: number): NumberRange {
  return { low: end, high: end }
}

/** `kind` over operands that are not themselves of that kind, as the parser gives it. */
function grouped(kind: 'and' | 'or', operand: fc.Arbitrary<Filter>): fc.Arbitrary<Filter> {
  const others = operand.filter((filter) => filter.kind !== kind)
  return fc.array(others, { minLength: 2, maxLength: 4 }).map((operands): Filter => ({ kind, operands }))
}

function filterOfDepth(depth: number): fc.Arbitrary<Filter> {
  const operand = depth <= 1 ? leaf : filterOfDepth(depth - 1)
  return fc.oneof(
    leaf,
    grouped('and', operand),
    grouped('or', operand),
    operand.map((inner): Filter => ({ kind: 'not', operand: inner })),
  )
}

function restrictionsIn(filter: Filter): number {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return sum(filter.operands.map(restrictionsIn))
    case 'not':
      return restrictionsIn(filter.operand)
    default:
      return 1
  }
}

function sum(numbers: number[]): number {
  return numbers.reduce((left, right) => left + right, 0)
}

const anyFilter = filterOfDepth(4).filter(
  (filter) => restrictionsIn(filter) <= maximumRestrictions && printFilter(filter).length <= 1000,
)

describe('any text at all', () => {
  it('is a filter, or a FilterError that points inside it', () => {
    forAll(5000, anyText, (text) => {
      const outcome = outcomeOf(text)
      const { position, length } = outcome.kind === 'fault' ? outcome.error.fault : { position: 0, length: 0 }
      assert.ok(position >= 0 && length >= 0 && position + length <= text.length)
      assert.ok(length > 0 || outcome.kind === 'filter' || position === text.length)
    })
  })

  it('reaches the database only as bound values, in whole characters without NUL', () => {
    forAll(3000, fc.oneof(almostFilter, anyFilter.map(printFilter)), (text) => {
      const outcome = outcomeOf(text)
      const filter = outcome.kind === 'filter' ? outcome.filter : null
      const { sql, parameters } = sqlOf(filter ?? { kind: 'search', text: '' })
      assert.match(sql, /^(?:[a-z0-9_ ".,()?=<>!\\'|]| - )+$/)
      assert.equal(sql.split('?').length - 1, parameters.length)
      const literals = sql.match(/'[^']*'/g) ?? []
      assert.deepEqual(
        literals.filter((literal) => !["'\\'", "','", "', '", "' for '"].includes(literal)),
        [],
      )
      for (const parameter of parameters) {
        assert.ok(typeof parameter === 'number' || !/[\0\p{Cs}]/u.test(`${parameter}`))
      }
    })
  })
})

describe('any filter', () => {
  it('means the same when printed and parsed again', () => {
    forAll(3000, anyFilter, (filter) => {
      assert.deepEqual(parseFilter(printFilter(filter)), structuredClone(filter))
    })
  })

  it('gives the same SQL, whatever its values are', () => {
    forAll(100, awkwardText, awkwardText, (left, right) => {
      const shapes = [left, right].map((text) => {
        const pattern = { text, anyBefore: false, anyAfter: false }
        return sqlOf({ kind: 'text', field: 'createdBy', operator: ':', pattern }).sql
      })
      assert.equal(shapes[0], shapes[1])
    })
  })
})

/** A text that counts how many of its characters are read, one by one or by slices. */
function countingText(text: string): { text: string; readCount: () => number } {
  let reads = 0
  const counting = {
    length: text.length,
    charCodeAt: (at: number) => {
      reads += 1
      return text.charCodeAt(at)
    },
    slice: (from: number, to: number) => {
      reads += Math.max(0, to - from)
      return text.slice(from, to)
    },
  }
  return { text: counting as unknown as string, readCount: () => reads }
}

describe('the work of parsing', () => {
  const deep = maximumNesting
  const shapes: Record<string, (length: number) => string> = {
    'one word': (length) => 'a'.repeat(length),
    'white space': (length) => ' '.repeat(length),
    'white space before a fault': (length) => `${' '.repeat(length - 1)})`,
    'a quoted text of escapes': (length) => `"${'\\"'.repeat(length / 2 - 1)}"`,
    'an unterminated text of escapes': (length) => `"${'\\"'.repeat(length / 2 - 1)}`,
    'stars and escaped stars': (length) => `customer=${'*\\*'.repeat((length - 9) / 3)}`,
    'a number of digits': (length) => `total=${'1'.repeat((length - 7) / 2)}.${'0'.repeat((length - 7) / 2)}`,
    'a time of a long fraction': (length) => `createdAtUtc=2026-01-01T00:00:00.${'0'.repeat(length - 34)}Z`,
    'many words': (length) => 'a '.repeat(length / 2),
    'many comparisons': (length) => 'total >= 12.50 OR '.repeat(length / 18),
    'nested parentheses': (length) =>
      `${'('.repeat(deep)}${'a'.repeat(length - 2 * deep)}${')'.repeat(deep)}`,
    'too many parentheses': (length) => '('.repeat(length),
    minuses: (length) => '-'.repeat(length),
    'operators without a value': (length) => `total${'='.repeat(length - 5)}`,
    'an unknown field': (length) => `${'x'.repeat(length - 2)}=1`,
  }
  for (const [title, shape] of Object.entries(shapes)) {
    it(`is linear in the length for ${title}`, () => {
      for (const length of [50, 100, 200, 400, 800, 1000]) {
        const { text, readCount } = countingText(shape(length))
        outcomeOf(text)
        assert.ok(readCount() <= 6 * length + 20, `${readCount()} reads for ${length} characters`)
      }
    })
  }

  it('stops at the length limit, however long the text is', () => {
    const { text, readCount } = countingText('a'.repeat(1_000_000))
    assert.equal(outcomeOf(text).kind, 'fault')
    assert.ok(readCount() <= 3000)
  })
})

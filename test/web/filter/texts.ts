import fc from 'fast-check'
import { FilterError } from '../../../server/orders/filter/fault.ts'
import { type Filter, parseFilter } from '../../../server/orders/filter/parser.ts'
import { anyCharacter } from '../../support/any-character.ts'

/** How the server reads a text: its meaning, or the fault. */
export function meaningOf(text: string): Filter | null | FilterError {
  try {
    return parseFilter(text)
  } catch (error) {
    if (error instanceof FilterError) return error
    throw error
  }
}

export const pieces = fc.constantFrom(
  ...[
    'acme',
    'status',
    'STATUS',
    'total',
    'createdAtUtc',
    'createdBy',
    'updatedAtUtc',
    'customer',
    'foo',
    'sta',
  ],
  ...['=', '!=', '<', '<=', '>', '>=', ':', '!', ';', ' ', ' ', ' ', '\t', '\u00a0', '\ufeff', '(', ')', '-'],
  ...[
    'AND',
    'OR',
    'NOT',
    ' AND ',
    ' OR ',
    ' NOT ',
    'and',
    '"',
    "'",
    '\\',
    '*',
    '\\*',
    '"a b"',
    "'x\\'y'",
    '"\\',
  ],
  ...[
    'Pending',
    'approved',
    '0',
    '1',
    '2026-11-01',
    '12:00',
    '100',
    '\ud83d',
    '\ude00',
    '😀',
    '\0',
    'ß',
    'İ',
  ],
)
export const anyText = fc.oneof(
  fc.array(pieces, { maxLength: 14 }).map((list) => list.join('')),
  fc.string({ unit: anyCharacter, maxLength: 30 }),
)
/** Filters that the server accepts, even with one more restriction. */
const term = fc.oneof(
  {
    arbitrary: fc.constantFrom('acme', '"a b"', 'total>=100', "customer:'x y'", 'createdBy = ada'),
    weight: 3,
  },
  fc.constantFrom('status=Pending', 'status : approved', 'STATUS="0"', 'status!=Pending', "status='1'"),
)
const { expression } = fc.letrec<{ expression: string; operand: string; sequence: string }>((tie) => ({
  operand: fc.oneof(
    { arbitrary: term, weight: 6 },
    term.map((text) => `-${text}`),
    term.map((text) => `NOT ${text}`),
    fc
      .tuple(fc.constantFrom('', '-', 'NOT '), tie('expression'))
      .map(([negation, inner]) => `${negation}(${inner})`),
  ),
  sequence: fc.oneof(
    { arbitrary: tie('operand'), weight: 5 },
    fc.tuple(tie('operand'), tie('operand')).map((both) => both.join(' OR ')),
  ),
  expression: fc
    .tuple(tie('sequence'), fc.array(fc.tuple(fc.constantFrom(' ', ' AND ', '  '), tie('sequence'))))
    .map(([first, rest]) => rest.reduce((text, [joint, next]) => text + joint + next, first)),
}))
export const acceptedFilter = expression.filter((text) => !(meaningOf(`${text} more`) instanceof FilterError))

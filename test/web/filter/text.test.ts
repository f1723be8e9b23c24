import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { FilterError } from '../../../server/orders/filter/fault.ts'
import { type Filter, parseFilter } from '../../../server/orders/filter/parser.ts'
import { requiredStatus, withStatus } from '../../../web/src/orders/filter/restrictions.ts'
import { isHalfTyped, quoteValue } from '../../../web/src/orders/filter/text.ts'
import { forAll } from '../../support/for-all.ts'
import { acceptedFilter, anyText, meaningOf, pieces } from './texts.ts'

describe('quoteValue', () => {
  const quoted: [string, string][] = [
    ['acme', 'acme'],
    ['müller-söhne.gmbh', 'müller-söhne.gmbh'],
    ['a*b', '"a*b"'],
    ['Europe/Berlin', 'Europe/Berlin'],
    ['', '""'],
    ['a b', '"a b"'],
    ['-x', '"-x"'],
    ['AND', '"AND"'],
    ['and', 'and'],
    ["O'Neil", '"O\'Neil"'],
    ['say "x"', '"say \\"x\\""'],
    ['12:00', '"12:00"'],
    ['(a)', '"(a)"'],
    ['*', '"\\*"'],
    ['*a*', '"\\*a\\*"'],
    ['a\\', '"a\\\\"'],
  ]
  for (const [value, text] of quoted) {
    it(`writes ${value || 'the empty text'} as ${text}`, () => assert.equal(quoteValue(value), text))
  }

  it('writes any text that the language can express as one value with that meaning', () => {
    const value = fc
      .oneof(
        fc.string({ unit: 'grapheme', maxLength: 12 }),
        fc.array(pieces, { maxLength: 5 }).map((list) => list.join('')),
      )
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what the language cannot say.
      .filter((text) => text.isWellFormed() && !/[\u0000-\u001f\u007f-\u009f]/.test(text))
    forAll(800, value, (text) => {
      assert.deepEqual(parseFilter(quoteValue(text)), { kind: 'search', text })
      const pattern = { text, anyBefore: false, anyAfter: false }
      for (const operator of ['=', ':', '!=']) {
        const comparison = { kind: 'text', field: 'customer', operator, pattern }
        assert.deepEqual(parseFilter(`customer${operator}${quoteValue(text)}`), comparison)
      }
    })
  })
})

describe('isHalfTyped', () => {
  for (const text of [
    'total',
    'TOTAL ',
    'acme sta',
    '-cust',
    '(created',
    'status=Pending upda',
    'a OR modifiedBy ',
  ]) {
    it(`${JSON.stringify(text)} is half-typed, before the name of a field`, () =>
      assert.ok(isHalfTyped(text)))
  }
  for (const text of [
    '',
    'st',
    'stax',
    'sta ',
    'acme',
    '"total"',
    'total>',
    'total>5',
    'customer:sta',
    'sta acme',
  ]) {
    it(`${JSON.stringify(text)} is not half-typed`, () => assert.ok(!isHalfTyped(text)))
  }
})

describe('withStatus', () => {
  const set: [string, 'Pending' | 'Approved' | null, string | null][] = [
    ['', 'Pending', 'status=Pending'],
    ['  ', 'Pending', 'status=Pending'],
    ['acme ', 'Pending', 'acme status=Pending'],
    ['acme OR globex', 'Approved', 'acme OR globex status=Approved'],
    ['a  STATUS : 0  AND b', 'Approved', 'a  status=Approved  AND b'],
    ['status!=Pending', 'Pending', 'status=Pending'],
    ['status=Pending x status=Approved', 'Approved', 'status=Approved x'],
    ['', null, ''],
    ['acme', null, 'acme'],
    ['status=Pending', null, ''],
    ['status=Pending status=Approved', null, ''],
    ['status=Pending AND acme', null, 'acme'],
    ['acme AND status=Pending', null, 'acme'],
    ['a AND status=Pending AND b', null, 'a AND b'],
    ['a AND status=Pending b', null, 'a b'],
    ['a  AND  b status="Pending" OR', null, null],
    ['(a) status=Pending -(b)', null, '(a) -(b)'],
    ['status=Pending OR total>=5', 'Pending', null],
    ['total>=5 OR status=Pending', 'Pending', null],
    ['-status=Pending', null, null],
    ['NOT status=Pending', 'Approved', null],
    ['(status=Pending)', null, null],
  ]
  for (const [text, value, expected] of set) {
    it(`turns "${text}" with ${value} into ${expected}`, () => {
      assert.equal(withStatus(text, value), expected)
    })
  }

  it('does not edit a text that is not a filter', () => {
    const faulty = [
      '"a',
      'a=',
      '(a',
      'a)',
      'a) (b',
      ')',
      '()',
      'a AND',
      'OR a',
      'NOT',
      '-',
      '- a',
      'a;b',
      'a !',
      'a AND OR b',
    ]
    const more = [
      'NOT NOT a',
      '--a',
      '"a"b',
      'AND(a)',
      'a AND(b)',
      'customer="b',
      '"x"=1',
      'foo=1',
      'total=OR',
      '(a)(b)',
      'total=(1)',
    ]
    for (const text of [...faulty, ...more]) {
      assert.ok(meaningOf(text) instanceof FilterError, text)
      assert.equal(withStatus(text, 'Pending'), null, text)
      assert.equal(requiredStatus(text), null, text)
    }
  })

  it('means the filter with that status and no other restriction of the status', () => {
    forAll(800, acceptedFilter, fc.constantFrom('Pending', 'Approved'), (text, value) => {
      const edited = withStatus(text, value)
      const rest = operandsOf(parseFilter(text)).filter((operand) => !isStatus(operand))
      fc.pre(edited !== null)
      const operands = operandsOf(parseFilter(edited))
      assert.deepEqual(
        operands.filter((operand) => !isStatus(operand)),
        rest,
      )
      assert.deepEqual(operands.filter(isStatus), [parseFilter(`status=${value}`)])
      assert.equal(requiredStatus(edited), value)
      const cleared = withStatus(edited, null)
      assert.deepEqual(operandsOf(parseFilter(cleared ?? 'none')), rest)
    })
  })

  it('edits only a text whose status is in the outermost AND', () => {
    forAll(800, acceptedFilter, (text) => {
      const inner = operandsOf(parseFilter(text)).filter((operand) => !isStatus(operand))
      const isPlain = !/\(/.test(text) && !JSON.stringify(inner).includes('"status"')
      fc.pre(isPlain || JSON.stringify(inner).includes('"status"'))
      assert.equal(withStatus(text, 'Pending') !== null, isPlain)
    })
  })

  it('never makes a valid filter invalid', () => {
    fc.assert(
      fc.property(anyText, fc.constantFrom('Pending' as const, null), (text, value) => {
        const edited = withStatus(text, value)
        fc.pre(edited !== null && !(meaningOf(text) instanceof FilterError))
        assert.ok(!(meaningOf(edited) instanceof FilterError), edited)
      }),
      { numRuns: 5_000, maxSkipsPerRun: 1000 },
    )
  })
})

function operandsOf(filter: Filter | null): Filter[] {
  if (filter === null) return []
  return filter.kind === 'and' ? filter.operands : [filter]
}

function isStatus(filter: Filter): boolean {
  return filter.kind === 'number' && filter.field === 'status'
}

describe('requiredStatus', () => {
  const found: [string, 'Pending' | 'Approved' | null][] = [
    ['status=Pending', 'Pending'],
    ["acme STATUS : 'approved'", 'Approved'],
    ['status=0', 'Pending'],
    ['status=1 AND total>=5', 'Approved'],
    ['status=Pending status=0', 'Pending'],
    ['status=Pending status=Approved', null],
    ['status=Pending status!=Approved', null],
    ['status!=Pending', null],
    ['status=Foo', null],
    ['acme', null],
    ['', null],
    ['-status=Pending', null],
    ['a OR status=Pending', null],
    ['(status=Pending)', null],
    ['customer="status=Pending"', null],
    ['customer=status', null],
  ]
  for (const [text, value] of found) {
    it(`in "${text}" finds ${value}`, () => assert.equal(requiredStatus(text), value))
  }
})

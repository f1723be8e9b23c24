// engine: none
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { FilterError } from '../../server/orders/filter/fault.ts'
import type { Operator } from '../../server/orders/filter/fields.ts'
import { type Filter, parseFilter } from '../../server/orders/filter/parser.ts'
import { fieldNames } from '../../server/orders/order.ts'

type NumberFilter = Extract<Filter, { kind: 'number' }>

const search = (text: string): Filter => ({ kind: 'search', text })
const not = (operand: Filter): Filter => ({ kind: 'not', operand })
const and = (...operands: Filter[]): Filter => ({ kind: 'and', operands })
const or = (...operands: Filter[]): Filter => ({ kind: 'or', operands })
const hasValue = (field: (typeof fieldNames)[number]): Filter => ({ kind: 'hasValue', field })
const number =
  (field: NumberFilter['field']) =>
  (operator: NumberFilter['operator'], low: number, high = low + 1): Filter => ({
    kind: 'number',
    field,
    operator,
    range: { low, high },
  })
const total = number('total')
const status = number('status')
const created = number('createdAtUtc')
/** A pattern as `before|text|after`, with `*` for a wildcard on either side. */
const pattern = (shown: string) => {
  const [before, text = '', after] = shown.split('|')
  return { text, anyBefore: before === '*', anyAfter: after === '*' }
}
const customer = (operator: Operator, shown: string): Filter => ({
  kind: 'text',
  field: 'customer',
  operator,
  pattern: pattern(shown),
})
const id = (operator: '=' | '!=' | ':', shown: string): Filter => ({
  kind: 'id',
  operator,
  pattern: pattern(shown),
})

const [a, b, c, d] = [search('a'), search('b'), search('c'), search('d')] as const
const dayMs = 86_400_000
const newYear2026Ms = 1_767_225_600_000
const beyondAll = 2 ** 53

const meanings: Record<string, [string, Filter][]> = {
  'sequences, AND and OR': [
    ['a', a],
    ['a b', and(a, b)],
    ['a AND b', and(a, b)],
    ['a b AND c d', and(a, b, c, d)],
    ['a OR b', or(a, b)],
    ['a AND b OR c', and(a, or(b, c))],
    ['a OR b AND c', and(or(a, b), c)],
    ['a b OR c d', and(a, or(b, c), d)],
    ['a OR b OR c', or(a, b, c)],
    [' \t\r\n a \u00a0\u3000 b  ', and(a, b)],
    ['and or not', and(search('and'), search('or'), search('not'))],
    ['And ORs NOTa', and(search('And'), search('ORs'), search('NOTa'))],
    ['"AND" \'OR\'', and(search('AND'), search('OR'))],
  ],
  negation: [
    ['NOT a', not(a)],
    ['-a', not(a)],
    ['a -b', and(a, not(b))],
    ['NOT a b', and(not(a), b)],
    ['NOT a OR -b', or(not(a), not(b))],
    ['-(a b)', not(and(a, b))],
    ['NOT (a OR b)', not(or(a, b))],
    ['NOT (NOT a)', not(not(a))],
    ['-total=5', not(total('=', 50_000))],
    ['-"a"', not(a)],
    ['a-b', search('a-b')],
  ],
  parentheses: [
    ['(a)', a],
    ['( a )', a],
    ['((((((a))))))', a],
    ['(a b) c', and(a, b, c)],
    ['(a b) OR c', or(and(a, b), c)],
    ['(a OR b) OR c', or(a, b, c)],
    ['(a OR b) (c OR d)', and(or(a, b), or(c, d))],
    ['(a) AND (b)', and(a, b)],
    ['((((((a)))))) ((((((b))))))', and(a, b)],
  ],
  'bare values': [
    ["O'Brien", search("O'Brien")],
    ['5"', search('5"')],
    ['a\\b', search('a\\b')],
    ['*', search('*')],
    ['a*', search('a*')],
    ['a\\*', search('a*')],
    ['+49.30', search('+49.30')],
    ['""', search('')],
    ['"a b"', search('a b')],
    ['\'a "b" c\'', search('a "b" c')],
    ['"a \\"b\\" \\\\ \\n \\😀"', search('a "b" \\ n 😀')],
    ['"a;b=c(d)"', search('a;b=c(d)')],
    ['😀', search('😀')],
    ['total', search('total')],
  ],
  'text fields': [
    ['customer=a', customer('=', '|a|')],
    ['customer \t= a', customer('=', '|a|')],
    ['CUSTOMER!="a b"', customer('!=', '|a b|')],
    ['customer<a customer<=a', and(customer('<', '|a|'), customer('<=', '|a|'))],
    ['customer>a customer>=a', and(customer('>', '|a|'), customer('>=', '|a|'))],
    ['customer:a:b', customer(':', '|a:b|')],
    ['customer::', customer(':', '|:|')],
    ['customer=-a', customer('=', '|-a|')],
    ['customer=and', customer('=', '|and|')],
    ['customer="AND"', customer('=', '|AND|')],
    ['customer=""', customer('=', '||')],
    ['id=019A id!=0 id:f', and(id('=', '|019A|'), id('!=', '|0|'), id(':', '|f|'))],
  ],
  wildcards: [
    ['customer=a*', customer('=', '|a|*')],
    ['customer!=*a', customer('!=', '*|a|')],
    ['customer="*a b*"', customer('=', '*|a b|*')],
    ['customer=a*b', customer('=', '|a*b|')],
    ['customer=***', customer('=', '*|*|*')],
    ['customer=*', customer('=', '*||*')],
    ['customer=**', customer('=', '*||*')],
    ['customer=a\\*', customer('=', '|a*|')],
    ['customer=\\**', customer('=', '|*|*')],
    ['customer="a\\*"', customer('=', '|a*|')],
    ['customer="a\\\\*"', customer('=', '|a\\|*')],
    ['customer:a*', customer(':', '|a*|')],
    ['customer<a*', customer('<', '|a*|')],
    ['customer:"*"', customer(':', '|*|')],
    ['customer:\\*', customer(':', '|*|')],
    ['id=019a*', id('=', '|019a|*')],
  ],
  'has a value': fieldNames.map((name): [string, Filter] => [`${name}:*`, hasValue(name)]),
  totals: [
    ['total=12.5', total('=', 125_000)],
    ['total:12.5', total('=', 125_000)],
    ['total!="007.10"', total('!=', 71_000)],
    ['total < -5', total('<', -50_000)],
    ['total<=-0', total('<=', 0)],
    ['total>0.00005', total('>', 1, 1)],
    ['total>=-0.00005', total('>=', 0, 0)],
    ['total=1.00010', total('=', 10_001)],
    [`total=1.0001${'0'.repeat(600)}1`, total('=', 10_002, 10_002)],
    ['total=900719925474.0991', total('=', beyondAll - 1)],
    ['total=900719925474.09911', total('=', beyondAll, beyondAll)],
    ['total=900719925474.0992', total('=', beyondAll, beyondAll)],
    ['total=9999999999999', total('=', beyondAll, beyondAll)],
    ['total=-900719925474.0993', total('=', -beyondAll, -beyondAll)],
    [`total<${'9'.repeat(900)}`, total('<', beyondAll, beyondAll)],
    [`total<-${'9'.repeat(900)}.5`, total('<', -beyondAll, -beyondAll)],
    [`total<${'0'.repeat(900)}1`, total('<', 10_000)],
  ],
  statuses: [
    ['status=0', status('=', 0)],
    ['status:PENDING', status('=', 0)],
    ['status!=Approved', status('!=', 1)],
    ['Status="1"', status('=', 1)],
    ['status=rejected', status('=', 2)],
    ['status!=3', status('!=', 3)],
  ],
  times: [
    ['createdAtUtc=2026-01-01', created('=', newYear2026Ms, newYear2026Ms + dayMs)],
    ['createdAtUtc<2026-01-01T00:00:00Z', created('<', newYear2026Ms)],
    ['createdAtUtc:2026-01-01t00:00:00.001z', created('=', newYear2026Ms + 1)],
    ['createdAtUtc=2026-01-01T02:30:00+02:30', created('=', newYear2026Ms)],
    ['createdAtUtc=2025-12-31T18:30:00-05:30', created('=', newYear2026Ms)],
    ['createdAtUtc=2026-01-01T00:00:00.0005Z', created('=', newYear2026Ms + 1, newYear2026Ms + 1)],
    ['createdAtUtc=2026-01-01T00:00:00.0010000-00:00', created('=', newYear2026Ms + 1)],
    ['createdAtUtc=1970-01-01T00:00:00.5Z', created('=', 500)],
    ['createdAtUtc=1969-12-31T23:59:59.9999Z', created('=', 0, 0)],
    ['createdAtUtc=0000-01-01', created('=', -62_167_219_200_000, -62_167_132_800_000)],
    ['createdAtUtc=2024-02-29', created('=', 1_709_164_800_000, 1_709_164_800_000 + dayMs)],
    ['createdAtUtc=9999-12-31T23:59:59.999Z', created('=', 253_402_300_799_999)],
  ],
}

describe('parseFilter understands', () => {
  for (const [title, rows] of Object.entries(meanings)) {
    it(title, () => {
      for (const [text, filter] of rows) assert.deepEqual(parseFilter(text), filter, text)
    })
  }

  it('nothing in an empty or blank text', () => {
    for (const text of ['', ' ', ' \t\r\n\u3000 ']) assert.equal(parseFilter(text), null)
  })

  it('25 restrictions and 1,000 characters, an emoji being one', () => {
    assert.deepEqual(parseFilter(Array(25).fill('a').join(' ')), and(...Array(25).fill(a)))
    assert.deepEqual(parseFilter('😀'.repeat(1000)), search('😀'.repeat(1000)))
  })
})

const terms = ['a value', 'a field name', 'NOT', '-', '(']
const negated = ['a value', 'a field name', '(']
const between = ['white space', 'AND', 'OR']
const space = ['white space']
const instant = ['an RFC 3339 time', 'YYYY-MM-DD']
const statuses = ['Pending', 'Approved', 'Rejected', 'Withdrawn', '0', '1', '2', '3']
const decimal = ['a decimal number']
const value = ['a value']

/** Faulty texts, the fault between guillemets, with what is expected there and words of the sentence. */
const faults: Record<string, [string, readonly string[], RegExp][]> = {
  'keywords out of place': [
    ['«AND»', terms, /`AND` cannot be used here/],
    ['a AND«»', terms, /ends too early/],
    ['a AND  «»', terms, /ends too early/],
    ['a AND «AND» b', terms, /`AND`/],
    ['a OR «OR» b', terms, /`OR`/],
    ['a OR «AND» b', terms, /`AND`/],
    ['NOT«»', negated, /ends too early/],
    ['NOT «NOT» a', negated, /`NOT`/],
    ['NOT «-»a', negated, /only one NOT/],
    ['-«-»a', negated, /only one NOT/],
    ['-«NOT» a', negated, /`NOT`/],
    ['-«»', negated, /ends too early/],
    ['a «-» b', negated, /directly before/],
    ['NOT«(»a)', space, /`NOT` needs white space around it/],
    ['a AND«(»b)', space, /`AND` needs white space around it/],
    ['a OR«(»b)', space, /`OR` needs white space around it/],
    ['customer = «AND»', value, /in quotes/],
    ['total = «AND» a', decimal, /in quotes/],
  ],
  'missing white space': [
    ['(a)«b»', between, /White space/],
    ['(a)«(»b)', between, /White space/],
    ['a«(»b)', between, /White space/],
    ['"a"«b»', between, /White space/],
    ["customer='a'«'b'»", between, /White space/],
    ['(a)«AND» b', between, /White space/],
    ['(a)«OR» b', between, /White space/],
    ['(a)«-»b', between, /White space/],
  ],
  parentheses: [
    ['(«»', terms, /ends too early/],
    ['(a«»', [')', ...between], /not closed/],
    ['(a AND b «»', [')', ...between], /not closed/],
    ['(«)»', terms, /nothing before/],
    ['(a AND «)»', terms, /nothing before/],
    ['a«)»', between, /closes no/],
    ['«)»', terms, /nothing before/],
    ['((((((«(»a)))))))', ['a value', 'a field name'], /6 deep/],
  ],
  'operators out of place': [
    ['«=» 5', terms, /field name is missing before this `=`/],
    ['a AND «!=» 5', terms, /field name/],
    ['(a) «=» b', terms, /field name/],
    ['total = 5«<»6', terms, /field name/],
    ['NOT «:»5', terms, /field name/],
    ['«AND»: 5', terms, /`AND`/],
    ['«"total"» = 5', fieldNames, /must not be in quotes/],
    ['total «!» 5', ['!='], /`!`/],
    ['a«!»', ['!='], /`!`/],
    ['total =«=» 5', decimal, /Add a value/],
    ['total =«>» 5', decimal, /Add a value/],
  ],
  'unknown fields': [
    ['«foo» = 5', fieldNames, /no field `foo`.*id, customer, total/],
    ['a («foo»:*)', fieldNames, /no field/],
    ['«foo»="', fieldNames, /no field/],
    ['«__proto__»=1', fieldNames, /no field/],
    ['«constructor»=1', fieldNames, /no field/],
    [`«${'😀'.repeat(500)}» = 5`, fieldNames, /no field `(😀){24}…`/u],
  ],
  'missing values': [
    ['customer=«»', value, /Add a value: `customer` needs a text/],
    ['total= «»', decimal, /Add a value: `total` needs a decimal/],
    ['(total=«)»', decimal, /Add a value/],
    ['total=«(»5)', decimal, /Add a value/],
  ],
  'operators of another type': [
    ['status «<» 1', ['=', '!=', ':'], /`status` takes no `<`/],
    ['id «>=» 1', ['=', '!=', ':'], /`id` takes no `>=`/],
  ],
  'values of another type': [
    ['total = «abc»', decimal, /`total` needs a decimal number, such as 100 or 12\.50\./],
    ...['.5', '5.', '+5', '--5', '1e3', '1,5', '0x10', '１', 'Infinity', '*', '""', '"*"', "' 5'"].map(
      (text): [string, string[], RegExp] => [`total=«${text}»`, decimal, /decimal/],
    ),
    ['total:«"*"»', decimal, /decimal/],
    ...['4', '00', '-1', 'Pend', 'Pending*', '*', '1.0', 'toString'].map(
      (text): [string, string[], RegExp] => [`status=«${text}» a`, statuses, /Pending \(0\)/],
    ),
    ...[
      ...['2026-02-30', '2026-02-29', '1900-02-29', '2026-04-31', '2026-13-01', '2026-00-01', '2026-01-00'],
      ...['2026', '2026-1-1', '20260101', '+002026-01-01', '2026-01-01T', '2026-01-01T00:00Z', 'today', '*'],
      ...['2026-01-01T00:00:00', '2026-01-01T24:00:00Z', '2026-01-01T00:60:00Z', '2016-12-31T23:59:60Z'],
      ...[
        '2026-01-01T00:00:00.Z',
        '2026-01-01T00:00:00,5Z',
        '2026-01-01T00:00:00+0100',
        '"2026-01-01 00:00:00Z"',
      ],
      ...['2026-01-01T00:00:00+24:00', '2026-01-01T00:00:00+01:60', '2026-02-30T00:00:00Z', '2026-01-01Z'],
    ].map((text): [string, string[], RegExp] => [
      `updatedAtUtc>«${text}»`,
      instant,
      /`updatedAtUtc`.*RFC|time such as/,
    ]),
  ],
  quotes: [
    ['a «"b c»', ['"'], /closing "/],
    ["«'tis the season»", ["'"], /closing '/],
    ['customer="a" customer=«"b\\" c»', ['"'], /closing "/],
    ['«"»', ['"'], /closing "/],
    ['«"\\»', ['"'], /closing "/],
    ['"a«\t»b"', [], /tabs or line breaks/],
    ['"a\\«\n»b"', [], /tabs or line breaks/],
  ],
  characters: [
    ['«;»', [], /`;`/],
    ['a«;» b', [], /`;`/],
    ['customer=«;»', [], /`;`/],
    ['a «\0»', [], /control/],
    ['customer="«\0»"', [], /control/],
    ['"\\«\u001f»"', [], /control/],
    ['a«\u000b»b', [], /control/],
    ['a«\u007f»', [], /control/],
    ['«\u0085»', [], /control/],
    ['😀 «\ud83d» a', [], /surrogate/],
    ['a«\ude00»', [], /surrogate/],
    ['"«\ud83d»"', [], /surrogate/],
    ['total=x«\0»', [], /control/],
  ],
  limits: [
    [`${'a'.repeat(1000)}«${'b'.repeat(9)}»`, [], /1000 characters/],
    [`${' '.repeat(1000)}« »`, [], /1000 characters/],
    [`${'😀'.repeat(1000)}«\0»`, [], /1000 characters/],
    [`${'total=1 '.repeat(25)}«total»=1`, [], /25 restrictions/],
    [`(${'a '.repeat(25)}«"b"»)`, [], /25 restrictions/],
    [`${'a '.repeat(25)}«foo»=1`, [], /25 restrictions/],
  ],
}

describe('parseFilter points at', () => {
  for (const [title, rows] of Object.entries(faults)) {
    it(title, () => {
      for (const [marked, expected, sentence] of rows) {
        const [before = '', at = '', after = ''] = marked.split(/[«»]/)
        const { detail, ...place } = faultOf(before + at + after).fault
        assert.deepEqual(place, { position: before.length, length: at.length, expected }, marked)
        assert.match(detail, sentence)
      }
    })
  }

  it('the whole rest of an unterminated text', () => {
    const { position, length } = faultOf('a "b c (').fault
    assert.deepEqual([position, length], [2, 6])
  })

  it('a fault with a sentence that is its message, and short', () => {
    const { name, message, fault } = faultOf(`${'x'.repeat(900)}=1`)
    assert.equal(message, fault.detail)
    assert.equal(name, 'FilterError')
    assert.ok(fault.detail.length < 220, fault.detail)
  })
})

function faultOf(text: string): FilterError {
  try {
    parseFilter(text)
  } catch (error) {
    assert.ok(error instanceof FilterError, `${error}`)
    return error
  }
  assert.fail(`no fault in ${text}`)
}

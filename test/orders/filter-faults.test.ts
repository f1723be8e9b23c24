// engine: none
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { FilterError } from '../../server/orders/filter/fault.ts'
import { filterNames } from '../../server/orders/filter/fields.ts'
import { parseFilter } from '../../server/orders/filter/parser.ts'

const terms = ['a value', 'a field name', 'NOT', '-', '(']
const negated = ['a value', 'a field name', '(']
const between = ['white space', 'AND', 'OR']
const space = ['white space']
const instant = ['an RFC 3339 time', 'YYYY-MM-DD']
const statuses = ['Pending', 'Approved', 'Rejected', 'Withdrawn', '0', '1', '2', '3']
const decimal = ['a number']
const value = ['a value']
const orderId = '019a9d2e-5b7c-7f3a-9c41-6d2f8e0b1a57'

/** Faulty texts, the fault between guillemets, with what is expected there and words of the sentence. */
const faults: Record<string, [string, readonly string[], RegExp][]> = {
  'keywords out of place': [
    ['«AND»', terms, /`AND` cannot be used here/],
    ['a AND«»', terms, /not finished/],
    ['a AND  «»', terms, /not finished/],
    ['a AND «AND» b', terms, /`AND`/],
    ['a OR «OR» b', terms, /`OR`/],
    ['a OR «AND» b', terms, /`AND`/],
    ['NOT«»', negated, /not finished/],
    ['NOT «NOT» a', negated, /`NOT`/],
    ['NOT «-»a', negated, /only one NOT/],
    ['-«-»a', negated, /only one NOT/],
    ['-«NOT» a', negated, /`NOT`/],
    ['-«»', negated, /not finished/],
    ['a «-» b', negated, /Remove the space after `-`/],
    ['NOT«(»a)', space, /`NOT` needs a space on each side/],
    ['a AND«(»b)', space, /`AND` needs a space on each side/],
    ['a OR«(»b)', space, /`OR` needs a space on each side/],
    ['customer = «AND»', value, /in quotes/],
    ['total = «AND» a', decimal, /in quotes/],
  ],
  'missing white space': [
    ['(a)«b»', between, /Add a space/],
    ['(a)«(»b)', between, /Add a space/],
    ['a«(»b)', between, /Add a space/],
    ['"a"«b»', between, /Add a space/],
    ["customer='a'«'b'»", between, /Add a space/],
    ['(a)«AND» b', between, /Add a space/],
    ['(a)«OR» b', between, /Add a space/],
    ['(a)«-»b', between, /Add a space/],
  ],
  parentheses: [
    ['(«»', terms, /not finished/],
    ['(a«»', [')', ...between], /not closed/],
    ['(a AND b «»', [')', ...between], /not closed/],
    ['(«)»', terms, /before this `\)`/],
    ['(a AND «)»', terms, /before this `\)`/],
    ['a«)»', between, /has no `\(`/],
    ['«)»', terms, /before this `\)`/],
    ['((((((«(»a)))))))', ['a value', 'a field name'], /6 deep/],
  ],
  'operators out of place': [
    ['«=» 5', terms, /Add a field name before `=`/],
    ['a AND «!=» 5', terms, /field name/],
    ['(a) «=» b', terms, /field name/],
    ['total = 5«<»6', terms, /field name/],
    ['NOT «:»5', terms, /field name/],
    ['«AND»: 5', terms, /`AND`/],
    ['«"total"» = 5', filterNames, /Remove the quotes/],
    ['total «!» 5', ['!='], /`!`/],
    ['a«!»', ['!='], /`!`/],
    ['total =«=» 5', decimal, /Add a value/],
    ['total =«>» 5', decimal, /Add a value/],
  ],
  'unknown fields': [
    ['«foo» = 5', filterNames, /no field `foo`\.$/],
    ['a («foo»:*)', filterNames, /no field/],
    ['«foo»="', filterNames, /no field/],
    ['«__proto__»=1', filterNames, /no field/],
    ['«constructor»=1', filterNames, /no field/],
    [`«${'😀'.repeat(500)}» = 5`, filterNames, /no field `(😀){24}…`/u],
  ],
  'missing values': [
    ['customer=«»', value, /Add a value: `customer` needs a text/],
    ['id=«»', value, /Add a value: `id` needs a text/],
    ['approvedBy:«»', value, /Add a value: `approvedBy` needs a text/],
    ['waits:«»', ['me', 'nobody'], /Add a value: `waits` takes only/],
    ['total= «»', decimal, /Add a value: `total` needs a number/],
    ['(total=«)»', decimal, /Add a value/],
    ['total=«(»5)', decimal, /Add a value/],
  ],
  'operators of another type': [
    ['status «<» 1', ['=', '!=', ':'], /`status` takes no `<`/],
    ['status «>=» 1', ['=', '!=', ':'], /`status` takes no `>=`/],
    ['id>=«019a»', value, /`id` needs a text.*a whole id to compare/],
    [`id<«${orderId}0»`, value, /a whole id/],
    [`id<«${orderId.replaceAll('-', '')}»`, value, /a whole id/],
    [`id>«"${orderId} "»`, value, /a whole id/],
    ['approvedBy «<» a', ['=', '!=', ':'], /`approvedBy` takes no `<`/],
    ['waits «=» me', [':'], /`waits` takes no `=`. `waits` takes only `waits:me` and `waits:nobody`/],
  ],
  'values of another type': [
    ['total = «abc»', decimal, /`total` needs a number, such as 100 or 12\.50\./],
    ...['.5', '5.', '+5', '--5', '1e3', '1,5', '0x10', '１', 'Infinity', '*', '""', '"*"', "' 5'"].map(
      (text): [string, string[], RegExp] => [`total=«${text}»`, decimal, /needs a number/],
    ),
    ['total:«"*"»', decimal, /needs a number/],
    ...['4', '00', '-1', 'Pend', 'Pending*', '*', '1.0', 'toString'].map(
      (text): [string, string[], RegExp] => [`status=«${text}» a`, statuses, /Pending \(0\)/],
    ),
    ...['-1', '1.0', '1234567890', 'x', '""'].map((text): [string, string[], RegExp] => [
      `approvalsMissing>=«${text}»`,
      ['a whole number'],
      /`approvalsMissing` needs a whole number, such as 2\./,
    ]),
    ...['you', 'ann', '*', '"*"', 'me*'].map((text): [string, string[], RegExp] => [
      `waits:«${text}»`,
      ['me', 'nobody'],
      /only `waits:me` and `waits:nobody`/,
    ]),
    ...[
      ...['2026-02-30', '2026-02-29', '1900-02-29', '2026-04-31', '2026-13-01', '2026-00-01', '2026-01-00'],
      ...['2026', '2026-1-1', '20260101', '+002026-01-01', '2026-01-01T', '2026-01-01T00:00Z', 'today', '*'],
      ...['2026-01-01T00:00:00', '2026-01-01T24:00:00Z', '2026-01-01T00:60:00Z', '2016-12-31T23:59:60Z'],
      ...['2026-01-01T00:00:00.Z', '2026-01-01T00:00:00,5Z', '2026-01-01T00:00:00+0100'],
      ...['"2026-01-01 00:00:00Z"'],
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
    [`(${'a '.repeat(25)}«b») AND id>${orderId}`, [], /25 restrictions/],
    [`(${'a '.repeat(25)}) AND «total»>1`, [], /25 restrictions/],
    [`(${'a '.repeat(25)}) OR «id»>${orderId}`, [], /25 restrictions/],
    [`(a) OR (${'b '.repeat(24)}«c») AND id>${orderId}`, [], /25 restrictions/],
    [`(${'a'.repeat(999)}«${'b'.repeat(2)}) AND id>${orderId}»`, [], /1000 characters/],
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

  it('an unknown field, and suggests the one that was probably meant', () => {
    const meant: Record<string, string | undefined> = {
      creatdBy: 'createdBy',
      CUSTOMERS: 'customer',
      state: 'status',
      created: 'createdAtUtc',
      approvals: 'approvalsMissing',
      totl: 'total',
      ie: undefined,
      colour: undefined,
      [`${'status'.repeat(100)}`]: undefined,
    }
    for (const [name, suggestion] of Object.entries(meant)) {
      const { fault } = faultOf(`a ${name}=5`)
      assert.deepEqual([fault.position, fault.length, fault.suggestion], [2, name.length, suggestion])
      if (suggestion)
        assert.equal(fault.detail, `There is no field \`${name}\`. Did you mean \`${suggestion}\`?`)
    }
  })

  it('the whole rest of an unterminated text', () => {
    const { position, length } = faultOf('a "b c (').fault
    assert.deepEqual([position, length], [2, 6])
  })

  it('a fault with a short sentence, which is also its message', () => {
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

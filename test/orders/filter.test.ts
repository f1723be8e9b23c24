// engine: none
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type FilterColumn, filterNames, type Operator } from '../../server/orders/filter/fields.ts'
import { type Filter, parseFilter } from '../../server/orders/filter/parser.ts'

type NumberFilter = Extract<Filter, { kind: 'number' }>

const search = (text: string): Filter => ({ kind: 'search', text })
const not = (operand: Filter): Filter => ({ kind: 'not', operand })
const and = (...operands: Filter[]): Filter => ({ kind: 'and', operands })
const or = (...operands: Filter[]): Filter => ({ kind: 'or', operands })
const hasValue = (field: FilterColumn): Filter => ({ kind: 'hasValue', field })
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
const short = number('number')
const missing = number('approvalsMissing')
const since = number('waitingSince')
const waits: Filter = { kind: 'waits', whom: 'me' }
const reader = (field: 'createdBy' | 'approvedBy'): Filter => ({ kind: 'caller', field, id: 0 })
/** A pattern as `before|text|after`, with `*` for a wildcard on either side. */
const pattern = (shown: string) => {
  const [before, text = '', after] = shown.split('|')
  return { text, anyBefore: before === '*', anyAfter: after === '*' }
}
const text =
  (field: Extract<Filter, { kind: 'text' }>['field']) =>
  (operator: Operator, shown: string): Filter => ({ kind: 'text', field, operator, pattern: pattern(shown) })
const customer = text('customer')
const approvedBy = text('approvedBy')
const id = (operator: '=' | '!=' | ':', shown: string): Filter => ({
  kind: 'id',
  field: 'id',
  operator,
  pattern: pattern(shown),
})

const anId = '019a9d2e-5b7c-7f3a-9c41-6d2f8e0b1a57'
const idRange = (operator: '<' | '<=' | '>' | '>='): Filter => ({ kind: 'idRange', operator, id: anId })

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
    [`id<${anId} id<="${anId}"`, and(idRange('<'), idRange('<='))],
    [`id >${anId.toUpperCase()} ID>= ${anId}`, and(idRange('>'), idRange('>='))],
  ],
  'a filter with a restriction to ids': [
    [`(a) AND id>${anId}`, and(a, idRange('>'))],
    [`(a OR b) AND id<${anId}`, and(or(a, b), idRange('<'))],
    [`(a b) AND (id=${anId} OR id=${anId})`, and(a, b, or(id('=', `|${anId}|`), id('=', `|${anId}|`)))],
    [`(a) OR (b) AND id>${anId}`, and(or(a, b), idRange('>'))],
    [`(a) (b) AND id>${anId}`, and(a, b, idRange('>'))],
    [`NOT (a) AND id>${anId}`, and(not(a), idRange('>'))],
    [`(a and b) AND id>${anId}`, and(a, search('and'), b, idRange('>'))],
    [`(total=5) AND id>${anId}`, and(total('=', 50_000), idRange('>'))],
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
  'has a value': filterNames
    .filter((name) => name !== 'waits')
    .map((name): [string, Filter] => [`${name}:*`, hasValue(name)]),
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
  'names of approvers': [
    ['approvedBy=ann', approvedBy('=', '|ann|')],
    ['approvedBy!=a*', approvedBy('!=', '|a|*')],
    ['approvedby:nn', approvedBy(':', '|nn|')],
  ],
  'missing approvals, which only a pending order can have': [
    ['approvalsMissing=0', missing('=', 0)],
    ['approvalsMissing<2', missing('<', 2)],
    ['approvalsMissing<=1', missing('<=', 1)],
    ['approvalsMissing>=0', missing('>=', 0)],
    ['approvalsMissing!=2', missing('!=', 2)],
    ['approvalsMissing:2', and(status('=', 0), missing('=', 2))],
    ['approvalsMissing>0', and(status('=', 0), missing('>', 0))],
    ['approvalsMissing>=1', and(status('=', 0), missing('>=', 1))],
    ['approvalsMissing!=0', and(status('=', 0), missing('!=', 0))],
    ['-approvalsMissing="007"', not(and(status('=', 0), missing('=', 7)))],
    ['waitingSince<1970-01-02', and(status('=', 0), since('<', 86_400_000, 172_800_000))],
    ['a approvalsMissing>1 b', and(a, status('=', 0), missing('>', 1), b)],
    ['a OR approvalsMissing>1', or(a, and(status('=', 0), missing('>', 1)))],
  ],
  'numbers of orders': [
    ['#1042', short('=', 1042)],
    ['-#7', not(short('=', 7))],
    ['#7 a', and(short('=', 7), a)],
    ['#007', short('=', 7)],
    [`#${'9'.repeat(20)}`, short('=', beyondAll, beyondAll)],
    ['number:7', short('=', 7)],
    ['number>=#7', short('>=', 7)],
    ['Number != "7"', short('!=', 7)],
    ['"#7"', search('#7')],
    ['# ##7 #7b #7* 7#', and(...['#', '##7', '#7b', '#7*', '7#'].map(search))],
  ],
  'what waits for the reader': [
    ['waits:me', and(status('=', 0), waits)],
    ['Waits: "ME"', and(status('=', 0), waits)],
    ['NOT waits:me', not(and(status('=', 0), waits))],
    ['waits:me a', and(status('=', 0), waits, a)],
    ['waits:Nobody', and(status('=', 0), { kind: 'waits', whom: 'nobody' })],
  ],
  'the reader, as a bare `me`': [
    ['createdBy=me', reader('createdBy')],
    ['createdby:ME', reader('createdBy')],
    ['approvedBy=me', reader('approvedBy')],
    ['createdBy="me"', text('createdBy')('=', '|me')],
    ['createdBy:"me"', text('createdBy')(':', '|me')],
    ['createdBy!=me', and(hasValue('createdBy'), not(reader('createdBy')))],
    ['approvedBy!=Me', and(hasValue('approvedBy'), not(reader('approvedBy')))],
    ['createdBy!="me"', text('createdBy')('!=', '|me')],
    ['modifiedBy=me', text('modifiedBy')('=', '|me')],
    ['customer=me', text('customer')('=', '|me')],
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

  it('an empty or blank text as no filter', () => {
    for (const text of ['', ' ', ' \t\r\n\u3000 ']) assert.equal(parseFilter(text), null)
  })

  it('25 restrictions and 1,000 characters, an emoji being one', () => {
    assert.deepEqual(parseFilter(Array(25).fill('a').join(' ')), and(...Array(25).fill(a)))
    assert.deepEqual(parseFilter('😀'.repeat(1000)), search('😀'.repeat(1000)))
  })
})

// engine: none
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { FilterError } from '../../server/orders/filter/fault.ts'
import { parseFilter } from '../../server/orders/filter/parser.ts'

/** Faulty texts, the fault between guillemets; what to write in its place, or words of the sentence. */
const foreign: [string, string | RegExp][] = [
  ['total «gt» 100', '>'],
  ['TOTAL «GT» 100', '>'],
  ['status «eq» Pending', '='],
  ['status «ne» Pending', '!='],
  ['total «ge» 1 total le 2', '>='],
  ['createdAtUtc «lt» 2026-01-01', '<'],
  ['a total «le»', '<='],
  ['customer «eq» "Acme"', '='],
  ['status «in» (Pending,Approved)', /status=\.\.\. OR status=/],
  ['status «in»(Pending)', /status=\.\.\. OR status=/],
  ['total «between» 1 and 5', /\(total>=\.\.\. total<=/],
  ['total «not» between 1 and 5', /NOT \(total>=/],
  ['status «not» in (Pending)', /NOT \(status=/],
  ["customer «not» like '%a%'", /NOT customer:/],
  ['total «gte» 5', '>='],
  ['total «≥» 5', '>='],
  ['customer «~» acme', ':'],
  ['«total.lte.5»', 'total<=5'],
  ['«updatedAtUtc~»', /and a value/],
  ['status «is» not Pending', /status!=/],
  ['createdAtUtc «between» 2026-01-01 2026-02-01', /createdAtUtc>=/],
  ['customer «between» "a" "b"', /customer>=/],
  ['total «between» -1', /total>=/],
  ["customer «like» '%a%'", /customer:\.\.\./],
  ['customer «ILIKE» %a', /customer:\.\.\./],
  ['customer «like» a%', /customer:\.\.\./],
  ['customer «contains» "a"', /customer:\.\.\./],
  ['updatedAtUtc «is» null', /-updatedAtUtc:\*/],
  ['updatedAtUtc «IS» EMPTY', /-updatedAtUtc:\*/],
  ['updatedAtUtc «is» not null', /`updatedAtUtc:\*`/],
  ['status «is» approved', /status=/],
  ['«total.gt.100»', 'total>100'],
  ['«status|eq|Pending»', 'status=Pending'],
  ['a «customer~acme»', 'customer:acme'],
  ['total>100 «and» total<200', 'AND'],
  ['acme «And» total<200', 'AND'],
  ['total>100 «or» acme', 'OR'],
  ['«not» status=Pending', 'NOT'],
  ['a «not» (b)', 'NOT'],
  ['(a) «or» b', 'OR'],
  ['status=Pending «,» total>5', 'AND'],
  ['status=Pending «&&» total>5', 'AND'],
  ['status=Pending «|» total>5', 'OR'],
  ['a «&» -status=Pending', 'AND'],
  ['a «or» -status=Pending', 'OR'],
]

const texts = [
  ...['Smith and Sons', 'Not so fast', 'Total like home', 'Customer is King', 'total in all', 'this or that'],
  ...['gt 100', 'between 1 and 5', 'status of things', 'id card', '"total" gt 100', 'AND-ROID', 'a & b'],
  ...['a , b', 'customer="and"', 'customer=and', 'customer:like', 'total in "all"', 'not', 'and'],
  ...['fish & chips NOT cod', 'status=Pending AND "and" total>5', 'status=Pending "or"'],
  ...['version.1.2', 'acme.gt.100', 'total.constructor.5', 'customer|constructor|acme', 'total not paid'],
  ...['constructor.__proto__.1', 'total constructor 5', 'toString~x', 'number between friends'],
]

describe('words of other query languages', () => {
  it('are refused where they seem to be a condition, with what to write', () => {
    for (const [marked, meant] of foreign) {
      const [before = '', at = '', after = ''] = marked.split(/[«»]/)
      assert.throws(
        () => parseFilter(before + at + after),
        (error) => {
          assert.ok(error instanceof FilterError, marked)
          const { position, length, detail, suggestion } = error.fault
          assert.deepEqual([position, length], [before.length, at.length], marked)
          assert.match(detail, /quotes\.$/)
          if (meant instanceof RegExp) assert.match(detail, meant)
          else assert.equal(suggestion, meant, marked)
          return true
        },
      )
    }
  })

  it('are corrected by what is suggested', () => {
    for (const [marked, meant] of foreign) {
      const more = ['total le', ' total<'].some((part) => marked.includes(part)) || marked.endsWith('»')
      if (typeof meant !== 'string' || more) continue
      assert.doesNotThrow(() => parseFilter(marked.replace(/«.*»/, meant)), marked)
    }
  })

  it('are a search for text otherwise', () => {
    for (const text of texts) assert.doesNotThrow(() => parseFilter(text), text)
  })
})

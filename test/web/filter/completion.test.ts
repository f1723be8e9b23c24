import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { FilterError } from '../../../server/orders/filter/fault.ts'
import { searchFields } from '../../../web/src/orders/fields.ts'
import { type Completion, complete } from '../../../web/src/orders/filter/completion.ts'
import { requiredStatus, withStatus } from '../../../web/src/orders/filter/restrictions.ts'
import { quoteValue, spansOf } from '../../../web/src/orders/filter/text.ts'
import { forAll } from '../../support/for-all.ts'
import { acceptedFilter, anyText, assertCovers, meaningOf } from './texts.ts'
import { beginInUtc } from './zone.ts'

/** A Friday. */
const context = { nowMilliseconds: Date.UTC(2026, 10, 20, 23, 59), userName: 'ada' }

/** The caret is where the bar is. */
function completeAt(marked: string, given = context): Completion[] {
  return complete(marked.replace('|', ''), marked.indexOf('|'), given)
}

function labelsAt(marked: string, given = context): string {
  return completeAt(marked, given)
    .map(({ label }) => label)
    .join(' ')
}

function apply(text: string, { from, to, insert }: Completion): string {
  return text.slice(0, from) + insert + text.slice(to)
}

/** The text after the completion of that label, with its caret. */
function chosen(marked: string, label: string, given = context): string {
  const completion = completeAt(marked, given).find((candidate) => candidate.label === label)
  assert.ok(completion, `${label} is offered at ${marked}`)
  const caret = completion.from + completion.insert.length
  const text = apply(marked.replace('|', ''), completion)
  return `${text.slice(0, caret)}|${text.slice(caret)}`
}

const allTimes = '>= < = <= > !='
const days = '2026-11-20 2026-11-19 2026-11-16 2026-11-01 2026-01-01'

const anyUserName = fc.oneof(
  fc.constantFrom('ada', 'AND', '*', '-x', 'a b', '"', ''),
  fc.string({ maxLength: 8 }),
)

describe('complete, where a term begins', () => {
  beginInUtc()

  it('offers every field that matches, each with its most likely operator', () => {
    const all = 'status= waits: customer: total>= createdAtUtc>= createdBy= approvedBy= updatedAtUtc>='
    for (const marked of ['|', ' | ', '(|', '(|)', 'NOT |', '-|', 'a AND |', 'a OR |']) {
      assert.equal(labelsAt(marked), all, marked)
    }
    assert.equal(completeAt('|')[0]?.hint, 'Status')
  })

  const byPrefix: [string, string][] = [
    ['c|', 'customer: createdAtUtc>= createdBy= createdAtTimeZone='],
    ['CREATEDb|', 'createdBy= createdBy: createdBy!= createdBy:* -createdBy:*'],
    ['sta|', 'status= status!='],
    ['-sta|', 'status= status!='],
    ['(sta|)', 'status= status!='],
    ['acme sta|', 'status= status!='],
    ['NOT updatedAtU|', `${allTimes} :*`.replace(/(?<=^| )/g, 'updatedAtUtc')],
  ]
  const bySynonym: [string, string][] = [
    ['date|', 'createdAtUtc>= updatedAtUtc>='],
    ['amount|', 'total>= total<= total= total> total< total!='],
    ['By|', 'createdBy= approvedBy= modifiedBy='],
    ['approver|', 'approvedBy= approvedBy: approvedBy!= approvedBy:* -approvedBy:*'],
    [
      'missing|',
      'approvalsMissing>= approvalsMissing<= approvalsMissing= approvalsMissing> approvalsMissing< approvalsMissing!=',
    ],
    ['wait|', 'waits: waits:me'],
    ['-queue|', 'waits:'],
    ['pend|', 'status=Pending'],
    ['today|', 'createdAtUtc=2026-11-20'],
    ['mine|', 'createdBy=ada'],
    ['no|', 'NOT'],
    ['acme an|', 'AND'],
    ['acme or|', 'OR number= id='],
  ]
  for (const [marked, labels] of [...byPrefix, ...bySynonym]) {
    it(`for ${marked} offers ${labels}`, () => assert.equal(labelsAt(marked), labels))
  }

  it('finds each field by what the page calls it, and says that name next to it', () => {
    for (const { name, label } of searchFields) {
      const found = completeAt(`acme ${label.slice(0, -1)}|`).find((each) => each.label.startsWith(name))
      assert.deepEqual([found?.from, found?.hint.startsWith(label)], [5, true], label)
    }
    assert.equal(chosen('acme Created b|', 'createdBy='), 'acme createdBy=|')
    assert.equal(chosen('-approved by|', 'approvedBy:'), '-approvedBy:|')
    assert.equal(chosen('created b|=ada', 'createdBy'), 'createdBy|=ada')
  })

  it('offers nothing for a word that begins no field, and nothing before a word', () => {
    const quiet = [
      'acme|',
      'b|',
      'statuses|',
      'acme globex|',
      '|acme',
      'a |b',
      '-|a',
      '😀|',
      'AND|',
      'a AND|',
      'pe|',
      'NOT no|',
      '-no|',
      'a an|=5',
      'no|=5',
    ]
    for (const marked of quiet) assert.equal(labelsAt(marked), '', marked)
  })

  it('offers nothing if white space is missing or superfluous', () => {
    for (const marked of ['"a"|', '"a"sta|', '(a)|', '(a)sta|', '- |', '- sta|', ';|', '; |', ';sta|']) {
      assert.equal(labelsAt(marked), '', marked)
    }
  })

  it('replaces the whole word that the caret is in', () => {
    assert.equal(chosen('acme sta|xx globex', 'status='), 'acme status=| globex')
    assert.equal(chosen('sta|', 'status!='), 'status!=|')
    assert.equal(chosen('upd|', 'updatedAtUtc>='), 'updatedAtUtc>=|')
  })

  it('replaces only the name if an operator follows, by fields that take it', () => {
    assert.equal(labelsAt('c|>=100'), 'createdAtUtc')
    assert.equal(chosen('sta| = Pending', 'status'), 'status| = Pending')
    assert.equal(labelsAt('status|=Pending'), '')
    assert.equal(labelsAt('pend|=x'), '')
  })
})

describe('complete, after a field', () => {
  const operators: [string, string][] = [
    ['status|', '= !='],
    ['CUSTOMER|', ': = !='],
    ['total|', '>= <= = > < !='],
    ['createdAtUtc|', allTimes],
    ['updatedAtUtc|', `${allTimes} :* -updatedAtUtc:*`],
    ['-updatedAtUtc|', `${allTimes} :*`],
    ['NOT modifiedBy|', '= : != :*'],
    ['status |', '= != AND OR NOT status= waits: customer:'],
    ['total at|', '>= <='],
    ['total a|', 'AND approvedBy= approvalsMissing>='],
    ['updatedAtUtc |>= 1', '< = <= > !='],
    ['status | = x', 'status customer total createdAtUtc createdBy approvedBy updatedAtUtc modifiedBy'],
    ['createdAtUtc bef|', '< <='],
    ['updatedAtUtc has|', ':* -updatedAtUtc:*'],
    ['total <| 5', '<='],
    ['total |<= 5', '>= = > < !='],
    ['total!|', '!='],
  ]
  for (const [marked, labels] of operators) {
    it(`at ${marked} offers ${labels}`, () => assert.equal(labelsAt(marked), labels))
  }

  it('says in words what operators mean', () => {
    const hints = (marked: string) => completeAt(marked).map(({ hint }) => hint)
    assert.deepEqual(hints('customer|'), ['contains', 'is', 'is not'])
    assert.deepEqual(hints('total|').slice(0, 2), ['is at least', 'is at most'])
    assert.deepEqual(hints('updatedAtUtc|').slice(1, 2), ['before'])
    assert.deepEqual(hints('updatedAtUtc|').slice(-2), ['has a value', 'has no value'])
    assert.deepEqual(hints('amou|').slice(0, 1), ['Total is at least'])
  })

  it('inserts operators at the caret, or replaces the operator or words there', () => {
    assert.equal(chosen('total|', '>='), 'total>=|')
    assert.equal(chosen('total |', '>='), 'total >=|')
    assert.equal(chosen('total at|', '>='), 'total >=|')
    assert.equal(chosen('total<|=5', '<'), 'total<|5')
    assert.equal(chosen('a updatedAtUtc |', '-updatedAtUtc:*'), 'a -updatedAtUtc:*|')
  })

  it('distinguishes a field from a value and from an unknown name', () => {
    assert.equal(labelsAt('createdBy=status|'), '')
    assert.ok(labelsAt('createdBy=status |').startsWith('AND OR NOT'))
    assert.equal(labelsAt('foo !|'), '')
  })
})

describe('complete, after an operator', () => {
  beginInUtc()

  const values: [string, string][] = [
    ['status=|', 'Pending Approved Rejected Withdrawn'],
    ['status = |', 'Pending Approved Rejected Withdrawn'],
    ['status!=P|', 'Pending'],
    ['status=|Pending', 'Approved Rejected Withdrawn'],
    ['status=pending|', ''],
    ['status>|', ''],
    ['createdAtUtc=|', days],
    ['createdAtUtc>|', `${days} >=`],
    ['createdAtUtc>=2026-11-1|', '2026-11-19 2026-11-16'],
    ['createdAtUtc>=yes|', '2026-11-19'],
    ['createdAtUtc>=month|', '2026-11-01'],
    ['updatedAtUtc:|', `${days} *`],
    ['createdBy=|', 'ada'],
    ['modifiedBy:|', 'ada *'],
    ['approvedBy=|', 'ada'],
    ['approvalsMissing>=|', ''],
    ['waits:|', 'me'],
    ['waits:me|', ''],
    ['waits=|', ''],
    ['createdAtTimeZone:|', '*'],
    ['customer:|', ''],
    ['total>=|', ''],
    ['total>|', '>='],
    ['total> |', ''],
    ['createdAtUtc>|x', days],
    ['foo=|', ''],
    ['foo=p|', ''],
    ['=|', ''],
    ['a=status=|', ''],
  ]
  for (const [marked, labels] of values) {
    it(`at ${marked} offers ${labels || 'nothing'}`, () => assert.equal(labelsAt(marked), labels))
  }

  it('offers no day without a valid clock, and no person without a name', () => {
    for (const nowMilliseconds of [Number.NaN, -1, 1e15, Number.POSITIVE_INFINITY]) {
      assert.equal(labelsAt('createdAtUtc=|', { ...context, nowMilliseconds }), '')
    }
    assert.equal(labelsAt('createdBy=|', { ...context, userName: '' }), '')
  })

  it('replaces the value at the caret, but none after white space', () => {
    assert.equal(chosen('status=Pen|xx acme', 'Pending'), 'status=Pending| acme')
    assert.equal(chosen('status=|"x y" acme', 'Pending'), 'status=Pending| acme')
    assert.equal(chosen('status=| acme', 'Pending'), 'status=Pending| acme')
    assert.equal(chosen('createdAtUtc>=2|x:00 a', '2026-11-20'), 'createdAtUtc>=2026-11-20| a')
  })
})

describe('complete, after a term', () => {
  it('offers keywords, then fields', () => {
    for (const marked of ['acme |', 'status=Pending |', '"a b" |', '(a) |', 'a  |  b']) {
      const labels = 'AND OR NOT status= waits: customer: total>= createdAtUtc>='
      assert.equal(labelsAt(marked), labels, marked)
    }
  })

  it('leaves one space after a keyword', () => {
    assert.equal(chosen('acme |', 'AND'), 'acme AND |')
    assert.equal(chosen('acme | globex', 'OR'), 'acme OR |globex')
    assert.equal(chosen('acme o| globex', 'OR'), 'acme OR |globex')
  })
})

it('completes nothing in quotes except the closing quote', () => {
  for (const marked of ['"sta|"', 'status="|Pending"', '"a |b" c']) assert.equal(labelsAt(marked), '', marked)
  assert.equal(chosen('customer="a|cme gm', '"'), 'customer="acme gm"|')
  assert.equal(chosen("'|", "'"), "''|")
  assert.equal(chosen('"a\\|', '"'), '"a\\\\"|')
})

describe('complete, for any text and caret', () => {
  it('replaces the word that the caret is in, and changes the text', () => {
    forAll(1500, anyText, fc.nat({ max: 60 }), anyUserName, (text, position, userName) => {
      const caret = Math.min(position, text.length)
      const completions = complete(text, caret, { ...context, userName })
      assert.ok(completions.length <= 8)
      assert.equal(new Set(completions.map((completion) => apply(text, completion))).size, completions.length)
      for (const completion of completions) {
        const { from, to } = completion
        assert.ok(0 <= from && from <= caret && caret <= to && to <= text.length)
        const applied = apply(text, completion)
        assert.notEqual(applied, text)
        assertCovers(applied)
      }
    })
  })

  it('accepts a caret outside the text, or none', () => {
    for (const caret of [-1, 4, 1.5, Number.NaN, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]) {
      const completions = complete('sta', caret, context)
      assert.ok(completions.every(({ from, to }) => 0 <= from && from <= to && to <= 3))
    }
  })

  it('leads from an empty box to filters that the server accepts', () => {
    forAll(
      600,
      fc.array(fc.nat({ max: 7 }), { minLength: 1, maxLength: 40 }),
      anyUserName,
      (choices, name) => {
        fc.pre(!/[^ -~]/.test(name))
        const filter = choose(choices, { ...context, userName: name })
        assert.ok(!(meaningOf(filter) instanceof FilterError), filter)
      },
    )
  })

  it('keeps a filter valid at its end', () => {
    forAll(600, acceptedFilter, fc.nat({ max: 7 }), fc.nat({ max: 7 }), (filter, first, second) => {
      const begun = takeAt(`${filter} `, first, context)
      const done = completedFrom(begun, second, context)
      assert.ok(!(meaningOf(done) instanceof FilterError), done)
    })
  })

  it('takes time linear in the length', () => {
    const repeated = [
      'a ',
      '"',
      '\\',
      '-',
      '(',
      'a=',
      'a=:',
      '!',
      'status=Pending AND ',
      '"\\" ',
      '\u00a0',
      ';a',
    ]
    const startedAt = performance.now()
    for (const piece of repeated) {
      const text = piece.repeat(20_000)
      complete(text, text.length, context)
      complete(text, text.length / 2, context)
      spansOf(text)
      requiredStatus(text)
      withStatus(text, 'Pending')
      quoteValue(text)
    }
    assert.ok(performance.now() - startedAt < 20_000)
  })
})

/** The text with the completion of that number added at its end, if there is one. */
function takeAt(text: string, choice: number, given: typeof context): string {
  const completions = complete(text, text.length, given)
  const completion = completions[choice % completions.length]
  return completion === undefined ? text : apply(text, completion)
}

/** Completes what is unfinished: the term after a keyword, the operator and the value of a field. */
function completedFrom(begun: string, choice: number, given: typeof context): string {
  let text = begun
  for (let step = 0; step < 4; step += 1) {
    if (!(meaningOf(text) instanceof FilterError)) return text
    const taken = takeAt(text, choice, given)
    // A field without known values takes any value.
    text = taken === text ? `${text}7` : taken
  }
  return text
}

/** Term after term, by the completions alone. */
function choose(choices: number[], given: typeof context): string {
  let text = ''
  for (const choice of choices.slice(0, 20))
    text = completedFrom(takeAt(`${text} `, choice, given), choice, given)
  return text
}

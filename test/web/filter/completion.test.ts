import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { FilterError } from '../../../server/orders/filter/fault.ts'
import { searchFields } from '../../../web/src/orders/fields.ts'
import { type Completion, complete } from '../../../web/src/orders/filter/completion.ts'
import { requiredStatus, withStatus } from '../../../web/src/orders/filter/restrictions.ts'
import { quoteValue } from '../../../web/src/orders/filter/text.ts'
import { forAll } from '../../support/for-all.ts'
import { acceptedFilter, anyText, meaningOf } from './texts.ts'
import { beginInUtc } from './zone.ts'

/** A Friday. */
const context = { nowMilliseconds: Date.UTC(2026, 10, 20, 23, 59), userName: 'ada' }

/** The caret is where the bar is. */
function completeAt(marked: string): Completion[] {
  return complete(marked.replace('|', ''), marked.indexOf('|'), context)
}

function labelsAt(marked: string): string {
  return completeAt(marked)
    .map(({ insert }) => insert)
    .join(' ')
}

function apply(text: string, { from, to, insert }: Completion): string {
  return text.slice(0, from) + insert + text.slice(to)
}

const allTimes = '>= < = <= > !='
const days = '2026-11-20 2026-11-19 2026-11-16 2026-11-01 2026-01-01'
const all = 'status= waits: customer: total>= createdAtUtc>= createdBy= approvedBy= updatedAtUtc>='

const anyUserName = fc.oneof(
  fc.constantFrom('ada', 'AND', '*', '-x', 'a b', '"'),
  fc.string({ maxLength: 8 }),
)

describe('complete', () => {
  beginInUtc()

  for (const [marked, labels] of [
    // Where a term begins: fields, by their names and by other words for them.
    ['c|', 'customer: createdAtUtc>= createdBy= createdAtTimeZone='],
    ['CREATEDb|', 'createdBy= createdBy: createdBy!= createdBy:*'],
    ['-sta|', 'status= status!='],
    ['(sta|)', 'status= status!='],
    ['acme sta|xx globex', 'status= status!='],
    ['status|', 'status= status!='],
    ['NOT updatedAtU|', `${allTimes} :*`.replace(/(?<=^| )/g, 'updatedAtUtc')],
    ['date|', 'createdAtUtc>= updatedAtUtc>= waitingSince<='],
    ['approver|', 'approvedBy= approvedBy: approvedBy!= approvedBy:*'],
    // Whole restrictions.
    ['wait|', 'waits: waitingSince<= waits:me'],
    ['pend|', 'status=Pending'],
    ['today|', 'createdAtUtc=2026-11-20'],
    ['mine|', 'createdBy=me'],
    ['nobo|', 'waits:nobody'],
    // After a field.
    ['total |', '>= <= = > < !='],
    // After an operator.
    ['status=|', 'Pending Approved Rejected Withdrawn'],
    ['status = |', 'Pending Approved Rejected Withdrawn'],
    ['status!=P|', 'Pending'],
    ['createdAtUtc>|', days],
    ['createdAtUtc>=2026-11-1|', '2026-11-19 2026-11-16'],
    ['createdAtUtc>=yes|', '2026-11-19'],
    ['modifiedBy:|', 'ada'],
    ['createdBy=|', 'me'],
    ['waits:|', 'me nobody'],
    // A word that begins nothing, or that is whole.
    ...['acme|', 'b|', 'pe|', 'AND|', 'statuses|', 'status=pending|', 'waits:me|'].map(
      (text) => [text, ''] as const,
    ),
    // Operators and values that are not known.
    ...['status>|', 'waits=|', 'customer:|', 'total> |', 'foo=|', '=|', 'a=status=|'].map(
      (text) => [text, ''] as const,
    ),
    // In quotes, before something, and where white space is missing or superfluous.
    ...['"sta|"', '"sta|', '|acme', 'sta|=5', 'updatedAtUtc |>= 1', 'status=|Pending'].map(
      (text) => [text, ''] as const,
    ),
    ...['"a"|', '"a"sta|', '(a)|', '- |', '- sta|', ';|', '; |'].map((text) => [text, ''] as const),
  ] as const) {
    it(`at ${marked} offers ${labels || 'nothing'}`, () => assert.equal(labelsAt(marked), labels))
  }

  it('offers every field where a term begins, each with its most likely operator', () => {
    for (const marked of ['|', ' | ', '(|', '(|)', 'NOT |', '-|', 'a AND |', '"a b" |', 'a  |  b']) {
      assert.equal(labelsAt(marked), all, marked)
    }
  })

  it('says in words what fields, operators and values mean', () => {
    const hints = (marked: string) => completeAt(marked).map(({ hint }) => hint)
    assert.deepEqual(hints('amou|').slice(0, 2), ['Total is at least', 'Total is at most'])
    assert.deepEqual(hints('updatedAtUtc|').slice(-1), ['Updated has a value'])
    assert.deepEqual(hints('createdAtUtc=|').slice(0, 2), ['today', 'yesterday'])
    for (const { name, label } of searchFields) {
      const found = completeAt(`acme ${label.split(' ')[0]}|`).find(({ insert }) => insert.startsWith(name))
      assert.deepEqual([found?.from, found?.hint.startsWith(label)], [5, true], label)
    }
  })

  it('replaces the word that the caret is in, and changes the text', () => {
    forAll(1500, anyText, fc.nat({ max: 60 }), anyUserName, (text, position, userName) => {
      const caret = Math.min(position, text.length)
      const completions = complete(text, caret, { ...context, userName })
      assert.ok(completions.length <= 8)
      assert.equal(new Set(completions.map((completion) => apply(text, completion))).size, completions.length)
      for (const completion of completions) {
        const { from, to } = completion
        assert.ok(0 <= from && from <= caret && caret <= to && to <= text.length)
        assert.notEqual(apply(text, completion), text)
      }
    })
  })

  it('keeps a filter valid at its end', () => {
    forAll(600, acceptedFilter, fc.nat({ max: 7 }), fc.nat({ max: 7 }), (filter, first, second) => {
      const done = completedFrom(takeAt(`${filter} `, first), second)
      assert.ok(!(meaningOf(done) instanceof FilterError), done)
    })
  })

  it('takes time linear in the length', () => {
    const startedAt = performance.now()
    for (const piece of [
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
    ]) {
      const text = piece.repeat(20_000)
      complete(text, text.length, context)
      complete(text, text.length / 2, context)
      requiredStatus(text)
      withStatus(text, 'Pending')
      quoteValue(text)
    }
    assert.ok(performance.now() - startedAt < 20_000)
  })
})

/** The text with the completion of that number added at its end, if there is one. */
function takeAt(text: string, choice: number): string {
  const completions = complete(text, text.length, context)
  const completion = completions[choice % completions.length]
  return completion === undefined ? text : apply(text, completion)
}

/** Completes what is unfinished: the operator and the value of a field. */
function completedFrom(begun: string, choice: number): string {
  let text = begun
  for (let step = 0; step < 4; step += 1) {
    if (!(meaningOf(text) instanceof FilterError)) return text
    const taken = takeAt(text, choice)
    // A field without known values takes any value.
    text = taken === text ? `${text}7` : taken
  }
  return text
}

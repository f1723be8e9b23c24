import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { dayNames, isWeekend, marksTo, reachOf } from '../../../web/src/overview/days/axis.ts'

describe('the reach of an axis', () => {
  const usual = [0, 0, 100, 120, 90, 110, 300, 80, 95, 105]
  it('is the largest value as long as the others remain visible', () => {
    assert.equal(reachOf(usual), 300)
    assert.equal(reachOf([0, 0]), 0)
    assert.equal(reachOf([]), 0)
    assert.equal(reachOf([5]), 5)
    assert.equal(reachOf([...usual, 900]), 900)
  })

  it('ignores values that would make all others flat', () => {
    assert.equal(reachOf([...usual, 99_999_999]), 300)
    assert.equal(reachOf([1, 99]), 1)
    assert.equal(reachOf([100, 99_999_999, 0, 90, 80, 100, 70]), 100)
  })
})

describe('an axis', () => {
  const examples: [largest: number, most: number, isWhole: boolean, marks: number[]][] = [
    [8, 4, true, [0, 2, 4, 6, 8]],
    [1, 4, true, [0, 1]],
    [3, 4, true, [0, 1, 2, 3]],
    [5, 4, true, [0, 2, 4, 6]],
    [13, 4, true, [0, 5, 10, 15]],
    [2_050_000, 4, true, [0, 1_000_000, 2_000_000, 3_000_000]],
    [425_000, 2, false, [0, 250_000, 500_000]],
    [0.3, 4, false, [0, 0.1, 0.2, 0.3]],
    [0.0005, 2, false, [0, 0.00025, 0.0005]],
    [1000, 1, false, [0, 1000]],
    [0, 4, true, [0]],
    [Number.NaN, 4, true, [0]],
    [Number.POSITIVE_INFINITY, 4, false, [0]],
  ]
  for (const [largest, most, isWhole, marks] of examples) {
    it(`to ${largest} in ${most} ${isWhole ? 'whole ' : ''}steps has ${marks.length} marks`, () => {
      assert.deepEqual(marksTo(largest, most, isWhole), marks)
    })
  }

  it('reaches any largest value in few round steps', () => {
    for (let index = 1; index < 3000; index += 7) {
      // From 0.0001 to a sum of a million of the largest totals.
      const largest = 10 ** ((index / 3000) * 22 - 4)
      for (const most of [2, 3, 4, 5]) {
        const marks = marksTo(largest, most, false)
        const top = marks.at(-1) ?? 0
        const step = marks[1] ?? 0
        assert.ok(top >= largest, `${top} ends below ${largest}`)
        assert.ok(top - step < largest, `${largest} needs no mark ${top}`)
        assert.ok(marks.length - 1 <= most, `${marks.length - 1} steps for ${largest}`)
        assert.match(step.toExponential(), /^(?:1|2|2\.5|5)e/)
      }
    }
  })

  it('has whole-number marks for whole numbers', () => {
    for (let largest = 1; largest < 1000; largest += 1) {
      const marks = marksTo(largest, 4, true)
      assert.ok(
        marks.every(Number.isInteger) && Number(marks.at(-1)) >= largest && marks.length <= 5,
        `${largest}: ${marks}`,
      )
    }
  })
})

/** The given number of days up to 2026-11-22, a Sunday. */
function datesOf(count: number): string[] {
  const last = Date.parse('2026-11-22')
  return Array.from({ length: count }, (_, index) =>
    new Date(last - (count - 1 - index) * 86_400_000).toISOString().slice(0, 10),
  )
}

describe('the names of days', () => {
  const named = (count: number) => {
    const dates = datesOf(count)
    return dayNames(dates).map(({ index, kind }) => `${kind} ${dates[index]?.slice(5)}`)
  }

  it('are weekdays and today for a week', () => {
    const weekdays = ['11-16', '11-17', '11-18', '11-19', '11-20', '11-21'].map((date) => `weekday ${date}`)
    assert.deepEqual(named(7), [...weekdays, 'today 11-22'])
  })

  it('are Mondays for a month, except one so close to today that they would overlap', () => {
    assert.deepEqual(named(30), ['day 11-09', 'minor 11-02', 'day 10-26', 'today 11-22'])
    assert.deepEqual(named(29), ['day 11-09', 'minor 11-02', 'day 10-26', 'today 11-22'])
  })

  it('are every second Monday for a quarter', () => {
    assert.deepEqual(named(90), [
      'day 11-02',
      'minor 10-19',
      'day 10-05',
      'minor 09-21',
      'day 09-07',
      'today 11-22',
    ])
  })
})

it('weekends are weekends in UTC', () => {
  const week = datesOf(7).map(isWeekend)
  assert.deepEqual(week, [false, false, false, false, false, true, true])
})

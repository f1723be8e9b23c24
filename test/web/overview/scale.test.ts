import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Day } from '../../../web/src/overview/figures.ts'
import { layOut, size } from '../../../web/src/overview/plot-layout.ts'
import { columnsBetween, dayMarks, heightOf, isWeekend, roundAxis } from '../../../web/src/overview/scale.ts'

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
      const axis = roundAxis(largest, most, isWhole)
      assert.deepEqual(axis.marks, marks)
      assert.equal(axis.top, marks.at(-1) || 1)
    })
  }

  it('reaches what it measures, with few round steps and none too many, whatever it is', () => {
    for (let index = 1; index < 3000; index += 1) {
      // From 0.0001 to a sum of a million of the largest totals.
      const largest = 10 ** ((index / 3000) * 22 - 4)
      for (const most of [2, 3, 4, 5]) {
        const { top, marks } = roundAxis(largest, most, false)
        const step = marks[1] ?? 0
        assert.ok(top >= largest, `${top} ends below ${largest}`)
        assert.ok(top - step < largest, `${largest} needs no mark ${top}`)
        assert.ok(marks.length - 1 <= most, `${marks.length - 1} steps for ${largest}`)
        assert.match(step.toExponential(), /^(?:1|2|2\.5|5)e/)
      }
    }
  })

  it('of whole numbers has only such marks', () => {
    for (let largest = 1; largest < 3000; largest += 1) {
      const { top, marks } = roundAxis(largest, 4, true)
      assert.ok(marks.every(Number.isInteger) && top >= largest && marks.length <= 5, `${largest}: ${marks}`)
    }
  })
})

describe('the height of a bar', () => {
  const axis = { top: 8, marks: [0, 8] }

  it('is in proportion, in whole pixels', () => {
    assert.deepEqual(
      [0, 1, 4, 8].map((value) => heightOf(value, axis, 160)),
      [0, 20, 80, 160],
    )
    assert.equal(heightOf(1, { top: 3, marks: [] }, 100), 33)
  })

  it('shows what is nearly nothing', () => {
    assert.equal(heightOf(0.000001, axis, 160), 2)
  })
})

describe('columns', () => {
  for (const count of [1, 7, 30, 90, 366]) {
    it(`of ${count} days lie side by side and are found again`, () => {
      const columns = columnsBetween(44, 592, count)
      for (let index = 0; index < count; index += 1) {
        const bar = columns.barAt(index)
        assert.ok(Number.isInteger(bar) && Number.isInteger(columns.barWidth))
        assert.ok(
          bar >= columns.startOf(index) - 1 && bar + columns.barWidth <= columns.startOf(index + 1) + 1,
        )
        assert.equal(columns.indexAt(44 + (index + 0.5) * columns.pitch), index)
      }
      assert.equal(columns.startOf(0), 44)
      assert.equal(columns.startOf(count), 592)
    })
  }

  it('are found from beside the chart too', () => {
    const columns = columnsBetween(44, 592, 30)
    assert.equal(columns.indexAt(-1000), 0)
    assert.equal(columns.indexAt(0), 0)
    assert.equal(columns.indexAt(592), 29)
    assert.equal(columns.indexAt(1000), 29)
  })

  it('do with no room at all', () => {
    const columns = columnsBetween(44, 20, 30)
    assert.equal(columns.barWidth, 1)
    assert.equal(columns.indexAt(50), 0)
  })
})

/** So many days up to 2026-11-22, a Sunday. */
function datesOf(count: number): string[] {
  const last = Date.parse('2026-11-22')
  return Array.from({ length: count }, (_, index) =>
    new Date(last - (count - 1 - index) * 86_400_000).toISOString().slice(0, 10),
  )
}

describe('the names of days', () => {
  it('are weekdays where there is room, and today', () => {
    const kinds = dayMarks(datesOf(7), 80).map(({ kind }) => kind)
    assert.deepEqual(kinds, [...Array.from({ length: 6 }, () => 'weekday'), 'today'])
  })

  it('are Mondays where there is less', () => {
    const dates = datesOf(30)
    const named = dayMarks(dates, 18).map(({ index, kind }) => `${kind} ${dates[index]}`)
    assert.deepEqual(named, [
      'day 2026-10-26',
      'day 2026-11-02',
      'day 2026-11-09',
      'day 2026-11-16',
      'today 2026-11-22',
    ])
  })

  it('never touch each other, whatever room there is', () => {
    for (const count of [7, 30, 90, 366]) {
      for (let pitch = 0.5; pitch < 38; pitch += 0.5) {
        const places = dayMarks(datesOf(count), pitch).map(({ index }) => index * pitch)
        const gaps = places.slice(1).map((place, index) => place - (places[index] ?? 0))
        assert.ok(
          gaps.every((gap) => gap >= 60),
          `${count} days, ${pitch} pixels each: ${gaps}`,
        )
        assert.equal(places.at(-1), (count - 1) * pitch)
      }
    }
  })
})

it('weekends are those of UTC', () => {
  const week = datesOf(7).map(isWeekend)
  assert.deepEqual(week, [false, false, false, false, false, true, true])
})

describe('the layout', () => {
  const dayOf = (date: string, total: number): Day => ({
    date,
    pending: { count: 1, total },
    approved: { count: 2, total },
  })

  it('leaves room for the longest number of the axes', () => {
    const narrow = layOut(
      datesOf(30).map((date) => dayOf(date, 1)),
      600,
    )
    const wide = layOut(
      datesOf(30).map((date) => dayOf(date, 1234)),
      600,
    )
    assert.ok(narrow.columns.from > 0 && wide.columns.from >= narrow.columns.from)
    assert.equal(narrow.width, 600)
    assert.equal(narrow.columns.to, 600 - size.end)
  })

  it('does before the width is known, and without a day', () => {
    assert.ok(
      layOut(
        datesOf(90).map((date) => dayOf(date, 1)),
        0,
      ).width > 0,
    )
    assert.ok(layOut([], 600).width === 600)
  })
})

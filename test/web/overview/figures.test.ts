import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Overview } from '../../../web/src/overview/figures.ts'
import { parseOverviewSearch } from '../../../web/src/overview/span.ts'
import '../../support/page.ts'

const { changeOf, countOf, readFigures, totalOf } = await import('../../../web/src/overview/figures.ts')
const { formatOrders } = await import('../../../web/src/ui/format.ts')
const { durationWords, formatFigure, formatShare, greetingAt, waitingWords, warningLines } = await import(
  '../../../web/src/overview/words.ts'
)

const nothing = { count: 0, total: 0 }

/**
 * An answer about days with these numbers of pending orders, of 10 each, and `older` approved ones before
 * them.
 */
function answerOf(counts: number[], older = 0): Overview {
  const count = counts.reduce((sum, some) => sum + some, 0)
  return {
    timeZone: 'UTC',
    pending: { count, total: 10 * count },
    approved: { count: older, total: older },
    rejected: nothing,
    withdrawn: nothing,
    days: counts.map((some, index) => ({
      date: `2026-11-${String(index + 1).padStart(2, '0')}`,
      pending: { count: some, total: 10 * some },
      approved: nothing,
      rejected: nothing,
      withdrawn: nothing,
    })),
    oldestPending: [],
  }
}

describe('the figures', () => {
  it('cover the last days', () => {
    const { days, span } = readFigures(answerOf([1, 2, 3, 4]), 2)
    assert.deepEqual(
      days.map(({ date }) => date),
      ['2026-11-03', '2026-11-04'],
    )
    assert.deepEqual(span, {
      pending: { count: 7, total: 70 },
      approved: nothing,
      rejected: nothing,
      withdrawn: nothing,
    })
    assert.equal(countOf(span), 7)
    assert.equal(totalOf(span), 70)
  })

  it('are compared with the same number of days before, if there were orders earlier still', () => {
    assert.equal(readFigures(answerOf([1, 2, 3, 4], 1), 2).countBefore, 3)
    assert.equal(readFigures(answerOf([0, 0, 3, 4], 1), 2).countBefore, 0)
    assert.equal(readFigures(answerOf([9, 1, 2, 3, 4]), 2).countBefore, 3)
  })

  it('are not compared with the span in which the first order was created', () => {
    assert.equal(readFigures(answerOf([0, 2, 3, 4]), 2).countBefore, undefined)
    assert.equal(readFigures(answerOf([0, 0, 0, 0]), 2).countBefore, undefined)
  })
})

describe('the change from the previous span', () => {
  it('is a difference for few orders, and a percentage for many', () => {
    assert.deepEqual(changeOf(12, 9), { direction: 'up', words: '3 more' })
    assert.deepEqual(changeOf(150, 100), { direction: 'up', words: '50% more' })
  })

  it('says that the number may still rise, because today is not over', () => {
    assert.deepEqual(changeOf(9, 12), { direction: 'down', words: '3 fewer so far' })
    assert.deepEqual(changeOf(150, 200), { direction: 'down', words: '25% fewer so far' })
  })

  it('says if there is none', () => {
    assert.deepEqual(changeOf(5, 5), { direction: 'none', words: 'unchanged' })
    assert.deepEqual(changeOf(0, 0), { direction: 'none', words: 'unchanged' })
  })
})

describe('the address of the overview', () => {
  for (const days of ['7', 7]) {
    it(`reads ${JSON.stringify(days)} as 7 days`, () => {
      assert.deepEqual(parseOverviewSearch({ days }), { days: 7 })
    })
  }
  for (const days of [undefined, '', '30', '12', '07', '-7', '7e0', 'all', null, {}, [7, 90]]) {
    it(`reads ${JSON.stringify(days)} as the default span`, () => {
      assert.deepEqual(parseOverviewSearch({ days }), { days: undefined })
    })
  }
})

describe('shares', () => {
  it('are whole percents', () => {
    assert.equal(formatShare(157, 250), '63%')
    assert.equal(formatShare(1, 100), '1%')
    assert.equal(formatShare(99, 100), '99%')
  })

  it('never round to 0 or 100 percent', () => {
    assert.equal(formatShare(1, 1000), '<1%')
    assert.equal(formatShare(999, 1000), '>99%')
    assert.equal(formatShare(0, 1000), '0%')
    assert.equal(formatShare(1000, 1000), '100%')
    assert.equal(formatShare(0, 0), '0%')
  })
})

describe('the words of the overview', () => {
  it('greet by time of day', () => {
    const greetings = [0, 4, 5, 11, 12, 17, 18, 23].map(greetingAt)
    const [evening, morning, afternoon] = ['Good evening', 'Good morning', 'Good afternoon']
    assert.deepEqual(greetings, [evening, evening, morning, morning, afternoon, afternoon, evening, evening])
  })

  it('agree with numbers', () => {
    assert.deepEqual([0, 1, 2, 1204].map(formatOrders), ['0 orders', '1 order', '2 orders', '1,204 orders'])
  })

  it('show small numbers exactly', () => {
    assert.deepEqual([0, 9999, 10_000, 1_234_567].map(formatFigure), ['0', '9,999', '10K', '1.23M'])
  })

  it('say how long something has lasted', () => {
    const lengths = [-5, 0, 59_999, 60_000, 7_199_999, 7_200_000, 86_400_000, 88.9 * 86_400_000]
    assert.deepEqual(lengths.map(durationWords), [
      'less than a minute',
      'less than a minute',
      'less than a minute',
      '1 minute',
      '1 hour',
      '2 hours',
      '1 day',
      '88 days',
    ])
  })

  it('say which orders could get stuck', () => {
    const warning = { code: 'role-unheld', detail: 'Nobody with the role Finance.', pendingOrders: 2 }
    const others = [
      { ...warning, pendingOrders: 0 },
      { ...warning, code: 'only-one' },
    ]
    assert.deepEqual(warningLines([warning, ...others]), ['2 orders: Nobody with the role Finance.'])
  })

  it('say how many orders are waiting', () => {
    const now = Date.parse('2026-11-22T10:00:00Z')
    const since = '2026-11-19T09:00:00.000Z'
    const say = (count: number, mine?: number) =>
      waitingWords({ count, mine, since: count > 0 ? since : undefined, now })
    assert.equal(say(0), 'Nothing is waiting for approval.')
    assert.equal(say(1), '1 order is waiting for approval. It has been waiting for 3 days.')
    const oldest = 'The oldest has been waiting for 3 days.'
    assert.equal(say(38), `38 orders are waiting for approval. ${oldest}`)
    assert.equal(say(38, 1), `1 order is waiting for you, and 37 for others. ${oldest}`)
    assert.equal(say(38, 38), `38 orders are waiting for you. ${oldest}`)
    assert.equal(say(38, 0), `Nothing is waiting for you. 38 orders are waiting for others. ${oldest}`)
    // Counted later than the figures.
    assert.equal(say(2, 3), `3 orders are waiting for you. ${oldest}`)
  })
})

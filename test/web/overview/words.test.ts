import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import '../../support/page.ts'

const { daysInWords, durationWords, greetingAt, ownTitle, waitingWords } = await import(
  '../../../web/src/overview/words.ts'
)

describe('the words of the overview', () => {
  it('greet by time of day', () => {
    const greetings = [0, 4, 5, 11, 12, 17, 18, 23].map(greetingAt)
    const [evening, morning, afternoon] = ['Good evening', 'Good morning', 'Good afternoon']
    assert.deepEqual(greetings, [evening, evening, morning, morning, afternoon, afternoon, evening, evening])
  })

  it('say how many orders were created, how many today, and on which earlier day the most', () => {
    const inWords = (...counts: number[]) =>
      daysInWords(counts.map((count, index) => ({ date: `2026-11-0${index + 1}`, count })))
    assert.equal(inWords(0, 0), 'No orders were created in the last 2 days.')
    assert.equal(inWords(0, 1), '1 order in the last 2 days, 1 of them today.')
    assert.equal(
      inWords(2, 1200, 1200, 2),
      '2,404 orders in the last 4 days, 2 of them today. The most before today were 1,200, on Tuesday, November 3, 2026.',
    )
  })

  it('count what became of the orders of the reader', () => {
    assert.equal(ownTitle({ rejected: 3, waiting: 1_200 }), 'Your orders: 3 rejected, 1,200 waiting')
    assert.equal(ownTitle({ rejected: 0, waiting: 1 }), 'Your orders: 1 waiting')
    assert.equal(ownTitle({ rejected: undefined, waiting: 0 }), 'Your orders')
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

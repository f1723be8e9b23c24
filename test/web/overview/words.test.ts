import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import '../../support/page.ts'

const { daysInWords, greetingAt, ownTitle } = await import('../../../web/src/overview/words.ts')

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
})

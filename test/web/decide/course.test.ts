import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Course } from '../../../web/src/orders/decide/course.ts'
import '../../support/page.ts'

const { courseInWords, marked, placeIn, skippedOf } = await import('../../../web/src/orders/decide/course.ts')

const course: Course = { orders: ['a', 'b', 'c'], marks: {} }
const empty: Course = { orders: [], marks: {} }

const place = (of: Course, at?: string) => {
  const { order, number, count, previous, next } = placeIn(of, at)
  return [order, `${number} of ${count}`, previous, next]
}

describe('a place in a review', () => {
  it('is the first one without an address, and each has its neighbours', () => {
    assert.deepEqual(place(course), ['a', '1 of 3', undefined, 'b'])
    assert.deepEqual(place(course, 'b'), ['b', '2 of 3', 'a', 'c'])
    assert.deepEqual(place(course, 'c'), ['c', '3 of 3', 'b', 'end'])
    assert.deepEqual(place(course, 'end'), [undefined, '4 of 3', 'c', 'end'])
    assert.deepEqual(place(empty), [undefined, '1 of 0', undefined, 'end'])
  })

  it('comes before all others when the question does not find the order', () => {
    assert.deepEqual(place(course, 'x'), ['x', '1 of 4', undefined, 'a'])
    assert.deepEqual(place(empty, 'x'), ['x', '1 of 1', undefined, 'end'])
  })
})

describe('the marks of a review', () => {
  it('say what was done', () => {
    assert.equal(courseInWords(course), 'You made no decisions.')
    const one = marked(course, 'a', 'approve')
    assert.equal(courseInWords(one), 'You approved 1.')
    assert.equal(courseInWords(marked(one, 'b', 'skipped')), 'You approved 1 and skipped 1.')
    const all = marked(marked(one, 'b', 'reject'), 'c', 'skipped')
    assert.equal(courseInWords(all), 'You approved 1, rejected 1 and skipped 1.')
  })

  it('list the skipped orders, in their order, until they are decided', () => {
    const two = marked(marked(course, 'c', 'skipped'), 'a', 'skipped')
    assert.deepEqual(skippedOf(two), ['a', 'c'])
    assert.deepEqual(skippedOf(marked(two, 'a', 'approve')), ['c'])
  })

  it('keep a decision when the person skips it later, and lose it when it is undone', () => {
    const one = marked(course, 'a', 'approve')
    assert.equal(marked(one, 'a', 'skipped'), one)
    assert.deepEqual(marked(one, 'a', undefined).marks, {})
  })
})

import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import type { Course } from '../../../web/src/orders/decide/course.ts'
import { answerWith, serviceIs } from '../../support/page.ts'

const { queries } = await import('../../../web/src/api/queries.ts')
const { courseInWords, courseQuery, forgetCourse, mark, marked, placeIn, skippedOf } = await import(
  '../../../web/src/orders/decide/course.ts'
)

const course: Course = { orders: ['a', 'b', 'c'], marks: {} }
const empty: Course = { orders: [], marks: {} }

const place = (of: Course, at?: string) => {
  const { order, number, count, previous, next } = placeIn(of, at)
  return [order, `${number} of ${count}`, previous, next]
}

describe('a place in a review', () => {
  it('is the first one if the address names none, and each has its neighbours', () => {
    assert.deepEqual(place(course), ['a', '1 of 3', undefined, 'b'])
    assert.deepEqual(place(course, 'b'), ['b', '2 of 3', 'a', 'c'])
    assert.deepEqual(place(course, 'c'), ['c', '3 of 3', 'b', 'end'])
    assert.deepEqual(place(course, 'end'), [undefined, '4 of 3', 'c', 'end'])
    assert.deepEqual(place(empty), [undefined, '1 of 0', undefined, 'end'])
  })

  it('is before all others if the search does not find the order', () => {
    assert.deepEqual(place(course, 'x'), ['x', '1 of 4', undefined, 'a'])
    assert.deepEqual(place(empty, 'x'), ['x', '1 of 1', undefined, 'end'])
  })
})

describe('the marks of a review', () => {
  it('say what was decided', () => {
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

  it('keep a decision if its order is skipped later, and are only of orders of the review', () => {
    const one = marked(course, 'a', 'approve')
    assert.equal(marked(one, 'a', 'skipped'), one)
    assert.equal(marked(one, 'x', 'approve'), one)
  })
})

describe('the course of a review', () => {
  let items = ['a', 'b']
  const asked: URL[] = []
  serviceIs((_path, request) => {
    asked.push(new URL(request.url))
    return answerWith(200, { items: items.map((id) => ({ id })) })
  })
  beforeEach(() => {
    items = ['a', 'b']
    asked.length = 0
    forgetCourse()
  })
  const courseOf = (question = {}, userId = 1) => queries.fetchQuery(courseQuery(question, userId))

  it('is every order that the question finds, and stays the same through a reload', async () => {
    assert.deepEqual(await courseOf({ filter: 'Acme' }), { orders: ['a', 'b'], marks: {} })
    assert.deepEqual(
      ['filter', 'paginated'].map((name) => asked[0]?.searchParams.get(name)),
      ['Acme', 'false'],
    )
    mark('a', 'approve')
    const course = { orders: ['a', 'b'], marks: { a: 'approve' } }
    assert.deepEqual(await courseOf({ filter: 'Acme' }), course)
    items = []
    queries.clear()
    assert.deepEqual(await courseOf({ filter: 'Acme' }), course)
    assert.equal(asked.length, 1)
  })

  it('is asked for again by another person, for another question, and on request', async () => {
    await courseOf()
    await courseOf({}, 2)
    await courseOf({ filter: 'Acme' }, 2)
    forgetCourse()
    items = ['c']
    assert.deepEqual((await courseOf({ filter: 'Acme' }, 2)).orders, ['c'])
    assert.equal(asked.length, 4)
  })

  it('of selected orders asks nothing', async () => {
    assert.deepEqual(await courseOf({ ids: 'x,y' }), { orders: ['x', 'y'], marks: {} })
    assert.deepEqual(asked, [])
  })
})

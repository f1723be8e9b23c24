import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Problem, ProblemError } from '../../../web/src/api/problem.ts'
import { isUnfinished, markOf, refusalOf } from '../../../web/src/orders/filter/fault.ts'

function refused(members: object): ProblemError {
  const problem = { type: '', title: 'T', status: 400, detail: 'D', instance: '', requestId: '', ...members }
  return new ProblemError(problem as Problem, undefined)
}

describe('the reason why a search is refused', () => {
  it('has an exact place if the text cannot be parsed, and lists no expectation that its message repeats', () => {
    const error = { code: 'syntax', detail: 'Not closed.', position: 5, length: 0, expected: [')', 'closed'] }
    assert.deepEqual(refusalOf(refused({ code: 'invalid-filter', errors: [error] }), 'a (b('), {
      detail: 'Not closed.',
      fault: { position: 5, length: 0, detail: 'Not closed.', expected: [')'] },
    })
  })

  it('is given in words if there is no place', () => {
    assert.match(refusalOf(refused({ code: 'filter-too-expensive' }), '')?.detail ?? '', /Narrow it/)
    assert.match(refusalOf(refused({ code: 'uri-too-long' }), '')?.detail ?? '', /Shorten it/)
    const errors = [{ parameter: 'pageNumber', code: 'range', detail: 'is too large.' }]
    assert.match(
      refusalOf(refused({ code: 'validation-failed', errors }), '')?.detail ?? '',
      /pageNumber is too large/,
    )
  })

  it('is undefined if the search is not the cause', () => {
    assert.equal(refusalOf(refused({ code: 'internal-error', status: 500 }), ''), undefined)
    assert.equal(refusalOf(new Error('no answer'), ''), undefined)
    assert.equal(refusalOf(null, ''), undefined)
  })
})

it('a search that is still being typed is unfinished only if the fault is at its end', () => {
  const fault = { detail: '', expected: [] }
  assert.equal(isUnfinished({ ...fault, position: 7, length: 0 }, 'total>= '), true)
  assert.equal(isUnfinished({ ...fault, position: 0, length: 4 }, '"abc'), true)
  assert.equal(isUnfinished({ ...fault, position: 0, length: 5 }, 'statu=Pending'), false)
})

it('the mark covers the fault; without a length, the character there or the end', () => {
  for (const [text, position, length, mark] of [
    ['total>abc', 6, 3, [6, 9]],
    ['total>abc', 4, 9, [4, 9]],
    ['a)b', 1, 0, [1, 2]],
    ['(acme', 5, 0, [5, 5]],
    ['(acme', 7, 1, [5, 5]],
  ] as const) {
    assert.deepEqual(markOf(text, { position, length }), mark)
  }
  assert.deepEqual(markOf('acme', undefined), [4, 4])
})

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  isPassing,
  mayHaveHappened,
  NoAnswerError,
  type ProblemCode,
  ProblemError,
  readFailure,
  retryDelayMilliseconds,
} from '../../../web/src/api/problem.ts'

function refusal(status: number, code: ProblemCode, headers: Record<string, string> = {}) {
  const body = { type: '', title: '', status, detail: '', instance: '/', code, requestId: 'r' }
  return readFailure(new Response('', { status, headers }), body)
}

describe('the wait before another try', () => {
  it('doubles from a second to ten', () => {
    const waits = [0, 1, 2, 3, 4, 20].map((tries) => retryDelayMilliseconds(tries, new NoAnswerError('none')))
    assert.deepEqual(waits, [1000, 2000, 4000, 8000, 10_000, 10_000])
  })

  it('follows Retry-After, in seconds', () => {
    const waits = ['7', '0', '', 'Wed, 21 Oct 2026 07:28:00 GMT'].map((value) =>
      retryDelayMilliseconds(1, refusal(429, 'rate-limited', { 'retry-after': value })),
    )
    assert.deepEqual(waits, [7000, 0, 0, 2000])
    assert.equal(retryDelayMilliseconds(1, refusal(503, 'database-unavailable')), 2000)
  })
})

describe('a failure', () => {
  const failures: [failure: unknown, passes: boolean, mayHaveHappened: boolean][] = [
    [new NoAnswerError('none'), true, true],
    [new Error('of the app itself'), false, true],
    [refusal(503, 'database-unavailable'), true, true],
    [refusal(503, 'log-contradicted'), false, true],
    [refusal(500, 'internal-error'), false, true],
    [refusal(429, 'rate-limited'), true, false],
    [refusal(429, 'too-many-attempts'), false, false],
    [refusal(409, 'idempotency-in-progress'), true, true],
    [refusal(409, 'order-not-pending'), false, false],
    [refusal(400, 'validation-failed'), false, false],
  ]
  for (const [failure, passes, happened] of failures) {
    it(`${failure} is ${passes ? 'temporary' : 'permanent'}, and its request ${happened ? 'may have' : 'has not'} taken effect`, () => {
      assert.equal(isPassing(failure), passes)
      assert.equal(mayHaveHappened(failure), happened)
    })
  }

  it('without a problem document does not count as an answer from the service', () => {
    for (const body of ['<html>', undefined, null, { code: 'x' }, []]) {
      assert.ok(readFailure(new Response('', { status: 502 }), body) instanceof NoAnswerError)
    }
    assert.ok(refusal(409, 'order-not-pending') instanceof ProblemError)
  })
})

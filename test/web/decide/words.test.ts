import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { NoAnswerError, type Problem, ProblemError } from '../../../web/src/api/problem.ts'
import type { Progress } from '../../../web/src/orders/decide/decisions.ts'
import { type Ending, endingOf, neededWords, summaryOf } from '../../../web/src/orders/decide/words.ts'
import type { VersionedOrder } from '../../../web/src/orders/order.ts'

function refusedBy(code: Problem['code'], members: object = {}): Progress {
  const problem = { code, status: 409, detail: '', ...members } as unknown as Problem
  return { kind: 'refused', failure: new ProblemError(problem, undefined) }
}

function refusedWith(status: number): Progress {
  const now = { order: { status } } as VersionedOrder
  return { kind: 'refused', failure: new NoAnswerError('none'), now }
}

/** A state that only a newer service knows. */
const otherState = 7

const endings: [progress: Progress, ending: Ending | undefined][] = [
  [{ kind: 'sending' }, undefined],
  [{ kind: 'retrying', failure: undefined }, undefined],
  [{ kind: 'waiting' }, 'untouched'],
  [{ kind: 'decided', missing: 0 }, 'done'],
  [{ kind: 'decided', missing: 1 }, 'given'],
  [{ kind: 'decided', missing: undefined }, 'given'],
  [{ kind: 'unclear', failure: undefined }, 'unclear'],
  [refusedWith(0), 'changed'],
  [refusedWith(1), 'Approved'],
  [refusedWith(2), 'Rejected'],
  [refusedWith(3), 'Withdrawn'],
  [refusedWith(otherState), 'changed'],
  [refusedBy('order-not-pending', { currentStatus: 1 }), 'Approved'],
  [refusedBy('order-not-pending', { currentStatus: otherState }), 'changed'],
  [refusedBy('order-not-pending', { currentStatus: 2 }), 'Rejected'],
  [refusedBy('self-approval'), 'own'],
  [refusedBy('already-approved-by-you'), 'twice'],
  [refusedBy('precondition-failed'), 'changed'],
  [refusedBy('concurrency-conflict'), 'changed'],
  [refusedBy('order-not-found'), 'gone'],
  [refusedBy('permission-denied'), 'denied'],
  [refusedBy('internal-error'), 'failed'],
]

describe('what became of an order', () => {
  for (const [progress, ending] of endings) {
    const { failure, now, missing } = { failure: undefined, now: undefined, missing: undefined, ...progress }
    it(`is ${ending ?? 'not known yet'}: ${progress.kind} ${failure ?? ''} ${now?.order.status ?? ''} ${missing ?? ''}`, () => {
      assert.equal(endingOf(progress, 'approve'), ending)
    })
  }

  it('says how many more are needed, or that this is not known', () => {
    assert.deepEqual([2, undefined].map(neededWords), [
      '2 more approvals needed',
      'more approvals may be needed',
    ])
  })

  it('is summed up, one and several', () => {
    const steps = [refusedWith(1), refusedWith(1), refusedWith(0)].map((progress) => {
      return { subject: { id: '', customer: '', total: 1, createdAtUtc: '', status: 0 as const }, progress }
    })
    assert.equal(summaryOf(steps, 'approve'), '2 were already approved. 1 has changed.')
  })
})

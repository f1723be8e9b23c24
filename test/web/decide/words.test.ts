import '../../support/page.ts'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { NoAnswerError, type Problem, ProblemError } from '../../../web/src/api/problem.ts'
import type { Progress } from '../../../web/src/orders/decide/decisions.ts'
import {
  type Ending,
  endingOf,
  neededWords,
  otherDecision,
  settledOf,
  spokenOf,
  summaryOf,
  titleOfSeveral,
  troubleOf,
} from '../../../web/src/orders/decide/words.ts'
import type { VersionedOrder } from '../../../web/src/orders/order.ts'

function refusedBy(code: Problem['code'], members: object = {}): Progress {
  const problem = { code, status: 409, detail: '', ...members } as unknown as Problem
  return { kind: 'refused', failure: new ProblemError(problem, undefined) }
}

function refusedWith(status: number): Progress {
  const now = { order: { status } } as VersionedOrder
  return { kind: 'refused', failure: new NoAnswerError('none'), now }
}

const stepsOf = (...all: Progress[]) =>
  all.map((progress) => {
    return { subject: { id: '', customer: '', total: 1, createdAtUtc: '', status: 0 as const }, progress }
  })

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
  [refusedBy('role-needed', { role: 'Finance' }), 'role'],
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

  for (const [what, action, progress] of [
    ['Already approved', 'approve', refusedWith(1)],
    ['Approved', 'reject', refusedWith(1)],
    ['Rejected', 'approve', refusedWith(2)],
    ['Changed', 'approve', refusedWith(0)],
    ['Changed', 'approve', refusedWith(otherState)],
    [undefined, 'approve', refusedBy('self-approval')],
    [undefined, 'approve', { kind: 'waiting' }],
  ] as const) {
    it(`was ${what} by someone else (${action}, ${progress.kind})`, () => {
      assert.equal(otherDecision(progress, action)?.what, what)
    })
  }

  it('says how many more approvals are needed, or that the number is not known', () => {
    assert.deepEqual([2, undefined].map(neededWords), [
      '2 more approvals needed',
      'more approvals may be needed',
    ])
  })

  it('is summed up for one order and for several', () => {
    const decided = [0, 0, 1].map((missing): Progress => ({ kind: 'decided', missing }))
    const unclear: Progress = { kind: 'unclear', failure: undefined }
    const steps = stepsOf(...decided, refusedWith(1), refusedWith(0), unclear, { kind: 'waiting' })
    assert.equal(
      summaryOf(steps, 'approve'),
      '2 approved. You approved 1 order. It needs one more approval. 2 not approved by you: the list says why. ' +
        '1 may have been approved: there was no clear answer. 1 not sent.',
    )
  })
})

describe('approvals of several orders', () => {
  const approved: Progress = { kind: 'decided', missing: 0 }
  const given: Progress = { kind: 'decided', missing: 1 }
  const waiting: Progress = { kind: 'waiting' }
  const sending: Progress = { kind: 'sending' }
  const retrying: Progress = { kind: 'retrying', failure: new NoAnswerError('none') }

  it('are asked about, and then titled by how far they are', () => {
    const steps = stepsOf(approved, given)
    assert.equal(titleOfSeveral('approve', 'asking', steps), 'Approve 2 orders?')
    assert.equal(titleOfSeveral('approve', 'running', steps), 'Approving 2 orders')
    assert.equal(titleOfSeveral('approve', 'done', steps), '1 of 2 orders approved')
    assert.equal(titleOfSeveral('approve', 'done', stepsOf(approved)), '1 orders approved')
    assert.equal(titleOfSeveral('approve', 'done', stepsOf(waiting, waiting)), '0 of 2 orders approved')
    const both = stepsOf(given, given)
    assert.equal(titleOfSeveral('approve', 'done', both), 'Your approval of 2 orders is recorded')
    assert.equal(summaryOf(both, 'approve'), 'You approved 2 orders. Each needs one more approval.')
    for (const missing of [2, undefined]) {
      const unlike = stepsOf(given, { kind: 'decided', missing })
      assert.equal(summaryOf(unlike, 'approve'), 'You approved 2 orders. Each needs more approvals.')
    }
  })

  it('are counted once each has its result', () => {
    const steps = stepsOf(approved, given, waiting, sending, retrying, refusedWith(1))
    assert.equal(settledOf(steps), 3)
  })

  it('are read out in four parts at most', () => {
    const said = Array.from({ length: 11 }, (_, settled) => spokenOf(settled, 10))
    assert.deepEqual([...new Set(said)], ['0 of 10 done.', '3 of 10 done.', '6 of 10 done.', '9 of 10 done.'])
    assert.deepEqual([spokenOf(1, 2), spokenOf(2, 2)], ['1 of 2 done.', '2 of 2 done.'])
  })

  it('say why they wait', () => {
    assert.equal(troubleOf('running', stepsOf(approved, sending)), undefined)
    const trouble = 'The service is not responding. Trying again automatically.'
    assert.equal(troubleOf('running', stepsOf(sending, retrying)), trouble)
    assert.equal(troubleOf('stopping', stepsOf(retrying)), 'Stopped. Waiting for the last answer.')
    assert.equal(troubleOf('stopping', stepsOf(sending, sending)), 'Stopped. Waiting for the last answers.')
  })
})

import '../../support/page.ts'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { NoAnswerError, type Problem, ProblemError } from '../../../web/src/api/problem.ts'
import type { Progress, Subject } from '../../../web/src/orders/decide/decisions.ts'
import {
  changeInWords,
  isReasonFixed,
  messageOf,
  othersAfter,
  otherVersion,
  primaryOf,
  titleOf,
} from '../../../web/src/orders/decide/dialog/question.ts'
import type { Run } from '../../../web/src/orders/decide/dialog/run.ts'
import type { Order, OrderApprovals, VersionedOrder } from '../../../web/src/orders/order.ts'
import type { ActionName } from '../../../web/src/orders/states.ts'

const subject: Subject = {
  id: '1',
  customer: 'Acme',
  total: 1,
  createdAtUtc: '2026-11-20T09:30:00.000Z',
  status: 0,
  etag: '"1"',
}
/** The order after another change of it. */
const changed = (order: object = {}, etag = '"2"'): VersionedOrder => ({
  order: { ...subject, modifiedBy: 'mara', ...order } as Order,
  etag,
  documents: [],
})
const another = changed()
const dearer = changed({ total: 2 })
const rejected = changed({ status: 2 })
const approved = changed({ status: 1 })
const unknown = changed({ status: 9 })

const refusal = (code: string) => new ProblemError({ code, status: 409, detail: '' } as Problem, undefined)
const waiting: Progress = { kind: 'waiting' }
const sending: Progress = { kind: 'sending' }
const unclear: Progress = { kind: 'unclear', failure: new NoAnswerError() }
const refused: Progress = { kind: 'refused', failure: refusal('self-approval') }
const invalid: Progress = { kind: 'refused', failure: refusal('validation-failed') }

function runOf(
  action: ActionName,
  phase: Run['phase'],
  done: unknown[] = [],
  progress: Progress = waiting,
): Run {
  return {
    action,
    phase,
    touch: undefined,
    steps: [{ subject, progress }],
    start: () => done.push('start'),
    startInstead: (other) => done.push(other),
    stop: () => done.push('stop'),
    close: () => done.push('close'),
  }
}

describe('the version of the order that the question shows', () => {
  for (const [what, phase, progress, known, shown] of [
    ['is that of another change, before the answer', 'asking', waiting, dearer, dearer],
    ['is that of another change, after a decision that may have counted', 'done', unclear, dearer, dearer],
    ['stays while the decision is sent', 'running', sending, dearer, undefined],
    ['stays if it is the one that was asked about', 'asking', waiting, changed({}, '"1"'), undefined],
    [
      'stays if the changed order has no known version',
      'asking',
      waiting,
      { order: dearer.order, documents: [] },
      undefined,
    ],
    ['stays after a refusal for another reason', 'asking', refused, dearer, undefined],
    ['is that of the refusal', 'done', { ...refused, now: rejected }, dearer, rejected],
  ] as const) {
    it(what, () => assert.equal(otherVersion(phase, { subject, progress }, known), shown))
  }

  it('stays in the list, which has no versions', () => {
    const { etag: _, ...listed } = subject
    assert.equal(otherVersion('asking', { subject: listed, progress: waiting }, dearer), undefined)
  })
})

describe('the title of the question', () => {
  for (const [title, action, progress, now] of [
    ['Approve this order?', 'approve', waiting, undefined],
    ['Reject this order?', 'reject', sending, undefined],
    ['There was no clear answer', 'approve', unclear, undefined],
    ['The order was not rejected', 'reject', refused, undefined],
    ['This order has another approval', 'reject', refused, another],
    ['This order has changed', 'approve', refused, dearer],
    ['This order has changed', 'approve', refused, unknown],
    ['This order is already rejected', 'approve', unclear, rejected],
    ['This order is already approved', 'approve', refused, approved],
    ['This order is approved', 'approve', unclear, approved],
  ] as const) {
    it(`${title} (${action}, ${progress.kind})`, () => {
      assert.equal(titleOf(runOf(action, 'done'), { subject, progress }, now), title)
    })
  }
})

describe('a change that came first', () => {
  for (const [what, action, now, isSame] of [
    ['Approval given', 'approve', another, true],
    ['Changed', 'approve', dearer, false],
    ['Changed', 'approve', unknown, false],
    ['Rejected', 'approve', rejected, false],
  ] as const) {
    it(`is called ${what} (${now.order.status})`, () => {
      assert.equal(changeInWords(runOf(action, 'done'), now.order, isSame), what)
    })
  }
})

describe('what the question says', () => {
  const approvals = { required: 4, given: [{}] } as OrderApprovals
  for (const [count, action, progress, known] of [
    [2, 'approve', waiting, approvals],
    [0, 'approve', waiting, undefined],
    [0, 'approve', refused, approvals],
    [0, 'reject', waiting, approvals],
  ] as const) {
    it(`asks for ${count} more (${action}, ${progress.kind}, ${known?.required})`, () => {
      assert.equal(othersAfter(runOf(action, 'asking'), { subject, progress }, known), count)
    })
  }

  const noAnswer = new NoAnswerError()
  const broken = { code: 'internal-error', status: 500, detail: '' }
  const failure = new ProblemError(broken as Problem, undefined)
  const ended = new ProblemError({ ...broken, code: 'permission-denied', status: 403 } as Problem, undefined)
  const again = 'The order may have been approved anyway. You can safely try again: nothing happens twice.'
  for (const [phase, progress, message] of [
    ['asking', waiting, undefined],
    ['running', sending, undefined],
    ['running', waiting, undefined],
    ['running', { kind: 'retrying', failure }, { failure }],
    ['stopping', { kind: 'retrying', failure }, { line: 'Stopped. Waiting for the last answer.' }],
    ['done', waiting, { line: 'Stopped. The order was not approved.' }],
    ['done', { kind: 'unclear', failure: noAnswer }, { line: again }],
    ['done', { kind: 'unclear', failure }, { failure, line: again }],
    [
      'done',
      { kind: 'unclear', failure: ended },
      { failure: ended, line: 'The order may have been approved anyway.' },
    ],
    ['done', refused, undefined],
  ] as const) {
    it(`is ${message ? 'what has happened' : 'nothing'} (${phase}, ${progress.kind})`, () => {
      const run = runOf('approve', phase, [], progress)
      assert.deepEqual(messageOf(run, { subject, progress }), message)
    })
  }
})

describe('the reason', () => {
  for (const [phase, progress, isFixed] of [
    ['asking', waiting, false],
    ['running', sending, true],
    ['stopping', sending, true],
    ['done', unclear, true],
    ['done', invalid, false],
  ] as const) {
    it(`${isFixed ? 'stays' : 'can be changed'} (${phase}, ${progress.kind})`, () => {
      assert.equal(isReasonFixed(runOf('reject', phase, [], progress)), isFixed)
    })
  }
})

describe('the button that decides', () => {
  const withReason = (about: object) => ({ ...about, reason: 'Too dear.' })
  const many = { code: 'rate-limited', status: 429, detail: '' } as Problem
  const limited = { kind: 'refused', failure: new ProblemError(many, undefined) } as const
  for (const [what, action, phase, progress, now, name, does] of [
    ['approves', 'approve', 'asking', waiting, undefined, 'Approve', 'start'],
    ['rejects with the reason', 'reject', 'asking', waiting, undefined, 'Reject', withReason(subject)],
    ['does nothing while it is sent', 'approve', 'running', sending, undefined, 'Approving …', undefined],
    ['does nothing while it stops', 'reject', 'stopping', sending, undefined, 'Rejecting …', undefined],
    ['tries again', 'approve', 'done', waiting, undefined, 'Try again', 'start'],
    ['tries again after too many requests', 'approve', 'done', limited, undefined, 'Try again', 'start'],
    ['sends another reason', 'reject', 'done', waiting, undefined, 'Try again', withReason(subject)],
    ['repeats what may have counted', 'reject', 'done', unclear, undefined, 'Try again', 'start'],
    ['corrects the reason', 'reject', 'done', invalid, undefined, 'Reject', withReason(subject)],
    [
      'approves after another approval',
      'approve',
      'done',
      refused,
      changed({ modifiedBy: 'noor' }),
      'Approve',
      withReason({ ...changed({ modifiedBy: 'noor' }).order, etag: '"2"', documents: [] }),
    ],
    [
      'rejects after an approval by the same person',
      'reject',
      'done',
      refused,
      another,
      'Reject',
      withReason({ ...another.order, etag: '"2"', documents: [] }),
    ],
    [
      'approves another version, though the same person made it',
      'approve',
      'done',
      refused,
      dearer,
      'Approve this version',
      withReason({ ...dearer.order, etag: '"2"', documents: [] }),
    ],
  ] as const) {
    it(what, () => {
      const done: unknown[] = []
      const primary = primaryOf(
        runOf(action, phase, done),
        { subject, progress },
        now,
        'mara',
        (goOn, about) => goOn({ ...about, reason: 'Too dear.' }),
      )
      primary?.act()
      assert.deepEqual([primary?.name, done], [name, does === undefined ? [] : [does]])
    })
  }

  for (const [what, progress, now] of [
    ['after a refusal that another try would not change', refused, undefined],
    ['after the same person has approved', refused, another],
    ['once nothing can be done with the order', refused, rejected],
  ] as const) {
    it(`is missing ${what}`, () => {
      const goOn = () => assert.fail()
      assert.equal(primaryOf(runOf('approve', 'done'), { subject, progress }, now, 'mara', goOn), undefined)
    })
  }
})

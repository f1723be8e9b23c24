import { isPassing, NoAnswerError, problemOf } from '../../../api/problem.ts'
import { describeFailure } from '../../../ui/describe.ts'
import type { Order, VersionedOrder } from '../../order.ts'
import { nameOf, pending, words } from '../../states.ts'
import type { Deed } from '../actions.ts'
import { isWorthTrying, type Progress, type Subject } from '../decisions.ts'
import { stoppingWords } from '../words.ts'
import { changesOf } from './changes.ts'
import type { Run } from './run.ts'

/** What the dialog is called: the question, or how it ended. */
export function titleOf(
  deed: Deed,
  subject: Subject,
  progress: Progress,
  now: VersionedOrder | undefined,
): string {
  const done = words[deed.to].meaning
  if (now) return titleOfChange(deed, subject, progress, now)
  if (progress.kind !== 'refused' && progress.kind !== 'unclear') return `${deed.name} this order?`
  const { failure } = progress
  if (progress.kind === 'unclear') return titleOfDoubt(failure)
  if (problemOf(failure, 'order-not-found')) return 'This order no longer exists'
  if (problemOf(failure, 'permission-denied')) return `You can no longer ${deed.name.toLowerCase()} orders`
  if (problemOf(failure, 'self-approval')) return 'You cannot approve your own order'
  if (problemOf(failure, 'already-approved-by-you')) return 'You have already approved this order'
  return isWorthTrying(progress) ? 'That did not work' : `The order was not ${done}`
}

function titleOfChange(deed: Deed, subject: Subject, progress: Progress, { order }: VersionedOrder): string {
  const { status } = order
  const state = nameOf(status)
  if (status === pending && isSame(subject, order)) return 'This order has another approval'
  if (state === undefined || status === pending) return 'This order has changed'
  const isOwn = progress.kind === 'unclear' && state === deed.to
  return isOwn ? `This order is ${words[state].meaning}` : `This order is already ${words[state].meaning}`
}

/** Nothing of what is decided on is different. */
export function isSame(subject: Subject, order: Order): boolean {
  return changesOf({ ...subject, status: pending }, order).length === 0
}

function titleOfDoubt(failure: unknown): string {
  return failure instanceof NoAnswerError ? 'There was no answer' : 'There was no clear answer'
}

interface Words {
  title?: string
  detail: string
  more?: string
}

/** What is told of a decision that is not made yet, or not at all. */
export function wordsFor({ deed, phase, steps }: Run, progress: Progress): Words | undefined {
  if (phase === 'stopping') return { detail: stoppingWords(steps) }
  if (progress.kind === 'retrying') return describeFailure(progress.failure)
  if (progress.kind === 'unclear') return wordsForDoubt(deed, progress)
  if (progress.kind === 'waiting' && phase === 'done')
    return { detail: `Stopped. The order was not ${words[deed.to].meaning}.` }
  return progress.kind === 'refused' && !progress.now ? wordsForRefusal(deed, progress.failure) : undefined
}

/** What passes by itself needs no words of its own: the title says that there was no clear answer. */
function wordsForDoubt({ to }: Deed, progress: Progress & { kind: 'unclear' }): Words {
  const doubt = `The order may have been ${words[to].meaning} anyway.`
  const safe = isWorthTrying(progress) ? `${doubt} It is safe to try again: nothing happens twice.` : doubt
  return isPassing(progress.failure) ? { detail: safe } : { ...describeFailure(progress.failure), more: safe }
}

function wordsForRefusal({ to }: Deed, failure: unknown): Words {
  const done = words[to].meaning
  if (problemOf(failure, 'order-not-found')) return { detail: `It was not ${done}.` }
  if (problemOf(failure, 'permission-denied')) {
    return { detail: `The order was not ${done}. Your administrator can tell you more.` }
  }
  if (problemOf(failure, 'self-approval'))
    return { detail: 'You created it, so somebody else has to approve it.' }
  if (problemOf(failure, 'already-approved-by-you'))
    return { detail: 'Somebody else has to approve it, too.' }
  if (problemOf(failure, 'order-not-pending', 'precondition-failed', 'concurrency-conflict')) {
    return { detail: 'Somebody else has changed it. Its current state could not be read.' }
  }
  return describeFailure(failure)
}

import { isPassing, problemOf } from '../../../api/problem.ts'
import { missingOf } from '../../approvals.ts'
import type { Order, OrderApprovals, VersionedOrder } from '../../order.ts'
import { failureOf } from '../../outbox.ts'
import { allows, nameOf, words } from '../../states.ts'
import { actions, doneWord, stateAfter } from '../actions.ts'
import { changesOf } from '../changes.ts'
import { isWorthTrying, mayTryAgain, type Step, type Subject } from '../decisions.ts'
import { subjectOf } from '../sign.ts'
import { stoppingWords } from '../words.ts'
import type { Run } from './run.ts'

const isUnclear = ({ progress }: Step) => progress.kind === 'unclear'

export const isRunning = ({ phase }: Pick<Run, 'phase'>) => phase === 'running' || phase === 'stopping'

/** Whether the reason stays as it is, because a request with it may take effect. */
export const isReasonFixed = (run: Run) => isRunning(run) || run.steps.some(isUnclear)

/** How many more people have to approve the order after this person. */
export function othersAfter(
  { action }: Run,
  { progress }: Step,
  approvals: OrderApprovals | undefined,
): number {
  const isAsked = action === 'approve' && progress.kind !== 'refused'
  return isAsked && approvals ? missingOf(approvals) - 1 : 0
}

/** The message about a decision without effect; if `failure` is missing, the line says it all. */
export function messageOf(
  { action, phase, steps }: Run,
  { progress }: Step,
): { failure?: unknown; line?: string } | undefined {
  if (phase === 'stopping') return { line: stoppingWords(steps) }
  if (progress.kind === 'retrying') return { failure: progress.failure }
  if (progress.kind === 'unclear') {
    const safe = isWorthTrying(progress) ? ' You can safely try again: nothing happens twice.' : ''
    const line = `The order may have been ${doneWord(action)} anyway.${safe}`
    return isPassing(progress.failure) ? { line } : { failure: progress.failure, line }
  }
  if (progress.kind !== 'waiting' || phase !== 'done') return undefined
  return { line: `Stopped. The order was not ${doneWord(action)}.` }
}

/**
 * The order after someone else's change, which a try found or the live list reported (`known`) while the
 * person was reading the question. If an answer never came, the change may be the person's own decision.
 */
export function otherVersion(
  phase: Run['phase'],
  { subject, progress }: Step,
  known: VersionedOrder | undefined,
): VersionedOrder | undefined {
  if (progress.kind === 'refused') return progress.now
  const isOther = subject.etag !== undefined && known?.etag !== undefined && known.etag !== subject.etag
  const mayShow = phase === 'asking' || progress.kind === 'unclear'
  return mayShow && isOther ? known : undefined
}

/** The question, or how it ended. */
export function titleOf(
  { action }: Run,
  { subject, progress }: Step,
  now: VersionedOrder | undefined,
): string {
  if (now && allows(now.order.status, action)) {
    const isSame = changesOf(subject, now).length === 0
    return isSame ? 'This order has another approval' : 'This order has changed'
  }
  if (now) {
    const state = nameOf(now.order.status)
    if (state === undefined) return 'This order has changed'
    const isOwn = progress.kind === 'unclear' && state === stateAfter(action)
    return `This order is ${isOwn ? '' : 'already '}${words[state].meaning}`
  }
  if (progress.kind === 'unclear') return 'There was no clear answer'
  if (progress.kind !== 'refused') return `${actions[action].name} this order?`
  return `The order was not ${doneWord(action)}`
}

/** Such as "Approved". `isSame`: only an approval was given, and nothing about the order is different. */
export function changeInWords({ action }: Run, { status }: Order, isSame: boolean): string {
  const state = nameOf(status)
  if (state !== undefined && !allows(status, action)) return state
  return isSame ? 'Approval given' : 'Changed'
}

interface Primary {
  name: string
  act(): void
}

/**
 * The button that decides, if the order still allows it. `give` adds the reason to the subject, if there is
 * one, and continues with that.
 */
export function primaryOf(
  run: Run,
  step: Step,
  now: VersionedOrder | undefined,
  userName: string,
  give: (goOn: (subject: Subject) => void, about: Subject) => void,
): Primary | undefined {
  const { action, phase } = run
  const { name, doing, reason } = actions[action]
  const { subject, progress } = step
  if (now) {
    const { order } = now
    const isSame = changesOf(subject, now).length === 0
    const isOwn = isSame && action === 'approve' && order.modifiedBy === userName
    if (!allows(order.status, action) || isOwn) return undefined
    const next = subjectOf(now, { isSigned: subject.signedVersion !== undefined })
    const act = () => give(run.startInstead, next)
    return { name: isSame ? name : `${name} this version`, act }
  }
  const first = reason ? () => give(run.startInstead, subject) : run.start
  if (phase === 'asking') return { name, act: first }
  if (phase !== 'done') return { name: doing, act: () => undefined }
  // A decision that may have taken effect is sent again unchanged. Otherwise the reason may have been edited
  // since.
  if (mayTryAgain(progress)) return { name: 'Try again', act: isUnclear(step) ? run.start : first }
  return problemOf(failureOf(progress), 'validation-failed') ? { name, act: first } : undefined
}

import { type ProblemCode, problemOf } from '../../api/problem.ts'
import { type ActionName, allows, nameOf, type StateName, stateNames, words } from '../states.ts'
import { doneWord, stateAfter } from './actions.ts'
import type { Progress, Step } from './decisions.ts'

/** How a decision about one order ended; a state is the one in which someone else had put it. */
const endings = [
  'done',
  'given',
  ...stateNames,
  'own',
  'twice',
  'changed',
  'gone',
  'denied',
  'failed',
  'unclear',
  'untouched',
] as const
export type Ending = (typeof endings)[number]

/** Undefined while it is under way. */
export function endingOf(progress: Progress, action: ActionName): Ending | undefined {
  if (progress.kind === 'decided') return progress.missing === 0 ? 'done' : 'given'
  if (progress.kind === 'unclear') return progress.kind
  if (progress.kind === 'waiting') return 'untouched'
  if (progress.kind !== 'refused') return undefined
  const { failure, now } = progress
  const status = now?.order.status ?? problemOf(failure, 'order-not-pending')?.currentStatus
  if (status !== undefined && !allows(status, action)) return nameOf(status) ?? 'changed'
  if (status !== undefined) return 'changed'
  const code = problemOf(failure)?.code
  return (code && refusals[code]) ?? 'failed'
}

const refusals: Partial<Record<ProblemCode, Ending>> = {
  'order-not-found': 'gone',
  'permission-denied': 'denied',
  'self-approval': 'own',
  'already-approved-by-you': 'twice',
  'precondition-failed': 'changed',
  'concurrency-conflict': 'changed',
}

/** With these endings this person still has something to do about the order. */
const unsettled: readonly (Ending | undefined)[] = [
  'changed',
  'denied',
  'failed',
  'unclear',
  'untouched',
  undefined,
]
export const isSettled = (progress: Progress, action: ActionName) =>
  !unsettled.includes(endingOf(progress, action))

interface Outcome {
  /** About one order. */
  why: string
  /** About several. */
  sum(count: number): string
}

/** What is said about each ending of each action; `done` is the action's participle. */
function outcomeOf(ending: Ending, action: ActionName): Outcome {
  const done = doneWord(action)
  const outcomes: Record<Exclude<Ending, StateName>, Outcome> = {
    done: { why: `It is ${done}.`, sum: (count) => `${count} ${done}.` },
    given: {
      why: 'It has your approval and needs more.',
      sum: (count) => `${count} ${count === 1 ? 'has' : 'have'} your approval but ${needs(count)} more.`,
    },
    own: {
      why: `You created it, so someone else must ${action} it.`,
      sum: (count) => `You created ${count} of these.`,
    },
    twice: {
      why: 'You had already approved it. Someone else must approve it as well.',
      sum: (count) => `You had already approved ${count}.`,
    },
    changed: {
      why: `It has changed and was not ${done}.`,
      sum: (count) => `${count} ${count === 1 ? 'has' : 'have'} changed.`,
    },
    gone: {
      why: 'It no longer exists.',
      sum: (count) => `${count} no longer ${count === 1 ? 'exists' : 'exist'}.`,
    },
    denied: {
      why: `Your role no longer lets you ${action} orders.`,
      sum: (count) => `${count} not ${done}: your role no longer lets you ${action} orders.`,
    },
    failed: { why: `It was not ${done}.`, sum: (count) => `${count} failed.` },
    unclear: {
      why: `There was no clear answer. It may have been ${done}.`,
      sum: (count) => `${count} may have been ${done}: there was no clear answer.`,
    },
    untouched: { why: `It was not ${done}.`, sum: (count) => `${count} not sent.` },
  }
  if (!isState(ending)) return outcomes[ending]
  const what =
    ending === stateAfter(action) ? `already ${words[ending].meaning}` : `${words[ending].meaning} meanwhile`
  return { why: `It was ${what}.`, sum: (count) => `${count} ${count === 1 ? 'was' : 'were'} ${what}.` }
}

const needs = (count: number) => (count === 1 ? 'needs' : 'need')

function isState(ending: Ending): ending is StateName {
  return ending in words
}

/** Why an order is not decided on, as a sentence. */
export function whyNot(progress: Progress, action: ActionName): string {
  return outcomeOf(endingOf(progress, action) ?? 'untouched', action).why
}

/** As "10 approved. 1 was already approved." */
export function summaryOf(steps: readonly Step[], action: ActionName): string {
  const reached = steps.map(({ progress }) => endingOf(progress, action))
  const sums = endings.flatMap((ending) => {
    const { length } = reached.filter((other) => other === ending)
    return length === 0 ? [] : outcomeOf(ending, action).sum(length)
  })
  return sums.join(' ')
}

/** Whether nobody else is needed. */
export const isDone = ({ progress }: Step) => progress.kind === 'decided' && progress.missing === 0

/** What is still needed after this person's approval; undefined: that could not be read. */
export function neededWords(missing: number | undefined): string {
  if (missing === undefined) return 'more approvals may be needed'
  return `${missing} more ${missing === 1 ? 'approval' : 'approvals'} needed`
}

/** While nothing more is sent: what was sent cannot be undone. */
export function stoppingWords(steps: readonly Step[]): string {
  const count = steps.filter(({ progress }) => progress.kind === 'sending').length
  return `Stopped. Waiting for the last ${count > 1 ? 'answers' : 'answer'}.`
}

import { type ProblemCode, problemOf } from '../../api/problem.ts'
import { describeFailure } from '../../ui/describe.ts'
import { formatCount, formatOrders } from '../../ui/format.ts'
import type { Order } from '../order.ts'
import { type ActionName, allows, nameOf, type StateName, stateNames, words } from '../states.ts'
import { actions, doneWord, stateAfter } from './actions.ts'
import type { Progress, Snapshot, Step } from './decisions.ts'

/** How a decision about one order ended. A state means that someone else had put the order into it. */
const endings = [
  'done',
  'given',
  ...stateNames,
  'own',
  'twice',
  'role',
  'unsigned',
  'outdated',
  'changed',
  'gone',
  'denied',
  'failed',
  'unclear',
  'untouched',
] as const
export type Ending = (typeof endings)[number]

/** Undefined while it is running. */
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
  'role-needed': 'role',
  'passkey-needed': 'unsigned',
  'decision-signature-invalid': 'outdated',
  'precondition-failed': 'changed',
  'concurrency-conflict': 'changed',
}

/** Endings after which this person still has to do something about the order. */
const unsettled: readonly (Ending | undefined)[] = [
  'changed',
  'outdated',
  'denied',
  'failed',
  'unclear',
  'untouched',
  undefined,
]
export const isSettled = (progress: Progress, action: ActionName) =>
  !unsettled.includes(endingOf(progress, action))

interface Outcome {
  /** The sentence about one order. */
  why: string
  /** The sentence about several. */
  sum(count: number): string
}

/** The words for each ending of each action; `done` is the action's participle. */
function outcomeOf(ending: Ending, action: ActionName): Outcome {
  const done = doneWord(action)
  const outcomes: Record<Exclude<Ending, StateName>, Outcome> = {
    done: { why: `It is ${done}.`, sum: (count) => `${count} ${done}.` },
    given: {
      why: 'You approved it. It needs another approval.',
      sum: (count) => `You approved ${formatOrders(count)} that ${needs(count)} another approval.`,
    },
    own: {
      why: `You or one of your services created it, so someone else must ${action} it.`,
      sum: (count) => `You or one of your services created ${count} of these.`,
    },
    twice: {
      why: 'You had already approved it. Someone else must approve it as well.',
      sum: (count) => `You had already approved ${count}.`,
    },
    role: {
      why: 'It also needs someone with a role that you do not have.',
      sum: (count) => `${count} also ${needs(count)} someone with a role that you do not have.`,
    },
    unsigned: {
      why: 'Your approval must be signed with a passkey.',
      sum: (count) => `${count} must be signed with a passkey.`,
    },
    outdated: {
      why: `The signature no longer fits, because the order changed or five minutes have passed. It was not ${done}.`,
      sum: (count) => `${count} not ${done}: the signature no longer fits.`,
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
    ending === stateAfter(action)
      ? `already ${words[ending].meaning}`
      : `${words[ending].meaning} in the meantime`
  return { why: `It was ${what}.`, sum: (count) => `${count} ${count === 1 ? 'was' : 'were'} ${what}.` }
}

const needs = (count: number) => (count === 1 ? 'needs' : 'need')

function isState(ending: Ending): ending is StateName {
  return ending in words
}

/** Someone else's change of the order, as in "Already approved" or "Changed". */
export function otherDecision(
  progress: Progress,
  action: ActionName,
): { what: string; order: Order } | undefined {
  const order = progress.kind === 'refused' ? progress.now?.order : undefined
  if (order === undefined) return undefined
  const state = allows(order.status, action) ? undefined : nameOf(order.status)
  if (state === undefined) return { what: 'Changed', order }
  return { what: state === stateAfter(action) ? `Already ${words[state].meaning}` : state, order }
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

/** Whether the order needs no other approval. */
export const isDone = ({ progress }: Step) => progress.kind === 'decided' && progress.missing === 0

/** The approvals still needed after this person's. `missing` is undefined if that could not be read. */
export function neededWords(missing: number | undefined): string {
  if (missing === undefined) return 'more approvals may be needed'
  return `${missing} more ${missing === 1 ? 'approval' : 'approvals'} needed`
}

/** Shown while stopping: nothing more is sent, but requests already sent cannot be undone. */
export function stoppingWords(steps: readonly Step[]): string {
  const count = steps.filter(({ progress }) => progress.kind === 'sending').length
  return `Stopped. Waiting for the last ${count > 1 ? 'answers' : 'answer'}.`
}

/** The question about several orders, or how it ended. */
export function titleOfSeveral(action: ActionName, phase: Snapshot['phase'], steps: readonly Step[]): string {
  const all = formatCount(steps.length)
  if (phase === 'asking') return `${actions[action].name} ${all} orders?`
  if (phase !== 'done') return `Approving ${all} orders`
  const count = steps.filter(isDone).length
  return `${count === steps.length ? '' : `${formatCount(count)} of `}${all} orders ${doneWord(action)}`
}

/** How many orders have a final result. */
export const settledOf = (steps: readonly Step[]) =>
  steps.filter(({ progress: { kind } }) => kind === 'decided' || kind === 'refused').length

/** Changes at most four times, because announcing each order would be too much. */
export function spokenOf(settled: number, all: number): string {
  return `${formatCount(settled - (settled % Math.ceil(all / 4)))} of ${formatCount(all)} done.`
}

/** Why it takes longer than it should. */
export function troubleOf(phase: Snapshot['phase'], steps: readonly Step[]): string | undefined {
  if (phase === 'stopping') return stoppingWords(steps)
  const retrying = steps.map(({ progress }) => progress).find(({ kind }) => kind === 'retrying')
  if (retrying?.kind !== 'retrying') return undefined
  const { title, detail } = describeFailure(retrying.failure)
  return `${title}. ${detail}`
}

/** As "One decision" or "6 decisions". */
export const decisionsInWords = (count: number) =>
  count === 1 ? 'One decision' : `${formatCount(count)} decisions`

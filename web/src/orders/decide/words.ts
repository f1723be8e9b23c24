import { type ProblemCode, problemOf } from '../../api/problem.ts'
import { describeFailure } from '../../ui/describe.ts'
import { formatCount, formatOrders } from '../../ui/format.ts'
import type { Order } from '../order.ts'
import { type ActionName, allows, nameOf, type StateName, words } from '../states.ts'
import { actions, doneWord, stateAfter } from './actions.ts'
import type { Progress, Snapshot, Step } from './decisions.ts'

/** How a decision about one order ended. A state means that someone else had put the order into it. */
export type Ending =
  | StateName
  | ('done' | 'given' | 'own' | 'twice' | 'role' | 'unsigned' | 'outdated')
  | ('changed' | 'gone' | 'denied' | 'failed' | 'unclear' | 'untouched')

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

/** Why an order is not decided on, as a sentence. */
export function whyNot(progress: Progress, action: ActionName): string {
  const ending = endingOf(progress, action) ?? 'untouched'
  const done = doneWord(action)
  if (isState(ending)) {
    const { meaning } = words[ending]
    return ending === stateAfter(action) ? `It was already ${meaning}.` : `It was ${meaning} in the meantime.`
  }
  const sentences: Record<Exclude<Ending, StateName>, string> = {
    done: `It is ${done}.`,
    given: 'You approved it. It needs another approval.',
    own: `You or one of your services created it, so someone else must ${action} it.`,
    twice: 'You had already approved it. Someone else must approve it as well.',
    role: 'It also needs someone with a role that you do not have.',
    unsigned: 'Your approval must be signed with a passkey.',
    outdated: `The signature no longer fits, because the order changed or five minutes have passed. It was not ${done}.`,
    changed: `It has changed and was not ${done}.`,
    gone: 'It no longer exists.',
    denied: `Your role no longer lets you ${action} orders.`,
    failed: `It was not ${done}.`,
    unclear: `There was no clear answer. It may have been ${done}.`,
    untouched: `It was not ${done}.`,
  }
  return sentences[ending]
}

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

const isGiven = ({ progress }: Step) => progress.kind === 'decided' && progress.missing !== 0

/** As "You approved 8 orders. Each needs one more approval." */
function givenInWords(steps: readonly Step[]): string {
  const given = steps.filter(isGiven)
  const missing = new Set(given.map(({ progress }) => progress.kind === 'decided' && progress.missing))
  const [count, ...others] = [...missing]
  const isKnown = typeof count === 'number' && others.length === 0
  const needs = isKnown && count === 1 ? 'one more approval' : `${isKnown ? `${count} ` : ''}more approvals`
  return `You approved ${formatOrders(given.length)}. ${given.length === 1 ? 'It' : 'Each'} needs ${needs}.`
}

/** As "10 approved. 2 not approved by you: the list says why." */
export function summaryOf(steps: readonly Step[], action: ActionName): string {
  const reached = steps.map(({ progress }) => endingOf(progress, action))
  const numberOf = (ending: Ending) => reached.filter((each) => each === ending).length
  const [done, given] = [numberOf('done'), numberOf('given')]
  const [unclear, untouched] = [numberOf('unclear'), numberOf('untouched')]
  const others = steps.length - done - given - unclear - untouched
  const sums: [count: number, sentence: string][] = [
    [done, `${done} ${doneWord(action)}.`],
    [given, givenInWords(steps)],
    [others, `${others} not ${doneWord(action)} by you: the list says why.`],
    [unclear, `${unclear} may have been ${doneWord(action)}: there was no clear answer.`],
    [untouched, `${untouched} not sent.`],
  ]
  return sums
    .filter(([count]) => count > 0)
    .map(([, sentence]) => sentence)
    .join(' ')
}

/** Whether this person's decision counts, though the order may need other approvals. */
export const isDecided = ({ progress }: Step) => progress.kind === 'decided'

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
  if (phase !== 'done') return `${actions[action].doing.replace(' …', '')} ${all} orders`
  const count = steps.filter(isDone).length
  const given = steps.filter(isGiven).length
  if (count === 0 && given > 0) return `Your approval of ${formatOrders(given)} is recorded`
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

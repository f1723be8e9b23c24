import { problemOf } from '../../api/problem.ts'
import { approved } from '../states.ts'
import type { Progress, Step } from './approvals.ts'

export const isApproved = ({ progress }: Step) => progress.kind === 'approved'

export type Ending =
  | 'approved'
  | 'already'
  | 'changed'
  | 'gone'
  | 'denied'
  | 'failed'
  | 'unclear'
  | 'untouched'

/** What became of one order; undefined while it is under way. */
export function endingOf(progress: Progress): Ending | undefined {
  if (progress.kind === 'approved' || progress.kind === 'unclear') return progress.kind
  if (progress.kind === 'waiting') return 'untouched'
  if (progress.kind !== 'refused') return undefined
  const { failure, now } = progress
  if (now) return now.order.status === approved ? 'already' : 'changed'
  if (problemOf(failure, 'order-not-found')) return 'gone'
  if (problemOf(failure, 'permission-denied')) return 'denied'
  const notPending = problemOf(failure, 'order-not-pending')
  if (notPending) return notPending.currentStatus === approved ? 'already' : 'changed'
  return problemOf(failure, 'precondition-failed', 'concurrency-conflict') ? 'changed' : 'failed'
}

const sentences: Record<Ending, [one: string, several: string]> = {
  approved: ['is approved now', 'are approved now'],
  already: ['was already approved', 'were already approved'],
  changed: ['has changed and was not approved', 'have changed and were not approved'],
  gone: ['no longer exists', 'no longer exist'],
  denied: ['was not approved because you no longer may', 'were not approved because you no longer may'],
  failed: ['failed', 'failed'],
  unclear: [
    'had no clear answer and may have been approved',
    'had no clear answer and may have been approved',
  ],
  untouched: ['was left as it was', 'were left as they were'],
}

/** As "10 are approved now, 1 was already approved." */
export function summaryOf(steps: readonly Step[]): string {
  const endings = steps.map(({ progress }) => endingOf(progress))
  const parts = (Object.keys(sentences) as Ending[]).flatMap((ending) => {
    const count = endings.filter((other) => other === ending).length
    return count === 0 ? [] : [`${count} ${sentences[ending][count === 1 ? 0 : 1]}`]
  })
  return `${parts.join(', ')}.`
}

/** While nothing more is sent: what was sent cannot be taken back. */
export function stoppingWords(steps: readonly Step[]): string {
  const count = steps.filter(({ progress }) => progress.kind === 'sending').length
  return `Stopped. Waiting for the last ${count > 1 ? 'answers' : 'answer'}.`
}

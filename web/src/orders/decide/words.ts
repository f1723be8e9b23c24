import { problemOf } from '../../api/problem.ts'
import { nameOf, type StateName } from '../states.ts'
import type { Progress, Step } from './decisions.ts'

/** Whether nobody else is needed. */
export const isApproved = ({ progress }: Step) => progress.kind === 'decided' && progress.missing === 0

export type Ending =
  | 'approved'
  | 'given'
  | 'already'
  | 'rejected'
  | 'withdrawn'
  | 'own'
  | 'twice'
  | 'changed'
  | 'gone'
  | 'denied'
  | 'failed'
  | 'unclear'
  | 'untouched'

/** Of an order that somebody else was faster with. */
const meanwhile: Record<StateName, Ending> = {
  Pending: 'changed',
  Approved: 'already',
  Rejected: 'rejected',
  Withdrawn: 'withdrawn',
}

/** What became of one approval; undefined while it is under way. */
export function endingOf(progress: Progress): Ending | undefined {
  if (progress.kind === 'decided') return progress.missing === 0 ? 'approved' : 'given'
  if (progress.kind === 'unclear') return progress.kind
  if (progress.kind === 'waiting') return 'untouched'
  if (progress.kind !== 'refused') return undefined
  return endingOfRefusal(progress)
}

function endingOfRefusal({ failure, now }: Progress & { kind: 'refused' }): Ending {
  const status = now?.order.status ?? problemOf(failure, 'order-not-pending')?.currentStatus
  if (status !== undefined) return meanwhile[nameOf(status) ?? 'Pending']
  if (problemOf(failure, 'order-not-found')) return 'gone'
  if (problemOf(failure, 'permission-denied')) return 'denied'
  if (problemOf(failure, 'self-approval')) return 'own'
  if (problemOf(failure, 'already-approved-by-you')) return 'twice'
  return problemOf(failure, 'precondition-failed', 'concurrency-conflict') ? 'changed' : 'failed'
}

const sentences: Record<Ending, [one: string, several: string]> = {
  approved: ['is approved now', 'are approved now'],
  given: ['has your approval and needs more', 'have your approval and need more'],
  already: ['was already approved', 'were already approved'],
  rejected: ['was rejected in the meantime', 'were rejected in the meantime'],
  withdrawn: ['was withdrawn in the meantime', 'were withdrawn in the meantime'],
  own: ['needs somebody else because you created it', 'need somebody else because you created them'],
  twice: ['already had your approval', 'already had your approval'],
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

/** What is still needed after this person's approval; undefined: that could not be read. */
export function neededWords(missing: number | undefined): string {
  if (missing === undefined) return 'more approvals may be needed'
  return `${missing} more ${missing === 1 ? 'approval' : 'approvals'} needed`
}

/** While nothing more is sent: what was sent cannot be taken back. */
export function stoppingWords(steps: readonly Step[]): string {
  const count = steps.filter(({ progress }) => progress.kind === 'sending').length
  return `Stopped. Waiting for the last ${count > 1 ? 'answers' : 'answer'}.`
}

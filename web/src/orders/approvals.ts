import type { ProblemCode } from '../api/problem.ts'
import { formatCount } from '../ui/format.ts'
import type { OrderApprovals } from './order.ts'

type Counted = Pick<OrderApprovals, 'required' | 'given'>

/** How many more approvals an order needs. */
export function missingOf({ required, given }: Counted): number {
  return Math.max(0, required - given.length)
}

/** As "1 of 2". */
export function givenWords({ required, given }: Counted): string {
  return `${formatCount(given.length)} of ${formatCount(required)}`
}

const reasons: Partial<Record<ProblemCode, string>> = {
  'self-approval': 'not you: you created it',
  'already-approved-by-you': 'not you: you have approved it already',
  'permission-denied': 'not you: your role does not include approving orders',
}

/** What a pending order still needs, and whether it is for this person to give. */
export function needWords(approvals: OrderApprovals): string {
  const { given, mayApprove, reason } = approvals
  const missing = missingOf(approvals)
  const count = missing === 1 ? 'one' : formatCount(missing)
  const need = `Needs ${count}${given.length === 0 ? '' : ' more'}`
  if (mayApprove) return `${need}, ${missing === 1 ? 'which' : 'one of which'} may be yours.`
  return `${need}, ${reasons[reason as ProblemCode] ?? 'not you'}.`
}

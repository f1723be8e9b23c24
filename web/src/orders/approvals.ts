import { isolated } from '../../../rules/isolate.ts'
import type { ProblemCode } from '../api/problem.ts'
import { formatCount } from '../ui/format.ts'
import type { OrderApprovals } from './order.ts'

type Counted = Pick<OrderApprovals, 'required' | 'given'>

export function missingOf({ required, given }: Counted): number {
  return Math.max(0, required - given.length)
}

/** As "1 of 2". */
export function givenWords({ required, given }: Counted): string {
  return `${formatCount(given.length)} of ${formatCount(required)}`
}

const reasons: Partial<Record<ProblemCode, string>> = {
  'self-approval': 'You or one of your services created this order, so someone else must approve it.',
  'already-approved-by-you': 'You already approved it.',
  'passkey-needed': 'You need a passkey to sign it. You can add one in My account.',
  'permission-denied': 'Your role does not include approving orders.',
}

/** Approvals that a pending order still needs, and whether this person can give one. */
export function needWords(approvals: OrderApprovals): string {
  const { given, role, mayApprove, mayApproveFor, reason } = approvals
  const missing = missingOf(approvals)
  const count = missing === 1 ? 'one' : formatCount(missing)
  const noun = missing === 1 ? 'approval' : 'approvals'
  const need = `Needs ${count}${given.length === 0 ? '' : ' more'} ${noun}`
  if (mayApprove) {
    const yours = missing === 1 ? 'Needs your approval.' : `${need}, one of them yours.`
    return mayApproveFor ? `${yours} You approve for ${isolated(mayApproveFor.name)}.` : yours
  }
  if (reason === 'role-needed') return `${need}, from someone with the role ${role}.`
  return `${need}. ${reasons[reason as ProblemCode] ?? 'You cannot approve it.'}`
}

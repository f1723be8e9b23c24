import { isolated } from '../../../../rules/isolate.ts'
import { useAbsentPersons } from '../../auth/absence.ts'
import { useMay } from '../../auth/session.ts'
import type { OrderApprovals } from '../order.ts'
import type { ActionName } from '../states.ts'

interface Known {
  absent: readonly string[]
  /** Whether the person may approve in their own right. */
  isOwn: boolean
  approvals?: Pick<OrderApprovals, 'mayApproveFor'> | undefined
}

/** In whose name the person would act on one order or, without its approvals, on any. */
export function useInWhoseName(action: ActionName, approvals?: Known['approvals']): string {
  return inWhoseName(action, { absent: useAbsentPersons(), isOwn: useMay('Orders.Approve'), approvals })
}

export function inWhoseName(action: ActionName, { absent, isOwn, approvals }: Known): string {
  const isApproval = action === 'approve'
  const known = isApproval ? approvals?.mayApproveFor?.name : isOwn ? undefined : absent[0]
  if (known !== undefined) return `for ${isolated(known)}`
  if (!isApproval || approvals || absent.length === 0) return 'in your name'
  const others = `for ${absent.map(isolated).join(' or ')}`
  return isOwn ? `in your name if you can, otherwise ${others}` : others
}

import { useQuery } from '@tanstack/react-query'
import { orderTransitions } from '../../../../client/src/facts.ts'
import { useSession, useUser } from '../../auth/session.ts'
import type { OrderEvent, VersionedOrder } from '../order.ts'
import { approvalsQuery } from '../queries.ts'
import { type ActionName, actionNames, allows } from '../states.ts'
import { useIsOnItsWay } from './sending.ts'

/** What this person may do; nothing until that is known, so that no button is shown and goes away. */
export function usePossible(shown: VersionedOrder | undefined, events: readonly OrderEvent[]): ActionName[] {
  const user = useUser()
  const session = useSession()
  const id = shown?.order.id ?? ''
  const { data: approvals } = useQuery({ ...approvalsQuery(id), enabled: false })
  const isOnItsWay = useIsOnItsWay(id)
  if (shown === undefined || session.kind !== 'signed-in' || isOnItsWay) return []
  const isMeant: Record<(typeof orderTransitions)[ActionName]['by'], boolean> = {
    approver: approvals?.mayApprove === true,
    anyone: approvals !== undefined,
    creator: events.some(({ kind, byId }) => kind === 'created' && byId === user.id),
  }
  return actionNames.filter((action) => {
    const { permission, by } = orderTransitions[action]
    return session.permissions.includes(permission) && isMeant[by] && allows(shown.order.status, action)
  })
}

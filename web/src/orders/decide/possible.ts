import { useQuery } from '@tanstack/react-query'
import { useMay, useUser } from '../../auth/session.ts'
import type { OrderEvent, VersionedOrder } from '../order.ts'
import { approvalsQuery } from '../queries.ts'
import { type ActionName, actionNames, allows } from '../states.ts'
import { useIsOnItsWay } from './sending.ts'

/**
 * What this person may do; nothing while that is not known. Otherwise a button would be pressed and go away.
 */
export function usePossible(shown: VersionedOrder | undefined, events: readonly OrderEvent[]): ActionName[] {
  const user = useUser()
  const mayDecide = useMay('Orders.Approve')
  const mayCreate = useMay('Orders.Create')
  const id = shown?.order.id ?? ''
  const { data: approvals } = useQuery({ ...approvalsQuery(id), enabled: false })
  const isOnItsWay = useIsOnItsWay(id)
  if (shown === undefined || isOnItsWay) return []
  const isCreator = events.some(({ kind, byId }) => kind === 'created' && byId === user.id)
  const offers: Record<ActionName, boolean> = {
    approve: mayDecide && approvals?.mayApprove === true,
    reject: mayDecide && approvals !== undefined,
    withdraw: mayCreate && isCreator,
  }
  return actionNames.filter((action) => offers[action] && allows(shown.order.status, action))
}

import { useQuery } from '@tanstack/react-query'
import { useMay, useUser } from '../../auth/session.ts'
import type { OrderEvent, VersionedOrder } from '../order.ts'
import { approvalsQuery } from '../queries.ts'
import { pending } from '../states.ts'
import type { DeedName } from './actions.ts'
import { useIsOnItsWay } from './sending.ts'

/** Nothing while it is not known yet: what is offered and taken away again would be pressed in between. */
export function usePossible(shown: VersionedOrder | undefined, events: readonly OrderEvent[]): DeedName[] {
  const user = useUser()
  const mayDecide = useMay('Orders.Approve')
  const mayCreate = useMay('Orders.Create')
  const id = shown?.order.id ?? ''
  const { data: approvals } = useQuery({ ...approvalsQuery(id), enabled: false })
  const isOnItsWay = useIsOnItsWay(id)
  if (shown?.order.status !== pending || isOnItsWay) return []
  const isCreator = events.some(({ kind, byId }) => kind === 'created' && byId === user.id)
  const offers: Record<DeedName, boolean> = {
    approve: mayDecide && approvals?.mayApprove === true,
    reject: mayDecide && approvals !== undefined,
    withdraw: mayCreate && isCreator,
  }
  return (Object.keys(offers) as DeedName[]).filter((deed) => offers[deed])
}

import { useQuery } from '@tanstack/react-query'
import { orderTransitions } from '../../../../client/src/facts.ts'
import { useMayDecide } from '../../auth/absence.ts'
import { useMay, useUser } from '../../auth/session.ts'
import { online } from '../../ui/online.ts'
import { needWords } from '../approvals.ts'
import type { OrderEvent, VersionedOrder } from '../order.ts'
import { approvalsQuery } from '../queries.ts'
import { type ActionName, actionNames, allows, shownAs } from '../states.ts'
import type { Subject } from './decisions.ts'
import { useOnItsWay } from './sending.ts'
import { subjectOf } from './sign.ts'

export interface Choices {
  /** The order as a decision is about it; undefined while it is loading. */
  subject: Subject | undefined
  /**
   * The actions that this person may take. Empty until that is known, so that no button appears only to
   * disappear.
   */
  possible: readonly ActionName[]
  /** Why the person cannot take an action now, as a sentence. Undefined if they can. */
  whyNot(action: ActionName): string | undefined
}

export function useChoices(
  shown: VersionedOrder | undefined,
  events: readonly OrderEvent[] | undefined,
): Choices {
  const user = useUser()
  const isOnline = online.use()
  const mayDecide = useMayDecide()
  const mayCreate = useMay('Orders.Create')
  const id = shown?.order.id ?? ''
  const { data: approvals } = useQuery({ ...approvalsQuery(id), enabled: false })
  const isOnItsWay = useOnItsWay().has(id)
  function whyNot(action: ActionName): string | undefined {
    if (shown === undefined || approvals === undefined || events === undefined) {
      return isOnline ? 'The order is still loading.' : 'You are offline, and this order is not loaded yet.'
    }
    const { status } = shown.order
    if (isOnItsWay) return 'You have already decided this order.'
    if (!allows(status, action)) return `This order is ${shownAs(status).word.toLowerCase()}.`
    const { permission, by } = orderTransitions[action]
    const isAllowed = permission === 'Orders.Approve' ? mayDecide : mayCreate
    if (!isAllowed) return `Your role does not let you ${action} orders.`
    if (by === 'approver' && !approvals.mayApprove) return needWords(approvals)
    const isCreator = events.some(({ kind, byId }) => kind === 'created' && byId === user.id)
    return by === 'creator' && !isCreator ? `Only the creator can ${action} an order.` : undefined
  }
  const subject = shown && subjectOf(shown, { isSigned: approvals?.passkey })
  return { subject, possible: actionNames.filter((action) => whyNot(action) === undefined), whyNot }
}

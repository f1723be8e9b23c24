import { useUser } from '../../auth/session.ts'
import { formatAgo } from '../../ui/format.ts'
import { useNow } from '../../ui/moment.tsx'
import { Name } from '../../ui/name.tsx'
import { Note } from '../../ui/note.tsx'
import { useIsOnItsWay } from '../decide/sending.ts'
import type { Order } from '../order.ts'
import { nameOf, pending, words } from '../states.ts'

/** Who has decided about an order that no longer waits. Nothing where there is something to decide. */
export function Meanwhile({ order, wasPending }: { order: Order; wasPending: boolean }) {
  const { userName } = useUser()
  const now = useNow()
  const isOnItsWay = useIsOnItsWay(order.id)
  const { status, modifiedBy, updatedAtUtc } = order
  if (isOnItsWay) return <Note kind="waiting" title="Your decision about this order is on its way." />
  const state = nameOf(status)
  if (status === pending || state === undefined) return null
  const isOwn = modifiedBy === userName
  return (
    <Note kind="waiting" role="status">
      <strong>
        {isOwn ? 'You have ' : <Name of={modifiedBy ?? 'Somebody'} />}
        {isOwn ? '' : ' has '}
        {words[state].meaning} this order
        {!isOwn && wasPending ? ' in the meantime' : ''}
        {updatedAtUtc !== null && `, ${formatAgo(updatedAtUtc, now)}`}.
      </strong>
      <p>There is nothing left to decide.</p>
    </Note>
  )
}

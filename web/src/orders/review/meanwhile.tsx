import { Note } from '../../ui/note.tsx'
import { DecidedBy } from '../decide/decided-by.tsx'
import { useIsOnItsWay } from '../decide/sending.ts'
import type { Order } from '../order.ts'
import { isOpen, nameOf } from '../states.ts'

/** The decision about an order that needs none any more. */
export function Meanwhile({ order }: { order: Order }) {
  if (useIsOnItsWay(order.id))
    return <Note kind="waiting" title="Your decision about this order is being sent." />
  const state = nameOf(order.status)
  if (isOpen(order.status) || state === undefined) return null
  return (
    <Note kind="waiting" role="status">
      <strong>
        <DecidedBy what={state} order={order} />.
      </strong>
      <p>No decision needed.</p>
    </Note>
  )
}

import { Note } from '../../ui/note.tsx'
import { DecidedBy } from '../decide/decided-by.tsx'
import { useOnItsWay } from '../decide/sending.ts'
import type { Order } from '../order.ts'
import { isOpen, nameOf } from '../states.ts'

/** The decision on an order that needs no other. */
export function Meanwhile({ order }: { order: Order }) {
  if (useOnItsWay().has(order.id))
    return <Note kind="waiting" title="Your decision on this order has not been sent yet." />
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

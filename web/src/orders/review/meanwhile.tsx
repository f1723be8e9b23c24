import { useQuery } from '@tanstack/react-query'
import { Note } from '../../ui/note.tsx'
import { countQuery } from '../address/queries.ts'
import { needWords } from '../approvals.ts'
import { DecidedBy } from '../decide/decided-by.tsx'
import { useOnItsWay } from '../decide/sending.ts'
import type { Order } from '../order.ts'
import { approvalsQuery } from '../queries.ts'
import { allows, isOpen, nameOf, nobodyFilter } from '../states.ts'

/** The decision on an order that needs no other, or why the person cannot approve it. */
export function Meanwhile({ order }: { order: Order }) {
  if (useOnItsWay().has(order.id))
    return <Note kind="waiting" title="Your decision on this order has not been sent yet." />
  if (allows(order.status, 'approve')) return <Stuck id={order.id} />
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

function Stuck({ id }: { id: string }) {
  const { data: approvals } = useQuery({ ...approvalsQuery(id), enabled: false })
  const isStuck = approvals?.mayApprove === false
  const { data: isNobodys } = useQuery({ ...countQuery(`${nobodyFilter} id="${id}"`), enabled: isStuck })
  if (!isStuck) return null
  const lines = [isNobodys ? 'Nobody can approve it now.' : undefined]
  return <Note kind="waiting" role="status" title={needWords(approvals)} lines={lines} />
}

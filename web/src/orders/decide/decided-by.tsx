import { useUser } from '../../auth/session.ts'
import { formatAgo } from '../../ui/format.ts'
import { useNow } from '../../ui/moment.tsx'
import { Name } from '../../ui/name.tsx'
import type { Order } from '../order.ts'

interface DecidedByProps {
  /** As "Already approved". */
  what: string
  order: Order
}

/** As "Already approved by you, just now". */
export function DecidedBy({ what, order: { modifiedBy, updatedAtUtc } }: DecidedByProps) {
  const { userName } = useUser()
  const now = useNow()
  return (
    <span>
      {what} by {modifiedBy === userName ? 'you' : <Name of={modifiedBy ?? 'someone else'} />}
      {updatedAtUtc !== null && `, ${formatAgo(updatedAtUtc, now)}`}
    </span>
  )
}

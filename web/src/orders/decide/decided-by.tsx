import { useInfiniteQuery } from '@tanstack/react-query'
import { useUser } from '../../auth/session.ts'
import { formatAgo, formatExactInstant } from '../../ui/format.ts'
import { useNow } from '../../ui/moment.tsx'
import { Who } from '../../ui/name.tsx'
import type { Order } from '../order.ts'
import { absentOfChange, historyQuery } from '../queries.ts'

interface DecidedByProps {
  /** Such as "Already approved". */
  what: string
  order: Order
}

/** Such as "Already approved by you, just now". The history, if it was read, says in whose place. */
export function DecidedBy({ what, order }: DecidedByProps) {
  const { id, modifiedBy, updatedAtUtc } = order
  const { userName } = useUser()
  const now = useNow()
  const { data: history } = useInfiniteQuery({ ...historyQuery(id), enabled: false })
  return (
    <span>
      {what} by{' '}
      <Who
        is={modifiedBy === userName ? 'you' : (modifiedBy ?? 'someone else')}
        for={absentOfChange(order, history)}
      />
      {updatedAtUtc !== null && (
        <>
          ,{' '}
          <time dateTime={updatedAtUtc} title={formatExactInstant(updatedAtUtc)}>
            {formatAgo(updatedAtUtc, now)}
          </time>
        </>
      )}
    </span>
  )
}

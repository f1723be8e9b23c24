import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMay } from '../../auth/session.ts'
import { useCalm } from '../../ui/calm.ts'
import { formatAgo } from '../../ui/format.ts'
import { useNow } from '../../ui/moment.tsx'
import { numberOf } from '../identity.ts'
import { similarQuery } from './queries.ts'

const pauseMilliseconds = 500

interface SimilarProps {
  /** Undefined while it is not complete. */
  customer: string | undefined
  total: string | undefined
}

/** Points out an order that was just created with the same customer and total. */
export function Similar({ customer, total }: SimilarProps) {
  const mayRead = useMay('Orders.Read')
  const isWhole = customer !== undefined && total !== undefined
  const typed = useCalm(mayRead && isWhole ? { customer, total } : undefined, pauseMilliseconds)
  const now = useNow()
  const { data: order } = useQuery(similarQuery(typed))
  return (
    <div role="status">
      {order && typed && (
        <p className="create-doubt">
          The same order was created {formatAgo(order.createdAtUtc, now)}:{' '}
          <Link to="/orders/$id" params={{ id: order.id }}>
            {numberOf(order) || 'open it'}
          </Link>
          .
        </p>
      )}
    </div>
  )
}

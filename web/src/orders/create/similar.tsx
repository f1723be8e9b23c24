import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { useMay } from '../../auth/session.ts'
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
  const [typed, setTyped] = useState<{ customer: string; total: string }>()
  const mayRead = useMay('Orders.Read')
  const now = useNow()
  useEffect(() => {
    const isWhole = customer !== undefined && total !== undefined && mayRead
    const timer = setTimeout(() => setTyped(isWhole ? { customer, total } : undefined), pauseMilliseconds)
    return () => clearTimeout(timer)
  }, [customer, total, mayRead])
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

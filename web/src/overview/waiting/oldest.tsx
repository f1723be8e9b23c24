import { Link } from '@tanstack/react-router'
import type { OrderSummary } from '../../orders/order.ts'
import { formatAgo, formatExactInstant, formatOrders, formatTotal } from '../../ui/format.ts'
import { CheckIcon } from '../../ui/icons.tsx'
import { Name } from '../../ui/name.tsx'

/** The list of waiting orders, the oldest first. */
export const pendingOldestFirst = { filter: 'status=Pending', orderBy: 'createdAtUtc' } as const

/** The oldest waiting orders. `count`: of all waiting orders. */
export function Oldest({ orders, count }: { orders: readonly OrderSummary[]; count: number }) {
  const now = Date.now()
  return (
    <section className="oldest" aria-labelledby="oldest-title">
      <h2 id="oldest-title">Longest waiting</h2>
      {orders.length === 0 ? (
        <div className="empty">
          <span className="oldest-done">
            <CheckIcon />
          </span>
          <p>Nothing is waiting for approval</p>
        </div>
      ) : (
        <ol className="oldest-list">
          {orders.map(({ id, customer, total, createdAtUtc }) => (
            <li key={id} className="linked-row">
              <Link to="/orders/$id" params={{ id }} className="clip">
                <Name of={customer} />
              </Link>
              <span className="number">{formatTotal(total)}</span>
              <time className="soft small" dateTime={createdAtUtc} title={formatExactInstant(createdAtUtc)}>
                {formatAgo(createdAtUtc, now)}
              </time>
            </li>
          ))}
        </ol>
      )}
      {count > orders.length && (
        <Link to="/orders" search={pendingOldestFirst} className="label small no-print">
          All {formatOrders(count)} waiting for approval
        </Link>
      )}
    </section>
  )
}

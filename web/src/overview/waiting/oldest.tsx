import { Link } from '@tanstack/react-router'
import { mineOldestFirst, othersOldestFirst, waitingOldestFirst } from '../../orders/address/queries.ts'
import { numberOf } from '../../orders/identity.ts'
import type { ListedOrder } from '../../orders/order.ts'
import { formatAgo, formatCount, formatExactInstant, formatOrders, formatTotal } from '../../ui/format.ts'
import { CheckIcon } from '../../ui/icons.tsx'
import { Name } from '../../ui/name.tsx'

/** How many orders are listed. The service sends as many with the figures. */
export const mostListed = 5

/** What waits for a person who can decide. */
export interface Mine {
  items: readonly ListedOrder[]
  count: number
}

interface OldestProps {
  /** Undefined if the person cannot decide. */
  mine: Mine | undefined
  /** The oldest waiting orders, and how many there are. */
  all: Mine
}

/** The orders that have waited longest: for this person, or for anybody if they cannot decide. */
export function Oldest({ mine, all }: OldestProps) {
  const { items, count } = mine ?? all
  const others = all.count - count
  return (
    <section className="card card-stack oldest" aria-labelledby="oldest-title">
      <h2 id="oldest-title">{mine ? 'Waiting for you' : 'Longest waiting'}</h2>
      {items.length === 0 ? (
        <div className="empty">
          <span className="oldest-done">
            <CheckIcon />
          </span>
          <p>{mine ? 'Nothing is waiting for you' : 'Nothing is waiting for approval'}</p>
        </div>
      ) : (
        <ol className="oldest-list">
          {items.map((order) => (
            <Row key={order.id} order={order} />
          ))}
        </ol>
      )}
      <div className="row small no-print">
        {count > items.length && (
          <Link to="/orders" search={mine ? mineOldestFirst : waitingOldestFirst} className="label">
            All {formatOrders(count)} waiting for {mine ? 'you' : 'approval'}
          </Link>
        )}
        {others > 0 && (
          <Link to="/orders" search={othersOldestFirst} className="label">
            {formatCount(others)} waiting for others
          </Link>
        )}
      </div>
    </section>
  )
}

function Row({ order }: { order: ListedOrder }) {
  const { id, customer, total, createdAtUtc } = order
  return (
    <li className="linked-row">
      <Link to="/orders/$id" params={{ id }} className="clip">
        <Name of={customer} />
      </Link>
      <span className="number">{formatTotal(total)}</span>
      <span className="soft small">
        {order.number !== undefined && (
          <>
            <code>{numberOf(order)}</code> ·{' '}
          </>
        )}
        <time dateTime={createdAtUtc} title={formatExactInstant(createdAtUtc)}>
          {formatAgo(createdAtUtc, Date.now())}
        </time>
      </span>
    </li>
  )
}

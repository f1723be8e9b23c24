import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { OrderSummary } from '../orders/order.ts'
import { formatAgo, formatExactInstant, formatTotal } from '../ui/format.ts'
import { CheckIcon } from '../ui/icons.tsx'
import { formatOrders } from './words.ts'

/** The list of orders that wait, the one that waits longest first. */
export const pendingOldestFirst = {
  filter: 'status=Pending',
  orderBy: 'createdAtUtc',
} as const

/** The orders that wait longest; `count` is of all that wait. */
export function Oldest({ orders, count }: { orders: readonly OrderSummary[]; count: number }) {
  if (orders.length === 0) return <NothingWaits />
  const now = Date.now()
  return (
    <Frame>
      <ol className="oldest-list">
        {orders.map((order) => (
          <OldestOrder key={order.id} order={order} now={now} />
        ))}
      </ol>
      {count > orders.length && (
        <Link to="/orders" search={pendingOldestFirst} className="oldest-all">
          All {formatOrders(count)} waiting for approval
        </Link>
      )}
    </Frame>
  )
}

function OldestOrder({ order, now }: { order: OrderSummary; now: number }) {
  const { id, customer, total, createdAtUtc } = order
  return (
    <li>
      <Link to="/orders/$id" params={{ id }} className="oldest-link">
        <bdi>{customer}</bdi>
      </Link>
      <span className="number">{formatTotal(total)}</span>
      <time className="soft small" dateTime={createdAtUtc} title={formatExactInstant(createdAtUtc)}>
        {formatAgo(createdAtUtc, now)}
      </time>
    </li>
  )
}

function NothingWaits() {
  return (
    <Frame>
      <div className="empty">
        <span className="oldest-done">
          <CheckIcon />
        </span>
        <p>Nothing is waiting for approval</p>
      </div>
    </Frame>
  )
}

function Frame({ children }: { children: ReactNode }) {
  return (
    <section className="card oldest" aria-labelledby="oldest-title">
      <h2 id="oldest-title">Waiting longest</h2>
      {children}
    </section>
  )
}

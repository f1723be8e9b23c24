import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { ListSearch } from '../orders/address/address.ts'
import { numberOf } from '../orders/identity.ts'
import type { ListedOrder } from '../orders/order.ts'
import { Status } from '../orders/status.tsx'
import { formatAgo, formatExactInstant, formatOrders, formatTotal } from '../ui/format.ts'
import { Name } from '../ui/name.tsx'
import { Section } from '../ui/section.tsx'

/** How many orders a card lists. The service sends as many with the figures. */
export const mostListed = 5

/** The first orders of a list, and how many it has. */
export interface Listed {
  items: readonly ListedOrder[]
  count: number
}

interface OrdersProps {
  title: string
  orders: Listed
  /** The same list in full. */
  search: ListSearch
  /** They need not all have the same status. */
  isMixed?: boolean
  /** Shown if there are none. */
  children?: ReactNode
}

export function Orders({ title, orders: { items, count }, search, isMixed, children }: OrdersProps) {
  return (
    <Section
      title={title}
      aside={
        count > items.length && (
          <Link to="/orders" search={search} className="no-print">
            All {formatOrders(count)}
          </Link>
        )
      }
    >
      {items.length === 0 ? (
        <p className="soft">{children}</p>
      ) : (
        <ol className="entries">
          {items.map((order) => (
            <Row key={order.id} order={order}>
              {isMixed && <Status status={order.status} />}
            </Row>
          ))}
        </ol>
      )}
    </Section>
  )
}

function Row({ order, children }: { order: ListedOrder; children: ReactNode }) {
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
      {children}
    </li>
  )
}

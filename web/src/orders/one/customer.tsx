import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Unread } from '../../ui/failure.tsx'
import { formatAgo, formatExactInstant, formatOrders, formatTotal } from '../../ui/format.ts'
import { useNow } from '../../ui/moment.tsx'
import { Section } from '../../ui/section.tsx'
import { numberOf } from '../identity.ts'
import type { ListedOrder, OrderSummary } from '../order.ts'
import { Status } from '../status.tsx'
import { customerQuery, filterOf, shown } from './customer-orders.ts'

/** Other orders of the customer, as context for a decision. */
export function OtherOrders({ order }: { order: OrderSummary | undefined }) {
  const query = useQuery({ ...customerQuery(order?.customer ?? ''), enabled: order !== undefined })
  const { data } = query
  const others = data?.items.filter(({ id }) => id !== order?.id).slice(0, shown) ?? []
  return (
    <Section
      title="The customer’s other orders"
      className="sheet order-others no-print"
      isBusy={query.isPending}
      aside={
        order &&
        others.length > 0 && (
          <Link to="/orders" search={{ filter: filterOf(order.customer) }}>
            All {formatOrders(data?.count ?? 0)}
          </Link>
        )
      }
    >
      {order && <Unread query={query} />}
      {data && others.length === 0 && <p className="soft">This customer has no other orders.</p>}
      {others.length > 0 && (
        <ol className="lined">
          {others.map((other) => (
            <Other key={other.id} order={other} />
          ))}
        </ol>
      )}
    </Section>
  )
}

function Other({ order }: { order: ListedOrder }) {
  const { id, total, status, createdAtUtc } = order
  const now = useNow()
  return (
    <li className="order-other">
      <Link to="/orders/$id" params={{ id }}>
        {numberOf(order)}
      </Link>
      <time className="soft" dateTime={createdAtUtc} title={formatExactInstant(createdAtUtc)}>
        {formatAgo(createdAtUtc, now)}
      </time>
      <span className="number">{formatTotal(total)}</span>
      <Status status={status} />
    </li>
  )
}

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Unread } from '../../ui/failure.tsx'
import { formatAgo, formatExactInstant, formatOrders, formatTotal } from '../../ui/format.ts'
import { useNow } from '../../ui/moment.tsx'
import { Section } from '../../ui/section.tsx'
import { numberOf } from '../identity.ts'
import type { ListedOrder, OrderSummary } from '../order.ts'
import { Status } from '../status.tsx'
import { customerQuery, filterOf, othersOf, usualTotal } from './usual.ts'

const shown = 5

/** Other orders of the customer, as context for a decision. */
export function OtherOrders({ order }: { order: OrderSummary | undefined }) {
  const query = useQuery({ ...customerQuery(order?.customer ?? ''), enabled: order !== undefined })
  const { data } = query
  const others = order && data ? othersOf(order.id, data.items) : []
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
      {data && <Usual others={others} />}
      {others.length > 0 && (
        <ol className="lined">
          {others.slice(0, shown).map((other) => (
            <Other key={other.id} order={other} />
          ))}
        </ol>
      )}
    </Section>
  )
}

function Usual({ others }: { others: readonly OrderSummary[] }) {
  const { total, words } = usualTotal(others)
  return (
    <p className="soft">
      {total !== undefined && (
        <>
          Usual total <strong>{formatTotal(total)}</strong>.{' '}
        </>
      )}
      {words}
    </p>
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

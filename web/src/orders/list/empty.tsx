import { Link } from '@tanstack/react-router'
import { useMay } from '../../auth/session.ts'
import { formatCount } from '../../ui/format.ts'
import { PlusIcon } from '../../ui/icons.tsx'
import { withStatus } from '../filter/text.ts'

/** There are no orders at all. */
export function NoOrders() {
  const mayCreate = useMay('Orders.Create')
  return (
    <div className="empty">
      <h2>No orders yet</h2>
      <p className="soft">
        {mayCreate ? 'The first one is yours to make.' : 'They appear here as soon as there are some.'}
      </p>
      {mayCreate && (
        <Link to="/orders/new" className="button button-primary">
          <PlusIcon /> New order
        </Link>
      )}
    </div>
  )
}

/** There are orders, but none like this. */
export function NothingFound({ filter, onSearch }: { filter: string; onSearch(filter: string): void }) {
  const ofAnyStatus = withStatus(filter, null)
  const isWider = ofAnyStatus !== null && ofAnyStatus !== '' && ofAnyStatus !== filter
  return (
    <div className="empty">
      <h2>No order matches</h2>
      <p className="empty-search">
        <code>{filter}</code>
      </p>
      <div className="row empty-actions">
        {isWider && (
          <button type="button" className="button" onClick={() => onSearch(ofAnyStatus)}>
            Search every status
          </button>
        )}
        <button type="button" className="button" onClick={() => onSearch('')}>
          Show all orders
        </button>
      </div>
    </div>
  )
}

/** The list has become shorter, or the link was wrong. */
export function PastTheEnd({
  pageNumber,
  totalPages,
  onPage,
}: {
  pageNumber: number
  totalPages: number
  onPage(pageNumber: number): void
}) {
  return (
    <div className="empty">
      <h2>There is no page {formatCount(pageNumber)}</h2>
      <p className="soft">
        {totalPages === 1 ? 'There is only one.' : `The last one is page ${formatCount(totalPages)}.`}
      </p>
      <button type="button" className="button button-primary" onClick={() => onPage(totalPages)}>
        Go to the last page
      </button>
    </div>
  )
}

/** The first search was refused: there is nothing from before to show. */
export function NotSearched({ onSearch }: { onSearch(filter: string): void }) {
  return (
    <div className="empty">
      <h2>Nothing was searched</h2>
      <p className="soft">The line above says why.</p>
      <button type="button" className="button" onClick={() => onSearch('')}>
        Show all orders
      </button>
    </div>
  )
}

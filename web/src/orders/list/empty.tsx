import { useQuery } from '@tanstack/react-query'
import { useMay } from '../../auth/session.ts'
import { formatCount, formatOrders } from '../../ui/format.ts'
import { useNow } from '../../ui/moment.tsx'
import { countQuery } from '../address/queries.ts'
import { guessesFor } from '../filter/guesses.ts'
import { withStatus } from '../filter/restrictions.ts'
import { NewOrder } from '../new-order.tsx'
import type { Page } from './state.ts'

export function NoOrders() {
  const mayCreate = useMay('Orders.Create')
  return (
    <div className="empty">
      <h2>No orders yet</h2>
      <p className="soft">{mayCreate ? 'Create the first one.' : 'They will appear here.'}</p>
      <NewOrder />
    </div>
  )
}

/** There are orders, but the search finds none. */
export function NothingFound({ filter, onSearch }: { filter: string; onSearch(filter: string): void }) {
  const ofAnyStatus = withStatus(filter, null)
  const isWider = ofAnyStatus !== null && ofAnyStatus !== '' && ofAnyStatus !== filter
  const guesses = guessesFor(filter, useNow())
  return (
    <div className="empty">
      <h2>No orders match</h2>
      <p className="wrap">
        <code>{filter}</code>
      </p>
      <div className="row" role="status">
        {guesses.map((guess) => (
          <Guess key={guess} filter={guess} onSearch={onSearch} />
        ))}
      </div>
      <div className="row">
        {isWider && (
          <button type="button" className="button" onClick={() => onSearch(ofAnyStatus)}>
            Search all statuses
          </button>
        )}
        <button type="button" className="button" onClick={() => onSearch('')}>
          Show all orders
        </button>
      </div>
    </div>
  )
}

/** Another search that the words may mean, if it finds any orders. */
function Guess({ filter, onSearch }: { filter: string; onSearch(filter: string): void }) {
  const { data: count = 0 } = useQuery(countQuery(filter))
  if (count === 0) return null
  return (
    <button type="button" className="button button-primary" onClick={() => onSearch(filter)}>
      <code>{filter}</code> ({formatOrders(count)})
    </button>
  )
}

/** The list has become shorter, or the link was wrong. */
export function PastTheEnd({ page, onPage }: { page: Page; onPage(pageNumber: number): void }) {
  const last = page.totalPages
  return (
    <div className="empty">
      <h2>There is no page {formatCount(page.pageNumber)}</h2>
      <p className="soft">{last === 1 ? 'There is only one.' : `The last page is ${formatCount(last)}.`}</p>
      <button type="button" className="button button-primary" onClick={() => onPage(last)}>
        Go to the last page
      </button>
    </div>
  )
}

/** The first search was refused, so there are no earlier results to show. */
export function NotSearched({ onSearch }: { onSearch(filter: string): void }) {
  return (
    <div className="empty">
      <h2>This search could not be run</h2>
      <p className="soft">Fix the search and try again.</p>
      <button type="button" className="button" onClick={() => onSearch('')}>
        Show all orders
      </button>
    </div>
  )
}

import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { formatCount } from '../../ui/format.ts'
import { ReloadIcon } from '../../ui/icons.tsx'
import { countQuery } from '../address/queries.ts'
import { arrived, isCrowded } from '../arrivals.ts'
import type { OrderSummary } from '../order.ts'

interface ReloadProps {
  filter: string
  /** The orders on the screen. */
  orders: readonly OrderSummary[]
  onLoad(): void
}

/**
 * Loads the list again, and says how many orders have been added since. The list is never reloaded unasked.
 */
export function Reload({ filter, orders, onLoad }: ReloadProps) {
  const count = useNewCount(filter, orders)
  const words = count === 1 ? '1 new order' : `${formatCount(count)} new orders`
  return (
    <>
      <button
        type="button"
        className="button button-quiet button-small end list-reload"
        title="Reload the list"
        onClick={onLoad}
      >
        <ReloadIcon />
        {count > 0 ? `Load ${words}` : 'Reload'}
      </button>
      <span className="visually-hidden" role="status">
        {count > 0 && `${words}.`}
      </span>
    </>
  )
}

/** Says why the list does not change by itself. */
export function NotLive() {
  return (
    isCrowded.use() && (
      <p className="soft small" role="status">
        This list is not live because four other windows or programs of yours follow it. Close one, or reload
        to see changes.
      </p>
    )
  )
}

/** How many of the new orders match the search, counted by the service. */
function useNewCount(filter: string, orders: readonly OrderSummary[]): number {
  const ids = arrived.use().filter((id) => orders.every((order) => order.id !== id))
  const since = new Date(Math.min(...ids.map(instantOf), 8.64e15)).toISOString()
  const isFiltered = filter !== '' && ids.length > 0
  const found = countQuery(`(${filter}) createdAtUtc>="${since}"`, ids.length)
  const { data = 0 } = useQuery({ ...found, enabled: isFiltered, placeholderData: keepPreviousData })
  return isFiltered ? data : ids.length
}

/** An id is a UUIDv7 of the instant of creation. */
const instantOf = (id: string) => Number.parseInt(id.replace('-', '').slice(0, 12), 16)

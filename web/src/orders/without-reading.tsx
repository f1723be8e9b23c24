import { problemOf } from '../api/problem.ts'
import { useMay } from '../auth/session.ts'
import { Denied } from '../ui/note.tsx'
import { NewOrder } from './new-order.tsx'

/** Whether this person may not read orders. Roles may have changed since the permissions were read. */
export function useIsUnreadable(failure: unknown): boolean {
  const mayRead = useMay('Orders.Read')
  return !mayRead || problemOf(failure, 'permission-denied') !== undefined
}

/** Shown in place of orders that this person may not read. */
export function WithoutReading() {
  return (
    <div className="stack">
      <Denied what="view orders" />
      <div className="row">
        <NewOrder />
      </div>
    </div>
  )
}

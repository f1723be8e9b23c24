import { problemOf } from '../api/problem.ts'
import { useMay } from '../auth/session.ts'
import mark from '../ui/mark.svg'
import { NewOrder } from './new-order.tsx'

/** Whether this person may not read orders. Roles may have changed since the permissions were read. */
export function useIsUnreadable(failure: unknown): boolean {
  const mayRead = useMay('Orders.Read')
  return !mayRead || problemOf(failure, 'permission-denied') !== undefined
}

/** Shown in place of orders that this person may not read. */
export function WithoutReading() {
  return (
    <section className="card empty">
      <img src={mark} alt="" width="56" height="56" />
      <h2>You cannot view orders</h2>
      <p className="soft">
        Your role does not include viewing orders. Your administrator can give you one that does.
      </p>
      <NewOrder />
    </section>
  )
}

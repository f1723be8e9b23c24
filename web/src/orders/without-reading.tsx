import { Link } from '@tanstack/react-router'
import { problemOf } from '../api/problem.ts'
import { useMay } from '../auth/session.ts'
import { PlusIcon } from '../ui/icons.tsx'
import mark from '../ui/mark.svg'

/** Whether this person may not read orders; roles may have changed since the permissions were read. */
export function useIsUnreadable(failure: unknown): boolean {
  const mayRead = useMay('Orders.Read')
  return !mayRead || problemOf(failure, 'permission-denied') !== undefined
}

/** In the place of orders that may not be read. */
export function WithoutReading() {
  const mayCreate = useMay('Orders.Create')
  return (
    <section className="card empty">
      <img src={mark} alt="" width="56" height="56" />
      <h2>Orders are not shown to you</h2>
      <p className="soft">
        Your account may not look at orders. If you need to, ask your administrator for a role that may.
      </p>
      {mayCreate && (
        <Link to="/orders/new" className="button button-primary">
          <PlusIcon />
          New order
        </Link>
      )}
    </section>
  )
}

import { Link } from '@tanstack/react-router'
import { useMay } from '../auth/session.ts'
import { PlusIcon } from '../ui/icons.tsx'

/** The way to a new order; nothing for people who may not create one. */
export function NewOrder() {
  if (!useMay('Orders.Create')) return null
  return (
    <Link to="/orders/new" className="button button-primary" aria-keyshortcuts="n">
      <PlusIcon /> New order
    </Link>
  )
}

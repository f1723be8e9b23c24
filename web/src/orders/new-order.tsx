import { Link } from '@tanstack/react-router'
import { useMay } from '../auth/session.ts'
import { PlusIcon } from '../ui/icons.tsx'

/** A link to the form; nothing for people who may not create orders. */
export function NewOrder() {
  if (!useMay('Orders.Create')) return null
  return (
    <Link to="/orders/new" className="button button-primary" aria-keyshortcuts="n">
      <PlusIcon /> New order
    </Link>
  )
}

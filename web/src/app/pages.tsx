import type { ReactNode } from 'react'
import type { Permission } from '../../../client/src/facts.ts'
import { useSession } from '../auth/session.ts'
import type { Destination } from '../palette/matching.ts'
import { LogIcon, OrdersIcon, OverviewIcon, PeopleIcon, PolicyIcon, WebhooksIcon } from '../ui/icons.tsx'

/** A view that the palette leads to. One with an icon is also linked in the sidebar. */
interface Page extends Destination {
  icon?: ReactNode
  needs?: Permission
}

const pages: readonly Page[] = [
  { to: '/', name: 'Overview', icon: <OverviewIcon />, key: 'h' },
  { to: '/orders', name: 'Orders', icon: <OrdersIcon />, key: 'o' },
  { to: '/orders/new', name: 'New order', key: 'n', needs: 'Orders.Create' },
  { to: '/approval-policy', name: 'Policy', icon: <PolicyIcon />, needs: 'Policy.Manage' },
  { to: '/accounts', name: 'Accounts', icon: <PeopleIcon />, needs: 'Accounts.Manage' },
  { to: '/webhooks', name: 'Webhooks', icon: <WebhooksIcon />, needs: 'Webhooks.Manage' },
  { to: '/log', name: 'Log', icon: <LogIcon />, needs: 'Log.Read' },
  { to: '/account', name: 'My account' },
]

/** The pages that this person may open. */
export function usePages(): readonly Page[] {
  const session = useSession()
  const permissions = session.kind === 'signed-in' ? session.permissions : []
  return pages.filter(({ needs }) => needs === undefined || permissions.includes(needs))
}

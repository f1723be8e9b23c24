import type { ReactNode } from 'react'
import type { Permission } from '../../../client/src/facts.ts'
import { useSession } from '../auth/session.ts'
import type { Destination } from '../palette/matching.ts'
import {
  LogIcon,
  OrdersIcon,
  OverviewIcon,
  PeopleIcon,
  PersonIcon,
  PlusIcon,
  PolicyIcon,
} from '../ui/icons.tsx'

/** A view that the palette leads to from everywhere, and the side as well if it `isLinked`. */
interface Page extends Destination {
  icon: ReactNode
  isLinked: boolean
  needs?: Permission
}

const pages: readonly Page[] = [
  { to: '/', name: 'Overview', icon: <OverviewIcon />, isLinked: true, key: 'h' },
  { to: '/orders', name: 'Orders', icon: <OrdersIcon />, isLinked: true, key: 'o' },
  {
    to: '/orders/new',
    name: 'New order',
    icon: <PlusIcon />,
    isLinked: false,
    key: 'n',
    needs: 'Orders.Create',
  },
  {
    to: '/approval-policy',
    name: 'Policy',
    icon: <PolicyIcon />,
    isLinked: true,
    needs: 'Policy.Manage',
  },
  { to: '/accounts', name: 'Accounts', icon: <PeopleIcon />, isLinked: true, needs: 'Accounts.Manage' },
  { to: '/log', name: 'Log', icon: <LogIcon />, isLinked: true, needs: 'Log.Read' },
  { to: '/account', name: 'My account', icon: <PersonIcon />, isLinked: false },
]

/** Those that this person may open. */
export function usePages(): readonly Page[] {
  const session = useSession()
  const permissions = session.kind === 'signed-in' ? session.permissions : []
  return pages.filter(({ needs }) => needs === undefined || permissions.includes(needs))
}

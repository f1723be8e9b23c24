import type { ReactNode } from 'react'
import type { Permission } from '../../../client/src/facts.ts'
import { useSession } from '../auth/session.ts'
import { LogIcon, OrdersIcon, OverviewIcon, PeopleIcon, PersonIcon, PlusIcon, PolicyIcon } from './icons.tsx'

/** The views that one can go to from everywhere; without `isLinked` not from the side, but from the palette. */
interface Page {
  to: '/' | '/orders' | '/orders/new' | '/approval-policy' | '/account' | '/accounts' | '/log'
  name: string
  icon: ReactNode
  isLinked: boolean
  key?: string
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

/** Those that are for this person. */
export function usePages(): readonly Page[] {
  const session = useSession()
  const permissions = session.kind === 'signed-in' ? session.permissions : []
  return pages.filter(({ needs }) => needs === undefined || permissions.includes(needs))
}

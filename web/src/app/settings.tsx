import { Link, Outlet, useLocation } from '@tanstack/react-router'
import type { Permission } from '../../../client/src/facts.ts'
import { useSession } from '../auth/session.ts'

interface Tab {
  to: '/approval-policy' | '/accounts' | '/accounts/services' | '/accounts/roles' | '/webhooks' | '/log'
  name: string
  needs: Permission
}

const tabs: readonly Tab[] = [
  { to: '/approval-policy', name: 'Policy', needs: 'Policy.Manage' },
  { to: '/accounts', name: 'Users', needs: 'Accounts.Manage' },
  { to: '/accounts/services', name: 'Services', needs: 'Accounts.Manage' },
  { to: '/accounts/roles', name: 'Roles', needs: 'Accounts.Manage' },
  { to: '/webhooks', name: 'Webhooks', needs: 'Webhooks.Manage' },
  { to: '/log', name: 'Log', needs: 'Log.Read' },
]

export function useSettings(): readonly Tab[] {
  const session = useSession()
  const permissions = session.kind === 'signed-in' ? session.permissions : []
  return tabs.filter(({ needs }) => permissions.includes(needs))
}

/** The tab that the address belongs to: the longest path with which it begins. */
export function useOpenSetting(): Tab | undefined {
  const path = useLocation().pathname
  return tabs.findLast(({ to }) => path === to || path.startsWith(`${to}/`))
}

/** The frame of every page of settings: tabs, if there are several to choose from. */
export function Settings() {
  const allowed = useSettings()
  const open = useOpenSetting()
  return (
    <>
      {allowed.length > 1 && (
        <nav className="box segments settings" aria-label="Settings">
          {allowed.map((tab) => (
            <Link
              key={tab.to}
              to={tab.to}
              className="segment"
              activeOptions={{ exact: true }}
              {...(tab === open && { 'aria-current': 'page' })}
            >
              {tab.name}
            </Link>
          ))}
        </nav>
      )}
      <Outlet />
    </>
  )
}

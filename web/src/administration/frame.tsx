import './administration.css'
import { Link, useLocation } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useMay } from '../auth/session.ts'
import { Denied } from '../ui/note.tsx'
import { PageHead } from '../ui/page-title.tsx'

interface FrameProps {
  title: string
  lead?: string
  action?: ReactNode
  children: ReactNode
}

/** The head of every page of administration. Without the permission it says so, and reads nothing. */
export function Frame({ title, lead, action, children }: FrameProps) {
  const may = useMay('Accounts.Manage')
  const isOfUsers = useLocation().pathname.startsWith('/accounts/users')
  return (
    <>
      <PageHead title={title} lead={lead}>
        {may && action}
      </PageHead>
      {may ? (
        <div className="admin">
          <nav className="row admin-parts" aria-label="Accounts">
            <Link
              to="/accounts"
              className="button button-small"
              activeOptions={{ exact: true }}
              {...(isOfUsers && { 'aria-current': 'page' })}
            >
              Users
            </Link>
            <Link to="/accounts/services" className="button button-small">
              Services
            </Link>
            <Link to="/accounts/roles" className="button button-small">
              Roles
            </Link>
          </nav>
          {children}
        </div>
      ) : (
        <Denied what="manage accounts" />
      )}
    </>
  )
}

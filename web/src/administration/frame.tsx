import './administration.css'
import { Link, useLocation } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useMay } from '../auth/session.ts'
import { Note } from '../ui/note.tsx'
import { PageTitle } from '../ui/page-title.tsx'

interface FrameProps {
  title: string
  lead?: string
  action?: ReactNode
  children: ReactNode
}

/** The head of every page of administration. Who may not manage accounts is told so, and nothing is asked for. */
export function Frame({ title, lead, action, children }: FrameProps) {
  const may = useMay('Accounts.Manage')
  const isOfUsers = useLocation().pathname.startsWith('/accounts/users')
  return (
    <>
      <div className="page-head">
        <div className="row row-between">
          <PageTitle title={title} />
          {may && action}
        </div>
        {lead && <p className="soft lead">{lead}</p>}
      </div>
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
        <Note
          kind="warning"
          title="You cannot manage accounts"
          lines={['Your administrator can give you a role that can.']}
        />
      )}
    </>
  )
}

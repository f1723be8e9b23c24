import './administration.css'
import { Link, useLocation } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useMay } from '../auth/session.ts'
import { PlusIcon } from '../ui/icons.tsx'
import { Denied } from '../ui/note.tsx'
import { PageHead } from '../ui/page-title.tsx'

interface FrameProps {
  title: string
  lead?: string
  /** The page of a new account. */
  add?: { to: '/accounts/users/new' | '/accounts/services/new'; name: string }
  children: ReactNode
}

/** The head of every page of administration. Without the permission, the page says so and reads nothing. */
export function Frame({ title, lead, add, children }: FrameProps) {
  const may = useMay('Accounts.Manage')
  const isOfUsers = useLocation().pathname.startsWith('/accounts/users')
  return (
    <>
      <PageHead title={title} lead={lead}>
        {may && add && (
          <Link to={add.to} className="button button-primary">
            <PlusIcon /> {add.name}
          </Link>
        )}
      </PageHead>
      {may ? (
        <div className="admin">
          <nav className="box segments" aria-label="Accounts">
            <Link
              to="/accounts"
              className="segment"
              activeOptions={{ exact: true }}
              {...(isOfUsers && { 'aria-current': 'page' })}
            >
              Users
            </Link>
            <Link to="/accounts/services" className="segment">
              Services
            </Link>
            <Link to="/accounts/roles" className="segment">
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

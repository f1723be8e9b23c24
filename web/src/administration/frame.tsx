import './administration.css'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Permission } from '../../../client/src/facts.ts'
import { useMay } from '../auth/session.ts'
import { ArrowIcon, PlusIcon } from '../ui/icons.tsx'
import { Denied } from '../ui/note.tsx'
import { PageHead } from '../ui/page-title.tsx'

export interface FrameProps {
  title: string
  lead?: string
  /** The list that the page belongs to. */
  back?: { to: '/accounts' | '/accounts/services' | '/webhooks'; name: string }
  /** The page of a new one. */
  add?: { to: '/accounts/users/new' | '/accounts/services/new' | '/webhooks/new'; name: string }
  children: ReactNode
}

/** The head of every page of accounts. */
export function Frame(props: FrameProps) {
  return <Guarded needs="Accounts.Manage" what="manage accounts" {...props} />
}

/** The head of every page of webhooks. */
export function WebhooksFrame(props: FrameProps) {
  return <Guarded needs="Webhooks.Manage" what="manage webhooks" {...props} />
}

interface GuardedProps extends FrameProps {
  needs: Permission
  /** The purpose of the permission, as the end of a sentence. */
  what: string
}

/** Without the permission, the page says so and reads nothing. */
function Guarded({ needs, what, title, lead, back, add, children }: GuardedProps) {
  const may = useMay(needs)
  return (
    <>
      {back && (
        <nav aria-label="Breadcrumb">
          <Link className="back" to={back.to} activeOptions={{ exact: true }}>
            <ArrowIcon to="left" />
            {back.name}
          </Link>
        </nav>
      )}
      <PageHead title={title} lead={lead}>
        {may && add && (
          <Link to={add.to} className="button button-primary">
            <PlusIcon /> {add.name}
          </Link>
        )}
      </PageHead>
      {may ? <div className="admin">{children}</div> : <Denied what={what} />}
    </>
  )
}

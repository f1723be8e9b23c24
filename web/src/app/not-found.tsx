import { Link } from '@tanstack/react-router'
import { useEffect } from 'react'
import { startSession, useSession } from '../auth/session.ts'
import mark from '../ui/mark.svg'
import { outdatedLink } from '../ui/missing.tsx'
import { PageTitle } from '../ui/page-title.tsx'
import { Shell } from './shell.tsx'

/** Nobody is asked to sign in for it, but those who are keep the navigation. */
export function NotFoundView() {
  const session = useSession()
  useEffect(startSession, [])
  if (session.kind !== 'signed-in') {
    return (
      <main className="splash">
        <NotFound />
      </main>
    )
  }
  return (
    <Shell>
      <NotFound />
    </Shell>
  )
}

function NotFound() {
  return (
    <div className="empty">
      <img src={mark} alt="" width="48" height="48" />
      <PageTitle title="Page not found" />
      <p className="soft">{outdatedLink}</p>
      <Link to="/" className="button">
        Go to the overview
      </Link>
    </div>
  )
}

import { useEffect } from 'react'
import { startSession, useSession } from '../auth/session.ts'
import { Missing, outdatedLink } from '../ui/missing.tsx'
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

const NotFound = () => (
  <Missing title="Page not found" words={outdatedLink} link={{ to: '/', children: 'Go to the overview' }} />
)

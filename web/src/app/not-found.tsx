import { Link } from '@tanstack/react-router'
import mark from '../ui/mark.svg'
import { outdatedLink } from '../ui/missing.tsx'
import { PageTitle } from '../ui/page-title.tsx'

export function NotFoundView() {
  return (
    <main className="empty splash">
      <img src={mark} alt="" width="48" height="48" />
      <PageTitle title="Page not found" />
      <p className="soft">{outdatedLink}</p>
      <Link to="/" className="button">
        Go to the overview
      </Link>
    </main>
  )
}

import '../ui/open-page.css'
import { Link } from '@tanstack/react-router'
import { content, title } from '../../../docs/auditing.md'
import mark from '../ui/mark.svg'
import { PageTitle } from '../ui/page-title.tsx'

/** docs/auditing.md, for everyone: auditors rarely have the repository, or an account. */
export function AuditingView() {
  return (
    <div>
      <header className="open-page-header no-print">
        <Link to="/" className="brand">
          <img src={mark} alt="" width="28" height="28" />
          Countersign
        </Link>
      </header>
      <main className="stack gap-3 open-page-main">
        <PageTitle title={title} />
        <article className="stack rows-to-cards open-page-text">{content}</article>
      </main>
    </div>
  )
}

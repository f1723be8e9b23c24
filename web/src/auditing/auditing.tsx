import './auditing.css'
import { content, title } from '../../../docs/auditing.md'
import { OpenPage } from '../problems/open-page.tsx'
import { PageTitle } from '../ui/page-title.tsx'

/** docs/auditing.md: auditors rarely have the repository. */
export function AuditingView() {
  return (
    <OpenPage>
      <PageTitle title={title} />
      <article className="stack auditing">{content}</article>
    </OpenPage>
  )
}

import { type ReactNode, useEffect, useRef } from 'react'
import { waiting } from './waiting.ts'

let isFirstView = true

/** The heading of a view. It names the tab and takes the focus on entry, except on the first page load. */
export function PageTitle({ title, children }: { title: string; children?: ReactNode }) {
  const heading = useRef<HTMLHeadingElement>(null)
  const count = waiting.use()
  useEffect(() => {
    document.title = `${count > 0 ? `(${count}) ` : ''}${title} · Countersign`
  }, [title, count])
  useEffect(() => {
    if (!isFirstView && !document.activeElement?.closest('main :is(input, [role="dialog"])'))
      heading.current?.focus()
    isFirstView = false
  }, [])
  return (
    <h1 ref={heading} tabIndex={-1}>
      {children ?? title}
    </h1>
  )
}

interface PageHeadProps {
  title: string
  lead?: string | undefined
  children?: ReactNode
}

export function PageHead({ title, lead, children }: PageHeadProps) {
  return (
    <div className="page-head">
      <div className="row row-between">
        <PageTitle title={title} />
        {children}
      </div>
      {lead && <p className="soft lead">{lead}</p>}
    </div>
  )
}

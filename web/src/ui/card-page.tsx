import './card-page.css'
import type { ReactNode } from 'react'
import mark from './mark.svg'
import { PageTitle } from './page-title.tsx'

/** A page outside the shell, for people who may not be signed in: one card. */
export function CardPage({
  title,
  heading,
  children,
}: {
  title: string
  /** Instead of the title of the window. */
  heading?: string
  children: ReactNode
}) {
  return (
    <main className="splash card-page">
      <div className="card stack">
        <div className="card-page-brand">
          <img src={mark} alt="" width="40" height="40" />
          <PageTitle title={title}>{heading}</PageTitle>
        </div>
        {children}
      </div>
    </main>
  )
}
